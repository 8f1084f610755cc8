//===- SaturateConversions.cpp - Floats that no integer is near to --------===//
//
// A float beyond the range of an integer becomes the nearest number of that, and NaN becomes 0, as
// conversions of GPUs have it. Of arith it is undefined.
//
//===----------------------------------------------------------------------===//
#include "mkernel/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
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
  /// By instructions of NVVM.
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

// As arith or LLVM have it a conversion beyond the range is undefined, and folded to anything;
// NVVM's intrinsics are instructions. These have 32 or 64 bits (PTX ISA, "cvt"): NaN gives 0 from
// f32 to 32 bits, else the least number.
void Conversion::saturateByHardware() {
  if (isa<ShapedType>(to))
    return saturate();
  Value x = from();
  bool isDouble = x.getType().isF64(), isLong = bits() > 32;
  if (!isDouble && !x.getType().isF32())
    x = arith::ExtFOp::create(b, b.getF32Type(), x);
  Type type = b.getIntegerType(isLong ? 64 : 32);
  std::string name = std::string("llvm.nvvm.") + (isDouble ? "d2" : "f2") +
                     (isSigned() ? "" : "u") + (isLong ? "ll" : "i") + ".rz";
  Value result =
      LLVM::CallIntrinsicOp::create(b, type, b.getStringAttr(name), ValueRange(x)).getResult(0);
  if (isDouble || isLong)
    result = dropNaN(result);
  if (bits() < 32) {
    Value most = integer(type, getMost(32));
    if (isSigned())
      result = arith::MaxSIOp::create(b, result, integer(type, getLeast(32)));
    result = isSigned() ? Value(arith::MinSIOp::create(b, result, most))
                        : Value(arith::MinUIOp::create(b, result, most));
    result = arith::TruncIOp::create(b, to, result);
  }
  replace(result);
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
