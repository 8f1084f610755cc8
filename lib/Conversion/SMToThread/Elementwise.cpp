//===- Elementwise.cpp - Ops on each element of a fragment ----------------===//
#include "Lowering.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::sm;
using namespace mlir::mk_sm;

//===----------------------------------------------------------------------===//
// Ops put off
//===----------------------------------------------------------------------===//

void Lowering::prefetch(Value tile, ArrayRef<unsigned> elements) {
  if (!putOff.contains(tile))
    return;
  Operation *op = tile.getDefiningOp();
  if (isa<LoadOp, ReloadOp>(op)) {
    SmallVector<unsigned> missing;
    for (unsigned i : elements)
      if (!values[tile][i] && !llvm::is_contained(missing, i))
        missing.push_back(i);
    if (missing.empty())
      return;
    llvm::sort(missing);
    SmallVector<std::pair<unsigned, Value>> loaded;
    if (auto load = dyn_cast<LoadOp>(op))
      for (auto [i, value] : llvm::zip(missing, loadElements(load, missing)))
        loaded.emplace_back(i, value);
    else
      loaded = reloadElements(cast<ReloadOp>(op), missing);
    for (auto [i, value] : loaded) {
      // What comes with others may be there.
      if (values[tile][i])
        continue;
      values[tile][i] = value;
      computed.emplace_back(tile, i);
    }
    return;
  }
  SmallVector<unsigned> needed(elements);
  if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
    SmallVector<unsigned> map =
        sliceElements(cast<RankedTensorType>(tile.getType()), broadcast.getDims()[0]);
    for (unsigned &i : needed)
      i = map[i];
  }
  for (Value operand : op->getOperands())
    prefetch(operand, needed);
}

void Lowering::forgetComputed(size_t since) {
  for (auto [value, i] : ArrayRef(computed).drop_front(since))
    values[value][i] = Value();
  computed.resize(since);
}

//===----------------------------------------------------------------------===//
// One element
//===----------------------------------------------------------------------===//

Value Lowering::compute(Operation *op, unsigned i) {
  if (auto load = dyn_cast<LoadOp>(op))
    return loadElements(load, i)[0];
  if (auto reload = dyn_cast<ReloadOp>(op)) {
    prefetch(reload.getTile(), i);
    return values[reload.getTile()][i];
  }
  if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
    SmallVector<unsigned> map =
        sliceElements(cast<RankedTensorType>(broadcast.getType()), broadcast.getDims()[0]);
    return element(broadcast.getSource(), map[i]);
  }
  if (auto transpose = dyn_cast<TransposeOp>(op))
    return element(transpose.getSource(), i);
  if (computePair(op, i))
    return values[op->getResult(0)][i];
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(element(operand, i));
  Type type = scalarType(getElementTypeOrSelf(op->getResult(0).getType()));
  return computeScalar(op, operands, type);
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

static bool isFp8(Type type) { return isa<Float8E4M3FNType, Float8E5M2Type>(type); }

bool Lowering::computePair(Operation *op, unsigned i) {
  auto truncation = dyn_cast<arith::TruncFOp>(op);
  if (!truncation)
    return false;
  Value result = op->getResult(0), source = truncation.getIn();
  Type to = getElementTypeOrSelf(result.getType());
  Type from = getElementTypeOrSelf(source.getType());
  unsigned first = i & ~1u;
  if (!from.isF32() || first + 1 >= values[result].size() ||
      !(to.isBF16() || to.isF16() || isFp8(to)))
    return false;
  Value low = element(source, first), high = element(source, first + 1);
  Value pair;
  if (isFp8(to)) {
    Value bits = create<mk_thread::ToFp8Op>(to, low, high);
    pair = LLVM::BitcastOp::create(b, loc, VectorType::get(2, i8), bits);
  } else {
    // The first operand becomes the upper half.
    pair = intrinsic(to.isBF16() ? "llvm.nvvm.ff2bf16x2.rn" : "llvm.nvvm.ff2f16x2.rn",
                     VectorType::get(2, to), {high, low});
  }
  for (unsigned k : {0u, 1u}) {
    bool isNew = !values[result][first + k];
    values[result][first + k] =
        LLVM::ExtractElementOp::create(b, loc, pair, c32(k));
    if (isNew && putOff.contains(result) && first + k != i)
      computed.emplace_back(result, first + k);
  }
  return true;
}

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

Value Lowering::computeScalar(Operation *op, ArrayRef<Value> operands,
                              Type type) {
  if (Value quotient = divide(*this, op, operands))
    return quotient;
  // Other floats of 8 bits or less are bits that nothing calculates with.
  auto isUnknown = [](Type type) {
    Type element = getElementTypeOrSelf(type);
    return isa<FloatType>(element) && !isFp8(element) &&
           !isa<BFloat16Type, Float16Type, Float32Type, Float64Type>(element);
  };
  if (llvm::any_of(op->getOperandTypes(), isUnknown) ||
      llvm::any_of(op->getResultTypes(), isUnknown))
    return {};
  bool isF32 = operands.front().getType().isF32();
  auto resultType = getElementTypeOrSelf(op->getResult(0).getType());
  if (auto extension = dyn_cast<arith::ExtFOp>(op)) {
    Type from = getElementTypeOrSelf(extension.getIn().getType());
    if (isFp8(from)) {
      // By way of f16, which holds every fp8.
      Value wide = resize(operands[0], i16);
      Value halves = create<mk_thread::FromFp8Op>(from, wide);
      Value half = LLVM::BitcastOp::create(b, loc, b.getF16Type(),
                                           resize(halves, i16));
      if (type.isF16())
        return half;
      return LLVM::FPExtOp::create(b, loc, f32, half);
    }
  }
  if (isa<arith::TruncFOp>(op) && isFp8(resultType)) {
    Value bits = create<mk_thread::ToFp8Op>(resultType, operands[0], cf32(0));
    return resize(bits, i8);
  }
  for (Value operand : op->getOperands())
    if (isFp8(getElementTypeOrSelf(operand.getType())) &&
        !isa<arith::SelectOp, arith::BitcastOp>(op))
      return {}; // no arithmetic on 8-bit floats
  if (isa<math::MathDialect>(op->getDialect()))
    return math(op, operands);
  // NaN if an operand is; the instruction exists for f32 and 16-bit types.
  if (isa<arith::MaximumFOp>(op) && !type.isF64())
    return LLVM::MaximumOp::create(b, loc, operands[0], operands[1]);
  if (isa<arith::MinimumFOp>(op) && !type.isF64())
    return LLVM::MinimumOp::create(b, loc, operands[0], operands[1]);
  if (isa<arith::DivFOp>(op) && isF32) {
    // A row's divisor is inverted once. div.full is good to 2 ulp.
    if (isa<RankedTensorType>(op->getResult(0).getType()) &&
        isShared(op->getOperand(1)))
      return LLVM::FMulOp::create(b, loc, operands[0], reciprocal(operands[1]));
    return intrinsic("llvm.nvvm.div.full", f32, operands);
  }
  return cloneOn(b, loc, op, operands, type);
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
          source && isa_and_nonnull<SliceAttr>(source.getEncoding()))
        return broadcast;
  return {};
}

LogicalResult Lowering::emitScaling(Operation *op, BroadcastOp broadcast) {
  SmallVector<Value> factors(elements(broadcast.getSource()));
  SmallVector<Value> scales(elements(broadcast.getResult()));
  bool isSecond = op->getOperand(1) == broadcast.getResult();
  SmallVector<Value> tile(elements(op->getOperand(isSecond ? 0 : 1)));
  Value isScaled; // by a factor of this thread
  for (Value factor : factors) {
    Value scaled = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNE, factor,
                                         cf32(1));
    isScaled = isScaled ? or_(isScaled, scaled) : scaled;
  }
  Value any = NVVM::VoteSyncOp::create(b, loc, b.getI1Type(), c32(-1), isScaled,
                                       NVVM::VoteSyncKind::any);
  auto choice = scf::IfOp::create(b, loc, TypeRange(ValueRange(tile)), any,
                                  /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(choice.elseBlock());
    scf::YieldOp::create(b, loc, tile);
    b.setInsertionPointToEnd(choice.thenBlock());
    SmallVector<Value> products;
    for (auto [x, scale] : llvm::zip_equal(tile, scales))
      products.push_back(reduceOp(Reduction::Mul, x, scale));
    scf::YieldOp::create(b, loc, products);
  }
  set(op->getResult(0), SmallVector<Value>(choice.getResults()));
  return success();
}

/// Whether elements of a tile are the same value many times over.
bool Lowering::isShared(Value tile) {
  auto broadcast = tile.getDefiningOp<BroadcastOp>();
  return static_cast<bool>(broadcast);
}

Value Lowering::reciprocal(Value x) {
  Value &known = reciprocals[x];
  if (known && known.getParentBlock() == b.getInsertionBlock())
    return known;
  return known = create<mk_thread::ApproximateOp>(mk_thread::Approximation::Rcp, x);
}

Value Lowering::reduceOp(Reduction kind, Value x, Value y) {
  bool isFloat = isa<FloatType>(x.getType());
  auto contract = arith::FastMathFlagsAttr::get(b.getContext(),
                                                arith::FastMathFlags::contract);
  switch (kind) {
  case Reduction::Add:
    return isFloat ? Value(arith::AddFOp::create(b, loc, x, y, contract)) : add(x, y);
  case Reduction::Mul:
    return isFloat ? Value(arith::MulFOp::create(b, loc, x, y, contract)) : mul(x, y);
  case Reduction::Max:
    if (x.getType().isF64()) // no instruction: a comparison and selections
      return arith::MaximumFOp::create(b, loc, x, y);
    return isFloat ? Value(LLVM::MaximumOp::create(b, loc, x, y)) : maxS(x, y);
  case Reduction::Min:
    if (x.getType().isF64())
      return arith::MinimumFOp::create(b, loc, x, y);
    return isFloat ? Value(LLVM::MinimumOp::create(b, loc, x, y)) : minS(x, y);
  }
  llvm_unreachable("unknown reduction");
}
