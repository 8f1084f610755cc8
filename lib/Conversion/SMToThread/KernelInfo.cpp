//===- KernelInfo.cpp - What holds for all of a kernel --------------------===//
#include "KernelInfo.h"
#include "mlir/Analysis/DataFlow/IntegerRangeAnalysis.h"
#include "mlir/Analysis/DataFlow/Utils.h"

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk_sm;

static bool communicates(Operation *op) {
  auto signal = dyn_cast<SignalOp>(op);
  return isa<PutOp>(op) || (signal && signal.getPeer());
}

bool mk::sm::holdsCommunication(Operation *scope) { return holdsAny(scope, communicates); }

static bool communicatesOnlyInMovers(KernelOp kernel) {
  return !holdsAny(kernel, [](Operation *op) {
    auto partition = op->getParentOfType<PartitionOp>();
    if (!partition || partition.getKind() == PartitionKind::Mover)
      return false;
    auto store = dyn_cast<mk_sm::StoreOp>(op);
    auto direct = dyn_cast<mk::StoreOp>(op);
    return communicates(op) || (store && !store.getPeers().empty()) || (direct && direct.getPeer());
  });
}

sm::KernelInfo::KernelInfo(KernelOp kernel, const KernelResources &resources,
                           ArrayRef<int64_t> ctas, const ParamLayout &params, SharedMemoryOp shared,
                           SiteTable *checked, SiteTable *timed)
    : resources(resources), ctas(ctas), params(params), checked(checked), timed(timed),
      byThreads(shared.getCopiers()), kernel(kernel),
      warps(*kernel.getBody().getOps<WarpsOp>().begin()), shared(shared) {
  hasEngines = kernel.hasEngines();
  waitsForOthers = !resources.signals.empty() || !resources.queues.empty() || resources.prepare ||
                   hasPeers() || hasEngines;
  keepsCounts = waitsForOthers || !resources.counters.empty() || holds<TicketOp>(kernel);
  onlyMoversCommunicate =
      hasPeers() && !hasEngines && warps.getMovers() && communicatesOnlyInMovers(kernel);
  kernel.walk([&](mk_sm::StoreOp op) {
    if (op.getPosted())
      posted.push_back(op);
  });
  dataflow::loadBaselineAnalyses(ranges);
  ranges.load<dataflow::IntegerRangeAnalysis>();
  // Where it fails nothing is known.
  (void)ranges.initializeAndRun(kernel);
}

std::optional<ConstantIntRanges> sm::KernelInfo::findRange(Value scalar) const {
  auto *range = ranges.lookupState<dataflow::IntegerValueRangeLattice>(scalar);
  if (!range || range->getValue().isUninitialized())
    return std::nullopt;
  return range->getValue().getValue();
}

CtaRange sm::KernelInfo::ctasOf(unsigned role) const {
  return getCtaRange(kernel, ctas, RoleOp(resources.roles[role]).getSymName());
}

SmallVector<int64_t> sm::KernelInfo::findCtas(ArrayRef<unsigned> roles) const {
  SmallVector<std::pair<int64_t, int64_t>> ranges; // first and count
  for (unsigned role : roles) {
    auto [first, count] = ctasOf(role);
    ranges.push_back({first, count});
  }
  llvm::sort(ranges);
  SmallVector<int64_t> found;
  for (auto [first, count] : ranges) {
    // Those that follow each other are one range.
    if (!found.empty() && found.end()[-2] + found.back() == first)
      found.back() += count;
    else if (count)
      found.append({first, count});
  }
  return found;
}
