//===- Sync.cpp - Barriers, fences and what lanes exchange ----------------===//

#include "Table.h"

#include <algorithm>
#include <bit>

using namespace mk::ptx;

namespace {

//===--- Within a warp ----------------------------------------------------===//

void noEffect(Warp &, const Instr &, uint32_t) {}

void shuffle(Warp &warp, const Instr &instr, uint32_t lanes) {
  const Operand *ops = instr.ops.data() + (instr.b - 1);
  uint32_t from[32];
  forLanes(~0u, [&](uint32_t lane) {
    from[lane] = uint32_t(warp.value(ops[1], lane));
  });
  bool butterfly = contains(instr.opcode, ".bfly."),
       down = contains(instr.opcode, ".down.");
  bool up = contains(instr.opcode, ".up.");
  forLanes(lanes, [&](uint32_t lane) {
    uint32_t by = uint32_t(warp.value(ops[2], lane)) & 31;
    uint32_t control = uint32_t(warp.value(ops[3], lane));
    uint32_t segment = control >> 8 & 31, clamp = control & 31;
    uint32_t most = (lane & segment) | (clamp & ~segment);
    uint32_t least = lane & segment;
    uint32_t source;
    bool valid;
    if (butterfly) {
      source = lane ^ by;
      valid = source <= most;
    } else if (down) {
      source = lane + by;
      valid = source <= most;
    } else if (up) {
      source = lane - by;
      valid = int32_t(source) >= int32_t(most);
    } else {
      source = least | (by & ~segment);
      valid = source <= most;
    }
    if (!valid)
      source = lane;
    if (!(lanes >> source & 1))
      throw Error("takes a value from a lane that does not take part");
    warp.set(ops[0], lane, from[source]);
  });
}

void vote(Warp &warp, const Instr &instr, uint32_t lanes) {
  const Operand *ops = instr.ops.data() + (instr.b - 1);
  uint32_t votes = 0;
  forLanes(lanes, [&](uint32_t lane) {
    votes |= uint32_t(warp.value(ops[1], lane) & 1) << lane;
  });
  uint64_t result = contains(instr.opcode, ".all.")   ? votes == lanes
                    : contains(instr.opcode, ".any.") ? votes != 0
                                                      : votes;
  forLanes(lanes, [&](uint32_t lane) { warp.set(ops[0], lane, result); });
}

/// The lowest lane, always.
void elect(Warp &warp, const Instr &instr, uint32_t lanes) {
  const Operand *ops = instr.ops.data() + (instr.b - 1);
  uint32_t first = uint32_t(std::countr_zero(lanes));
  forLanes(lanes, [&](uint32_t lane) {
    warp.set(ops[0], lane, first);
    warp.set(ops[1], lane, lane == first);
  });
}

void reduce(Warp &warp, const Instr &instr, uint32_t lanes) {
  const Operand *ops = instr.ops.data() + (instr.b - 1);
  uint32_t least = ~0u;
  forLanes(lanes, [&](uint32_t lane) {
    least = std::min(least, uint32_t(warp.value(ops[1], lane)));
  });
  forLanes(lanes, [&](uint32_t lane) { warp.set(ops[0], lane, least); });
}

void nanosleep(Warp &warp, const Instr &, uint32_t) { warp.sleep(500); }

//===--- Within a CTA -----------------------------------------------------===//

void barrier(Warp &warp, const Instr &instr, uint32_t) {
  const Operand *ops = instr.ops.data() + (instr.b - 1);
  size_t given = instr.ops.size() - (instr.b - 1);
  bool reduces = contains(instr.opcode, ".red.or.");
  bool waits = reduces || startsWith(instr.opcode, "bar.sync");
  const Operand *result = ops;
  if (reduces) {
    ++ops;
    given -= 2; // the predicates
  }
  uint64_t which = warp.value(ops[0], 0);
  if (which >= 16)
    throw Error("there is no barrier " + std::to_string(which));
  NamedBarrier &b = warp.cta.named[which];
  uint32_t expected = given > 1 ? uint32_t(warp.value(ops[1], 0))
                                : warp.cta.rank.launch->threads;
  if (b.arrived && b.expected != expected)
    throw Error("barrier " + std::to_string(which) + " is waited for by " +
                std::to_string(expected) + " and by " +
                std::to_string(b.expected) + " threads");
  b.expected = expected;
  b.arrived += 32;
  b.view.join(warp.view);
  if (reduces) {
    for (uint32_t lane = 0; lane < 32; ++lane)
      b.any |= warp.value(ops[2], lane) != 0;
    b.results.emplace_back(&warp, result);
  }
  if (waits) {
    b.waiting.push_back(&warp);
    warp.blocked = true;
  }
  warp.machine.changed();
  if (b.arrived < expected)
    return;
  for (Warp *waiting : b.waiting) {
    waiting->blocked = false;
    waiting->view.join(b.view);
  }
  for (auto [waiting, predicate] : b.results)
    for (uint32_t lane = 0; lane < 32; ++lane)
      waiting->set(*predicate, lane, b.any);
  b = NamedBarrier();
}

void fence(Warp &warp, const Instr &instr, uint32_t) {
  warp.view.join(warp.acquirable);
  for (int scope = kCta; scope <= int(instr.code[0]); ++scope) {
    warp.fenced[scope] = warp.released();
    warp.hasFenced[scope] = true;
  }
}

void proxyFence(Warp &warp, const Instr &instr, uint32_t) {
  if (instr.opcode != "fence.proxy.async.global")
    warp.view.shared = warp.machine.now;
  if (instr.opcode == "fence.proxy.async.shared::cta")
    return;
  warp.view.async.join(warp.view.generic);
  warp.view.async.set(warp.cta.id, warp.machine.now);
}

//===--- Mbarriers --------------------------------------------------------===//

void initialise(Warp &warp, const Instr &instr, uint32_t lanes) {
  const Operand *ops = instr.ops.data() + (instr.b - 1);
  forLanes(lanes, [&](uint32_t lane) {
    uint32_t address = uint32_t(warp.address(ops[0], lane));
    warp.cta.at(address, 8);
    MBarrier &b = warp.cta.barriers[address];
    b = MBarrier();
    b.address = address;
    b.expected = b.pending = uint32_t(warp.value(ops[1], lane));
  });
  warp.machine.changed();
}

void count(Cta &cta, uint32_t address, uint32_t arrivals, const View &released) {
  MBarrier &b = cta.barrier(address);
  if (arrivals > b.pending)
    throw Error("more arrivals than mbarrier.init said");
  b.pending -= arrivals;
  b.arriving.join(released);
  cta.settle(b);
}

/// A CTA that has ended has no memory in which something could come.
void refuseEnded(const Cta &cta, uint32_t barrier) {
  if (cta.hasEnded())
    throw Error("rank " + std::to_string(cta.rank.number) + ", CTA " + std::to_string(cta.index) +
                " had ended when an arrival came at its mbarrier at " + std::to_string(barrier) +
                ": a CTA has to wait for the arrivals at its barriers before it ends");
}

/// Arrivals at barriers of other CTAs are messages, which come some time later.
void arriveElsewhere(Warp &warp, std::vector<std::pair<Cta *, uint32_t>> barriers) {
  ++warp.cta.rank.inFlight;
  warp.machine.at(warp.machine.copyTime(), [&warp, barriers, released = warp.released()] {
    for (auto [cta, address] : barriers) {
      refuseEnded(*cta, address);
      count(*cta, address, 1, released);
    }
    --warp.cta.rank.inFlight;
    warp.machine.changed();
  });
}

void arrive(Warp &warp, const Instr &instr, uint32_t lanes) {
  const Operand *ops = instr.ops.data() + (instr.b - 1);
  size_t given = instr.ops.size() - (instr.b - 1);
  bool expects = contains(instr.opcode, ".expect_tx.");
  std::vector<std::pair<Cta *, uint32_t>> elsewhere;
  forLanes(lanes, [&](uint32_t lane) {
    uint32_t address = uint32_t(warp.address(ops[1], lane));
    Cta &cta = warp.cta.window(address);
    MBarrier &b = cta.barrier(address);
    if (&cta != &warp.cta) {
      if (expects || given > 2)
        throw Error("arrives at another CTA's mbarrier with more than one arrival");
      elsewhere.push_back({&cta, address});
      return;
    }
    if (expects)
      b.bytes += int64_t(uint32_t(warp.value(ops[2], lane)));
    count(cta, address, !expects && given > 2 ? uint32_t(warp.value(ops[2], lane)) : 1,
          warp.released());
  });
  if (!elsewhere.empty())
    arriveElsewhere(warp, std::move(elsewhere));
  warp.machine.changed();
}

/// expect_tx and complete_tx, both relaxed.
void transact(Warp &warp, const Instr &instr, uint32_t lanes) {
  const Operand *ops = instr.ops.data() + (instr.b - 1);
  bool expects = contains(instr.opcode, ".expect_tx.");
  forLanes(lanes, [&](uint32_t lane) {
    uint32_t address = uint32_t(warp.address(ops[0], lane));
    MBarrier &b = warp.cta.barrier(address);
    int64_t bytes = int64_t(uint32_t(warp.value(ops[1], lane)));
    b.bytes += expects ? bytes : -bytes;
    if (!expects && warp.hasFenced[kCta])
      b.arriving.join(warp.fenced[kCta]);
    warp.cta.settle(b);
  });
  warp.machine.changed();
}

void tryWait(Warp &warp, const Instr &instr, uint32_t lanes) {
  const Operand *ops = instr.ops.data() + (instr.b - 1);
  bool any = false;
  forLanes(lanes, [&](uint32_t lane) {
    bool done = instr.removed;
    if (!done) {
      MBarrier &b = warp.cta.barrier(uint32_t(warp.address(ops[1], lane)));
      done = (b.phase & 1) != (warp.value(ops[2], lane) & 1);
      if (done)
        warp.view.join(b.arrived);
    }
    any |= done;
    warp.set(ops[0], lane, done);
  });
  if (!any)
    warp.sleep(200);
}

//===--- Clusters ---------------------------------------------------------===//

void mapa(Warp &warp, const Instr &instr, uint32_t lanes) {
  const Operand *ops = instr.ops.data() + (instr.b - 1);
  forLanes(lanes, [&](uint32_t lane) {
    uint32_t address = uint32_t(warp.value(ops[1], lane));
    uint32_t rank = uint32_t(warp.value(ops[2], lane));
    warp.set(ops[0], lane, (rank + 1) * kWindow + address % kWindow);
  });
}

/// st.async: words in the shared memory of a CTA of the cluster, some time later, and bytes that
/// its barrier counts then.
void sendWords(Warp &warp, const Instr &instr, uint32_t lanes) {
  const Operand *ops = instr.ops.data() + (instr.b - 1);
  struct Sent {
    Cta *cta;
    uint32_t to, barrier, words[4];
  };
  std::vector<Sent> all;
  forLanes(lanes, [&](uint32_t lane) {
    Sent sent;
    sent.to = uint32_t(warp.address(ops[0], lane));
    sent.barrier = uint32_t(warp.address(ops[5], lane));
    sent.cta = &warp.cta.window(sent.to);
    if (sent.cta != &warp.cta.window(sent.barrier))
      throw Error("sends words to one CTA of a cluster and tells another one");
    if (sent.to % 16)
      throw Error("sends words to an address that is no multiple of 16");
    sent.cta->at(sent.to, 16);
    sent.cta->barrier(sent.barrier);
    for (size_t i = 0; i < 4; ++i)
      sent.words[i] = uint32_t(warp.value(ops[1 + i], lane));
    all.push_back(sent);
  });
  warp.machine.at(warp.machine.copyTime(), [all, &machine = warp.machine] {
    for (const Sent &sent : all) {
      refuseEnded(*sent.cta, sent.barrier);
      sent.cta->writeShared(sent.to, sent.words, 16, false);
      MBarrier &b = sent.cta->barrier(sent.barrier);
      b.bytes -= 16;
      sent.cta->settle(b);
    }
    machine.changed();
  });
}

void clusterArrive(Warp &warp, const Instr &, uint32_t) {
  auto &b = *warp.cta.clusterBarrier;
  warp.clusterPhase = b.phase;
  if (++b.arrived == warp.cta.cluster.size() * warp.cta.warps.size()) {
    b.arrived = 0;
    ++b.phase;
  }
  warp.machine.changed();
}

void clusterWait(Warp &warp, const Instr &, uint32_t) {
  if (warp.cta.clusterBarrier->phase == warp.clusterPhase)
    warp.again();
}

} // namespace

MBarrier &Cta::barrier(uint32_t address) {
  auto it = barriers.find(address);
  if (it == barriers.end())
    throw Error("there is no mbarrier at " + std::to_string(address));
  return it->second;
}

bool Cta::hasEnded() const {
  return std::all_of(warps.begin(), warps.end(), [](const auto &warp) { return warp->live == 0; });
}

void Cta::settle(MBarrier &b) {
  if (b.bytes >= 1 << 20 || b.bytes <= -(1 << 20))
    throw Error("an mbarrier counts more than 2^20 bytes");
  if (b.pending || b.bytes)
    return;
  ++b.phase;
  b.pending = b.expected;
  b.arrived.join(b.arriving);
  b.arriving = View();
  if (machine.onPhase)
    machine.onPhase(*this, b);
}

bool mk::ptx::decodeSync(Instr &instr) {
  const std::string &op = instr.opcode;
  auto converge = [&](Exec exec, size_t maskFromEnd) {
    instr.exec = exec;
    instr.flow = Flow::Converge;
    instr.a = maskFromEnd ? uint32_t(instr.ops.size() - maskFromEnd) : ~0u;
  };
  auto orders = [&](Exec exec, Orders what) {
    instr.exec = exec;
    instr.orders = what;
  };
  if (op == "bar.warp.sync") {
    converge(noEffect, 1);
    instr.orders = Orders::Barrier;
  } else if (startsWith(op, "shfl.sync.")) {
    converge(shuffle, 1);
  } else if (startsWith(op, "vote.sync.")) {
    converge(vote, 1);
  } else if (op == "elect.sync") {
    converge(elect, 1);
  } else if (op == "redux.sync.min.u32") {
    converge(reduce, 1);
  } else if (op == "bar.sync" || op == "barrier.cta.red.or.aligned.pred") {
    converge(barrier, 0);
    instr.orders = Orders::Barrier;
  } else if (op == "bar.arrive") {
    converge(barrier, 0);
  } else if (startsWith(op, "fence.acq_rel.")) {
    orders(fence, Orders::Fence);
    instr.code[0] = contains(op, ".cta")   ? kCta
                    : contains(op, ".gpu") ? kGpu
                                           : kSys;
  } else if (op == "fence.proxy.async" || op == "fence.proxy.async.global" ||
             op == "fence.proxy.async.shared::cta") {
    orders(proxyFence, Orders::ProxyFence);
  } else if (op == "mbarrier.init.shared::cta.b64") {
    instr.exec = initialise;
  } else if (startsWith(op, "mbarrier.arrive.")) {
    instr.exec = arrive;
  } else if (startsWith(op, "mbarrier.expect_tx.relaxed.cta.") ||
             startsWith(op, "mbarrier.complete_tx.relaxed.cta.")) {
    instr.exec = transact;
  } else if (op == "mbarrier.try_wait.parity.shared::cta.b64") {
    orders(tryWait, Orders::Phase);
  } else if (op == "nanosleep.u32") {
    instr.exec = nanosleep;
  } else if (op == "mapa.shared::cluster.u32") {
    instr.exec = mapa;
  } else if (op == "st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32") {
    instr.exec = sendWords;
  } else if (op == "barrier.cluster.arrive.relaxed") {
    converge(clusterArrive, 0);
  } else if (op == "barrier.cluster.wait.acquire") {
    converge(clusterWait, 0);
  } else {
    return false;
  }
  return true;
}

const char *mk::ptx::nameOf(Orders orders) {
  switch (orders) {
  case Orders::Nothing:
    return "nothing";
  case Orders::Fence:
    return "fence";
  case Orders::ProxyFence:
    return "proxy fence";
  case Orders::Barrier:
    return "barrier";
  case Orders::Phase:
    return "wait for an mbarrier";
  case Orders::Signal:
    return "wait for a signal";
  case Orders::Acquire:
    return "acquire";
  case Orders::Release:
    return "release";
  case Orders::Group:
    return "wait for a group";
  case Orders::Lap:
    return "lap of a command";
  }
  return "";
}
