//===- Evaluate.cpp - Index arithmetic of a CTA ---------------------------===//
#include "ProgramState.h"
#include "mkernel/Support/Checked.h"
#include "mkernel/Support/RowMajor.h"

using namespace mlir;
using namespace mlir::mk;

KernelProgram::Scalar KernelProgram::get(const CtaState &state, Value value) const {
  auto it = slots.find(value);
  return it == slots.end() ? Scalar() : state.values[it->second];
}

void KernelProgram::set(CtaState &state, Value value, Scalar scalar) {
  auto it = slots.find(value);
  if (it != slots.end())
    state.values[it->second] = scalar;
}

std::optional<int32_t> KernelProgram::bufferOf(const CtaState &state, Value value) const {
  while (auto choice = value.getDefiningOp<SelectOp>()) {
    Scalar condition = get(state, choice.getCondition());
    if (!condition.known)
      return std::nullopt;
    value = condition.value ? choice.getTrueValue() : choice.getFalseValue();
  }
  auto arg = dyn_cast<BlockArgument>(value);
  if (!arg || !isa<KernelOp>(arg.getOwner()->getParentOp()))
    return std::nullopt;
  return int32_t(arg.getArgNumber()) - int32_t(KernelOp(kernel).getNumDims());
}

KernelProgram::Scalar KernelProgram::extent(uint32_t rank, int32_t arg, unsigned dim) {
  auto key = std::make_tuple(rank, arg, dim);
  if (auto it = extents.find(key); it != extents.end())
    return {it->second, true};
  Scalar result = computeExtent(rank, arg, dim);
  if (result.known)
    extents[key] = result.value;
  return result;
}

/// Shards as the docs of mk.kernel define them.
KernelProgram::Scalar KernelProgram::computeExtent(uint32_t rank, int32_t arg, unsigned dim) {
  auto type = cast<MemRefType>(kernel.getKernelArg(arg).getType());
  AffineMap shape = kernel.getArgShape(arg);
  SmallVector<Attribute> operands;
  Builder b(kernel.getContext());
  AffineExpr expr = shape.getResult(dim);
  bool ofRank = false;
  for (unsigned d = 0, e = kernel.getNumDims(); d != e; ++d) {
    Scalar value = get(*scopes[rank], kernel.getDim(d));
    if (!value.known)
      if (auto it = dims.find(cast<StringAttr>(kernel.getDimNames()[d]).getValue());
          it != dims.end() && !it->second.empty())
        value = {rank < it->second.size() ? it->second[rank] : it->second.front(), true};
    if (expr.isFunctionOfDim(d)) {
      if (!value.known)
        return ShapedType::isDynamic(type.getDimSize(dim)) ? Scalar()
                                                           : Scalar{type.getDimSize(dim), true};
      ofRank |= kernel.getDimKind(d) == DimKind::Rank;
    }
    operands.push_back(b.getI64IntegerAttr(value.value));
  }
  auto axisSize = [&](Attribute name) {
    return mesh.getAxis(mesh.findAxis(cast<StringAttr>(name).getValue())).getSize();
  };
  for (Attribute axis : kernel.getSizeAxes())
    operands.push_back(b.getI64IntegerAttr(axisSize(axis)));
  SmallVector<Attribute> results;
  if (mlir::failed(shape.getSubMap({dim}).constantFold(operands, results)))
    return {};
  int64_t whole = cast<IntegerAttr>(results[0]).getInt();
  ArrayAttr split = kernel.getArgSplit(arg);
  if (split.empty() || ofRank)
    return {whole, true};
  auto names = cast<ArrayAttr>(split[dim]);
  int64_t shards = 1;
  for (Attribute name : names)
    shards *= axisSize(name);
  int64_t shard = mkernel::numberRowMajor<int64_t>(
      mkernel::PlainNumbers(), names.size(), [&](unsigned i) { return axisSize(names[i]); },
      [&](unsigned i) {
        return mesh.getCoordinate(rank, mesh.findAxis(cast<StringAttr>(names[i]).getValue()));
      });
  int64_t chunk = std::max<int64_t>(mkernel::checked::ceilDiv(whole, shards).value_or(0), 0);
  return {std::clamp<int64_t>(whole - shard * chunk, 0, chunk), true};
}

/// What neither of the cases below knows: upstream's own folder.
KernelProgram::Scalar KernelProgram::evaluateFold(const CtaState &state, const Node &node,
                                                  unsigned result) {
  Operation *op = node.op;
  if (op->getNumRegions() || op->getNumOperands() == 0 || !isMemoryEffectFree(op))
    return {};
  SmallVector<Attribute> operands;
  Builder b(op->getContext());
  for (auto [operand, slot] : llvm::zip(op->getOperands(), node.in)) {
    Type type = operand.getType();
    if (slot == kNoSlot || !state.values[slot].known || !type.isIntOrIndex())
      return {};
    operands.push_back(type.isInteger(1)
                           ? Attribute(b.getBoolAttr(state.values[slot].value))
                           : Attribute(b.getIntegerAttr(type, state.values[slot].value)));
  }
  SmallVector<OpFoldResult> results;
  if (mlir::failed(op->fold(operands, results)) || result >= results.size())
    return {};
  if (auto attribute = dyn_cast<Attribute>(results[result])) {
    auto number = dyn_cast<IntegerAttr>(attribute);
    return number ? Scalar{number.getValue().getSExtValue(), true} : Scalar();
  }
  return get(state, cast<Value>(results[result]));
}

void KernelProgram::evaluate(CtaState &state, const Node &node) {
  Operation *op = node.op;
  if (node.out.empty())
    return;
  auto in = [&](unsigned i) { return node.in[i] == kNoSlot ? Scalar() : state.values[node.in[i]]; };
  auto put = [&](Scalar value) {
    if (node.out[0] != kNoSlot)
      state.values[node.out[0]] = value;
  };
  // The common ones on 64 bits (index, and i1 of comparisons); others fold.
  auto binary = [&](auto fn) {
    Scalar a = in(0), b = in(1);
    put(a.known && b.known ? Scalar{fn(a.value, b.value), true} : Scalar());
  };
  // What wraps is no number.
  auto checked = [&](mkernel::checked::Number (*fn)(int64_t, int64_t)) {
    Scalar a = in(0), b = in(1);
    mkernel::checked::Number number =
        a.known && b.known ? fn(a.value, b.value) : mkernel::checked::Number();
    put(number ? Scalar{*number, true} : Scalar());
  };
  bool wide = op->getNumOperands() == 2 && op->getOperand(0).getType().isIndex();
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto number = dyn_cast<IntegerAttr>(constant.getValue());
    return put(number ? Scalar{number.getValue().getSExtValue(), true} : Scalar());
  }
  if (wide && isa<arith::AddIOp>(op))
    return checked(mkernel::checked::add);
  if (wide && isa<arith::SubIOp>(op))
    return checked(mkernel::checked::sub);
  if (wide && isa<arith::MulIOp>(op))
    return checked(mkernel::checked::mul);
  if (wide && isa<arith::MinSIOp>(op))
    return binary([](int64_t a, int64_t b) { return std::min(a, b); });
  if (wide && isa<arith::MaxSIOp>(op))
    return binary([](int64_t a, int64_t b) { return std::max(a, b); });
  if (wide && isa<arith::DivSIOp>(op))
    return checked(mkernel::checked::div);
  if (wide && isa<arith::RemSIOp>(op))
    return checked(mkernel::checked::rem);
  if (auto cmp = dyn_cast<arith::CmpIOp>(op); cmp && wide)
    return binary([&](int64_t a, int64_t b) {
      return int64_t(arith::applyCmpPredicate(cmp.getPredicate(), APInt(64, a, /*isSigned=*/true),
                                              APInt(64, b, /*isSigned=*/true)));
    });
  if (auto choice = dyn_cast<arith::SelectOp>(op)) {
    if (node.in[0] == kNoSlot || !in(0).known)
      return put({});
    return put(in(0).value ? in(1) : in(2));
  }
  if (isa<arith::AndIOp, arith::OrIOp>(op) && op->getResult(0).getType().isInteger(1)) {
    // One side may be enough.
    bool absorbing = isa<arith::OrIOp>(op);
    for (unsigned i : {0u, 1u})
      if (in(i).known && bool(in(i).value) == absorbing)
        return put({absorbing, true});
    return put(in(0).known && in(1).known ? Scalar{!absorbing, true} : Scalar());
  }
  if (isa<arith::IndexCastOp>(op) && op->getOperand(0).getType().isIndex() &&
      op->getResult(0).getType().isInteger(64))
    return put(in(0));
  if (isa<RankOp>(op))
    return put({state.rank, true});
  if (auto coord = dyn_cast<CoordOp>(op)) {
    return put({mesh.getCoordinate(state.rank, mesh.findAxis(coord.getAxis())), true});
  }
  if (auto count = dyn_cast<CtasOfOp>(op)) {
    auto role = resources.roleIndex(count.getRole());
    return put(role ? Scalar{ctasOfRole[*role], true} : Scalar());
  }
  if (auto dim = dyn_cast<memref::DimOp>(op)) {
    auto buffer = bufferOf(state, dim.getSource());
    if (!buffer || !in(1).known)
      return put({});
    return put(extent(state.rank, *buffer, in(1).value));
  }
  for (unsigned i = 0; i < node.out.size(); ++i)
    if (node.out[i] != kNoSlot)
      state.values[node.out[i]] = evaluateFold(state, node, i);
}
