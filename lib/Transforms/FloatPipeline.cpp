//===- FloatPipeline.cpp - Floats that CPUs do not calculate with ---------===//
#include "mkernel/Transforms/FloatPipeline.h"
#include "mkernel/Transforms/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"

using namespace mlir;

void mk::buildFloatPipeline(OpPassManager &pm) {
  pm.addPass(createCompleteFloatsPass());
  pm.addPass(createExpandFp8Pass());
  pm.addPass(createSaturateConversionsPass());
  // There is no arithmetic in bf16, and libm has functions of f32 and f64.
  math::MathExtendToSupportedTypesOptions functions;
  pm.addPass(math::createMathExtendToSupportedTypes(functions));
  arith::ArithEmulateUnsupportedFloatsOptions emulate;
  emulate.sourceTypeStrs = {"bf16"};
  emulate.targetTypeStr = "f32";
  pm.addPass(arith::createArithEmulateUnsupportedFloats(emulate));
}
