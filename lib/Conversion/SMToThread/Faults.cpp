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
//   to, so threads that meet at barriers have to agree on whether they count
//   (mk-sm-agree-on-failure); the producer sends those that both partitions read
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
  auto [barrier, threads] = p.getConsumerBarrier();
  return mk_thread::AgreeOnFailureOp::create(p, barrier, threads);
}

void sm::updateWaitFailed(PartitionBuilder &p) {
  if (p.waitFailed)
    write(p, p.waitFailed, agreeOnFailure(p));
}

Value sm::loadAgreed(PartitionBuilder &p, Type type, Value address) {
  Value failed = p.waitFailed ? read(p, p.waitFailed, p.i32) : agreeOnFailure(p);
  return mk_thread::loadElement(p, type, address, failed, {}, /*inverted=*/true);
}

Value sm::loadScalar(PartitionBuilder &p, memref::LoadOp op, Type type, Value address) {
  // What is loaded ahead and goes into vectors must not pass through a uniform register.
  bool ahead = llvm::any_of(op->getUsers(), llvm::IsaPred<scf::YieldOp>);
  if (ahead && isa<FloatType>(type))
    address =
        add(p, address,
            resize(p, mk_thread::DivergentZeroOp::create(p, p.i32, p.thread).getResult(), p.i64));
  return load(p, type, address);
}
