//===- SaturateConversions.cpp - Floats that no integer is near to --------===//
//
// A float beyond the range of an integer becomes the nearest number of that, and NaN becomes 0, as
// conversions of GPUs have it. Of arith it is undefined.
//
//===----------------------------------------------------------------------===//
#include "mkernel/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

namespace mlir::mk {
#define GEN_PASS_DEF_SATURATECONVERSIONSPASS
#include "mkernel/Transforms/Passes.h.inc"
} // namespace mlir::mk

using namespace mlir;
using namespace mlir::mk;

namespace {
/// Code for one conversion, of a scalar or of a vector.
class Conversion {
public:
  explicit Conversion(Operation *op) : op(op), b(op->getLoc(), op) {}

  void saturate();
  /// For machines whose instructions do so for integers of 16 and 32 bits, of f64 but for NaN.
  void saturateByHardware();

private:
  Value from() { return op->getOperand(0); }
  bool isSigned() { return isa<arith::FPToSIOp>(op); }
  int64_t bits() { return getElementTypeOrSelf(to).getIntOrFloatBitWidth(); }
  APInt getMost(int64_t width) {
    return isSigned() ? APInt::getSignedMaxValue(bits()).sext(width)
                      : APInt::getMaxValue(bits()).zext(width);
  }
  APInt getLeast(int64_t width) {
    return isSigned() ? APInt::getSignedMinValue(bits()).sext(width) : APInt(width, 0);
  }
  Value constant(Type type, Attribute value) {
    if (auto shaped = dyn_cast<ShapedType>(type))
      return arith::ConstantOp::create(b, DenseElementsAttr::get(shaped, value));
    return arith::ConstantOp::create(b, cast<TypedAttr>(value));
  }
  Value integer(Type type, const APInt &number) {
    return constant(type, b.getIntegerAttr(getElementTypeOrSelf(type), number));
  }
  /// `number` rounded to the float's type: infinity where it is beyond that.
  Value real(double number) {
    auto element = cast<FloatType>(getElementTypeOrSelf(from().getType()));
    return constant(from().getType(), b.getFloatAttr(element, number));
  }
  Value compare(arith::CmpFPredicate predicate, Value x, Value y) {
    return arith::CmpFOp::create(b, predicate, x, y);
  }
  Value select(Value condition, Value x, Value y) {
    return arith::SelectOp::create(b, condition, x, y);
  }
  Value dropNaN(Value value) {
    return select(
        compare(arith::CmpFPredicate::ORD, from(), from()), value,
        integer(value.getType(), APInt(getElementTypeOrSelf(value).getIntOrFloatBitWidth(), 0)));
  }
  Value convert(Type type) {
    return isSigned() ? Value(arith::FPToSIOp::create(b, type, from()))
                      : Value(arith::FPToUIOp::create(b, type, from()));
  }
  void replace(Value value) {
    op->getResult(0).replaceAllUsesWith(value);
    op->erase();
  }

  Operation *op;
  ImplicitLocOpBuilder b;
  Type to = op->getResult(0).getType();
};
} // namespace

void Conversion::saturate() {
  using arith::CmpFPredicate;
  // Behind the largest number, which need not be a float.
  Value above = real(std::ldexp(1.0, isSigned() ? bits() - 1 : bits()));
  Value result =
      select(compare(CmpFPredicate::OGE, from(), above), integer(to, getMost(bits())), convert(to));
  if (!isSigned()) // also of NaN
    return replace(select(compare(CmpFPredicate::OGT, from(), real(0)), result,
                          integer(to, getLeast(bits()))));
  Value below = real(-std::ldexp(1.0, bits() - 1));
  result =
      select(compare(CmpFPredicate::OLE, from(), below), integer(to, getLeast(bits())), result);
  replace(dropNaN(result));
}

void Conversion::saturateByHardware() {
  bool isDouble = getElementTypeOrSelf(from().getType()).isF64();
  if (bits() > 32)
    return saturate();
  if (bits() < 16) {
    Type type = b.getI32Type();
    if (auto shaped = dyn_cast<ShapedType>(to))
      type = shaped.clone(type);
    Value wide = convert(type), most = integer(type, getMost(32));
    if (isSigned())
      wide = arith::MaxSIOp::create(b, wide, integer(type, getLeast(32)));
    wide = isSigned() ? Value(arith::MinSIOp::create(b, wide, most))
                      : Value(arith::MinUIOp::create(b, wide, most));
    Value result = arith::TruncIOp::create(b, to, wide);
    return replace(isDouble ? dropNaN(result) : result);
  }
  if (isDouble)
    replace(dropNaN(convert(to)));
}

namespace {
struct SaturateConversionsPass : mk::impl::SaturateConversionsPassBase<SaturateConversionsPass> {
  using SaturateConversionsPassBase::SaturateConversionsPassBase;

  void runOnOperation() override {
    SmallVector<Operation *> conversions;
    getOperation().walk([&](Operation *op) {
      if (isa<arith::FPToSIOp, arith::FPToUIOp>(op))
        conversions.push_back(op);
    });
    for (Operation *op : conversions)
      hardware ? Conversion(op).saturateByHardware() : Conversion(op).saturate();
  }
};
} // namespace
