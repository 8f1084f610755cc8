//===- Ops.cpp - Dispatch -------------------------------------------------===//
#include "Lowering.h"
#include "mkernel/ABI/Gpu.h"
#include "mkernel/ABI/Timeline.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::sm;
using namespace mlir::mk_sm;

static LogicalResult refuseDense(Operation *op) {
  // Constants of equal value are one, which stands nowhere.
  Location where = isa<UnknownLoc>(op->getLoc()) && !op->use_empty()
                       ? (*op->user_begin())->getLoc()
                       : op->getLoc();
  return emitError(where) << "'arith.constant' op is a tile whose elements differ; for "
                          << getSmTarget(op).getName() << " only a tile of "
                              "one value can be made in registers: mk.load it from an argument";
}

LogicalResult Lowering::emit(Operation *op) {
  loc = op->getLoc();
  currentOp = op;
  if (auto constantOp = dyn_cast<arith::ConstantOp>(op)) {
    TypedAttr value = constantOp.getValue();
    Type type = getRegisterType(value.getType());
    if (auto dense = dyn_cast<DenseElementsAttr>(value); dense && !dense.isSplat())
      return refuseDense(op);
    if (isa<IndexType, IntegerType>(value.getType()))
      value = b.getIntegerAttr(type, cast<IntegerAttr>(value).getInt());
    else if (type != value.getType()) // fp8: its bits
      value = b.getIntegerAttr(type, cast<FloatAttr>(value).getValue().bitcastToAPInt());
    set(op->getResult(0), constant(value));
    return success();
  }
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<scf::ForOp, ItemsOp, scf::IfOp, scf::WhileOp, ReleaseOp, SendOp, ReceiveOp, TicketOp,
            PopOp, CopyOp, LoadOp, mk::StoreOp, mk_sm::StoreOp, SpillOp, ReloadOp, MmaFenceOp,
            MmaOp, MmaWaitOp, ConvertLayoutOp, ReduceOp, PartialSumOp, BroadcastOp, TransposeOp,
            SwapPartsOp, MaskOp, SignalOp, mk::WaitOp, CountOp, PushOp>(
          [&](auto op) { return lower(op); })
      // Scalars of the kernel
      .Case([&](memref::DimOp op) -> LogicalResult {
        FailureOr<Buffer> from = buffer(op, op.getSource());
        std::optional<int64_t> d = op.getConstantIndex();
        if (failed(from) || !d)
          return op.emitOpError() << "asks for a dimension known at run time only";
        set(op, sizeOf(*from, *d));
        return success();
      })
      .Case([&](memref::LoadOp op) -> LogicalResult {
        FailureOr<Buffer> from = buffer(op, op.getMemRef());
        if (failed(from))
          return failure();
        SmallVector<Value> indices =
            checkScalar(op, MK_READ_ARGUMENT, *from, op.getIndices());
        set(op, loadScalar(op, getRegisterType(op.getType()),
                           elementAddress(*from, indices)));
        return success();
      })
      // All threads have the value; one writes it.
      .Case([&](memref::StoreOp op) -> LogicalResult {
        FailureOr<Buffer> to = buffer(op, op.getMemRef());
        if (failed(to))
          return failure();
        checkScalar(op, MK_WRITTEN_ARGUMENT, *to, op.getIndices());
        Value value = scalar(op.getValue());
        Value address = elementAddress(*to, scalars(op.getIndices()));
        ifThen(eq(partitionThread, 0),
               [&] { ifFine([&] { store(value, address); }); });
        return success();
      })
      // Of this rank; mk-expand-ranks computes others.
      .Case([&](RankOp op) {
        set(op, readRank());
        return success();
      })
      .Case([&](CoordOp op) {
        MeshOp mesh = kernel.getMeshOp();
        unsigned axis = mesh.findAxis(op.getAxis());
        set(op, remU(divU(readRank(), mesh.getStride(axis)), mesh.getAxis(axis).getSize()));
        return success();
      })
      .Case([&](CtasOfOp op) {
        set(op, c64(ctas[*resources.roleIndex(op.getRole())]));
        return success();
      })
      .Case([&](ParamOp op) {
        set(op, scalar(op.getDefaultValue()));
        return success();
      })
      // LLVM would read it once, at the start.
      .Case([&](ReadDimOp op) {
        unsigned d = cast<BlockArgument>(op.getDim()).getArgNumber();
        set(op, loadParamHere(params.dims + 8 * d));
        return success();
      })
      .Case([&](CtaIndexOp op) {
        set(op, ctaInRole);
        return success();
      })
      .Case([&](DealtItemOp op) {
        auto role = op->getParentOfType<RoleOp>();
        bool isHelped = llvm::any_of(resources.roles,
                                       [&](RoleOp other) { return isFollowedBy(other, role); });
        Value item = ctaInRole;
        if (isHelped) {
          auto [first, own] = ctasOf(*resources.indexOf(role));
          item = select(cmp(arith::CmpIPredicate::ult, sub(cta, first), own), item, c64(-1));
        }
        set(op, item);
        return success();
      })
      .Case([&](TeamIndexOp op) {
        // A team is a warpgroup.
        set(op, partition.getTeams() > 1 ? resize(group, i64) : c64(0));
        return success();
      })
      // Buffers are looked through where they are used.
      .Case([](SelectOp) { return success(); })
      .Case([&](ub::PoisonOp op) {
        Type type = getRegisterType(getElementTypeOrSelf(op.getType()));
        auto tile = dyn_cast<RankedTensorType>(op.getType());
        set(op, SmallVector<Value>(tile ? getNumElements(tile) : 1, create<LLVM::PoisonOp>(type)));
        return success();
      })
      .Case([&](tensor::SplatOp op) {
        set(op, SmallVector<Value>(getNumElements(op.getType()), scalar(op.getInput())));
        return success();
      })
      // Channels
      .Case([&](CursorOp op) {
        cursors[op.getResult()] = makeCursor(op.getParity());
        return success();
      })
      .Case([&](PositionOp op) {
        const Cursor &cursor = cursors[op.getCursor()];
        set(op.getStage(), read(cursor.stage, i32));
        set(op.getParity(), read(cursor.phase, i32));
        return success();
      })
      .Case([&](AdvanceOp op) {
        advance(op.getCursor());
        return success();
      })
      .Case<AcquireOp, mk_sm::WaitOp>([&](auto op) {
        takeSlot(op.getSlot(), op.getRing(), op.getPlace(), isa<AcquireOp>(op));
        return success();
      })
      .Case([&](CommitOp op) {
        create<mk_thread::CommitSlotOp>(elements(op.getSlot())[1]);
        return success();
      })
      .Case([&](TileOp op) {
        int64_t offset = 0;
        for (Type tile : op.getSlot().getType().getTiles().take_front(op.getIndex()))
          offset += getStagedBytes(cast<RankedTensorType>(tile), kChunkBytes);
        set(op, add(elements(op.getSlot())[0], offset));
        return success();
      })
      .Case([&](ReadOp op) {
        auto type = cast<RankedTensorType>(op.getFragment().getType());
        return setFragment(op, [&] {
          return create<mk_thread::ReadElementsOp>(getElementTypes(type), type,
                                                   scalar(op.getTile()), partitionThread);
        });
      })
      .Case([&](TurnWaitOp op) {
        emitTurnWait(op.getCursors());
        return success();
      })
      .Case([&](TurnPassOp op) {
        emitTurnPass(op.getCursors());
        return success();
      })
      .Case([&](PipelinePutOp op) {
        Operation *put = currentOp = &op.getBody().front().front();
        LogicalResult result = emitPut(cast<PutOp>(put), op);
        currentOp = put;
        endSpan(SpanClock::Op, MK_TIMELINE_PUT);
        return result;
      })
      .Case([&](MulticastOp op) {
        Operation *put = currentOp = &op.getBody().front().front();
        LogicalResult result = emitPut(cast<PutOp>(put), {}, op.getAlso());
        currentOp = put;
        endSpan(SpanClock::Op, MK_TIMELINE_PUT);
        return result;
      })
      .Case([&](PutOp op) {
        LogicalResult result = emitPut(op, {});
        currentOp = op;
        endSpan(SpanClock::Op, MK_TIMELINE_PUT);
        return result;
      })
      // Puts here and across links are complete when their threads have done them.
      .Case<FenceOp, SettleOp>([&](auto) {
        finishStores();
        if (hasNet())
          awaitPuts();
        else
          barrierPartition();
        return success();
      })
      .Default([&](Operation *op) { return emitScalarOrElementwise(op); });
}
