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
  if (threads < mk::kWarpThreads || threads > most || threads % mk::kWarpThreads)
    return emitOpError() << "has " << threads << " threads; a CTA has " << mk::kWarpThreads
                         << " to " << most << ", in whole warps";
  int64_t cluster = getCluster(), largest = sm ? sm.getClusterLimit() : cluster;
  if (cluster < 1 || cluster > largest)
    return emitOpError() << "has clusters of " << cluster << " CTAs; there are 1 to " << largest;
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

LogicalResult mk_thread::verifyExpanded(KernelOp kernel) {
  WalkResult walked = kernel.walk([](Operation *op) -> WalkResult {
    if (!op->hasTrait<Composite>())
      return WalkResult::advance();
    return op->emitOpError("is no instruction, it stands for several steps; run mk-thread-expand");
  });
  return failure(walked.wasInterrupted());
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
  if (threads < mk::kWarpThreads || threads % mk::kWarpThreads)
    return op->emitOpError() << "counts " << threads
                             << " threads; a named barrier counts whole warps";
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
LogicalResult mk_thread::verifyMask(Operation *op, Value mask) {
  APInt bits;
  if (!mask || !matchPattern(mask, m_ConstantInt(&bits)))
    return success();
  int64_t cluster = kernelOf(op).getCluster();
  if (bits.isZero() || int64_t(bits.getActiveBits()) > cluster)
    return op->emitOpError() << "names CTAs by the mask " << bits.getZExtValue()
                             << " of a cluster that has " << cluster << "; name some that exist";
  return success();
}
LogicalResult CopyTensorOp::verify() {
  if (failed(verifyMask(*this, getCtas())))
    return failure();
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
