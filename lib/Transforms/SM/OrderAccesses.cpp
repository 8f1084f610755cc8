//===- OrderAccesses.cpp - A store comes behind own accesses in front of it ---===//
//
// A CTA's accesses are in program order where one is a load or a store and the other a store behind
// it (docs/memory-model.md, snapshot and overwrite). Its threads go each at its own pace, and the
// copy engine at another: where an element changes threads between two such accesses, all meet.
//
// Tiles at different places are looked at while loops are what the author wrote, from one iteration
// to the next, too. Which thread has what of a tile is known later: then the same place is looked
// at.
//
//===----------------------------------------------------------------------===//
#include "Functions.h"
#include "mkernel/Analysis/Remarks.h"
#include "mkernel/Analysis/Resources.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mlir::mk_sm;

static constexpr StringRef kOrderAccesses = "mk-sm-order-accesses",
                           kOrderTiles = "mk-sm-order-tiles";

namespace {
/// A sum of values with factors, and a number.
struct LinearForm {
  explicit LinearForm(Value value) { add(value, 1); }
  /// What is left of a difference: nothing if that depends on a value.
  std::optional<int64_t> minus(const LinearForm &other) const;

  llvm::SmallMapVector<Value, int64_t, 4> terms;
  int64_t number = 0;

private:
  void add(Value value, int64_t factor);
};

/// A load or a store of a CTA, in its own memory.
struct Access {
  Operation *op;
  Value buffer;
  SmallVector<unsigned> args;
  OperandRange offsets;
  RankedTensorType tile; // null: one element
  bool writes = false, adds = false;
  Operation *loop = nullptr; // of an earlier iteration of this one
  bool isMet = false;        // all threads have met behind it
  bool isInLoop = false;     // of a loop in front: only the same place is left to look at

  bool isSame(const Access &other) const {
    return op == other.op && buffer == other.buffer && loop == other.loop && isMet == other.isMet &&
           isInLoop == other.isInLoop;
  }
  bool isByEngine() const { return isa<mk_sm::StoreOp>(op); }
  /// How far it reaches in a dimension of the buffer.
  int64_t getExtent(size_t dim) const;
};

class Ordering {
public:
  /// `ofTiles`: while loops are what the author wrote, and tiles have no layouts.
  Ordering(mk::KernelOp kernel, bool ofTiles, bool isAlone)
      : kernel(kernel), ofTiles(ofTiles), isAlone(isAlone) {}

  /// Looks at the ops of a block in their order; `open` has the accesses behind which no order is
  /// known yet.
  void visit(Block &block, SmallVectorImpl<Access> &open);
  bool writes(mk::RoleOp role, ArrayRef<Access> open);

private:
  std::optional<Access> getAccess(Operation *op);
  /// Of the rows that a load looks up.
  Access getListAccess(mk::LoadOp load);
  void visitLoop(Operation *loop, SmallVectorImpl<Access> &open);
  bool conflict(const Access &first, const Access &second);

  mk::KernelOp kernel;
  bool ofTiles;
  bool isAlone; // one CTA has all items
};
} // namespace

void LinearForm::add(Value value, int64_t factor) {
  Operation *op = value.getDefiningOp();
  if (std::optional<int64_t> known = getConstantIntValue(value)) {
    number += factor * *known;
  } else if (isa_and_nonnull<arith::AddIOp, arith::SubIOp>(op)) {
    add(op->getOperand(0), factor);
    add(op->getOperand(1), isa<arith::SubIOp>(op) ? -factor : factor);
  } else if (auto product = dyn_cast_or_null<arith::MulIOp>(op);
             product && getConstantIntValue(product.getRhs())) {
    add(product.getLhs(), factor * *getConstantIntValue(product.getRhs()));
  } else {
    terms[value] += factor;
  }
}

std::optional<int64_t> LinearForm::minus(const LinearForm &other) const {
  auto has = [](const LinearForm &all, const LinearForm &of) {
    return llvm::all_of(of.terms, [&](auto &term) {
      auto it = all.terms.find(term.first);
      return term.second == (it == all.terms.end() ? 0 : it->second);
    });
  };
  if (!has(*this, other) || !has(other, *this))
    return std::nullopt;
  return number - other.number;
}

int64_t Access::getExtent(size_t dim) const {
  if (!tile)
    return 1;
  auto load = dyn_cast<mk::LoadOp>(op);
  ArrayRef<int64_t> shape = tile.getShape().drop_front(load && load.getSpread() ? 1 : 0);
  size_t outer = offsets.size() - shape.size();
  return dim < outer ? 1 : shape[dim - outer];
}

Access Ordering::getListAccess(mk::LoadOp load) {
  return Access{load,
                load.getRows(),
                mk::getPossibleArgs(kernel, load.getRows()),
                load.getRowsAtMutable(),
                {}};
}

std::optional<Access> Ordering::getAccess(Operation *op) {
  auto make = [&](Value buffer, OperandRange offsets, Type tile) {
    return Access{op, buffer, mk::getPossibleArgs(kernel, buffer), offsets,
                  dyn_cast_or_null<RankedTensorType>(tile)};
  };
  if (auto load = dyn_cast<mk::LoadOp>(op))
    return make(load.getSource(), load.getOffsets(), load.getType());
  if (auto load = dyn_cast<memref::LoadOp>(op))
    return make(load.getMemRef(), load.getIndices(), {});
  std::optional<Access> access;
  if (auto store = dyn_cast<mk::StoreOp>(op); store && !store.getPeer()) {
    access = make(store.getDest(), store.getOffsets(), store.getTile().getType());
    access->adds = store.getReduction().has_value();
  } else if (auto store = dyn_cast<mk_sm::StoreOp>(op); store && !store.getPeer()) {
    access = make(store.getDest(), store.getOffsets(), store.getTile().getType());
    access->adds = store.getAdd();
  } else if (auto store = dyn_cast<memref::StoreOp>(op)) {
    access = make(store.getMemRef(), store.getIndices(), {});
  }
  if (access)
    access->writes = true;
  return access;
}

/// Whether both are tiles at the same place, in the same iteration.
static bool areSamePlace(const Access &first, const Access &second) {
  auto load = dyn_cast<mk::LoadOp>(first.op);
  return !first.loop && !(load && (load.getRows() || load.getSpread())) && first.tile &&
         second.tile && first.tile.getShape() == second.tile.getShape() &&
         first.buffer == second.buffer && first.offsets == second.offsets;
}

/// Whether each thread has the same elements in both accesses, the second one a store of what
/// threads have.
static bool areAligned(const Access &first, const Access &second) {
  // A number of each column of accumulators is in several warps.
  auto slice = first.tile ? dyn_cast_or_null<SliceAttr>(first.tile.getEncoding()) : SliceAttr();
  if (slice && slice.getAxis() == 0)
    return false;
  return areSamePlace(first, second) && first.tile == second.tile && !first.isByEngine() &&
         !(first.writes && second.isByEngine());
}

/// What an index of a loop goes on by in each iteration; nothing for other loops.
static std::optional<std::pair<Value, int64_t>> getStep(Operation *loop) {
  if (auto counted = dyn_cast<scf::ForOp>(loop))
    if (std::optional<int64_t> step = getConstantIntValue(counted.getStep()))
      return std::pair(Value(counted.getInductionVar()), *step);
  if (auto items = dyn_cast<mk::ForeachOp>(loop);
      items && items.getBody().getNumArguments() == 1 && !items.getOrderAttr())
    return std::pair(Value(items.getBody().getArgument(0)), int64_t(1));
  return std::nullopt;
}

/// Whether two accesses of the same buffer have no element in common.
static bool areApart(const Access &first, const Access &second) {
  auto load = dyn_cast<mk::LoadOp>(first.op);
  if (first.buffer != second.buffer || (load && load.getRows()))
    return false;
  std::optional<std::pair<Value, int64_t>> step;
  if (first.loop && !(step = getStep(first.loop)))
    return false;
  for (auto [d, pair] : llvm::enumerate(llvm::zip(first.offsets, second.offsets))) {
    LinearForm from(std::get<0>(pair)), to(std::get<1>(pair));
    std::optional<int64_t> distance = to.minus(from);
    if (!distance)
      continue;
    int64_t before = first.getExtent(d), behind = second.getExtent(d);
    if (!first.loop) {
      if (*distance >= before || -*distance >= behind)
        return true;
      continue;
    }
    // The second one is one iteration later, or several.
    auto [index, by] = *step;
    auto varies = [&, index = index](auto &term) {
      return term.first != index &&
             first.loop->getRegion(0).isAncestor(term.first.getParentRegion());
    };
    if (llvm::any_of(to.terms, varies))
      continue;
    auto it = to.terms.find(index);
    int64_t move = it == to.terms.end() ? 0 : it->second * by;
    if ((move > 0 && move + *distance >= before) || (move < 0 && -(move + *distance) >= behind))
      return true;
  }
  return false;
}

static bool shareMemory(const Access &first, const Access &second) {
  return llvm::any_of(first.args,
                      [&](unsigned arg) { return llvm::is_contained(second.args, arg); });
}

bool Ordering::conflict(const Access &first, const Access &second) {
  if (!second.writes || (first.adds && second.adds) || !shareMemory(first, second))
    return false;
  // One thread stores all scalars.
  if (isa<memref::StoreOp>(first.op) && isa<memref::StoreOp>(second.op))
    return false;
  // Where threads have met only what goes by another way to memory may be late.
  if (first.isMet && !second.isByEngine())
    return false;
  if (first.isInLoop)
    return areSamePlace(first, second) && !areAligned(first, second);
  bool isInOrder = ofTiles ? areSamePlace(first, second) : areAligned(first, second);
  return !isInOrder && !areApart(first, second);
}

/// Whether all threads meet in an op, all that the engine stores for them having been written.
static bool isMeeting(Operation *op) {
  return isa<mk::SignalOp, mk::PutOp, mk::FenceOp, mk::SettleOp, mk::CountOp, mk::PushOp>(op);
}

/// Adds those that are not there: what two ways leave open is one access, else there would be twice
/// as many behind each.
static void join(SmallVectorImpl<Access> &all, ArrayRef<Access> others) {
  for (const Access &access : others)
    if (llvm::none_of(all, [&](const Access &other) { return other.isSame(access); }))
      all.push_back(access);
}

void Ordering::visitLoop(Operation *loop, SmallVectorImpl<Access> &open) {
  auto visitBody = [&](SmallVectorImpl<Access> &accesses) {
    for (Region &region : loop->getRegions())
      for (Block &block : region)
        visit(block, accesses);
  };
  SmallVector<Access> before(open.begin(), open.end());
  visitBody(open);
  // A loop without iterations is no place to meet.
  join(open, before);
  auto isInside = [&](const Access &access) { return loop->isProperAncestor(access.op); };
  // Which item comes next is chance where several CTAs take them: none may rely on it.
  bool ofItems = isa<mk::ForeachOp, mk::ForeachItemOp>(loop) &&
                 !loop->getParentOfType<mk::ForeachOp>() &&
                 !loop->getParentOfType<mk::ForeachItemOp>();
  if (ofTiles && (!ofItems || isAlone)) {
    SmallVector<Access> earlier;
    for (Access access : llvm::make_filter_range(open, isInside)) {
      access.loop = loop;
      earlier.push_back(access);
    }
    visitBody(earlier);
  }
  // What comes behind has been looked at with the author's loops.
  if (!ofTiles)
    for (Access &access : llvm::make_filter_range(open, isInside))
      access.isInLoop = true;
}

void Ordering::visit(Block &block, SmallVectorImpl<Access> &open) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (isa<OrderOp>(op)) {
      open.clear();
    } else if (isMeeting(&op)) {
      llvm::erase_if(open, [](const Access &access) { return access.isByEngine(); });
      llvm::erase_if(open, [](const Access &access) { return !access.writes; });
      for (Access &access : open)
        access.isMet = true;
    } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
      SmallVector<Access> after;
      for (Region *region : {&branch.getThenRegion(), &branch.getElseRegion()}) {
        SmallVector<Access> inside(open.begin(), open.end());
        if (!region->empty())
          visit(region->front(), inside);
        join(after, inside);
      }
      open.assign(after.begin(), after.end());
    } else if (isa<LoopLikeOpInterface, mk::ForeachOp, mk::ForeachItemOp, mk::ForeachPeerOp,
                   mk::FoldOp>(op)) {
      visitLoop(&op, open);
    } else if (op.getNumRegions()) {
      for (Region &region : op.getRegions())
        for (Block &inner : region)
          visit(inner, open);
    } else if (std::optional<Access> access = getAccess(&op)) {
      if (auto load = dyn_cast<mk::LoadOp>(op); load && load.getRows())
        open.push_back(getListAccess(load));
      if (llvm::any_of(open, [&](const Access &first) { return conflict(first, *access); })) {
        OpBuilder b(&op);
        OrderOp::create(b, op.getLoc());
        missed(&op, ofTiles ? kOrderTiles : kOrderAccesses)
            << "waits until all threads have done what is in front of it "
               "with the same buffer: load and store the same tile, or "
               "tiles that have nothing in common";
        open.clear();
      }
      open.push_back(*access);
    }
  }
}

bool Ordering::writes(mk::RoleOp role, ArrayRef<Access> open) {
  return mk::holdsAny(role, [&](Operation *op) {
    std::optional<Access> access = getAccess(op);
    return access && access->writes &&
           llvm::any_of(open, [&](const Access &first) { return shareMemory(first, *access); });
  });
}

void mk_sm::orderTiles(mk::KernelOp kernel) {
  for (Operation &op : kernel.getBody().front()) {
    auto role = dyn_cast<mk::RoleOp>(op);
    if ((!role && !isa<mk::PrepareOp>(op)) || (role && role.isOfEngines()))
      continue;
    Ordering ordering(kernel, /*ofTiles=*/true, role && role.getCtas().getFixed() == 1);
    SmallVector<Access> open;
    Block &body = op.getRegion(0).front();
    ordering.visit(body, open);
    // What the CTA does in later roles comes behind this one, too.
    bool isFollowed =
        role && llvm::any_of(kernel.getBody().getOps<mk::RoleOp>(), [&](mk::RoleOp other) {
          return isFollowedBy(role, other) && ordering.writes(other, open);
        });
    if (isFollowed) {
      auto b = OpBuilder::atBlockEnd(&body);
      OrderOp::create(b, op.getLoc());
    }
  }
}

void mk_sm::orderAccesses(PartitionOp partition) {
  if (partition.getKind() == PartitionKind::Producer)
    return;
  Ordering ordering(partition->getParentOfType<mk::KernelOp>(), /*ofTiles=*/false,
                    /*isAlone=*/false);
  SmallVector<Access> open;
  ordering.visit(partition.getBody().front(), open);
}
