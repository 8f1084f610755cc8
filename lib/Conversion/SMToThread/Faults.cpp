//===- Faults.cpp - How a launch that has failed comes to its end ---------===//
//
// A launch fails when a wait passes its deadline, when an op names what does not exist or a
// loop cannot be counted, and when another CTA, rank or the host says so. It is not ended there: a
// trap would take the whole CUDA context with it, and a thread that ends early would be
// missed by named barriers, which count. All threads go on to the end of the kernel, doing
// no harm. A word in shared memory says that the CTA has failed:
//
// - waits for memory that others write return at once; those for barriers in shared memory
//   go on, since both sides come to them as ever;
// - puts, signals, counts, pushes and commands are left out, stores at other ranks are, too;
// - there are no tickets left, so that loops over them end with the next item. Other loops
//   run on, over tiles from valid addresses;
// - scalars from memory that somebody writes are 0. They decide which barriers threads come
//   to, so threads that meet at barriers have to agree on whether they count: those of a
//   consumer behind each wait; the producer sends those that both partitions read
//   (mk-sm-split-roles).
//
// Indices that are out of bounds become 0, peers that do not exist this rank. Nothing of
// this costs anything where there is no wait and no effect.
//
//===----------------------------------------------------------------------===//
#include "Faults.h"
#include "mkernel/ABI/Gpu.h"

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::sm;
using namespace mlir::mk_sm;

// Stands in loops beside accumulators, where a report would take registers from them: what
// has failed, and in which role, is kept for the end.
void sm::failUnless(PartitionBuilder &p, Value condition, int64_t kind) {
  mk_thread::FailUnlessOp::create(p, resize(p, condition, p.i32), p.makeReport(kind, 0));
}

Value sm::existingPeer(PartitionBuilder &p, Value peer) {
  Value exists = ult(p, peer, p.info.getNumRanks());
  failUnless(p, exists, MK_FAIL_PEER);
  return select(p, exists, peer, ownRank(p));
}

Value sm::agreeOnFailure(PartitionBuilder &p) {
  auto [barrier, threads] = p.getMeeting();
  return mk_thread::AgreeOnFailureOp::create(p, barrier, threads);
}

void sm::updateWaitFailed(PartitionBuilder &p) {
  if (p.waitFailed)
    write(p, p.waitFailed, agreeOnFailure(p));
}

/// Whether the number follows from parameters and the thread's place alone.
static bool isStable(Value value) {
  if (auto arg = dyn_cast<BlockArgument>(value)) {
    Operation *op = arg.getOwner()->getParentOp();
    if (isa<KernelOp>(op))
      return true;
    if (auto items = dyn_cast<ItemsOp>(op))
      return isStable(items.getTotal());
    auto loop = dyn_cast<scf::ForOp>(op);
    return loop && arg == loop.getInductionVar() && isStable(loop.getLowerBound()) &&
           isStable(loop.getUpperBound());
  }
  Operation *op = value.getDefiningOp();
  return op->getNumRegions() == 0 && isMemoryEffectFree(op) &&
         llvm::all_of(op->getOperands(), [](Value operand) {
           return isa<BaseMemRefType>(operand.getType()) || isStable(operand);
         });
}

/// Whether what is loaded, or from where, has no meaning after a failure.
static bool isUncertain(PartitionBuilder &p, memref::LoadOp op) {
  if (!p.partition || !p.partition->isAncestor(op))
    return false;
  // With checks an index that is wrong is found.
  return !isNeverWritten(op.getMemRef()) ||
         (!p.info.checked && !llvm::all_of(op.getIndices(), isStable));
}

bool sm::needsAgreement(PartitionBuilder &p) {
  if (p.isOneWarp())
    return false;
  bool waits = static_cast<bool>(p.info.resources.prepare), loads = false;
  p.partition.walk([&](Operation *op) {
    waits |= isa<mk::WaitOp, PopOp>(op);
    if (auto load = dyn_cast<memref::LoadOp>(op))
      loads |= isUncertain(p, load);
  });
  return waits && loads;
}

Value sm::loadScalar(PartitionBuilder &p, memref::LoadOp op, Type type, Value address) {
  if (isUncertain(p, op)) {
    if (p.isOneWarp())
      return mk_thread::loadElement(p, type, address, agreeOnFailure(p), {}, /*inverted=*/true);
    if (p.waitFailed)
      return mk_thread::loadElement(p, type, address, read(p, p.waitFailed, p.i32), {},
                                    /*inverted=*/true);
  }
  // What is loaded ahead and goes into vectors must not pass through a uniform register.
  bool ahead = llvm::any_of(op->getUsers(), llvm::IsaPred<scf::YieldOp>);
  if (ahead && isa<FloatType>(type))
    address =
        add(p, address,
            resize(p, mk_thread::DivergentZeroOp::create(p, p.i32, p.thread).getResult(), p.i64));
  return load(p, type, address);
}
