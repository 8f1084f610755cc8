//===- EmitEvents.cpp - From ops to events --------------------------------===//
#include "ProgramState.h"
#include "mkernel/Analysis/Edges.h"

using namespace mlir;
using namespace mlir::mk;

bool KernelProgram::known(const CtaState &state, Operation *op, Value value, StringRef what,
                          int64_t &result) {
  Scalar scalar = get(state, value);
  if (!scalar.known) {
    giveUp(op, what + Twine(" depends on data or on sizes that are not bound") +
                   (longScope ? ", or on a loop beside the roles that has very many turns" : ""));
    return false;
  }
  result = scalar.value;
  return true;
}

std::optional<SmallVector<int64_t>> KernelProgram::shapeOf(const CtaState &state,
                                                           Value declared) const {
  auto [shape, extents] = getDeclaredShape(declared);
  SmallVector<int64_t> result;
  unsigned dynamic = 0;
  for (int64_t extent : shape) {
    if (ShapedType::isDynamic(extent)) {
      Scalar value = get(*scopes[state.rank], extents[dynamic++]);
      if (!value.known)
        return std::nullopt;
      extent = value.value;
    }
    result.push_back(extent);
  }
  return result;
}

std::optional<KernelProgram::Box> KernelProgram::tileBox(const CtaState &state, uint32_t rank,
                                                         int32_t arg, ValueRange offsets,
                                                         ArrayRef<int64_t> tile, ValueRange valid) {
  if (offsets.size() > Box::kMaxRank)
    return std::nullopt;
  Box box;
  box.rank = offsets.size();
  int lead = box.rank - int(tile.size());
  for (int d = 0; d < box.rank; ++d) {
    Scalar offset = get(state, offsets[d]), whole = extent(rank, arg, d);
    if (!offset.known || !whole.known)
      return std::nullopt;
    int64_t size = d < lead ? 1 : tile[d - lead];
    Scalar end;
    bool ends = d >= lead && !valid.empty();
    if (ends && !(end = get(state, valid[d - lead])).known)
      return std::nullopt;
    TileEdge<int64_t> edge =
        clipTile<int64_t>(PlainMath(), offset.value, size, std::max<int64_t>(whole.value, 0),
                          ends ? &end.value : nullptr);
    box.begin[d] = edge.begin;
    box.size[d] = edge.size;
  }
  return box;
}

std::optional<KernelProgram::Box> KernelProgram::regionBox(const CtaState &state, Value buffer,
                                                           ValueRange offsets, ValueRange sizes) {
  if (offsets.size() > Box::kMaxRank || sizes.size() != offsets.size())
    return std::nullopt;
  Box box;
  box.rank = offsets.size();
  for (int d = 0; d < box.rank; ++d) {
    Scalar offset = get(state, offsets[d]), size = get(state, sizes[d]);
    if (!offset.known || !size.known)
      return std::nullopt;
    box.begin[d] = offset.value;
    box.size[d] = size.value;
  }
  return box;
}

void KernelProgram::skipAccesses(Operation *op, const Twine &why) {
  if (accesses && !notSearched.contains(op))
    notSearched[op] = why.str();
}

std::optional<std::pair<int32_t, KernelProgram::Box>>
KernelProgram::locate(const CtaState &state, Operation *op, Value buffer,
                      function_ref<std::optional<Box>(int32_t)> box) {
  if (!accesses || !mayBeWritten(buffer))
    return std::nullopt;
  auto arg = bufferOf(state, buffer);
  if (arg && !written.contains(*arg))
    return std::nullopt;
  std::optional<Box> found;
  if (arg)
    found = box(*arg);
  if (found)
    return std::pair(*arg, *found);
  if (cast<MemRefType>(buffer.getType()).getRank() > Box::kMaxRank)
    skipAccesses(op, "its buffer has more than " + Twine(Box::kMaxRank) + " dimensions");
  else
    skipAccesses(op, Twine(arg ? "which elements" : "which buffer") +
                         " it touches depends on data or on sizes that are not bound");
  return std::nullopt;
}

KernelProgram::Next KernelProgram::emit(uint32_t cta, CtaState &state, const Node &node,
                                        Event &event) {
  Operation *op = node.op;
  event.site = node.site;
  // A tile, or the one element of a scalar access.
  auto locateTile = [&](Value buffer, uint32_t rank, ValueRange offsets, Type type,
                        ValueRange valid = {}) {
    auto tile = dyn_cast<RankedTensorType>(type);
    return locate(state, op, buffer, [&](int32_t arg) {
      return tileBox(state, rank, arg, offsets, tile ? tile.getShape() : ArrayRef<int64_t>(),
                     valid);
    });
  };
  auto access = [&](Event::Kind kind, auto at) {
    event.kind = at ? kind : Event::Turn;
    if (!at)
      return Next::Event;
    event.buffer = at->first;
    event.boxes.push_back(at->second);
    return Next::Event;
  };
  auto raise = [&](Value signal, ValueRange index) {
    if (!signal)
      return true;
    event.object = *resources.indexOf(signal);
    return element(state, op, signal, index, event.element);
  };
  auto peerOf = [&](Value value, int64_t &peer) {
    peer = state.rank;
    if (value && !known(state, op, value, "the rank that it names", peer))
      return false;
    if (peer >= 0 && peer < int64_t(ranks))
      return true;
    giveUp(op,
           "names rank " + Twine(peer) + " of a mesh of " + Twine(ranks) + " ranks (on rank " +
               Twine(state.rank) + "): ranks count from 0" +
               (peer == -1 ? ", and a coordinate outside of its axis makes rank -1" : ""),
           /*wrong=*/true);
    return false;
  };

  if (auto load = dyn_cast<LoadOp>(op); load && load.getRows()) {
    if (mayBeWritten(load.getSource()))
      skipAccesses(op, "which rows it reads is listed in memory");
    return access(Event::Load,
                  locateTile(load.getRows(), state.rank, load.getRowsAt(),
                             RankedTensorType::get(
                                 cast<RankedTensorType>(load.getTile().getType()).getDimSize(0),
                                 cast<MemRefType>(load.getRows().getType()).getElementType()),
                             load.getValid().take_front(1)));
  }
  if (auto load = dyn_cast<LoadOp>(op))
    return access(Event::Load, locateTile(load.getSource(), state.rank, load.getOffsets(),
                                          load.getTile().getType(), load.getValid()));
  if (auto load = dyn_cast<memref::LoadOp>(op))
    return access(Event::Load,
                  locateTile(load.getMemRef(), state.rank, load.getIndices(), load.getType()));
  if (auto store = dyn_cast<memref::StoreOp>(op))
    return access(Event::Store, locateTile(store.getMemRef(), state.rank, store.getIndices(),
                                           store.getValue().getType()));
  if (auto store = dyn_cast<StoreOp>(op)) {
    int64_t peer;
    if (!store.getSignal() && store.getPeer() && !get(state, store.getPeer()).known) {
      skipAccesses(op, "the rank that it names depends on data or on sizes that are not bound");
      return Next::Event; // makes no arrival: not followed
    }
    if (!peerOf(store.getPeer(), peer) || !mayReach(state, op, peer) ||
        !storeExists(state, store, peer))
      return Next::Unknown;
    // A rank that is named makes it a remote store, also where it is the own one.
    bool own = !store.getPeer();
    event.kind = own ? Event::Store : Event::Put;
    event.ofTile = !own;
    event.peer = peer;
    event.add = bool(store.getReduction());
    event.strong = store.getStrong();
    if (auto at = locateTile(store.getDest(), peer, store.getOffsets(), store.getTile().getType(),
                             store.getValid())) {
      (own ? event.buffer : event.dstBuffer) = at->first;
      (own ? event.boxes : event.dstBoxes).push_back(at->second);
    }
    return raise(store.getSignal(), store.getSignalIndex()) ? Next::Event : Next::Unknown;
  }
  if (auto put = dyn_cast<PutOp>(op)) {
    int64_t peer;
    if (!peerOf(put.getPeer(), peer) || !mayReach(state, op, peer))
      return Next::Unknown;
    event.kind = Event::Put;
    event.peer = peer;
    event.add = bool(put.getReduction());
    event.strong = put.getStrong();
    if (!putExists(state, put, peer))
      return Next::Unknown;
    auto locateRegion = [&](Value buffer, ValueRange offsets) {
      return locate(state, op, buffer,
                    [&](int32_t) { return regionBox(state, buffer, offsets, put.getSizes()); });
    };
    if (put.getRows()) {
      if (mayBeWritten(put.getSource()) || mayBeWritten(put.getDest()))
        skipAccesses(op, "which rows it puts is listed in a tile");
    } else {
      if (auto at = locateRegion(put.getSource(), put.getSrcOffsets())) {
        event.buffer = at->first;
        event.boxes.push_back(at->second);
      }
      if (auto at = locateRegion(put.getDest(), put.getDstOffsets())) {
        event.dstBuffer = at->first;
        event.dstBoxes.push_back(at->second);
      }
    }
    return raise(put.getSignal(), put.getSignalIndex()) ? Next::Event : Next::Unknown;
  }
  if (auto signal = dyn_cast<SignalOp>(op)) {
    int64_t peer;
    if (!peerOf(signal.getPeer(), peer))
      return Next::Unknown;
    event.kind = Event::Signal;
    event.peer = peer;
    event.amount = signal.getAmount();
    event.strong = signal.getStrong();
    return raise(signal.getSignal(), signal.getIndex()) ? Next::Event : Next::Unknown;
  }
  if (auto wait = dyn_cast<WaitOp>(op)) {
    event.kind = Event::Wait;
    return raise(wait.getSignal(), wait.getIndex()) &&
                   known(state, op, wait.getCount(), "its count", event.amount)
               ? Next::Event
               : Next::Unknown;
  }
  if (auto count = dyn_cast<CountOp>(op)) {
    event.kind = Event::Count;
    return raise(count.getCounter(), count.getIndex()) &&
                   known(state, op, count.getAmount(), "its amount", event.amount)
               ? Next::Event
               : Next::Unknown;
  }
  if (auto push = dyn_cast<PushOp>(op)) {
    event.kind = Event::Push;
    event.object = *resources.indexOf(push.getQueue());
    for (Value word : push.getRecord()) {
      int64_t value;
      if (!known(state, op, word, "a word of the record", value))
        return Next::Unknown;
      event.record.push_back(value);
    }
    return Next::Event;
  }
  if (auto pop = dyn_cast<mk_sm::PopOp>(op)) {
    event.kind = Event::Pop;
    event.object = *resources.indexOf(pop.getQueue());
    return known(state, op, pop.getEntry(), "the entry", event.element) ? Next::Event
                                                                        : Next::Unknown;
  }
  event.kind = isa<FenceOp>(op) ? Event::Fence : Event::Settle;
  return Next::Event;
}
