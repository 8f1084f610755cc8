//===- Emitter.cpp - A builder of a kernel's code --------------------------===//
#include "mkernel/Dialect/Thread/Emitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::mk_thread;

Emitter::Emitter(MLIRContext *context, Location loc)
    : ImplicitLocOpBuilder(loc, context), i1(getI1Type()), i8(getI8Type()), i16(getIntegerType(16)),
      i32(getI32Type()), i64(getI64Type()), f32(getF32Type()),
      constants(std::make_shared<DenseMap<Attribute, Value>>()) {}

void Emitter::enter(KernelOp kernel) {
  frame = kernel.getFrame();
  sm = mk::getSm(kernel);
  if (kernel.getBody().empty())
    kernel.getBody().emplaceBlock();
  entry = &kernel.getBody().front();
  // Only constants in front of everything else are there for all code; so is the base behind them.
  auto first = llvm::find_if(*entry, [&](Operation &op) {
    if (auto known = dyn_cast<arith::ConstantOp>(op))
      constants->try_emplace(known.getValue(), known.getResult());
    return !isa<arith::ConstantOp>(op);
  });
  for (auto base : entry->getOps<SharedBaseOp>())
    if (!base.getPinned()) {
      if (first != base->getIterator())
        base->moveBefore(entry, first);
      sharedBase = base;
      return;
    }
  OpBuilder::InsertionGuard guard(*this);
  setInsertionPoint(entry, first);
  sharedBase = SharedBaseOp::create(*this, i32, 0, /*pinned=*/false);
}

Value Emitter::constant(TypedAttr value) {
  if (Type own = getRegisterType(value.getType()); own != value.getType()) {
    auto number = dyn_cast<IntegerAttr>(value);
    value = number ? getIntegerAttr(own, number.getInt())
                   : getIntegerAttr(own, cast<FloatAttr>(value).getValue().bitcastToAPInt());
  }
  Value &known = (*constants)[value];
  if (!known) {
    OpBuilder::InsertionGuard guard(*this);
    setInsertionPointToStart(entry);
    known = arith::ConstantOp::create(*this, value);
  }
  return known;
}

Value Emitter::cint(Type type, int64_t value) {
  return constant(getIntegerAttr(type, APInt(type.getIntOrFloatBitWidth(), value, /*isSigned=*/true,
                                             /*implicitTrunc=*/true)));
}

Value Emitter::once(Expression expression, function_ref<Value()> make) {
  if (!values)
    return make();
  if (Value known = values->lookup(expression)) {
    Block *block = known.getParentBlock();
    for (Block *around = getInsertionBlock(); around;) {
      if (around == block)
        return known;
      Operation *op = around->getParentOp();
      around = op && !isa<KernelOp>(op) ? op->getBlock() : nullptr;
    }
  }
  Value made = make();
  (*values)[expression] = made;
  return made;
}

Value Emitter::shared(Value offset) { return createOrFold<arith::AddIOp>(sharedBase, offset); }
