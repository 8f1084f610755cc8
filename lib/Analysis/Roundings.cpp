//===- Roundings.cpp - How coarsely a kernel rounds -----------------------===//
//
// Values start exact: an input is given to the reference as it was rounded to its type. An op that
// makes floats narrower than f32 rounds. Facts go forward through values, loops and memory until
// nothing changes; there are few of them, and they only get coarser.
//
//===----------------------------------------------------------------------===//
#include "mkernel/Analysis/Roundings.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"

#include <cmath>

using namespace mlir;
using namespace mlir::mk;

namespace {

/// The coarsest rounding in a value's past, and that without the last one.
struct Past {
  double all = 0, before = 0;

  Past join(Past other) const { return {std::max(all, other.all), std::max(before, other.before)}; }
  bool operator!=(Past other) const { return all != other.all || before != other.before; }
};

double getEpsilon(Type type) {
  auto element = dyn_cast<FloatType>(getElementTypeOrSelf(type));
  if (!element || element.getWidth() >= 32)
    return 0;
  return std::ldexp(1.0, 1 - int(element.getFPMantissaWidth()));
}

/// Whether an op gives elements of its operands as they are.
bool onlyMoves(Operation *op) {
  return isa<LoadOp, SelectOp, BroadcastOp, TransposeOp, MaskOp, arith::SelectOp, arith::ConstantOp,
             arith::ExtFOp, arith::NegFOp, arith::BitcastOp, arith::MaximumFOp, arith::MinimumFOp,
             arith::MaxNumFOp, arith::MinNumFOp>(op) ||
         op->getNumRegions() > 0 || op->getName().getDialectNamespace() == "tensor";
}

struct Analysis {
  double fp8Sums;
  llvm::DenseMap<Value, Past> values; // of buffers: what they hold
  bool changed = false;

  void add(Value value, Past past) {
    Past &known = values[value];
    Past next = known.join(past);
    changed |= next != known;
    known = next;
  }

  /// The buffers that a value of memref type may be part of.
  void findRoots(Value memory, llvm::SetVector<Value> &roots) {
    Operation *op = memory.getDefiningOp();
    bool derived = false;
    if (op)
      for (Value operand : op->getOperands())
        if (isa<BaseMemRefType>(operand.getType())) {
          derived = true;
          findRoots(operand, roots);
        }
    if (!derived)
      roots.insert(memory);
  }
  Past read(Value value) {
    if (!isa<BaseMemRefType>(value.getType()))
      return values.lookup(value);
    llvm::SetVector<Value> roots;
    findRoots(value, roots);
    Past past;
    for (Value root : roots)
      past = past.join(values.lookup(root));
    return past;
  }
  void write(Value memory, Past past, bool adds) {
    // Each addition to what is there rounds to the type of the memory.
    if (adds) {
      double coarsest = std::max(past.all, getEpsilon(memory.getType()));
      past = {coarsest, coarsest};
    }
    llvm::SetVector<Value> roots;
    findRoots(memory, roots);
    for (Value root : roots)
      add(root, past);
  }

  Past readAll(Operation *op) {
    Past past;
    for (Value operand : op->getOperands())
      past = past.join(read(operand));
    return past;
  }

  void visit(Operation *op) {
    if (auto store = dyn_cast<StoreOp>(op))
      return write(store.getDest(), read(store.getTile()), store.getReduction().has_value());
    if (auto put = dyn_cast<PutOp>(op))
      return write(put.getDest(), read(put.getSource()), put.getReduction().has_value());
    if (op->getNumRegions() > 0)
      return visitRegions(op);
    Past past = readAll(op);
    // Of other dialects: what writes memory gets all it writes from its operands.
    if (op->getNumResults() == 0) {
      for (Value operand : op->getOperands())
        if (isa<BaseMemRefType>(operand.getType()))
          write(operand, past, false);
      return;
    }
    if (!onlyMoves(op))
      past.before = past.all;
    if (auto dot = dyn_cast<DotOp>(op))
      past.all = past.before = std::max(past.all, getDotRounding(dot));
    for (Value result : op->getResults()) {
      Past own = past;
      if (!onlyMoves(op))
        own.all = std::max(own.all, getEpsilon(result.getType()));
      if (!isa<BaseMemRefType>(result.getType()))
        add(result, own);
    }
  }

  double getDotRounding(DotOp dot) {
    double epsilon = 0;
    for (Value operand : {dot.getLhs(), dot.getRhs()}) {
      Type type = getElementTypeOrSelf(operand);
      // tf32 keeps 10 bits of the fraction; tensor cores cut the others off, which
      // is off by twice as much as rounding. Of few terms both operands' errors have one sign.
      if (type.isF32() && dot.getPrecision() == Precision::TF32)
        epsilon += 0x1p-9;
      if (type.isFloat(8))
        epsilon = std::max(epsilon, fp8Sums);
    }
    return epsilon;
  }

  /// Results are what regions yield; a loop's body gets that, or what it started from.
  void visitRegions(Operation *op) {
    unsigned count = op->getNumResults();
    // Values that a loop carries, each on its own, else all of them together.
    bool aligned = isa<FoldOp, scf::ForOp, scf::IfOp, scf::IndexSwitchOp>(op);
    bool carries = isa<FoldOp, scf::ForOp>(op);
    SmallVector<Past> results(count);
    Past any = readAll(op);
    for (unsigned i = 0; carries && i != count; ++i)
      results[i] = read(op->getOperand(op->getNumOperands() - count + i));
    for (Region &region : op->getRegions())
      for (Block &block : region)
        if (!block.empty() && block.back().hasTrait<OpTrait::IsTerminator>())
          for (auto [i, value] : llvm::enumerate(block.back().getOperands())) {
            any = any.join(read(value));
            if (aligned && i < count)
              results[i] = results[i].join(read(value));
          }
    for (unsigned i = 0; i != count; ++i)
      add(op->getResult(i), aligned ? results[i] : any);
    for (Region &region : op->getRegions())
      for (Block &block : region) {
        unsigned args = block.getNumArguments();
        for (unsigned i = 0; i != args; ++i)
          if (!isa<BaseMemRefType>(block.getArgument(i).getType()))
            add(block.getArgument(i), !carries            ? any
                                      : i + count >= args ? results[i + count - args]
                                                          : Past());
      }
  }
};
} // namespace

SmallVector<double> mk::getRoundings(KernelOp kernel, double fp8Sums) {
  Analysis analysis{fp8Sums, llvm::DenseMap<Value, Past>()};
  do {
    analysis.changed = false;
    kernel.getBody().walk([&](Operation *op) { analysis.visit(op); });
  } while (analysis.changed);
  SmallVector<double> roundings;
  for (unsigned i = 0, e = kernel.getNumKernelArgs(); i != e; ++i) {
    Value arg = kernel.getKernelArg(i);
    Past past = analysis.values.lookup(arg);
    // The last rounding gives the argument its type only if it is to that type.
    bool toType = past.all <= getEpsilon(arg.getType());
    roundings.push_back(toType ? past.before : past.all);
  }
  return roundings;
}
