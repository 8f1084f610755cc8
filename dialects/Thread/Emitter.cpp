//===- Emitter.cpp - A builder of a thread's code --------------------------===//
#include "mkernel/Dialect/Thread/Emitter.h"
#include "mkernel/ABI/Gpu.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::mk_thread;

bool mk_thread::isZero(Value value) {
  return matchPattern(value, m_AnyZeroFloat()) || matchPattern(value, m_Zero());
}

Emitter::Emitter(MLIRContext *context, Location loc)
    : b(context), loc(loc), i1(b.getI1Type()), i8(b.getI8Type()), i16(b.getIntegerType(16)),
      i32(b.getI32Type()), i64(b.getI64Type()), f32(b.getF32Type()),
      constants(std::make_shared<DenseMap<Attribute, Value>>()) {}

void Emitter::enter(KernelOp kernel) {
  frame = kernel.getFrame();
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
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(entry, first);
  sharedBase = create<SharedBaseOp>(i32, 0, /*pinned=*/false);
}

//===----------------------------------------------------------------------===//
// Constants and integers
//===----------------------------------------------------------------------===//

Value Emitter::constant(TypedAttr value) {
  if (Type own = getRegisterType(value.getType()); own != value.getType()) {
    auto number = dyn_cast<IntegerAttr>(value);
    value = number ? b.getIntegerAttr(own, number.getInt())
                   : b.getIntegerAttr(own, cast<FloatAttr>(value).getValue().bitcastToAPInt());
  }
  Value &known = (*constants)[value];
  if (!known) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(entry);
    known = arith::ConstantOp::create(b, loc, value);
  }
  return known;
}

Value Emitter::cint(Type type, int64_t value) {
  return constant(
      b.getIntegerAttr(type, APInt(type.getIntOrFloatBitWidth(), value, /*isSigned=*/true,
                                   /*implicitTrunc=*/true)));
}
Value Emitter::c32(int64_t value) { return cint(i32, value); }
Value Emitter::c64(int64_t value) { return cint(i64, value); }
Value Emitter::cbool(bool value) { return cint(i1, value); }
Value Emitter::cf32(double value) { return constant(b.getFloatAttr(f32, value)); }

Value Emitter::shl(Value x, int64_t y) {
  return y ? b.createOrFold<arith::ShLIOp>(loc, x, cint(x.getType(), y)) : x;
}
Value Emitter::shr(Value x, int64_t y) {
  return y ? b.createOrFold<arith::ShRUIOp>(loc, x, cint(x.getType(), y)) : x;
}
Value Emitter::divU(Value x, int64_t y) {
  return b.createOrFold<arith::DivUIOp>(loc, x, cint(x.getType(), y));
}
Value Emitter::remU(Value x, int64_t y) {
  return b.createOrFold<arith::RemUIOp>(loc, x, cint(x.getType(), y));
}

Value Emitter::resize(Value x, Type type, bool isSigned) {
  unsigned from = x.getType().getIntOrFloatBitWidth();
  unsigned to = type.getIntOrFloatBitWidth();
  if (from == to)
    return x;
  if (from > to)
    return b.createOrFold<arith::TruncIOp>(loc, type, x);
  if (isSigned)
    return b.createOrFold<arith::ExtSIOp>(loc, type, x);
  return b.createOrFold<arith::ExtUIOp>(loc, type, x);
}

void Emitter::ifThen(Value condition, function_ref<void()> body) {
  auto op = scf::IfOp::create(b, loc, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(op.thenBlock());
  body();
}

void Emitter::ifElected(function_ref<void()> body) {
  ifThen(create<NVVM::ElectSyncOp>(i1, /*membermask=*/Value()), body);
}

void Emitter::ifThenElse(Value condition, function_ref<void()> then,
                         function_ref<void()> otherwise) {
  auto op = scf::IfOp::create(b, loc, condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(op.thenBlock());
  then();
  b.setInsertionPointToStart(op.elseBlock());
  otherwise();
}

SmallVector<Value> Emitter::choose(Value condition, function_ref<SmallVector<Value>()> then,
                                   function_ref<SmallVector<Value>()> otherwise) {
  auto op = scf::IfOp::create(
      b, loc, condition, [&](OpBuilder &, Location) { scf::YieldOp::create(b, loc, then()); },
      [&](OpBuilder &, Location) { scf::YieldOp::create(b, loc, otherwise()); });
  return SmallVector<Value>(op.getResults());
}

void Emitter::within(Region &region, function_ref<void()> body) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(region.empty() ? &region.emplaceBlock() : &region.front());
  body();
}

void Emitter::forRange(Value from, Value to, Value step, function_ref<void(Value)> body) {
  auto loop = scf::ForOp::create(b, loc, from, to, step);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVar());
}

void Emitter::whileTrue(function_ref<Value()> condition, function_ref<void()> body) {
  auto loop = scf::WhileOp::create(b, loc, TypeRange(), ValueRange());
  OpBuilder::InsertionGuard guard(b);
  b.createBlock(&loop.getBefore());
  scf::ConditionOp::create(b, loc, condition(), ValueRange());
  b.createBlock(&loop.getAfter());
  body();
  scf::YieldOp::create(b, loc);
}

void Emitter::keepRolled() {
  auto never =
      LLVM::LoopUnrollAttr::get(b.getContext(), b.getBoolAttr(true), {}, {}, {}, {}, {}, {});
  auto loop = LLVM::LoopAnnotationAttr::get(b.getContext(), {}, {}, {}, never, {}, {}, {}, {}, {},
                                            {}, {}, {}, {}, {}, {});
  b.getInsertionBlock()->getParentOp()->setAttr("llvm.loop_annotation", loop);
}

//===----------------------------------------------------------------------===//
// The launch
//===----------------------------------------------------------------------===//

Value Emitter::ownRank() { return resize(launchField(offsetof(mk_gpu_launch, rank), i32), i64); }

Value Emitter::controlAddress() { return launchField(offsetof(mk_gpu_launch, control), i64); }

Value Emitter::heapOf(Value rank) {
  return load(i64, add(launchFieldHere(offsetof(mk_gpu_launch, heaps)), shl(rank, 3)));
}

Value Emitter::valueIfFine(Value otherwise, function_ref<Value()> body) {
  using Values = SmallVector<Value>;
  return choose(
             isFine(), [&] { return Values{body()}; }, [&] { return Values{otherwise}; })
      .front();
}

//===----------------------------------------------------------------------===//
// Division
//===----------------------------------------------------------------------===//

std::pair<Value, Value> Emitter::divideU(Value x, Value y) {
  Value quotient = create<DivideOp>(x, y);
  return {quotient, sub(x, mul(quotient, y))};
}

std::pair<Value, Value> Emitter::divideS(Value x, Value y) {
  auto negative = [&](Value value) { return cmp(arith::CmpIPredicate::slt, value, int64_t(0)); };
  auto magnitude = [&](Value value) { return select(negative(value), sub(c64(0), value), value); };
  auto [quotient, rest] = divideU(magnitude(x), magnitude(y));
  Value differ = xor_(negative(x), negative(y));
  return {select(differ, sub(c64(0), quotient), quotient),
          select(negative(x), sub(c64(0), rest), rest)};
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

Value Emitter::intrinsic(StringRef name, Type result, ValueRange operands) {
  return LLVM::CallIntrinsicOp::create(b, loc, result, b.getStringAttr(name), operands)
      .getResult(0);
}

Value Emitter::shuffle(StringRef kind, Value value, Value by) {
  Type type = value.getType();
  auto words = [&](Value word) {
    return intrinsic(("llvm.nvvm.shfl.sync." + kind + ".i32").str(), i32,
                     {c32(-1), word, by, c32(31)});
  };
  if (type.isF32())
    return intrinsic(("llvm.nvvm.shfl.sync." + kind + ".f32").str(), f32,
                     {c32(-1), value, by, c32(31)});
  Type bits = b.getIntegerType(type.getIntOrFloatBitWidth());
  Value whole = value;
  if (type != bits)
    whole = LLVM::BitcastOp::create(b, loc, bits, value);
  Value result;
  if (bits.getIntOrFloatBitWidth() <= 32) {
    result = resize(words(resize(whole, i32)), bits);
  } else {
    Value low = words(resize(whole, i32)), high = words(resize(shr(whole, 32), i32));
    result = or_(resize(low, i64), shl(resize(high, i64), 32));
  }
  if (type != bits)
    result = LLVM::BitcastOp::create(b, loc, type, result);
  return result;
}

Value Emitter::shuffleXor(Value value, int64_t mask) { return shuffle("bfly", value, c32(mask)); }

Value Emitter::fromLane0(Value value) { return shuffle("idx", value, c32(0)); }

Value Emitter::uniform(Value value) {
  return intrinsic("llvm.nvvm.redux.sync.umin", i32, {value, c32(-1)});
}
