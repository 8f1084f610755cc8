//===- ThreadMatrixOps.cpp - What ops of the matrix unit demand ------------===//
#include "mkernel/Dialect/Thread/Thread.h"
#include "mkernel/Dialect/Tile/Target.h"

using namespace mlir;
using namespace mlir::mk_thread;

int64_t mk_thread::getMatrixBytes(StringRef type) {
  return llvm::StringSwitch<int64_t>(type)
      .Cases({"bf16", "f16"}, 2)
      .Case("tf32", 4)
      .Cases({"e4m3", "e5m2"}, 1)
      .Default(0);
}
/// What matrix ops have in common.
template <typename OpT> static LogicalResult verifyMatrixTypes(OpT op) {
  int64_t bytes = getMatrixBytes(op.getLeftType());
  if (!bytes || bytes != getMatrixBytes(op.getRightType()) ||
      (bytes != 1 && op.getLeftType() != op.getRightType()))
    return op.emitOpError() << "multiplies " << op.getLeftType() << " by " << op.getRightType()
                            << "; use two of bf16, f16 or tf32, or any of e4m3 and e5m2";
  if (bytes != 2 && (op.getTransposeLeft() || op.getTransposeRight()))
    return op.emitOpError() << "transposes " << op.getLeftType() << "; only 16-bit types are";
  if (!op.getAcc().empty() && op.getAcc().size() != op.getResults().size())
    return op.emitOpError() << "has " << op.getAcc().size() << " values as accumulator and "
                            << op.getResults().size() << " results";
  if (op.getAcc().empty() && op.getAccumulate())
    return op.emitOpError("says when its accumulator counts, and has none: leave out `accumulate`");
  return success();
}

/// The unit that the machine has; null where no target with SMs is registered.
static mk::MatrixUnitAttr getUnit(Operation *op) {
  mk::SmAttr sm = mk::getSm(op);
  return sm ? sm.getMatrixUnit() : mk::MatrixUnitAttr();
}

/// Words of 32 bits that a thread has of so many rows and elements of a left operand.
static int64_t countLeftWords(int64_t rows, int64_t k, int64_t bytes) {
  return rows * k * bytes / 4 / mk::kWarpgroupThreads;
}

LogicalResult ProductOp::verify() {
  if (failed(verifyMatrixTypes(*this)))
    return failure();
  mk::MatrixUnitAttr unit = getUnit(*this);
  if (!unit)
    return success();
  int64_t bytes = getMatrixBytes(getLeftType());
  int64_t rows = getRows(), n = getColumns(), k = getDepth(), step = unit.getKBytes() / bytes;
  if (rows % unit.getRows() || n % getWidth() || k % step)
    return emitOpError() << "has " << rows << " x " << n << " x " << k
                         << " elements; use multiples of " << unit.getRows() << ", " << getWidth()
                         << " and " << step << ", those of an instruction";
  size_t words = getLeft().size();
  int64_t inRegisters = countLeftWords(rows, k, bytes);
  if (words == 1 ? !getLeftRows()
                 : int64_t(words) != inRegisters || getLeftRows() || getTransposeLeft())
    return emitOpError() << "has a left operand of " << words << " words and "
                         << int64_t(getLeftRows())
                         << " rows; give the address of a tile with rows, or " << inRegisters
                         << " words without, and not transposed";
  int64_t elements = rows * n / mk::kWarpgroupThreads;
  if (int64_t(getResults().size()) != elements)
    return emitOpError() << "has " << getResults().size() << " results; a thread has " << elements
                         << " elements of the product";
  return success();
}

LogicalResult WgmmaOp::verify() {
  if (failed(verifyMatrixTypes(*this)))
    return failure();
  mk::MatrixUnitAttr unit = getUnit(*this);
  if (!unit)
    return success();
  int64_t n = getN();
  if (n < 1 || n > unit.getColumns() || n % unit.getColumnStep())
    return emitOpError() << "has " << n << " columns; there are " << unit.getColumnStep() << " to "
                         << unit.getColumns() << ", in steps of " << unit.getColumnStep();
  int64_t bytes = getMatrixBytes(getLeftType());
  if (int64_t(getK()) != unit.getKBytes() / bytes)
    return emitOpError() << "contracts " << getK() << " elements; of " << getLeftType() << " it is "
                         << unit.getKBytes() / bytes;
  int64_t words = getLeft().size(), inRegisters = countLeftWords(unit.getRows(), getK(), bytes);
  bool isDescriptor = words == 1 && getLeft()[0].getType().isInteger(64);
  if (!isDescriptor && (words != inRegisters || !llvm::all_of(getLeft().getTypes(), [](Type type) {
                          return type.isInteger(32);
                        })))
    return emitOpError() << "has a left operand that is neither a descriptor (an i64) nor "
                         << inRegisters << " registers (i32)";
  if (!isDescriptor && (getLeftOffset() || getTransposeLeft()))
    return emitOpError(
        "has a left operand in registers, which has no offset and is not transposed");
  int64_t elements = unit.getRows() * n / mk::kWarpgroupThreads;
  if (int64_t(getResults().size()) != elements)
    return emitOpError() << "has " << getResults().size() << " results; a thread has " << elements
                         << " elements of the product";
  return success();
}

LogicalResult PinOp::verify() {
  if (getValues().empty())
    return emitOpError("pins no values; name those that are to be computed here");
  return success();
}

static LogicalResult verifyFp8(Operation *op, Type type) {
  if (isa<Float8E4M3FNType, Float8E5M2Type>(type))
    return success();
  return op->emitOpError() << "converts " << type << "; use f8E4M3FN or f8E5M2";
}
LogicalResult ToFp8Op::verify() { return verifyFp8(*this, getType()); }
LogicalResult FromFp8Op::verify() { return verifyFp8(*this, getType()); }
