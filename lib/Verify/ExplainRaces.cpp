//===- ExplainRaces.cpp - Accesses that nothing orders, in words ----------===//
#include "Verify.h"

using namespace mlir;
using namespace mlir::mk;
using ::mk::check::Access;
using ::mk::check::Machine;
using ::mk::check::Race;

/// Whether a role, or one whose CTAs go on with it, waits for one of the signals.
static bool waitsFor(RoleOp role, const llvm::SetVector<Value> &signals) {
  auto waits = [&](RoleOp other) {
    return other
        .walk([&](WaitOp wait) {
          return signals.contains(wait.getSignal()) ? WalkResult::interrupt()
                                                    : WalkResult::advance();
        })
        .wasInterrupted();
  };
  if (waits(role))
    return true;
  return llvm::any_of(role->getParentOfType<KernelOp>().getBody().getOps<RoleOp>(),
                      [&](RoleOp other) { return other.getThen() && waits(other); });
}

/// If the role that reads waits for nothing that follows from what the role that writes raises:
/// that a wait is missing, and for what. Empty if something is waited for, but too early.
static std::string explainMissingWait(Operation *write, Operation *read) {
  auto writer = write->getParentOfType<RoleOp>(), reader = read->getParentOfType<RoleOp>();
  if (!writer || !reader || holds<CountOp, mk_sm::PopOp>(reader))
    return {};
  llvm::SetVector<Value> raised = findRaised(writer), all = raised;
  // And of roles that wait for that, and so on.
  for (size_t size = 0; size != all.size();) {
    size = all.size();
    for (RoleOp role : reader->getParentOfType<KernelOp>().getBody().getOps<RoleOp>())
      if (waitsFor(role, all))
        all.insert_range(findRaised(role));
  }
  if (raised.empty() || waitsFor(reader, all))
    return {};
  Value own;
  if (auto put = dyn_cast<PutOp>(write))
    own = put.getSignal();
  else if (auto store = dyn_cast<StoreOp>(write))
    own = store.getSignal();
  auto signals = (own ? own : raised.front()).getDefiningOp<SignalsOp>();
  std::string who = ("role '" + reader.getSymName() + "' ").str();
  if (!signals || (!own && raised.size() > 1))
    return (who + "waits for no signal that role '" + writer.getSymName() +
            "' raises: raise one with or behind the write and wait for it before the read")
        .str();
  who += ("does not wait for signal '" + signals.getName() + "', which ").str();
  if (own)
    return who + "the write raises: wait for it before the read";
  return (who + "role '" + writer.getSymName() +
          "' raises: raise it behind the write and wait for it before the read")
      .str();
}

/// Whether all CTAs come to the op, once each.
static bool isOutsideOfLoops(Operation *op) {
  for (Operation *in = op->getParentOp(); in && !isa<RoleOp, PrepareOp>(in); in = in->getParentOp())
    if (isa<LoopLikeOpInterface, mk_sm::ItemsOp>(in))
      return false;
  return true;
}

LogicalResult mlir::mk::reportRaces(KernelProgram &program, const Machine &machine,
                                    StringRef order) {
  llvm::DenseSet<std::pair<Operation *, Operation *>> missing; // a write, and who does not wait
  for (const Race &race : machine.races()) {
    Access first = race.first, second = race.second;
    auto putting = program.opOf(first.site)->getParentOfType<RoleOp>();
    std::string remedy = remedyOf(race, putting && putting.isOfEngines());
    if (race.ofOnePut) {
      Operation *put = program.opOf(first.site);
      put->emitOpError() << "races: " << program.describe(first.cta, put) << " puts '"
                         << program.bufferName(race.buffer) << "'" << first.box.toString()
                         << " of rank " << race.rank << " to '" << program.bufferName(race.buffer)
                         << "'" << second.box.toString() << " there; " << remedy;
      continue;
    }
    bool settles = first.put && !first.write;
    if (first.write != second.write && first.cta != second.cta && !settles) {
      // Where a wait is missing, chance decides which of the two comes first.
      if (!first.write)
        std::swap(first, second);
      Operation *write = program.opOf(first.site), *read = program.opOf(second.site);
      if (std::string why = explainMissingWait(write, read); why.empty()) {
        first = race.first, second = race.second;
      } else {
        remedy = std::move(why);
        if (!missing.insert({write, read}).second)
          continue;
      }
    }
    Operation *at = program.opOf(second.site), *other = program.opOf(first.site);
    if (at == other && first.write && second.write && isOutsideOfLoops(at) &&
        program.rankOf(first.cta) == program.rankOf(second.cta))
      remedy = "each CTA does what stands outside of mk.foreach: put it into one, whose items are "
               "done once";
    InFlightDiagnostic error = at->emitOpError()
                               << "races: " << program.describe(second.cta, at) << " "
                               << verbOf(second) << " '" << program.bufferName(race.buffer) << "'"
                               << race.both.toString() << " of rank " << race.rank << ", and "
                               << program.describe(first.cta, other) << " " << verbOf(first)
                               << " it with nothing to order the two" << (order.empty() ? "" : ", ")
                               << order << "; " << remedy;
    error.attachNote(other->getLoc()) << "the other access";
  }
  return failure(!machine.races().empty());
}
