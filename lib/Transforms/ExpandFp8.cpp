//===- ExpandFp8.cpp - Conversions from and to fp8 as integer code --------===//
//
// CPUs and upstream's lowerings have no f8E4M3FN and f8E5M2. Both widen by a shift of their bits
// into the fields of an f32 and a multiplication that corrects the bias of the exponent (exact,
// subnormal numbers included). They are narrowed as the hardware that has them does: to the
// nearest, ties to even, what is too large (infinity too) to the largest number, NaN to NaN.
//
//===----------------------------------------------------------------------===//
#include "Functions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::mk;

namespace {
/// What distinguishes the two formats.
struct Format {
  unsigned mantissa; // bits of it
  int32_t bias;      // of the exponent
  uint32_t largest;  // magnitude, as bits of an f32
  bool hasInfinity;

  unsigned shift() const { return 23 - mantissa; }
};

std::optional<Format> getFormat(Type type) {
  Type element = getElementTypeOrSelf(type);
  if (isa<Float8E4M3FNType>(element))
    return Format{3, 7, 0x43e00000, false}; // 448
  if (isa<Float8E5M2Type>(element))
    return Format{2, 15, 0x47600000, true}; // 57344
  return std::nullopt;
}

/// Arithmetic on i32 and f32, scalar or vectors of the shape of `like`.
struct Code {
  OpBuilder &b;
  Location loc;
  Type like;

  Type shaped(Type element) {
    if (auto vector = dyn_cast<VectorType>(like))
      return vector.clone(element);
    return element;
  }
  Type i8() { return shaped(b.getI8Type()); }
  Type i32() { return shaped(b.getI32Type()); }
  Type f32() { return shaped(b.getF32Type()); }

  Value constant(TypedAttr attr) {
    if (auto vector = dyn_cast<VectorType>(like))
      attr = DenseElementsAttr::get(vector.clone(attr.getType()), Attribute(attr));
    return arith::ConstantOp::create(b, loc, attr);
  }
  Value number(uint32_t value) {
    return constant(b.getI32IntegerAttr(static_cast<int32_t>(value)));
  }
  Value real(uint32_t bits) { return bitsToReal(number(bits)); }
  Value bitsToReal(Value bits) { return arith::BitcastOp::create(b, loc, f32(), bits); }
  Value realToBits(Value real) { return arith::BitcastOp::create(b, loc, i32(), real); }
  template <typename Op> Value make(Value x, uint32_t y) {
    return Op::create(b, loc, x, number(y));
  }
  template <typename Op> Value make(Value x, Value y) { return Op::create(b, loc, x, y); }
  Value compare(arith::CmpIPredicate how, Value x, uint32_t y) {
    return arith::CmpIOp::create(b, loc, how, x, number(y));
  }
  Value select(Value condition, Value x, Value y) {
    return arith::SelectOp::create(b, loc, condition, x, y);
  }

  Value widen(Value source, const Format &format);
  Value narrow(Value source, const Format &format);
};
} // namespace

/// The f32 that is a number of 8 bits.
Value Code::widen(Value source, const Format &format) {
  Value byte = arith::BitcastOp::create(b, loc, i8(), source);
  Value bits = arith::ExtUIOp::create(b, loc, i32(), byte);
  Value magnitude = make<arith::AndIOp>(bits, 0x7f);
  Value sign = make<arith::ShLIOp>(make<arith::AndIOp>(bits, 0x80), 24);
  // Two to the difference of the biases.
  Value scale = real(static_cast<uint32_t>(127 + 127 - format.bias) << 23);
  Value moved = make<arith::ShLIOp>(magnitude, format.shift());
  Value scaled = realToBits(make<arith::MulFOp>(bitsToReal(moved), scale));
  // Without infinity only the last pattern is NaN.
  Value special = compare(arith::CmpIPredicate::uge, magnitude, format.hasInfinity ? 0x7c : 0x7f);
  Value raised = make<arith::OrIOp>(moved, 0x7f800000);
  Value result = select(special, raised, scaled);
  return bitsToReal(make<arith::OrIOp>(result, sign));
}

/// The bits of an f32 as a number of 8 bits.
Value Code::narrow(Value source, const Format &format) {
  Value bits = realToBits(source);
  Value sign = make<arith::AndIOp>(make<arith::ShRUIOp>(bits, 24), 0x80);
  Value exact = make<arith::AndIOp>(bits, 0x7fffffff);
  Value isNaN = compare(arith::CmpIPredicate::ugt, exact, 0x7f800000);
  Value magnitude = make<arith::MinUIOp>(exact, format.largest);

  // Round in the integer; a carry into the exponent is right.
  Value odd = make<arith::AndIOp>(make<arith::ShRUIOp>(magnitude, format.shift()), 1);
  Value half = make<arith::AddIOp>(odd, (1u << (format.shift() - 1)) - 1);
  Value rebased = make<arith::SubIOp>(magnitude, static_cast<uint32_t>(127 - format.bias) << 23);
  Value normal = make<arith::ShRUIOp>(make<arith::AddIOp>(rebased, half), format.shift());

  // Below the least normal number: adding a number whose last place is the
  // least subnormal one rounds to a multiple of it.
  int32_t leastExponent = 1 - format.bias;
  uint32_t magic =
      static_cast<uint32_t>(127 + leastExponent - static_cast<int32_t>(format.mantissa) + 23) << 23;
  Value sum = make<arith::AddFOp>(bitsToReal(magnitude), real(magic));
  Value subnormal = make<arith::SubIOp>(realToBits(sum), magic);
  Value isSmall = compare(arith::CmpIPredicate::ult, magnitude,
                          static_cast<uint32_t>(127 + leastExponent) << 23);

  Value result = select(isSmall, subnormal, normal);
  result = select(isNaN, number(0x7f), result);
  result = make<arith::OrIOp>(result, sign);
  return arith::TruncIOp::create(b, loc, i8(), result);
}

static void widen(arith::ExtFOp op, const Format &format) {
  OpBuilder b(op);
  Code code{b, op.getLoc(), op.getType()};
  Value value = code.widen(op.getIn(), format);
  Type wanted = getElementTypeOrSelf(op.getType());
  if (wanted.getIntOrFloatBitWidth() > 32)
    value = arith::ExtFOp::create(b, op.getLoc(), op.getType(), value);
  else if (!wanted.isF32())
    value = arith::TruncFOp::create(b, op.getLoc(), op.getType(), value);
  op.replaceAllUsesWith(value);
  op.erase();
}

static void narrow(arith::TruncFOp op, const Format &format) {
  OpBuilder b(op);
  Code code{b, op.getLoc(), op.getType()};
  Value value = op.getIn();
  Type given = getElementTypeOrSelf(value.getType());
  if (given.getIntOrFloatBitWidth() > 32)
    value = arith::TruncFOp::create(b, op.getLoc(), code.f32(), value);
  else if (!given.isF32())
    value = arith::ExtFOp::create(b, op.getLoc(), code.f32(), value);
  value = arith::BitcastOp::create(b, op.getLoc(), op.getType(), code.narrow(value, format));
  op.replaceAllUsesWith(value);
  op.erase();
}

/// An integer by way of f32, which upstream takes away where the file has it. It is rounded once
/// even so: f32 has all integers up to 2^24, and what is larger becomes the largest number in any
/// case.
static void narrowInteger(Operation *op, const Format &format) {
  OpBuilder b(op);
  Type type = op->getResult(0).getType();
  Code code{b, op->getLoc(), type};
  Value source = op->getOperand(0);
  Value wide = isa<arith::SIToFPOp>(op)
                   ? arith::SIToFPOp::create(b, op->getLoc(), code.f32(), source).getResult()
                   : arith::UIToFPOp::create(b, op->getLoc(), code.f32(), source).getResult();
  Value value = arith::BitcastOp::create(b, op->getLoc(), type, code.narrow(wide, format));
  op->replaceAllUsesWith(ValueRange(value));
  op->erase();
}

/// A constant is its bits.
static void replaceConstant(arith::ConstantOp op) {
  OpBuilder b(op);
  Code code{b, op.getLoc(), op.getType()};
  TypedAttr bits;
  if (auto number = dyn_cast<FloatAttr>(op.getValue()))
    bits = b.getIntegerAttr(code.i8(), number.getValue().bitcastToAPInt());
  else
    bits = cast<DenseElementsAttr>(op.getValue()).bitcast(b.getI8Type());
  Value value = arith::ConstantOp::create(b, op.getLoc(), bits);
  op.replaceAllUsesWith(arith::BitcastOp::create(b, op.getLoc(), op.getType(), value).getResult());
  op.erase();
}

LogicalResult mk::expandFp8(Operation *op) {
  auto isFp8 = [](Type type) { return getFormat(type).has_value(); };
  if (!isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) ||
      (llvm::none_of(op->getOperandTypes(), isFp8) && llvm::none_of(op->getResultTypes(), isFp8)))
    return success();
  if (auto widening = dyn_cast<arith::ExtFOp>(op)) {
    widen(widening, *getFormat(widening.getIn().getType()));
    return success();
  }
  if (auto narrowing = dyn_cast<arith::TruncFOp>(op)) {
    narrow(narrowing, *getFormat(narrowing.getType()));
    return success();
  }
  if (isa<arith::SIToFPOp, arith::UIToFPOp>(op)) {
    narrowInteger(op, *getFormat(op->getResult(0).getType()));
    return success();
  }
  if (auto constant = dyn_cast<arith::ConstantOp>(op);
      constant && isa<FloatType, VectorType>(constant.getType())) {
    replaceConstant(constant);
    return success();
  }
  // Whatever only moves elements knows them as 8 bits.
  if (isa<arith::SelectOp, arith::BitcastOp>(op))
    return success();
  return op->emitOpError() << "calculates in fp8, for which there is no arithmetic: widen by "
                              "arith.extf to f32 first, and narrow the result by arith.truncf";
}
