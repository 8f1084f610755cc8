//===- ExpandElements.cpp - Masks and factors of a thread's elements ------===//
#include "Expand.h"
#include "mkernel/Dialect/SM/SM.h"
#include "mkernel/Dialect/Thread/Places.h"
#include "mlir/IR/AffineExpr.h"

using namespace mlir;
using namespace mlir::mk_thread;

//===----------------------------------------------------------------------===//
// Masks
//===----------------------------------------------------------------------===//

/// `expr` = rest + factor * d(dim), if it is of that form.
static std::optional<int64_t> linearFactor(AffineExpr expr, unsigned dim) {
  if (!expr.isFunctionOfDim(dim))
    return 0;
  if (isa<AffineDimExpr>(expr))
    return 1;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return std::nullopt;
  if (expr.getKind() == AffineExprKind::Add) {
    auto x = linearFactor(binary.getLHS(), dim), y = linearFactor(binary.getRHS(), dim);
    if (x && y)
      return *x + *y;
  }
  if (expr.getKind() == AffineExprKind::Mul)
    if (auto factor = dyn_cast<AffineConstantExpr>(binary.getRHS()))
      if (auto x = linearFactor(binary.getLHS(), dim))
        return *x * factor.getValue();
  return std::nullopt;
}

static Value affineValue(Emitter &e, AffineExpr expr, unsigned numDims, ArrayRef<Value> operands) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return e.c64(constant.getValue());
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return operands[dim.getPosition()];
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return operands[numDims + symbol.getPosition()];
  auto binary = cast<AffineBinaryOpExpr>(expr);
  Value x = affineValue(e, binary.getLHS(), numDims, operands);
  Value y = affineValue(e, binary.getRHS(), numDims, operands);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return add(e, x, y);
  case AffineExprKind::Mul:
    return mul(e, x, y);
  case AffineExprKind::FloorDiv:
    return e.createOrFold<arith::FloorDivSIOp>(x, y);
  case AffineExprKind::CeilDiv:
    return e.createOrFold<arith::CeilDivSIOp>(x, y);
  default: { // Mod: never negative
    Value rest = e.createOrFold<arith::RemSIOp>(x, y);
    return select(e, slt(e, rest, 0), add(e, rest, y), rest);
  }
  }
}

// A constraint is linear in the column, as a rule: what does not depend on the
// register is computed once, and an element takes one comparison.
static SmallVector<Value> mask(MaskElementsOp op, Emitter &e) {
  RankedTensorType type = op.getTile();
  IntegerSet set = op.getSet();
  unsigned last = type.getRank() - 1;
  Places places(e, type, op.getThread());
  // Values of a constraint by all but the constant offset in the last dimension.
  DenseMap<std::pair<unsigned, Attribute>, Value> known;
  SmallVector<Value> result;
  for (auto [i, element] : llvm::enumerate(op.getElements())) {
    Place where = places.at(i);
    Value inside;
    for (unsigned c = 0; c != set.getNumConstraints(); ++c) {
      AffineExpr expr = set.getConstraint(c);
      std::optional<int64_t> factor = linearFactor(expr, last);
      SmallVector<int64_t> offsets(where.offset.begin(), where.offset.end());
      int64_t constant = 0;
      if (factor) {
        constant = *factor * offsets.back();
        offsets.back() = 0;
      }
      // The bases of a blocked layout differ between registers.
      SmallVector<int64_t> key(offsets);
      if (isa<mk_sm::BlockedAttr>(type.getEncoding()))
        key.push_back(i);
      Value &value = known[{c, e.getDenseI64ArrayAttr(key)}];
      if (!value) {
        SmallVector<Value> operands;
        for (auto [base, offset] : llvm::zip(where.base, offsets))
          operands.push_back(add(e, base, offset));
        llvm::append_range(operands, op.getSymbols());
        value = affineValue(e, expr, set.getNumDims(), operands);
        // Constants of a tile are small; so may the rest be.
        value = resize(e, minS(e, maxS(e, value, -(1 << 30)), 1 << 30), e.i32);
      }
      Value holds = cmp(e, set.isEq(c) ? arith::CmpIPredicate::eq : arith::CmpIPredicate::sge,
                        value, -constant);
      inside = inside ? and_(e, inside, holds) : holds;
    }
    result.push_back(inside ? select(e, inside, element, op.getOtherwise()) : element);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Factors
//===----------------------------------------------------------------------===//

static SmallVector<Value> scale(ScaleElementsOp op, Emitter &e) {
  Value isScaled; // by a factor of this thread
  for (Value factor : op.getFactors()) {
    Value scaled = arith::CmpFOp::create(e, arith::CmpFPredicate::UNE, factor, e.cf32(1));
    isScaled = isScaled ? or_(e, isScaled, scaled) : scaled;
  }
  Value any = NVVM::VoteSyncOp::create(e, e.i1, e.c32(-1), isScaled, NVVM::VoteSyncKind::any);
  SmallVector<unsigned> map = getSliceElements(op.getTile(), op.getAxis());
  auto contract = arith::FastMathFlagsAttr::get(e.getContext(), arith::FastMathFlags::contract);
  // Matrix ops in flight are waited for on both ways, behind the branch: ptxas moves a wait that
  // stands in front of it up, past work that should run beside them.
  auto complete = [&] {
    SmallVector<Value> elements(op.getElements());
    if (op.getInFlight())
      elements = WgmmaWaitOp::create(e, TypeRange(ValueRange(elements)), 0, elements).getResults();
    return elements;
  };
  auto multiply = [&] {
    SmallVector<Value> products;
    for (auto [x, i] : llvm::zip_equal(complete(), map))
      products.push_back(arith::MulFOp::create(e, x, op.getFactors()[i], contract));
    return products;
  };
  return choose(e, any, multiply, complete);
}

void mk_thread::expandElements(ModuleOp module) {
  replaceEach<MaskElementsOp>(module, mask);
  replaceEach<ScaleElementsOp>(module, scale);
}
