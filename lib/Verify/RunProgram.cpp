//===- RunProgram.cpp - Control flow of a CTA -----------------------------===//
#include "ProgramState.h"

using namespace mlir;
using namespace mlir::mk;

// Of a loop beside roles, on each rank.
static constexpr uint64_t kMostScopeSteps = 1 << 16;

/// One part after another: mk.prepare, the own role, those that it helps.
void KernelProgram::start(CtaState &state, uint32_t cta) {
  state.rank = cta / ctas;
  state.cta = cta;
  state.values = scopes[state.rank]->values;
  state.started = true;
}

KernelProgram::Next KernelProgram::giveUp(Operation *op, const Twine &text, bool wrong) {
  // The others go on, and may come to what is wrong in any case.
  if (!failed.op || (wrong && !failed.wrong))
    failed = {op, text.str(), wrong};
  return Next::Unknown;
}

KernelProgram::Next KernelProgram::next(uint32_t cta, Event &event) {
  auto &pointer = states[cta];
  if (!pointer)
    pointer = std::make_unique<CtaState>();
  CtaState &state = *pointer;
  if (!state.started) {
    start(state, cta);
    if (prepare) {
      state.index = cta % ctas;
      state.frames.push_back({prepare.get(), 0, nullptr});
    }
  }
  uint32_t own = roleOf(cta);
  Next result = Next::Event;
  while (true) {
    if (failed.wrong || state.lost)
      return Next::Unknown;
    if (state.frames.empty()) {
      // Behind a part: mk.prepare ends with a barrier, a role settles.
      size_t done = state.part++;
      if (done == 0) {
        state.index = cta % ctas;
        for (uint32_t role = 0; role < own; ++role)
          state.index -= ctasOfRole[role];
        state.frames.push_back({roles[own].get(), 0, nullptr});
        if (!prepare)
          continue;
        event.kind = Event::Barrier;
        return Next::Event;
      }
      if (done > then[own].size() + 1) {
        pointer.reset();
        // The next call would start anew: the machine makes none.
        return Next::End;
      }
      if (done <= then[own].size())
        state.frames.push_back({roles[then[own][done - 1]].get(), 0, nullptr});
      event.kind = Event::RoleEnd;
      return Next::Event;
    }
    bool done = step(cta, state, event, result);
    event.draw = state.draw;
    state.lost |= result == Next::Unknown;
    if (done)
      return result;
  }
}

void KernelProgram::counted(uint32_t cta, int64_t before) {
  CtaState &state = *states[cta];
  if (state.waiting && state.waiting->out[0] != kNoSlot)
    state.values[state.waiting->out[0]] = {before, true};
}

void KernelProgram::popped(uint32_t cta, const std::vector<int64_t> &record) {
  CtaState &state = *states[cta];
  for (auto [slot, word] : llvm::zip(state.waiting->out, record))
    state.values[slot] = {word, true};
}

int64_t KernelProgram::countSharing(mk_sm::ItemsOp items) const {
  auto role = items->getParentOfType<RoleOp>();
  return role ? ctasOfRole[*resources.indexOf(role)] : ctas;
}

void KernelProgram::startItem(CtaState &state, const Frame &frame) {
  int64_t sharing = countSharing(cast<mk_sm::ItemsOp>(frame.owner->op));
  state.values[frame.body->args[0]] = {frame.iv, true};
  state.values[frame.body->args[1]] = {frame.iv / sharing, true};
}

/// Starts an op with regions; false if what it does cannot be known.
bool KernelProgram::enter(CtaState &state, Node &node) {
  auto in = [&](unsigned i) { return state.values[node.in[i]]; };
  auto push = [&](unsigned region) -> Frame & {
    Frame frame{node.bodies[region].get(), 0, &node};
    frame.region = region;
    return state.frames.emplace_back(frame);
  };
  if (isa<scf::IfOp>(node.op)) {
    if (!in(0).known)
      return false;
    unsigned region = in(0).value ? 0 : 1;
    if (node.bodies.size() > region)
      push(region);
    return true;
  }
  auto copy = [&](ArrayRef<unsigned> to, unsigned from, unsigned firstTo) {
    for (unsigned i = firstTo; i < to.size(); ++i)
      if (to[i] != kNoSlot && node.in[from + i - firstTo] != kNoSlot)
        state.values[to[i]] = in(from + i - firstTo);
  };
  if (isa<scf::ForOp>(node.op)) {
    if (!in(0).known || !in(1).known || !in(2).known || in(2).value <= 0)
      return false;
    if (in(0).value >= in(1).value) {
      copy(node.out, 3, 0);
      return true;
    }
    copy(node.bodies[0]->args, 3, 1);
    Frame &frame = push(0);
    frame.iv = in(0).value;
    frame.end = in(1).value;
    frame.stride = in(2).value;
    state.values[frame.body->args[0]] = {frame.iv, true};
    return true;
  }
  if (auto items = dyn_cast<mk_sm::ItemsOp>(node.op)) {
    if (!in(0).known)
      return false;
    if (in(0).value <= int64_t(state.index))
      return true;
    Frame &frame = push(0);
    frame.iv = state.index;
    frame.end = in(0).value;
    frame.stride = countSharing(items) * items.getEvery();
    startItem(state, frame);
    return true;
  }
  if (isa<scf::WhileOp>(node.op)) {
    copy(node.bodies[0]->args, 0, 0);
    push(0);
    return true;
  }
  return false;
}

/// Behind the last op of a block.
void KernelProgram::leave(CtaState &state) {
  Frame &frame = state.frames.back();
  Node *node = frame.owner;
  if (!node) {
    state.frames.pop_back();
    return;
  }
  ArrayRef<unsigned> results = frame.body->results;
  auto yieldTo = [&](ArrayRef<unsigned> to, ArrayRef<unsigned> from) {
    SmallVector<Scalar> values;
    for (unsigned slot : from)
      values.push_back(slot == kNoSlot ? Scalar() : state.values[slot]);
    for (auto [slot, value] : llvm::zip(to, values))
      if (slot != kNoSlot)
        state.values[slot] = value;
  };
  if (isa<scf::IfOp>(node->op)) {
    yieldTo(node->out, results);
  } else if (isa<mk_sm::ItemsOp>(node->op)) {
    frame.iv += frame.stride;
    if (frame.iv < frame.end) {
      startItem(state, frame);
      frame.next = 0;
      state.turned = false;
      return;
    }
  } else if (isa<scf::ForOp>(node->op)) {
    frame.iv += frame.stride;
    if (frame.iv < frame.end) {
      yieldTo(ArrayRef(frame.body->args).drop_front(), results);
      state.values[frame.body->args[0]] = {frame.iv, true};
      frame.next = 0;
      state.turned = false;
      return;
    }
    yieldTo(node->out, results);
  } else if (frame.region == 0) { // scf.condition
    Scalar more = state.values[results[0]];
    if (!more.known) {
      state.lost = !passOver(state, *node, "loops until a condition that depends on data");
      state.frames.pop_back();
      return;
    }
    results = results.drop_front();
    if (node->draws && !more.value)
      state.draw = -1;
    if (more.value) {
      yieldTo(node->bodies[1]->args, results);
      frame = Frame{node->bodies[1].get(), 0, node};
      frame.region = 1;
      return;
    }
    yieldTo(node->out, results);
  } else {
    yieldTo(node->bodies[0]->args, results);
    frame = Frame{node->bodies[0].get(), 0, node};
    return;
  }
  state.frames.pop_back();
}

/// Goes on behind an op whose control is not known. That is possible if nobody else
/// would notice more than that memory is accessed; gives up if not.
bool KernelProgram::passOver(CtaState &state, const Node &node, StringRef why) {
  if (node.hasSync) {
    giveUp(node.op, why);
    return false;
  }
  if (node.hasEvents)
    skipAccesses(node.op, why);
  for (unsigned slot : node.out)
    if (slot != kNoSlot)
      state.values[slot] = {};
  return true;
}

void KernelProgram::evaluateScope(CtaState &state) {
  for (Node &node : scope->nodes) {
    if (node.event)
      continue;
    if (node.bodies.empty()) {
      evaluate(state, node);
      continue;
    }
    auto forget = [&] {
      state.frames.clear();
      for (unsigned slot : node.out)
        if (slot != kNoSlot)
          state.values[slot] = {};
    };
    if (!enter(state, node))
      forget();
    for (uint64_t left = kMostScopeSteps; !state.frames.empty();) {
      Frame &frame = state.frames.back();
      if (left-- == 0) {
        longScope = true;
        forget();
      } else if (frame.next == frame.body->nodes.size()) {
        leave(state);
      } else {
        Node &inner = frame.body->nodes[frame.next++];
        if (inner.bodies.empty())
          evaluate(state, inner);
        else if (!enter(state, inner))
          passOver(state, inner, "");
      }
    }
  }
}

/// Executes an op; true if there is an event, or the end of all.
bool KernelProgram::step(uint32_t cta, CtaState &state, Event &event, Next &result) {
  Frame &frame = state.frames.back();
  if (stepsLeft-- == 0) {
    ++stepsLeft;
    result = giveUp(kernel, ""); // says enough: too large to be followed
    return true;
  }
  if (frame.next == 0 && frame.owner && frame.owner->turn && !state.turned) {
    state.turned = true;
    event.kind = Event::Turn;
    return true;
  }
  if (frame.next == frame.body->nodes.size()) {
    leave(state);
    return false;
  }
  Node &node = frame.body->nodes[frame.next];
  if (isa<mk_sm::TicketOp>(node.op) && !state.turned) {
    state.turned = true;
    event.kind = Event::Turn;
    return true;
  }
  ++frame.next;
  if (auto ticket = dyn_cast<mk_sm::TicketOp>(node.op)) {
    state.turned = false;
    int64_t &next = tickets[{state.rank, int64_t(ticket.getLoop())}];
    if (node.draws)
      state.draw = (int64_t(ticket.getLoop()) << 48) + next;
    state.values[node.out[0]] = {next++, true};
    return false;
  }
  if (isScalarAccess(node.op) && !elementExists(state, node.op)) {
    result = Next::Unknown;
    return true;
  }
  if (node.event) {
    state.waiting = &node;
    result = emit(cta, state, node, event);
    return result != Next::Event || event.kind != Event::Turn;
  }
  if (node.bodies.empty() && !node.hasEvents) {
    evaluate(state, node);
    return false;
  }
  if (node.turn)
    state.turned = false;
  if (enter(state, node))
    return false;
  if (passOver(state, node,
               isa<scf::IfOp>(node.op)                    ? "is taken or not as data says"
               : isa<mk_sm::ItemsOp, scf::ForOp>(node.op) ? "has bounds that depend on data"
                                                          : "has regions that are not followed"))
    return false;
  result = Next::Unknown;
  return true;
}
