//===- ThreadOps.cpp - What ops of the thread dialect demand --------------===//
#include "mkernel/Dialect/Thread/Thread.h"

using namespace mlir;
using namespace mlir::mk_thread;

void MkThreadDialect::registerOps() {
  addOperations<
#define GET_OP_LIST
#include "mkernel/Dialect/Thread/ThreadOps.cpp.inc"
      >();
}

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

/// The element type of `add`, if there is one, is one that memory adds.
static LogicalResult verifyAddition(Operation *op, std::optional<Type> type) {
  if (type && getAddition(*type).empty())
    return op->emitOpError() << "adds elements of " << *type
                             << ", which memory does not; use f32, f64, bf16, f16, i32 or i64";
  return success();
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

LogicalResult KernelOp::verify() {
  int64_t threads = getThreads();
  if (threads < 32 || threads > 1024 || threads % 32)
    return emitOpError() << "has " << threads << " threads; a CTA has 32 to 1024, in whole warps";
  int64_t cluster = getCluster();
  if (cluster < 1 || cluster > 16)
    return emitOpError() << "has clusters of " << cluster << " CTAs; there are 1 to 16";
  FrameAttr frame = getFrame();
  if (frame.getFailed() + 4 > int64_t(getSharedBytes()))
    return emitOpError() << "keeps its failure at byte " << frame.getFailed() << " of "
                         << getSharedBytes() << " bytes of shared memory; make that larger";
  if (frame.getLaunch() >= int64_t(getParamBytes()))
    return emitOpError() << "finds its launch at byte " << frame.getLaunch() << " of "
                         << getParamBytes() << " bytes of parameters; make these larger";
  return success();
}

/// Whether a word of so many bytes at the offset lies in the parameters of the kernel around.
static LogicalResult verifyInParams(Operation *op, int64_t offset, int64_t bytes) {
  auto kernel = op->getParentOfType<KernelOp>();
  if (!kernel || offset + bytes <= int64_t(kernel.getParamBytes()))
    return success();
  return op->emitOpError() << "reads " << bytes << " bytes at " << offset << " of "
                           << kernel.getParamBytes() << " bytes of parameters";
}

LogicalResult ParamOp::verify() {
  int64_t bytes = getResult().getType().getIntOrFloatBitWidth() / 8;
  if (getOffset() % bytes)
    return emitOpError() << "reads " << bytes << " bytes at " << getOffset()
                         << ", which is no multiple of them";
  if (getPinned() && bytes != 8)
    return emitOpError("is pinned, and reads 4 bytes; pinned words have 8");
  return verifyInParams(*this, getOffset(), bytes);
}

LogicalResult SharedBaseOp::verify() {
  if (getOffset() && !getPinned())
    return emitOpError("has an offset, and is not pinned: add the offset to the base");
  return success();
}

void ParamAddressOp::build(OpBuilder &b, OperationState &state, int64_t offset, Value index) {
  build(b, state, LLVM::LLVMPointerType::get(b.getContext()), offset, index);
}

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

LogicalResult BarrierArriveOp::verify() {
  if (getCta() && getBytes())
    return emitOpError("expects bytes at the barrier of another CTA; only the own one does");
  return success();
}

static LogicalResult verifyNamed(Operation *op, int64_t threads) {
  if (threads < 32 || threads > 1024 || threads % 32)
    return op->emitOpError() << "counts " << threads
                             << " threads; a named barrier counts 32 to 1024, in whole warps";
  return success();
}
LogicalResult SyncOp::verify() { return verifyNamed(*this, getThreads()); }
LogicalResult ArriveOp::verify() { return verifyNamed(*this, getThreads()); }
LogicalResult SyncOrOp::verify() { return verifyNamed(*this, getThreads()); }

LogicalResult SetRegistersOp::verify() {
  int64_t count = getCount();
  if (count < 24 || count > 256 || count % 8)
    return emitOpError() << "gives each thread " << count
                         << " registers; there are 24 to 256, in steps of 8 (PTX ISA, setmaxnreg)";
  return success();
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

static LogicalResult verifyCoordinates(Operation *op, size_t count) {
  if (count < 1 || count > 5)
    return op->emitOpError() << "has " << count << " coordinates; a tensor map has 1 to 5 dimensions";
  return success();
}
LogicalResult CopyTensorOp::verify() {
  if (getCtas() && (int64_t(*getCtas()) < 1 || int64_t(*getCtas()) > 0xffff))
    return emitOpError() << "names CTAs by " << int64_t(*getCtas())
                         << ", which is no mask of the 16 that a cluster has at most";
  return verifyCoordinates(*this, getCoordinates().size());
}
LogicalResult StoreTensorOp::verify() {
  return verifyCoordinates(*this, getCoordinates().size());
}
LogicalResult StoreBulkOp::verify() { return verifyAddition(*this, getAdd()); }

//===----------------------------------------------------------------------===//
// Matrices
//===----------------------------------------------------------------------===//

LogicalResult WgmmaOp::verify() {
  int64_t n = getN();
  if (n < 8 || n > 256 || n % 8)
    return emitOpError() << "has " << n << " columns; there are 8 to 256, in steps of 8";
  auto bytesOf = [](StringRef type) {
    return llvm::StringSwitch<int64_t>(type)
        .Cases("bf16", "f16", 2)
        .Case("tf32", 4)
        .Cases("e4m3", "e5m2", 1)
        .Default(0);
  };
  int64_t bytes = bytesOf(getLeftType());
  if (!bytes || bytes != bytesOf(getRightType()) ||
      (bytes != 1 && getLeftType() != getRightType()))
    return emitOpError() << "multiplies " << getLeftType() << " by " << getRightType()
                         << "; use two of bf16, f16 or tf32, or any of e4m3 and e5m2";
  if (int64_t(getK()) != 32 / bytes)
    return emitOpError() << "contracts " << getK() << " elements; of " << getLeftType() << " it is "
                         << 32 / bytes;
  size_t words = getLeft().size();
  bool isDescriptor = words == 1 && getLeft()[0].getType().isInteger(64);
  if (!isDescriptor && (words != 4 || !llvm::all_of(getLeft().getTypes(), [](Type type) {
        return type.isInteger(32);
      })))
    return emitOpError("has a left operand that is neither a descriptor (an i64) nor 4 registers "
                       "(i32)");
  if (!isDescriptor && (getLeftOffset() || getTransposeLeft()))
    return emitOpError("has a left operand in registers, which has no offset and is not transposed");
  if (bytes != 2 && (getTransposeLeft() || getTransposeRight()))
    return emitOpError() << "transposes " << getLeftType() << "; only 16-bit types are";
  if (int64_t(getResults().size()) != n / 2)
    return emitOpError() << "has " << getResults().size() << " results; a thread has n / 2 = " << n / 2
                         << " elements of the product";
  if (!getAcc().empty() && getAcc().size() != getResults().size())
    return emitOpError() << "has " << getAcc().size() << " values as accumulator and "
                         << getResults().size() << " results";
  if (getAcc().empty() && getAccumulate())
    return emitOpError("says when its accumulator counts, and has none");
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
    return op->emitOpError() << "of " << bytes << " bytes has " << words.size()
                             << " words; use 1, 2, 4 or 8 bytes as one word, or 8 or 16 as words of 4";
  for (Type type : words)
    if (int64_t width = type.getIntOrFloatBitWidth() / 8;
        width != std::max<int64_t>(bytes / words.size(), 2))
      return op->emitOpError() << "of " << bytes << " bytes has a word of " << width << " bytes";
  return success();
}

LogicalResult LoadOp::verify() {
  if (getCondition() ? getOtherwise().getTypes() != getResults().getTypes()
                     : !getOtherwise().empty())
    return emitOpError("needs as many values for where the condition does not hold as it has "
                       "results, and of their types");
  return verifyWords(*this, getBytes(), getResults().getTypes());
}

LogicalResult StoreOp::verify() {
  if (getAdd() && getAddress().getType().isInteger(32))
    return emitOpError("adds to shared memory; elements are added in global memory");
  if (failed(verifyAddition(*this, getAdd())))
    return failure();
  return verifyWords(*this, getBytes(), getWords().getTypes());
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

//===----------------------------------------------------------------------===//
// Waits and checks
//===----------------------------------------------------------------------===//

LogicalResult WaitWordOp::verify() {
  if (static_cast<bool>(getElement()) == getArray().has_value())
    return emitOpError("has to say which element its report names: by `array`, or by `element`");
  return success();
}

LogicalResult CheckOp::verify() {
  if (static_cast<bool>(getExtent()) == getParam().has_value())
    return emitOpError("needs an extent: an operand, or a word of the parameters");
  if (getValues().size() != getLeast().size())
    return emitOpError() << "has " << getValues().size() << " conditions and "
                         << getLeast().size() << " bounds of them";
  if (getRedirect() && (getSize() || !getValues().empty()))
    return emitOpError("redirects an index; a range, or one under conditions, is not redirected");
  return success();
}

#define GET_OP_CLASSES
#include "mkernel/Dialect/Thread/ThreadOps.cpp.inc"
