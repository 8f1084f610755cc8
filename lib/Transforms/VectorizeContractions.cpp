//===- VectorizeContractions.cpp - Register-blocked matrix products -------===//
#include "mkernel/Analysis/Remarks.h"
#include "mkernel/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace mlir::mk {
#define GEN_PASS_DEF_VECTORIZECONTRACTIONSPASS
#include "mkernel/Transforms/Passes.h.inc"
} // namespace mlir::mk

using namespace mlir;
using namespace mlir::mk;

namespace {
/// C[m, n] += A[m, k] * B[k, n] with static sizes.
struct Contraction {
  linalg::GenericOp op;
  Value a, b, c;
  bool transposedA, transposedB;
  int64_t m, n, k;
};

struct VectorizeContractionsPass
    : mk::impl::VectorizeContractionsPassBase<VectorizeContractionsPass> {
  using VectorizeContractionsPassBase::VectorizeContractionsPassBase;

  static std::optional<Contraction> match(linalg::GenericOp op);
  void runOnOperation() override;
};
} // namespace

/// Whether the body is `c + wide(a) * wide(b)`.
static bool multipliesAndAdds(Block &body) {
  auto yield = cast<linalg::YieldOp>(body.getTerminator());
  auto add = yield.getOperand(0).getDefiningOp<arith::AddFOp>();
  if (!add || add.getLhs() != body.getArgument(2))
    return false;
  auto mul = add.getRhs().getDefiningOp<arith::MulFOp>();
  if (!mul)
    return false;
  auto comesFrom = [](Value value, Value arg) {
    if (auto wide = value.getDefiningOp<arith::ExtFOp>())
      value = wide.getIn();
    return value == arg;
  };
  return comesFrom(mul.getLhs(), body.getArgument(0)) &&
         comesFrom(mul.getRhs(), body.getArgument(1));
}

std::optional<Contraction> VectorizeContractionsPass::match(linalg::GenericOp op) {
  if (!op.hasPureBufferSemantics() || op.getNumLoops() != 3 || op.getNumDpsInputs() != 2 ||
      op.getNumDpsInits() != 1)
    return std::nullopt;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  AffineExpr m, n, k;
  bindDims(op.getContext(), m, n, k);
  auto is = [&](unsigned i, AffineExpr row, AffineExpr column) {
    return maps[i].getNumResults() == 2 && maps[i].getResult(0) == row &&
           maps[i].getResult(1) == column;
  };
  Contraction match{op,
                    op.getDpsInputs()[0],
                    op.getDpsInputs()[1],
                    op.getDpsInits()[0],
                    is(0, k, m),
                    is(1, n, k),
                    0,
                    0,
                    0};
  if ((!match.transposedA && !is(0, m, k)) || (!match.transposedB && !is(1, k, n)) ||
      !is(2, m, n) || !multipliesAndAdds(op.getRegion().front()))
    return std::nullopt;
  SmallVector<int64_t, 4> ranges = op.getStaticLoopRanges();
  if (llvm::any_of(ranges, ShapedType::isDynamic) ||
      !isa<FloatType>(getElementTypeOrSelf(match.c.getType())))
    return std::nullopt;
  match.m = ranges[0];
  match.n = ranges[1];
  match.k = ranges[2];
  return match;
}

/// Largest divisor of `size` that is at most `limit`.
static int64_t divisorUpTo(int64_t size, int64_t limit) {
  for (int64_t d = std::min(size, limit); d > 1; --d)
    if (size % d == 0)
      return d;
  return 1;
}

namespace {
/// The loops of a product: panels of columns, blocks of rows in each, steps over K in each.
class BlockedProduct {
public:
  BlockedProduct(const Contraction &c, func::FuncOp function, int64_t blockRows,
                 int64_t vectorWidth, int64_t blockVectors)
      : c(c), function(function), b(c.op), loc(this->c.op.getLoc()),
        element(getElementTypeOrSelf(c.c.getType())), rows(divisorUpTo(c.m, blockRows)),
        lanes(divisorUpTo(c.n, vectorWidth)), vectors(divisorUpTo(c.n / lanes, blockVectors)),
        vectorType(VectorType::get(lanes, element)) {}

  void emit();

private:
  Value constant(int64_t value) { return arith::ConstantIndexOp::create(b, loc, value); }
  Value scratch(int64_t first, int64_t second);
  Value wide(Value value);
  /// for i to `end` in steps of `step`; the builder goes into it.
  Value enterLoop(int64_t end, int64_t step);
  /// for (i, j) to (first, second): target[i, j] = wide(source[at(i, j)])
  void pack(Value source, Value target, int64_t first, int64_t second,
            function_ref<SmallVector<Value>(Value, Value)> at);
  /// A in rows of the accumulator's type, unless it is that already.
  Value packLeft();
  /// Columns of B from `n0` on. The source is read along its rows, whichever way it lies.
  void packPanel(Value panel, Value n0);
  /// A block of rows from `m0` on, of the panel's columns.
  void multiply(Value a, Value panel, Value m0, Value n0);

  Contraction c;
  func::FuncOp function;
  OpBuilder b;
  Location loc;
  Type element;
  int64_t rows, lanes, vectors;
  VectorType vectorType;
};
} // namespace

Value BlockedProduct::scratch(int64_t first, int64_t second) {
  OpBuilder entry = OpBuilder::atBlockBegin(&function.front());
  return memref::AllocaOp::create(entry, loc, MemRefType::get({first, second}, element),
                                  ValueRange{}, b.getI64IntegerAttr(64));
}

Value BlockedProduct::wide(Value value) {
  if (value.getType() == element)
    return value;
  return arith::ExtFOp::create(b, loc, element, value);
}

Value BlockedProduct::enterLoop(int64_t end, int64_t step) {
  auto loop = scf::ForOp::create(b, loc, constant(0), constant(end), constant(step));
  b.setInsertionPointToStart(loop.getBody());
  return loop.getInductionVar();
}

void BlockedProduct::pack(Value source, Value target, int64_t first, int64_t second,
                          function_ref<SmallVector<Value>(Value, Value)> at) {
  OpBuilder::InsertionGuard guard(b);
  Value i = enterLoop(first, 1), j = enterLoop(second, 1);
  Value value = memref::LoadOp::create(b, loc, source, at(i, j));
  memref::StoreOp::create(b, loc, wide(value), target, ValueRange{i, j});
}

Value BlockedProduct::packLeft() {
  if (!c.transposedA && getElementTypeOrSelf(c.a.getType()) == element)
    return c.a;
  Value a = scratch(c.m, c.k);
  pack(c.a, a, c.m, c.k, [&](Value i, Value j) {
    return c.transposedA ? SmallVector<Value>{j, i} : SmallVector<Value>{i, j};
  });
  return a;
}

void BlockedProduct::packPanel(Value panel, Value n0) {
  int64_t columns = lanes * vectors;
  if (!c.transposedB)
    return pack(c.b, panel, c.k, columns, [&](Value i, Value j) -> SmallVector<Value> {
      return {i, arith::AddIOp::create(b, loc, n0, j)};
    });
  OpBuilder::InsertionGuard guard(b);
  Value j = enterLoop(columns, 1);
  Value row = arith::AddIOp::create(b, loc, n0, j);
  Value i = enterLoop(c.k, 1);
  Value value = memref::LoadOp::create(b, loc, c.b, ValueRange{row, i});
  memref::StoreOp::create(b, loc, wide(value), panel, ValueRange{i, j});
}

void BlockedProduct::multiply(Value a, Value panel, Value m0, Value n0) {
  SmallVector<Value> rowIndex, columnIndex, panelIndex;
  for (int64_t r = 0; r < rows; ++r)
    rowIndex.push_back(arith::AddIOp::create(b, loc, m0, constant(r)));
  for (int64_t v = 0; v < vectors; ++v) {
    panelIndex.push_back(constant(v * lanes));
    columnIndex.push_back(arith::AddIOp::create(b, loc, n0, panelIndex.back()));
  }
  SmallVector<Value> sums;
  for (Value row : rowIndex)
    for (Value column : columnIndex)
      sums.push_back(vector::LoadOp::create(b, loc, vectorType, c.c, ValueRange{row, column}));
  auto steps = scf::ForOp::create(b, loc, constant(0), constant(c.k), constant(1), sums);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(steps.getBody());
    Value k = steps.getInductionVar();
    SmallVector<Value> right, next;
    for (Value column : panelIndex)
      right.push_back(vector::LoadOp::create(b, loc, vectorType, panel, ValueRange{k, column}));
    unsigned i = 0;
    for (Value row : rowIndex) {
      Value left = memref::LoadOp::create(b, loc, a, ValueRange{row, k});
      Value all = vector::BroadcastOp::create(b, loc, vectorType, left);
      for (Value value : right)
        next.push_back(vector::FMAOp::create(b, loc, all, value, steps.getRegionIterArg(i++)));
    }
    scf::YieldOp::create(b, loc, next);
  }
  unsigned i = 0;
  for (Value row : rowIndex)
    for (Value column : columnIndex)
      vector::StoreOp::create(b, loc, steps.getResult(i++), c.c, ValueRange{row, column});
}

void BlockedProduct::emit() {
  Value a = packLeft();
  int64_t columns = lanes * vectors;
  Value panel = scratch(c.k, columns);
  Value n0 = enterLoop(c.n, columns);
  packPanel(panel, n0);
  Value m0 = enterLoop(c.m, rows);
  multiply(a, panel, m0, n0);
  c.op.erase();
}

void VectorizeContractionsPass::runOnOperation() {
  SmallVector<Contraction> contractions;
  getOperation().walk([&](linalg::GenericOp op) {
    if (std::optional<Contraction> contraction = match(op))
      contractions.push_back(*contraction);
    else if (linalg::isaContractionOpInterface(cast<linalg::LinalgOp>(*op)))
      remark::missed(op.getLoc(), mk_sm::describeRemark("mk-vectorize-contractions",
                                                        getOperation().getSymName()))
          << "is a contraction that stays loops over single elements: those in blocks are of "
             "matrices of static sizes, into rows of floats";
  });
  for (Contraction &contraction : contractions)
    BlockedProduct(contraction, getOperation(), blockRows, vectorWidth, blockVectors).emit();
}
