//===- ExpandElements.cpp - Masks and factors of a thread's elements ------===//
#include "Expand.h"
#include "mkernel/Dialect/SM/SM.h"
#include "mkernel/Dialect/Thread/Places.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/AffineExpr.h"
#include "llvm/ADT/MapVector.h"

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

static constexpr int64_t kWordBits = 32;

/// Elements of a thread that differ in the last dimension alone.
struct Row {
  Place first;
  SmallVector<unsigned> elements;
  SmallVector<int64_t> offsets; // in the last dimension, of each
};

static SmallVector<Row> findRows(MaskElementsOp op, Places &places) {
  llvm::MapVector<Attribute, Row> rows;
  Builder b(op);
  for (unsigned i = 0; i != op.getElements().size(); ++i) {
    Place where = places.at(i);
    SmallVector<int64_t> key(where.offset.begin(), where.offset.end());
    key.back() = 0;
    // The bases of a blocked layout differ between registers.
    if (isa<mk_sm::BlockedAttr>(op.getTile().getEncoding()))
      key.push_back(i);
    Row &row = rows.try_emplace(b.getDenseI64ArrayAttr(key), Row{where, {}, {}}).first->second;
    row.elements.push_back(i);
    row.offsets.push_back(where.offset.back());
  }
  return llvm::to_vector(llvm::make_second_range(rows));
}

/// The value of `expr` in column `column` of a row, that of its first element by default.
static Value evaluate(Emitter &e, MaskElementsOp op, AffineExpr expr, const Row &row,
                      int64_t column) {
  SmallVector<Value> operands;
  for (auto [base, offset] : llvm::zip(row.first.base, row.first.offset))
    operands.push_back(add(e, base, offset));
  operands.back() = add(e, row.first.base.back(), column);
  llvm::append_range(operands, op.getSymbols());
  return affineValue(e, expr, op.getSet().getNumDims(), operands);
}

static Value clamp(Emitter &e, Value value, int64_t least, int64_t most) {
  return resize(e, minS(e, maxS(e, value, least), most), e.i32);
}

/// Columns 0, 1, ... `length` - 1, then the same from `period`, a power of two, on, and so on.
struct Runs {
  int64_t length, period;
};

static std::optional<Runs> findRuns(ArrayRef<int64_t> offsets) {
  int64_t length = 0, size = offsets.size();
  while (length != size && offsets[length] == length)
    ++length;
  if (length == 0)
    return std::nullopt;
  int64_t period = length == size ? llvm::PowerOf2Ceil(size) : offsets[length];
  if (!llvm::isPowerOf2_64(period))
    return std::nullopt;
  for (auto [i, offset] : llvm::enumerate(offsets))
    if (offset != int64_t(i) / length * period + int64_t(i) % length)
      return std::nullopt;
  return Runs{length, period};
}

/// Bits of a word that say of `kWordBits` elements each which are left of column `end`.
static SmallVector<Value> markPrefix(Emitter &e, Value end, Runs runs, int64_t size) {
  int64_t most = llvm::divideCeil(size, runs.length) * runs.period;
  Value columns = clamp(e, end, 0, most);
  Value whole = mul(e, shr(e, columns, llvm::Log2_64(runs.period)), runs.length);
  Value count = add(e, whole, minS(e, and_(e, columns, runs.period - 1), runs.length));
  SmallVector<Value> words;
  for (int64_t first = 0; first < size; first += kWordBits) {
    Value bits = clamp(e, sub(e, count, first), 0, kWordBits);
    Value marked = sub(e, shl(e, e.c64(1), resize(e, bits, e.i64)), 1);
    words.push_back(resize(e, marked, e.i32));
  }
  return words;
}

/// Whether the constraint depends on nothing but the column: LLVM, which knows between what the
/// thread's first one lies, decides most elements, and needs no register for them.
static bool isOfColumn(MaskElementsOp op, AffineExpr expr) {
  for (unsigned d = 0, last = op.getSet().getNumDims() - 1; d != last; ++d)
    if (expr.isFunctionOfDim(d))
      return false;
  for (auto [s, symbol] : llvm::enumerate(op.getSymbols()))
    if (expr.isFunctionOfSymbol(s) && !getConstantIntValue(symbol))
      return false;
  return true;
}

/// What the constraints let through of a row.
struct RowMask {
  SmallVector<Value> words;  // a bit for each element; none: all
  SmallVector<Value> inside; // for each element; null: always
};

// A constraint is linear in the column, as a rule: what does not depend on the register is computed
// once for each row. Where the columns of a row come in runs, elements that it lets through are the
// first or the last ones. Words with a bit for each take fewer instructions than comparisons: ptxas
// moves seven to predicates at once.
static RowMask computeMask(MaskElementsOp op, Emitter &e, const Row &row) {
  IntegerSet set = op.getSet();
  unsigned last = set.getNumDims() - 1;
  int64_t size = row.elements.size();
  int64_t least = mk::getSm(op).getThresholds().getMarkedElements();
  std::optional<Runs> runs = findRuns(row.offsets);
  RowMask mask{{}, SmallVector<Value>(size)};
  for (unsigned c = 0; c != set.getNumConstraints(); ++c) {
    AffineExpr expr = set.getConstraint(c);
    std::optional<int64_t> factor = linearFactor(expr, last);
    Value rest = factor ? evaluate(e, op, expr, row, 0) : Value();
    if (runs && size >= least && !set.isEq(c) && (factor == 1 || factor == -1) &&
        !isOfColumn(op, expr)) {
      // rest - column >= 0, or rest + column >= 0: all but those with column < -rest.
      Value end = *factor == -1 ? add(e, rest, 1) : sub(e, e.c64(0), rest);
      SmallVector<Value> marked = markPrefix(e, end, *runs, size);
      for (auto [i, word] : llvm::enumerate(marked)) {
        Value in = *factor == -1 ? word : xor_(e, word, -1);
        if (i == mask.words.size())
          mask.words.push_back(in);
        else
          mask.words[i] = and_(e, mask.words[i], in);
      }
      continue;
    }
    // Constants of a tile are small; so may the rest be.
    if (rest)
      rest = clamp(e, rest, -(1 << 30), 1 << 30);
    for (auto [offset, in] : llvm::zip_equal(row.offsets, mask.inside)) {
      Value value = rest ? rest : evaluate(e, op, expr, row, offset);
      Value holds = cmp(e, set.isEq(c) ? arith::CmpIPredicate::eq : arith::CmpIPredicate::sge,
                        value, rest ? -*factor * offset : 0);
      in = in ? and_(e, in, holds) : holds;
    }
  }
  return mask;
}

static void selectRow(MaskElementsOp op, Emitter &e, const Row &row, const RowMask &mask,
                      MutableArrayRef<Value> result) {
  for (auto [i, element] : llvm::enumerate(row.elements)) {
    Value in = mask.inside[i];
    if (!mask.words.empty()) {
      Value bit = and_(e, mask.words[i / kWordBits], int64_t(int32_t(1u << i % kWordBits)));
      Value isSet = cmp(e, arith::CmpIPredicate::ne, bit, 0);
      in = in ? and_(e, in, isSet) : isSet;
    }
    if (in)
      result[element] = select(e, in, op.getElements()[element], op.getOtherwise());
  }
}

static SmallVector<Value> mask(MaskElementsOp op, Emitter &e) {
  Places places(e, op.getTile(), op.getThread());
  SmallVector<Value> result(op.getElements());
  for (const Row &row : findRows(op, places))
    selectRow(op, e, row, computeMask(op, e, row), result);
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
