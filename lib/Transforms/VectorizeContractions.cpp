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
  void lower(Contraction &contraction, func::FuncOp function);
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

void VectorizeContractionsPass::lower(Contraction &c, func::FuncOp function) {
  OpBuilder b(c.op);
  Location loc = c.op.getLoc();
  Type element = getElementTypeOrSelf(c.c.getType());
  int64_t rows = divisorUpTo(c.m, blockRows);
  int64_t lanes = divisorUpTo(c.n, vectorWidth);
  int64_t vectors = divisorUpTo(c.n / lanes, blockVectors);
  int64_t columns = lanes * vectors;
  auto vectorType = VectorType::get(lanes, element);

  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  auto scratch = [&](int64_t first, int64_t second) -> Value {
    OpBuilder entry = OpBuilder::atBlockBegin(&function.front());
    return memref::AllocaOp::create(entry, loc, MemRefType::get({first, second}, element),
                                    ValueRange{}, b.getI64IntegerAttr(64));
  };
  auto wide = [&](Value value) -> Value {
    if (value.getType() == element)
      return value;
    return arith::ExtFOp::create(b, loc, element, value);
  };
  // for (i, j) to (first, second): target[i, j] = wide(source[at(i, j)])
  auto pack = [&](Value source, Value target, int64_t first, int64_t second,
                  function_ref<SmallVector<Value>(Value, Value)> at) {
    auto outer = scf::ForOp::create(b, loc, constant(0), constant(first), constant(1));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(outer.getBody());
    auto inner = scf::ForOp::create(b, loc, constant(0), constant(second), constant(1));
    b.setInsertionPointToStart(inner.getBody());
    Value i = outer.getInductionVar(), j = inner.getInductionVar();
    Value value = memref::LoadOp::create(b, loc, source, at(i, j));
    memref::StoreOp::create(b, loc, wide(value), target, ValueRange{i, j});
  };

  // A in rows of the accumulator's type, unless it is that already.
  Value a = c.a;
  if (c.transposedA || getElementTypeOrSelf(a.getType()) != element) {
    a = scratch(c.m, c.k);
    pack(c.a, a, c.m, c.k, [&](Value i, Value j) {
      return c.transposedA ? SmallVector<Value>{j, i} : SmallVector<Value>{i, j};
    });
  }
  Value panel = scratch(c.k, columns);
  auto panels = scf::ForOp::create(b, loc, constant(0), constant(c.n), constant(columns));
  b.setInsertionPointToStart(panels.getBody());
  Value n0 = panels.getInductionVar();
  // The source is read along its rows, whichever way it lies.
  if (c.transposedB) {
    auto outer = scf::ForOp::create(b, loc, constant(0), constant(columns), constant(1));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(outer.getBody());
    Value j = outer.getInductionVar();
    Value row = arith::AddIOp::create(b, loc, n0, j);
    auto inner = scf::ForOp::create(b, loc, constant(0), constant(c.k), constant(1));
    b.setInsertionPointToStart(inner.getBody());
    Value i = inner.getInductionVar();
    Value value = memref::LoadOp::create(b, loc, c.b, ValueRange{row, i});
    memref::StoreOp::create(b, loc, wide(value), panel, ValueRange{i, j});
  } else {
    pack(c.b, panel, c.k, columns, [&](Value i, Value j) -> SmallVector<Value> {
      return {i, arith::AddIOp::create(b, loc, n0, j)};
    });
  }

  auto blocks = scf::ForOp::create(b, loc, constant(0), constant(c.m), constant(rows));
  b.setInsertionPointToStart(blocks.getBody());
  Value m0 = blocks.getInductionVar();
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
    lower(contraction, getOperation());
}
