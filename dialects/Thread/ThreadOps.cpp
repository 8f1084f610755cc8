//===- ThreadOps.cpp - What ops of the thread dialect demand --------------===//
//
// Waits, checks and records of time: ThreadReportOps.cpp.
//
//===----------------------------------------------------------------------===//
#include "mkernel/ABI/Gpu.h"
#include "mkernel/Dialect/Thread/Thread.h"
#include "mkernel/Dialect/Tile/Target.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::mk_thread;

StringRef mk_thread::getAddition(Type type) {
  if (type.isF32())
    return "f32";
  if (type.isF64())
    return "f64";
  if (type.isBF16())
    return "noftz.bf16";
  if (type.isF16())
    return "noftz.f16";
  if (type.isInteger(32))
    return "u32";
  if (type.isInteger(64))
    return "u64";
  return {};
}

LogicalResult mk_thread::verifyAddition(Operation *op, std::optional<Type> type) {
  if (type && getAddition(*type).empty())
    return op->emitOpError() << "adds elements of " << *type
                             << ", which memory does not; use f32, f64, bf16, f16, i32 or i64";
  return success();
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

LogicalResult KernelOp::verify() {
  mk::SmAttr sm = mk::getSm(*this);
  int64_t threads = getThreads(), most = sm ? sm.getThreads() : threads;
  if (threads < 32 || threads > most || threads % 32)
    return emitOpError() << "has " << threads << " threads; a CTA has 32 to " << most
                         << ", in whole warps";
  int64_t cluster = getCluster();
  if (cluster < 1 || cluster > 16)
    return emitOpError() << "has clusters of " << cluster << " CTAs; there are 1 to 16";
  int64_t paramBytes = getParamBytes(), sharedBytes = getSharedBytes();
  if (paramBytes < 0 || paramBytes > MK_GPU_MAX_PARAM_BYTES)
    return emitOpError() << "has " << paramBytes << " bytes of parameters; there are at most "
                         << MK_GPU_MAX_PARAM_BYTES << ", so put what is large in global memory";
  if (getBody().getNumArguments())
    return emitOpError("has a body with arguments; mk_thread.param reads the parameters");
  FrameAttr frame = getFrame();
  if (frame.getFailed() + 4 > sharedBytes)
    return emitOpError() << "keeps its failure at byte " << frame.getFailed() << " of "
                         << sharedBytes << " bytes of shared memory; make that larger";
  if (frame.getLaunch() + int64_t(sizeof(mk_gpu_launch)) > paramBytes)
    return emitOpError() << "finds its launch, " << sizeof(mk_gpu_launch) << " bytes, at byte "
                         << frame.getLaunch() << " of " << paramBytes
                         << " bytes of parameters; make these larger";
  if (!frame.getTracks())
    return success();
  if (frame.getTimeline() + 8 > paramBytes)
    return emitOpError() << "finds the address of its tracks at byte " << frame.getTimeline()
                         << " of " << paramBytes << " bytes of parameters; make these larger";
  if (frame.getWords() + kTrackBytes * (kMaxTracks + 1) > sharedBytes)
    return emitOpError() << "keeps " << kTrackBytes * (kMaxTracks + 1)
                         << " bytes of its tracks at byte " << frame.getWords() << " of "
                         << sharedBytes << " bytes of shared memory; make that larger";
  return success();
}

/// The kernel in which an op is that has been verified to be in one.
static KernelOp kernelOf(Operation *op) { return op->getParentOfType<KernelOp>(); }

LogicalResult mk_thread::verifyInKernel(Operation *op) {
  if (kernelOf(op))
    return success();
  return op->emitOpError(
      "stands outside of mk_thread.kernel, where nothing lowers it; move it into the kernel");
}

LogicalResult mk_thread::verifyInParams(Operation *op, int64_t offset, int64_t align,
                                        int64_t bytes) {
  bytes = std::max(align, bytes);
  if (offset % align)
    return op->emitOpError() << "reads " << bytes << " bytes at " << offset
                             << " of the parameters; use an offset that is a multiple of " << align;
  int64_t all = kernelOf(op).getParamBytes();
  if (offset + bytes > all)
    return op->emitOpError() << "reads " << bytes << " bytes at " << offset << " of " << all
                             << " bytes of parameters; use an offset in them";
  return success();
}

LogicalResult ParamOp::verify() {
  int64_t bytes = getResult().getType().getIntOrFloatBitWidth() / 8;
  if (getPinned() && bytes != 8)
    return emitOpError(
        "is pinned, and reads 4 bytes; pinned words have 8: read an i64, or do not pin it");
  return verifyInParams(*this, getOffset(), bytes);
}

LogicalResult ParamAddressOp::verify() { return verifyInParams(*this, getOffset(), 1); }

LogicalResult mk_thread::verifyInShared(Operation *op, int64_t offset, int64_t align,
                                        int64_t bytes) {
  bytes = std::max(align, bytes);
  if (offset % align)
    return op->emitOpError() << "names " << bytes << " bytes at " << offset
                             << " of shared memory; use an offset that is a multiple of " << align;
  int64_t all = kernelOf(op).getSharedBytes();
  if (offset + bytes > all)
    return op->emitOpError() << "names " << bytes << " bytes at " << offset << " of " << all
                             << " bytes of shared memory; use an offset in it";
  return success();
}

LogicalResult SharedBaseOp::verify() {
  if (getOffset() && !getPinned())
    return emitOpError("has an offset, and is not pinned: add the offset to the base");
  return verifyInShared(*this, getOffset(), 1);
}

void ParamAddressOp::build(OpBuilder &b, OperationState &state, int64_t offset, Value index) {
  build(b, state, LLVM::LLVMPointerType::get(b.getContext()), offset, index);
}

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

LogicalResult BarrierArriveOp::verify() {
  if (getCta() && getBytes())
    return emitOpError("expects bytes at the barrier of another CTA; only its own CTA can: leave "
                       "out `in` or `expect`");
  return success();
}

static LogicalResult verifyNamed(Operation *op, int64_t threads) {
  if (threads < 32 || threads > 1024 || threads % 32)
    return op->emitOpError() << "counts " << threads
                             << " threads; a named barrier counts 32 to 1024, in whole warps";
  if (int64_t all = kernelOf(op).getThreads(); threads > all)
    return op->emitOpError() << "counts " << threads << " threads of a CTA that has " << all
                             << ", so nobody would go on; count those that come";
  return success();
}
LogicalResult SyncOp::verify() { return verifyNamed(*this, getThreads()); }
LogicalResult ArriveOp::verify() { return verifyNamed(*this, getThreads()); }
LogicalResult SyncOrOp::verify() { return verifyNamed(*this, getThreads()); }

LogicalResult SetRegistersOp::verify() {
  mk::SmAttr sm = mk::getSm(*this);
  if (!sm)
    return success();
  mk::RegistersAttr file = sm.getRegisters();
  if (!file.has(getCount()))
    return emitOpError() << "gives each thread " << int64_t(getCount()) << " registers; there are "
                         << file.getLeast() << " to " << file.getMost() << ", in steps of "
                         << file.getStep();
  return success();
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

static LogicalResult verifyCoordinates(Operation *op, int64_t count) {
  mk::SmAttr sm = mk::getSm(op);
  if (int64_t most = sm ? sm.getTensorMaps().getRank() : count; count < 1 || count > most)
    return op->emitOpError() << "has " << count << " coordinates; a tensor map has 1 to " << most
                             << " dimensions";
  return success();
}
LogicalResult CopyTensorOp::verify() {
  if (getCtas() && (int64_t(*getCtas()) < 1 || int64_t(*getCtas()) > 0xffff))
    return emitOpError() << "names CTAs by " << int64_t(*getCtas())
                         << ", which is no mask of the 16 that a cluster has at most";
  if (int64_t cluster = kernelOf(*this).getCluster(); getCtas() && *getCtas() >> cluster)
    return emitOpError() << "copies to CTAs " << int64_t(*getCtas())
                         << " (a mask) of a cluster that has " << cluster
                         << "; name those that exist";
  return verifyCoordinates(*this, getCoordinates().size());
}
LogicalResult StoreTensorOp::verify() { return verifyCoordinates(*this, getCoordinates().size()); }
static LogicalResult verifyBulk(Operation *op, Value bytes) {
  if (std::optional<int64_t> count = getConstantIntValue(bytes);
      count && (*count < 0 || *count % 16))
    return op->emitOpError() << "copies " << *count
                             << " bytes; the copy engine takes multiples of 16";
  return success();
}
LogicalResult CopyBulkOp::verify() { return verifyBulk(*this, getBytes()); }
LogicalResult StoreBulkOp::verify() {
  return failed(verifyBulk(*this, getBytes())) ? failure() : verifyAddition(*this, getAdd());
}

//===----------------------------------------------------------------------===//
// Matrices
//===----------------------------------------------------------------------===//

int64_t mk_thread::getMatrixBytes(StringRef type) {
  return llvm::StringSwitch<int64_t>(type)
      .Cases({"bf16", "f16"}, 2)
      .Case("tf32", 4)
      .Cases({"e4m3", "e5m2"}, 1)
      .Default(0);
}
/// What matrix ops have in common.
template <typename OpT> static LogicalResult verifyMatrixTypes(OpT op) {
  int64_t bytes = getMatrixBytes(op.getLeftType());
  if (!bytes || bytes != getMatrixBytes(op.getRightType()) ||
      (bytes != 1 && op.getLeftType() != op.getRightType()))
    return op.emitOpError() << "multiplies " << op.getLeftType() << " by " << op.getRightType()
                            << "; use two of bf16, f16 or tf32, or any of e4m3 and e5m2";
  if (bytes != 2 && (op.getTransposeLeft() || op.getTransposeRight()))
    return op.emitOpError() << "transposes " << op.getLeftType() << "; only 16-bit types are";
  if (!op.getAcc().empty() && op.getAcc().size() != op.getResults().size())
    return op.emitOpError() << "has " << op.getAcc().size() << " values as accumulator and "
                            << op.getResults().size() << " results";
  if (op.getAcc().empty() && op.getAccumulate())
    return op.emitOpError("says when its accumulator counts, and has none: leave out `accumulate`");
  return success();
}

LogicalResult ProductOp::verify() {
  if (failed(verifyMatrixTypes(*this)))
    return failure();
  int64_t rows = getRows(), n = getColumns(), k = getDepth(),
          step = 32 / getMatrixBytes(getLeftType());
  if (rows % 64 || n % getWidth() || k % step)
    return emitOpError() << "has " << rows << " x " << n << " x " << k
                         << " elements; use multiples of 64, " << getWidth() << " and " << step
                         << ", those of an instruction";
  size_t words = getLeft().size();
  if (words == 1 ? !getLeftRows()
                 : int64_t(words) != rows * k / 256 || getLeftRows() || getTransposeLeft())
    return emitOpError() << "has a left operand of " << words << " words and "
                         << int64_t(getLeftRows())
                         << " rows; give the address of a tile with rows, or " << rows * k / 256
                         << " words without, and not transposed";
  if (int64_t(getResults().size()) != rows * n / 128)
    return emitOpError() << "has " << getResults().size() << " results; a thread has "
                         << rows * n / 128 << " elements of the product";
  return success();
}

LogicalResult WgmmaOp::verify() {
  int64_t n = getN();
  mk::SmAttr sm = mk::getSm(*this);
  mk::MatrixUnitAttr unit = sm ? sm.getMatrixUnit() : mk::MatrixUnitAttr();
  if (unit && (n < 1 || n > unit.getColumns() || n % unit.getColumnStep()))
    return emitOpError() << "has " << n << " columns; there are " << unit.getColumnStep() << " to "
                         << unit.getColumns() << ", in steps of " << unit.getColumnStep();
  if (failed(verifyMatrixTypes(*this)))
    return failure();
  int64_t bytes = getMatrixBytes(getLeftType());
  if (unit && int64_t(getK()) != unit.getKBytes() / bytes)
    return emitOpError() << "contracts " << getK() << " elements; of " << getLeftType() << " it is "
                         << unit.getKBytes() / bytes;
  size_t words = getLeft().size();
  bool isDescriptor = words == 1 && getLeft()[0].getType().isInteger(64);
  if (!isDescriptor && (words != 4 || !llvm::all_of(getLeft().getTypes(),
                                                    [](Type type) { return type.isInteger(32); })))
    return emitOpError(
        "has a left operand that is neither a descriptor (an i64) nor 4 registers (i32)");
  if (!isDescriptor && (getLeftOffset() || getTransposeLeft()))
    return emitOpError(
        "has a left operand in registers, which has no offset and is not transposed");
  if (int64_t(getResults().size()) != n / 2)
    return emitOpError() << "has " << getResults().size()
                         << " results; a thread has n / 2 = " << n / 2
                         << " elements of the product";
  return success();
}

LogicalResult PinOp::verify() {
  if (getValues().empty())
    return emitOpError("pins no values; name those that are to be computed here");
  return success();
}

static LogicalResult verifyFp8(Operation *op, Type type) {
  if (isa<Float8E4M3FNType, Float8E5M2Type>(type))
    return success();
  return op->emitOpError() << "converts " << type << "; use f8E4M3FN or f8E5M2";
}
LogicalResult ToFp8Op::verify() { return verifyFp8(*this, getType()); }
LogicalResult FromFp8Op::verify() { return verifyFp8(*this, getType()); }

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

/// Words of an access of so many bytes are these.
static LogicalResult verifyWords(Operation *op, int64_t bytes, TypeRange words) {
  size_t wanted = bytes > 4 && words.size() > 1 ? bytes / 4 : 1;
  if (!llvm::is_contained({1, 2, 4, 8, 16}, bytes) || (bytes == 16 && words.size() == 1) ||
      words.size() != wanted)
    return op->emitOpError()
           << "of " << bytes << " bytes has " << words.size()
           << " words; use 1, 2, 4 or 8 bytes as one word, or 8 or 16 as words of 4";
  for (Type type : words)
    if (int64_t width = type.getIntOrFloatBitWidth() / 8;
        width != std::max<int64_t>(bytes / words.size(), 2))
      return op->emitOpError() << "of " << bytes << " bytes has a word of " << width << " bytes";
  return success();
}

/// Without an address an access is at an offset in the kernel's shared memory.
static LogicalResult verifySharedAccess(Operation *op, Value address, int64_t offset, Type type) {
  return address ? success() : verifyInShared(op, offset, type.getIntOrFloatBitWidth() / 8);
}
LogicalResult LoadSharedOp::verify() {
  return verifySharedAccess(*this, getAddress(), getOffset(), getResult().getType());
}
LogicalResult StoreSharedOp::verify() {
  return verifySharedAccess(*this, getAddress(), getOffset(), getValue().getType());
}

static LogicalResult verifyCondition(Operation *op, Value condition, bool isInverted) {
  if (condition || !isInverted)
    return success();
  return op->emitOpError("inverts a condition, and has none: leave out `inverted`");
}

LogicalResult LoadOp::verify() {
  if (failed(verifyCondition(*this, getCondition(), getInverted())))
    return failure();
  if (getCondition() ? getOtherwise().getTypes() != getResults().getTypes()
                     : !getOtherwise().empty())
    return emitOpError("needs as many values for where the condition does not hold as it has "
                       "results, and of their types");
  return verifyWords(*this, getBytes(), getResults().getTypes());
}

LogicalResult StoreOp::verify() {
  if (failed(verifyCondition(*this, getCondition(), getInverted())))
    return failure();
  if (getAdd().has_value() != getScope().has_value())
    return emitOpError(
        "has only one of `add` and `scope`: an addition has a scope, a store has none");
  if (getAdd() && getAddress().getType().isInteger(32))
    return emitOpError("adds to shared memory; elements are added in global memory");
  if (failed(verifyAddition(*this, getAdd())))
    return failure();
  if (getAdd() && (getWords().size() != 1 ||
                   int64_t(getAdd()->getIntOrFloatBitWidth()) != 8 * int64_t(getBytes())))
    return emitOpError() << "adds an element of " << *getAdd() << " with " << getWords().size()
                         << " words of " << getBytes()
                         << " bytes in all; use one word of the element's size";
  return verifyWords(*this, getBytes(), getWords().getTypes());
}

LogicalResult ReduceAddOp::verify() {
  if (getOrder() == MemOrder::Relaxed || getOrder() == MemOrder::Release)
    return success();
  return emitOpError()
         << "is " << stringifyMemOrder(getOrder())
         << "; what reads nothing is relaxed or releases (else: mk_thread.atomic_add)";
}
LogicalResult LoadAtomicOp::verify() {
  if (getOrder() == MemOrder::Relaxed || getOrder() == MemOrder::Acquire)
    return success();
  return emitOpError() << "is " << stringifyMemOrder(getOrder())
                       << "; a load is relaxed or acquires";
}
LogicalResult StoreAtomicOp::verify() {
  if (getOrder() == MemOrder::Relaxed || getOrder() == MemOrder::Release)
    return success();
  return emitOpError() << "is " << stringifyMemOrder(getOrder())
                       << "; a store is relaxed or releases";
}
