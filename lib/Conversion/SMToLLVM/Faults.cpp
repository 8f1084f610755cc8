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
#include <utility>

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::sm;
using namespace mlir::mk_sm;
using Predicate = arith::CmpIPredicate;

//===----------------------------------------------------------------------===//
// Reports
//===----------------------------------------------------------------------===//

// NVPTX names parameters after their function.
std::string sm::getParamName(LLVM::LLVMFuncOp function) {
  return (function.getName() + "_param_0").str();
}

std::string Lowering::failedWord() {
  return "mk_shared+" + std::to_string(shared.failed);
}

ReportText Lowering::makeReport(int64_t kind, int64_t number) {
  ReportText report;
  report.kind = kind;
  report.role = roleNumber;
  report.number = number;
  report.params = getParamName(function);
  report.launch = params.launch;
  report.failed = failedWord();
  return report;
}

void ReportText::write(llvm::raw_ostream &os) const {
  auto put = [&](int64_t offset, StringRef type, StringRef value) {
    os << "st.global." << type << " [report+" << offset << "], " << value
       << "; ";
  };
  auto param = [&](int64_t offset) {
    os << "ld.param.b64 report, [" << params << "+" << launch + offset << "]; ";
  };
  param(offsetof(mk_gpu_launch, control));
  os << "atom.acq_rel.gpu.global.exch.b32 word, [report+"
     << offsetof(mk_gpu_control, claimed)
     << "], 1; setp.ne.u32 some, word, 0; @some bra LOST; ";
  param(offsetof(mk_gpu_launch, report));
  put(offsetof(mk_gpu_report, kind), "b32", std::to_string(kind));
  os << "mov.u32 low, %ctaid.x; ";
  put(offsetof(mk_gpu_report, cta), "b32", "low");
  put(offsetof(mk_gpu_report, role), "b32", std::to_string(role));
  put(offsetof(mk_gpu_report, number), "b32", std::to_string(number));
  if (named != "0")
    put(offsetof(mk_gpu_report, named), "b32", named);
  os << element;
  put(offsetof(mk_gpu_report, element), "b64", "value");
  os << wanted;
  put(offsetof(mk_gpu_report, wanted), "b64", "value");
  os << seen;
  put(offsetof(mk_gpu_report, seen), "b64", "value");
  if (!rank.empty()) {
    os << rank;
    put(offsetof(mk_gpu_report, rank), "b64", "value");
  }
  os << "fence.acq_rel.sys; st.relaxed.sys.global.b32 [report], 1; "
     << "fence.acq_rel.sys; ";
  param(offsetof(mk_gpu_launch, control));
  os << "st.relaxed.sys.global.b32 [report+" << offsetof(mk_gpu_control, abort) << "], 1; "
     << "LOST: st.volatile.shared.b32 [" << failed << "], 1; ";
}

// Stands in loops beside accumulators, where a report would take registers from them: what
// has failed, and in which role, is kept for the end.
void Lowering::failUnless(Value condition, int64_t kind) {
  defersReports = true;
  ptx("{ .reg .pred p; setp.eq.u32 p, $0, 0; @p st.volatile.shared.b32 [" + failedWord() +
          "], " + std::to_string(kind | int64_t(roleNumber) << 8) + "; }",
      {}, resize(condition, i32));
}

// By whoever has found it, at least: a thread sees what it has stored.
// Not the line: code does not depend on where it stands in a file.
void Lowering::reportDeferred() {
  if (!std::exchange(defersReports, false))
    return;
  std::string text, name = getParamName(function);
  llvm::raw_string_ostream os(text);
  auto param = [&](int64_t offset) {
    os << "ld.param.b64 report, [" << name << "+" << params.launch + offset << "]; ";
  };
  os << "{ .reg .pred some; .reg .b32 what, word; .reg .b64 report; "
     << "ld.volatile.shared.b32 what, [" << failedWord() << "]; "
     << "setp.le.u32 some, what, 1; @some bra RIGHT; ";
  param(offsetof(mk_gpu_launch, control));
  os << "atom.acq_rel.gpu.global.exch.b32 word, [report+"
     << offsetof(mk_gpu_control, claimed)
     << "], 1; setp.ne.u32 some, word, 0; @some bra KNOWN; ";
  param(offsetof(mk_gpu_launch, report));
  os << "and.b32 word, what, 255; st.global.b32 [report+" << offsetof(mk_gpu_report, kind)
     << "], word; shr.u32 word, what, 8; st.global.b32 [report+"
     << offsetof(mk_gpu_report, role) << "], word; "
     << "fence.acq_rel.sys; st.relaxed.sys.global.b32 [report], 1; fence.acq_rel.sys; KNOWN: ";
  param(offsetof(mk_gpu_launch, control));
  os << "st.relaxed.sys.global.b32 [report+" << offsetof(mk_gpu_control, abort)
     << "], 1; RIGHT: }";
  ptx(text, {}, {});
}

//===----------------------------------------------------------------------===//
// What is left out
//===----------------------------------------------------------------------===//

Value Lowering::isFine() {
  return eq(ptx("ld.volatile.shared.b32 $0, [" + failedWord() + "];", i32, {})[0], 0);
}

void Lowering::ifFine(function_ref<void()> body) { ifThen(isFine(), body); }

Value Lowering::valueIfFine(Value otherwise, function_ref<Value()> body) {
  auto choice = scf::IfOp::create(b, loc, TypeRange(otherwise.getType()), isFine(),
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(choice.thenBlock());
  scf::YieldOp::create(b, loc, body());
  b.setInsertionPointToStart(choice.elseBlock());
  scf::YieldOp::create(b, loc, otherwise);
  return choice.getResult(0);
}

Value Lowering::existingPeer(Value peer) {
  Value exists = cmp(Predicate::ult, peer, kernel.getMeshOp().getNumRanks());
  failUnless(exists, MK_FAIL_PEER);
  return select(exists, peer, ownRank());
}

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

Value Lowering::agreeOnFailure() {
  std::string text = "{ .reg .pred p; .reg .b32 word; ld.volatile.shared.b32 word, [" +
                     failedWord() + "]; setp.ne.u32 p, word, 0; ";
  SmallVector<Value> operands;
  if (isProducer()) {
    text += "vote.sync.any.pred p, p, 0xffffffff; ";
  } else {
    text += "barrier.cta.red.or.aligned.pred p, $1, " +
            std::to_string(partition.getNumThreads()) + ", p; ";
    operands.push_back(partitionBarrier());
  }
  return ptx(text + "selp.b32 $0, 1, 0, p; }", i32, operands)[0];
}

void Lowering::noteWait() {
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
  if (isProducer())
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
  std::string kind = bytes == 1 ? "u8" : "b" + std::to_string(8 * bytes);
  Value value = tied("{ .reg .pred p; setp.eq.u32 p, $3, 0; @p ld.global." + kind +
                         " $0, [$2]; }",
                     cint(bits, 0), {address, failed})[0];
  Type own = b.getIntegerType(type.getIntOrFloatBitWidth());
  value = resize(value, own);
  return type == own ? value : Value(LLVM::BitcastOp::create(b, loc, type, value));
}

Value Lowering::loadScalar(memref::LoadOp op, Type type, Value address) {
  if (isUncertain(op)) {
    if (isProducer())
      return loadIfFine(type, address, agreeOnFailure());
    if (waitFailed)
      return loadIfFine(type, address, read(waitFailed, i32));
  }
  return load(type, address);
}
