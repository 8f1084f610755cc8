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
#include "Lowering.h"
#include "mkernel/ABI/Gpu.h"

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::sm;
using namespace mlir::mk_sm;
using Predicate = arith::CmpIPredicate;

//===----------------------------------------------------------------------===//
// Reports
//===----------------------------------------------------------------------===//

mk_thread::ReportAttr Lowering::makeReport(int64_t kind, int64_t number) {
  return mk_thread::ReportAttr::get(b.getContext(), kind, roleNumber, number);
}

// Stands in loops beside accumulators, where a report would take registers from them: what
// has failed, and in which role, is kept for the end.
void Lowering::failUnless(Value condition, int64_t kind) {
  create<mk_thread::FailUnlessOp>(resize(condition, i32), makeReport(kind, 0));
}

//===----------------------------------------------------------------------===//
// What is left out
//===----------------------------------------------------------------------===//

Value Lowering::existingPeer(Value peer) {
  Value exists = cmp(Predicate::ult, peer, kernel.getMeshOp().getNumRanks());
  failUnless(exists, MK_FAIL_PEER);
  return select(exists, peer, ownRank());
}

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

Value Lowering::agreeOnFailure() {
  auto [barrier, threads] = getMeeting();
  return create<mk_thread::AgreeOnFailureOp>(barrier, threads);
}

void Lowering::updateWaitFailed() {
  if (waitFailed)
    write(waitFailed, agreeOnFailure());
}

bool Lowering::mayBeWritten(const Buffer &buffer) {
  if (buffer.arg < 0)
    return mayBeWritten(*buffer.whenTrue) || mayBeWritten(*buffer.whenFalse);
  return kernel.getArgKind(buffer.arg) != ArgKind::In;
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

bool Lowering::isUncertain(memref::LoadOp op) {
  if (!partition || !partition->isAncestor(op))
    return false;
  FailureOr<Buffer> from = buffer(op, op.getMemRef());
  // With checks an index that is wrong is found.
  return succeeded(from) &&
         (mayBeWritten(*from) || (!sites && !llvm::all_of(op.getIndices(), isStable)));
}

bool Lowering::needsAgreement() {
  if (isOneWarp())
    return false;
  bool waits = static_cast<bool>(resources.prepare), loads = false;
  partition.walk([&](Operation *op) {
    waits |= isa<mk::WaitOp, PopOp>(op);
    if (auto load = dyn_cast<memref::LoadOp>(op))
      loads |= isUncertain(load);
  });
  return waits && loads;
}

Value Lowering::loadIfFine(Type type, Value address, Value failed) {
  int64_t bytes = getElementBytes(type);
  Type bits = b.getIntegerType(std::max<int64_t>(8 * bytes, 16));
  Value value = loadWords(bits, address, bytes, failed, cint(bits, 0), /*inverted=*/true)[0];
  Type own = b.getIntegerType(type.getIntOrFloatBitWidth());
  value = resize(value, own);
  return type == own ? value : Value(LLVM::BitcastOp::create(b, loc, type, value));
}

Value Lowering::loadScalar(memref::LoadOp op, Type type, Value address) {
  if (isUncertain(op)) {
    if (isOneWarp())
      return loadIfFine(type, address, agreeOnFailure());
    if (waitFailed)
      return loadIfFine(type, address, read(waitFailed, i32));
  }
  // What is loaded ahead and goes into vectors must not pass through a uniform register.
  bool ahead = llvm::any_of(op->getUsers(), llvm::IsaPred<scf::YieldOp>);
  if (ahead && isa<FloatType>(type))
    address = add(address, resize(create<mk_thread::OwnZeroOp>(i32, thread).getResult(), i64));
  return load(type, address);
}
