//===- Elementwise.cpp - Ops on each element of a fragment ----------------===//
#include "Taker.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::sm;
using namespace mlir::mk_sm;

static bool isFp8(Type type) { return isa<Float8E4M3FNType, Float8E5M2Type>(type); }

/// The same op on scalars, with attributes and, for floats, contraction: a
/// product and a sum become one instruction.
static Value cloneOn(OpBuilder &b, Location loc, Operation *op,
                     ArrayRef<Value> operands, Type type) {
  OperationState state(loc, op->getName(), operands, type, op->getAttrs());
  state.attributes.erase(kDeferredAttr);
  if (isa<FloatType>(type) && isa<arith::ArithFastMathInterface>(op))
    state.attributes.set("fastmath",
                         arith::FastMathFlagsAttr::get(
                             b.getContext(), arith::FastMathFlags::contract));
  return b.create(state)->getResult(0);
}

/// A 64-bit division of scalars, which are the same in all lanes, by what is not
/// constant; null for other ops.
static Value divide(Emitter &e, Operation *op, ArrayRef<Value> operands) {
  if (!isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp,
           arith::CeilDivUIOp, arith::CeilDivSIOp, arith::FloorDivSIOp>(op) ||
      !operands[0].getType().isInteger(64) ||
      isa<RankedTensorType>(op->getResult(0).getType()) ||
      operands[1].getDefiningOp<arith::ConstantOp>())
    return {};
  Value x = operands[0], y = operands[1];
  bool isSigned = isa<arith::DivSIOp, arith::RemSIOp, arith::CeilDivSIOp,
                      arith::FloorDivSIOp>(op);
  auto [quotient, rest] = isSigned ? e.divideS(x, y) : e.divideU(x, y);
  if (isa<arith::DivSIOp, arith::DivUIOp>(op))
    return quotient;
  if (isa<arith::RemSIOp, arith::RemUIOp>(op))
    return rest;
  // Rounded up where something is left and, if signed, the quotient is positive;
  // down where it is negative.
  using Predicate = arith::CmpIPredicate;
  Value left = e.cmp(Predicate::ne, rest, int64_t(0));
  if (!isSigned)
    return e.add(quotient, e.resize(left, e.i64));
  Value negative = e.cmp(Predicate::slt, e.xor_(x, y), int64_t(0));
  if (isa<arith::FloorDivSIOp>(op))
    return e.sub(quotient, e.resize(e.and_(left, negative), e.i64));
  return e.add(quotient, e.resize(e.and_(left, e.not_(negative)), e.i64));
}

/// Whether mk-thread-expand-math has code for a function.
static bool hasInstructions(Operation *op) {
  Type type = getElementTypeOrSelf(op->getOperand(0).getType());
  if (isa<math::Exp2Op, math::ExpOp, math::Log2Op, math::LogOp, math::Log10Op, math::RsqrtOp, math::SqrtOp,
          math::SinOp, math::CosOp, math::ErfOp, math::TanhOp, math::PowFOp>(op))
    return type.isF32() || type.isBF16() || type.isF16();
  return isa<math::FmaOp, math::AbsFOp, math::CopySignOp, math::FloorOp, math::CeilOp, math::RoundEvenOp,
             math::TruncOp, math::CountLeadingZerosOp, math::CountTrailingZerosOp, math::CtPopOp, math::AbsIOp>(op);
}

bool Lowering::hasCode(Operation *op) {
  // Other floats of 8 bits or less are bits that nothing calculates with.
  auto isUnknown = [](Type type) {
    Type element = getElementTypeOrSelf(type);
    return isa<FloatType>(element) && !isFp8(element) &&
           !isa<BFloat16Type, Float16Type, Float32Type, Float64Type>(element);
  };
  if (llvm::any_of(op->getOperandTypes(), isUnknown) || llvm::any_of(op->getResultTypes(), isUnknown))
    return false;
  auto takesFp8 = [](Type type) { return isFp8(getElementTypeOrSelf(type)); };
  if (!isa<arith::ExtFOp, arith::TruncFOp, arith::SelectOp, arith::BitcastOp>(op) &&
      llvm::any_of(op->getOperandTypes(), takesFp8))
    return false; // no arithmetic on 8-bit floats
  return !isa<math::MathDialect>(op->getDialect()) || hasInstructions(op);
}

/// An op on one element of each operand.
static Value compute(Emitter &e, Operation *op, ArrayRef<Value> operands) {
  if (Value quotient = divide(e, op, operands))
    return quotient;
  Type result = getElementTypeOrSelf(op->getResult(0).getType()), type = getRegisterType(result);
  Type from = getElementTypeOrSelf(op->getOperand(0).getType());
  if (isa<arith::ExtFOp>(op) && isFp8(from)) {
    // By way of f16, which holds every fp8.
    Value halves = e.create<mk_thread::FromFp8Op>(from, e.resize(operands[0], e.i16));
    Value half = e.create<LLVM::BitcastOp>(e.b.getF16Type(), e.resize(halves, e.i16));
    return type.isF16() ? half : Value(e.create<LLVM::FPExtOp>(e.f32, half));
  }
  if (isa<arith::TruncFOp>(op) && isFp8(result))
    return e.resize(e.create<mk_thread::ToFp8Op>(result, operands[0], e.cf32(0)), e.i8);
  return cloneOn(e.b, e.loc, op, operands, type);
}

//===----------------------------------------------------------------------===//
// Elements that are taken
//===----------------------------------------------------------------------===//

void Taker::load(Value tile, ArrayRef<unsigned> elements) {
  if (!lowering.isDeferred(tile))
    return;
  Operation *op = tile.getDefiningOp();
  if (isa<LoadOp, ReloadOp>(op)) {
    SmallVector<unsigned> missing;
    for (unsigned i : elements)
      if (!known.contains({tile, i}) && !llvm::is_contained(missing, i))
        missing.push_back(i);
    if (missing.empty())
      return;
    llvm::sort(missing);
    // What comes with others may be there.
    if (auto load = dyn_cast<LoadOp>(op))
      for (auto [i, value] : llvm::zip(missing, lowering.loadElements(load, missing)))
        known.try_emplace({tile, i}, value);
    else
      for (auto [i, value] : lowering.reloadElements(cast<ReloadOp>(op), missing))
        known.try_emplace({tile, i}, value);
    return;
  }
  SmallVector<unsigned> needed(elements);
  if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
    SmallVector<unsigned> map = getSliceElements(broadcast.getType(), broadcast.getDims()[0]);
    for (unsigned &i : needed)
      i = map[i];
  }
  for (Value operand : op->getOperands())
    load(operand, needed);
}

Value Taker::take(Value tile, unsigned i) {
  if (lowering.isDeferred(tile))
    return take(tile.getDefiningOp(), i);
  // One value may stand for all elements.
  ArrayRef<Value> all = lowering.elements(tile);
  return all[all.size() == 1 ? 0 : i];
}

Value Taker::take(Operation *op, unsigned i) {
  Value result = op->getResult(0);
  if (Value value = known.lookup({result, i}))
    return value;
  if (isa<LoadOp, ReloadOp>(op))
    load(result, i);
  else if (auto broadcast = dyn_cast<BroadcastOp>(op))
    known[{result, i}] =
        take(broadcast.getSource(), getSliceElements(broadcast.getType(), broadcast.getDims()[0])[i]);
  else if (auto transpose = dyn_cast<TransposeOp>(op))
    known[{result, i}] = take(transpose.getSource(), i);
  else if (!takePair(op, i)) {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(take(operand, i));
    // A row's divisor is inverted once.
    bool isShared = isa<arith::DivFOp>(op) && operands[0].getType().isF32() &&
                    op->getOperand(1).getDefiningOp<BroadcastOp>();
    known[{result, i}] = isShared ? Value(lowering.create<LLVM::FMulOp>(operands[0], invert(operands[1])))
                                  : compute(lowering, op, operands);
  }
  return known.lookup({result, i});
}

bool Taker::takePair(Operation *op, unsigned i) {
  auto truncation = dyn_cast<arith::TruncFOp>(op);
  if (!truncation)
    return false;
  Value result = op->getResult(0), source = truncation.getIn();
  Type to = getElementTypeOrSelf(result.getType());
  unsigned first = i & ~1u;
  if (!getElementTypeOrSelf(source.getType()).isF32() || first + 1 >= lowering.count(result.getType()) ||
      !(to.isBF16() || to.isF16() || isFp8(to)))
    return false;
  Emitter &e = lowering;
  Value low = take(source, first), high = take(source, first + 1), pair;
  if (isFp8(to))
    pair = e.create<LLVM::BitcastOp>(VectorType::get(2, e.i8), e.create<mk_thread::ToFp8Op>(to, low, high));
  else // The first operand becomes the upper half.
    pair = e.intrinsic(to.isBF16() ? "llvm.nvvm.ff2bf16x2.rn" : "llvm.nvvm.ff2f16x2.rn", VectorType::get(2, to),
                       {high, low});
  for (unsigned k : {0u, 1u})
    known[{result, first + k}] = e.create<LLVM::ExtractElementOp>(pair, e.c32(k));
  return true;
}

Value Taker::invert(Value x) {
  Value &inverse = inverses[x];
  if (!inverse || inverse.getParentBlock() != lowering.b.getInsertionBlock())
    inverse = lowering.create<mk_thread::ApproximateOp>(mk_thread::Approximation::Rcp, x);
  return inverse;
}

LogicalResult Lowering::emitScalarOrElementwise(Operation *op) {
  if (op->getNumResults() != 1 || op->getNumRegions() ||
      !isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) || !hasCode(op))
    return refuse(op);
  Value result = op->getResult(0);
  if (op->hasAttr(kDeferredAttr))
    return defer(result);
  if (BroadcastOp factors = findFactors(op))
    return emitScaling(op, factors);
  bool takes = false, reloads = false;
  for (Value operand : op->getOperands()) {
    Operation *def = operand.getDefiningOp();
    takes |= isDeferred(operand) && !isa<arith::CmpFOp, arith::CmpIOp>(def);
    reloads |= isa_and_nonnull<ReloadOp>(def);
  }
  int64_t n = count(result.getType());
  int64_t part = reloads ? getThresholds().getGroupedElements() : getThresholds().getLoadedElements();
  Taker taker(*this);
  SmallVector<Value> made;
  for (int64_t first = 0; first < n; first += part) {
    // Loads that have waited for this, some at a time.
    int64_t end = std::min(n, first + part);
    if (takes)
      for (Value operand : op->getOperands())
        taker.load(operand, llvm::to_vector(llvm::seq<unsigned>(first, end)));
    for (int64_t i = first; i < end; ++i)
      made.push_back(taker.take(op, i));
    // Or LLVM would take all of them at the end, and what was loaded would stay.
    auto latest = MutableArrayRef(made).drop_front(first);
    if (takes && (latest[0].getType().isF32() || latest[0].getType().isInteger(32)))
      llvm::copy(create<mk_thread::PinOp>(TypeRange(ValueRange(latest)), latest).getResults(), latest.begin());
  }
  set(result, made);
  return success();
}

//===----------------------------------------------------------------------===//
// Scaling of what a loop carries
//===----------------------------------------------------------------------===//

// Sums that follow a running maximum are scaled whenever it grows, which after the first
// turns is seldom: the factors of nearly all rows are one then. (FlashAttention-4 calls it
// conditional rescaling.) Nothing is approximated: x * 1 is x.
BroadcastOp Lowering::findFactors(Operation *op) {
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!isa<arith::MulFOp>(op) || !type || !type.getElementType().isF32() ||
      !isa_and_nonnull<MmaAttr>(type.getEncoding()) || count(type) < getThresholds().getGuardedElements() ||
      !isa<scf::ForOp>(op->getParentOp()) ||
      !llvm::is_contained(op->getBlock()->getTerminator()->getOperands(),
                          op->getResult(0)))
    return {};
  for (Value operand : op->getOperands())
    if (auto broadcast = operand.getDefiningOp<BroadcastOp>())
      if (auto source = dyn_cast<RankedTensorType>(broadcast.getSource().getType());
          source && source.getEncoding() == SliceAttr::get(op->getContext(), broadcast.getDims()[0], type.getEncoding()))
        return broadcast;
  return {};
}

LogicalResult Lowering::emitScaling(Operation *op, BroadcastOp broadcast) {
  bool isSecond = op->getOperand(1) == broadcast.getResult();
  Value tile = op->getOperand(isSecond ? 0 : 1);
  SmallVector<Value> factors = allElements(broadcast.getSource()), source = allElements(tile);
  auto scaled = create<mk_thread::ScaleElementsOp>(TypeRange(ValueRange(source)), source,
                                                   cast<RankedTensorType>(tile.getType()), factors,
                                                   broadcast.getDims()[0]);
  set(op->getResult(0), SmallVector<Value>(scaled.getResults()));
  return success();
}
