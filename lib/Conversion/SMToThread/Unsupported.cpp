//===- Unsupported.cpp - What the target has no code for, and what to use instead -===//
//
// docs/targets.md has the table for readers; a test compiles what it names.
//
//===----------------------------------------------------------------------===//
#include "Lowerings.h"
#include "mkernel/Dialect/Tile/Floats.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::mk::sm;

namespace {
struct Replacement {
  StringLiteral op, way;
};
} // namespace

/// Functions that the special function unit and `ExpandMath.cpp` do not have, by those that they
/// do.
static constexpr Replacement kReplacements[] = {
    {"math.acos", "compute it before the kernel, or by a polynomial"},
    {"math.asin", "compute it before the kernel, or by a polynomial"},
    {"math.atan", "compute it before the kernel, or by a polynomial"},
    {"math.atan2", "compute it before the kernel, or by a polynomial of y / x"},
    {"math.isfinite", "compare math.absf with infinity by arith.cmpf olt"},
    {"math.isinf", "compare math.absf with infinity by arith.cmpf oeq"},
    {"math.isnan", "compare it with itself by arith.cmpf uno"},
    {"math.isnormal", "compare math.absf with constants by arith.cmpf"},
    {"math.acosh", "write it as log(x + sqrt(x * x - 1))"},
    {"math.asinh", "write it as log(x + sqrt(x * x + 1)) where x is positive"},
    {"math.atanh", "write it as 0.5 * log((1 + x) / (1 - x))"},
    {"math.cbrt", "write it by math.powf, with the sign by math.copysign"},
    {"math.cosh", "write it as 0.5 * (exp(x) + exp(-x))"},
    {"math.erfc", "write it as 1 - erf(x)"},
    {"math.expm1", "write it as exp(x) - 1, and as x + 0.5 * x * x where x is small"},
    {"math.fpowi", "use math.powf with arith.sitofp of the exponent, or multiply"},
    {"math.log1p", "write it as log(1 + x), and as x - 0.5 * x * x where x is small"},
    {"math.round", "use math.roundeven, or floor(x + 0.5) where x is positive"},
    {"math.sinh", "write it as 0.5 * (exp(x) - exp(-x))"},
    {"math.tan", "write it as sin(x) / cos(x)"},
    {"math.sincos", "use math.sin and math.cos"},
    {"arith.addui_extended", "widen the operands by arith.extui and add them"},
    {"arith.mulsi_extended", "widen the operands by arith.extsi and multiply them"},
    {"arith.mului_extended", "widen the operands by arith.extui and multiply them"},
};

static bool hasFloatOf(Operation *op, unsigned least, unsigned most) {
  auto isSuch = [&](Type type) {
    auto element = dyn_cast<FloatType>(getElementTypeOrSelf(type));
    return element && element.getWidth() >= least && element.getWidth() <= most;
  };
  return llvm::any_of(op->getOperandTypes(), isSuch) || llvm::any_of(op->getResultTypes(), isSuch);
}

/// What to write instead, if that is known.
static StringRef findReplacement(Operation *op) {
  StringRef name = op->getName().getStringRef();
  for (const Replacement &replacement : kReplacements)
    if (replacement.op == name)
      return replacement.way;
  if ((isa<math::MathDialect>(op->getDialect()) || isa<arith::RemFOp>(op)) &&
      hasFloatOf(op, 64, 128))
    return "functions have code for f32, bf16 and f16; narrow by arith.truncf";
  return {};
}

LogicalResult sm::refuse(Operation *op) {
  // Layouts are no matter of who wrote the op.
  auto plain = [](Type type) -> Type {
    auto tile = dyn_cast<RankedTensorType>(type);
    return tile ? RankedTensorType::get(tile.getShape(), tile.getElementType()) : type;
  };
  InFlightDiagnostic diag = op->emitOpError();
  if (op->getNumOperands())
    diag << "on " << plain(op->getOperand(0).getType()) << " ";
  if (op->getNumResults())
    diag << "to " << plain(op->getResult(0).getType()) << " ";
  diag << "cannot be lowered for " << getSmTarget(op).getName() << " yet: ";
  // Nor on the host.
  if (mk::hasUnknownFloat(op))
    return diag << mk::kFloatTypes;
  if (auto truncation = dyn_cast<arith::TruncFOp>(op); truncation && truncation.getRoundingmode())
    return diag << mk::kRoundingModes;
  if (hasFloatOf(op, 1, 8))
    return diag << "there is no arithmetic in fp8; widen by arith.extf to f32 first, and "
                   "narrow the result by arith.truncf";
  StringRef way = findReplacement(op);
  return diag << way << (way.empty() ? "" : ", or ") << "run it with --target=host";
}
