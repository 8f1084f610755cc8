//===- Mutate.cpp - Random changes of a module ----------------------------===//
#include "Mutate.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace mlir::mk::fuzz;

namespace {

struct Mutator {
  ModuleOp module;
  std::mt19937_64 random;
  std::vector<Operation *> ops;

  Mutator(ModuleOp module, uint64_t seed) : module(module), random(seed) {
    module.walk([&](Operation *op) {
      if (op != module.getOperation())
        ops.push_back(op);
    });
  }

  size_t below(size_t n) { return n ? random() % n : 0; }
  Operation *anyOp() { return ops[below(ops.size())]; }

  int64_t specialInteger(int64_t old) {
    const int64_t values[] = {0,  1,   -1,        2,         3,         7,
                              16, 128, old - 1,   old + 1,   old * 2,   -old,
                              64, 513, INT32_MAX, INT64_MAX, INT64_MIN, 1 << 20};
    return values[below(std::size(values))];
  }

  bool swapOperands() {
    Operation *op = anyOp();
    if (op->getNumOperands() < 2)
      return false;
    size_t a = below(op->getNumOperands()), b = below(op->getNumOperands());
    Value x = op->getOperand(a), y = op->getOperand(b);
    if (x == y || x.getType() != y.getType())
      return false;
    op->setOperand(a, y);
    op->setOperand(b, x);
    return true;
  }

  /// Values of a type that come before `op` in its block or the blocks around it.
  std::vector<Value> visible(Operation *op, Type type) {
    std::vector<Value> values;
    for (Operation *at = op; at && at->getBlock(); at = at->getParentOp()) {
      for (Value argument : at->getBlock()->getArguments())
        if (argument.getType() == type)
          values.push_back(argument);
      for (Operation &before : *at->getBlock()) {
        if (&before == at)
          break;
        for (Value result : before.getResults())
          if (result.getType() == type)
            values.push_back(result);
      }
    }
    return values;
  }

  bool replaceOperand() {
    Operation *op = anyOp();
    if (op->getNumOperands() == 0)
      return false;
    size_t at = below(op->getNumOperands());
    std::vector<Value> values = visible(op, op->getOperand(at).getType());
    if (values.size() < 2)
      return false;
    op->setOperand(at, values[below(values.size())]);
    return true;
  }

  /// Null: nothing to change.
  Attribute changed(Attribute attribute, int depth = 0) {
    if (auto integer = dyn_cast<IntegerAttr>(attribute)) {
      unsigned bits = integer.getValue().getBitWidth();
      APInt value(64, specialInteger(integer.getValue().getSExtValue()),
                  /*isSigned=*/true);
      return IntegerAttr::get(integer.getType(), value.sextOrTrunc(bits));
    }
    if (auto number = dyn_cast<FloatAttr>(attribute)) {
      const double values[] = {0.0, -1.0, 1e30, 0.5, -INFINITY, NAN};
      return FloatAttr::get(number.getType(), values[below(std::size(values))]);
    }
    if (auto array = dyn_cast<DenseI64ArrayAttr>(attribute)) {
      SmallVector<int64_t> values(array.asArrayRef());
      if (values.empty() || below(4) == 0)
        values.push_back(specialInteger(1));
      else if (below(4) == 0)
        values.pop_back();
      else
        for (int64_t &value : values)
          if (below(values.size()) == 0)
            value = specialInteger(value);
      return DenseI64ArrayAttr::get(attribute.getContext(), values);
    }
    if (auto array = dyn_cast<ArrayAttr>(attribute)) {
      SmallVector<Attribute> values(array.getValue());
      if (values.empty() || depth > 3)
        return {};
      size_t at = below(values.size());
      if (below(3) == 0)
        values.erase(values.begin() + at);
      else if (below(3) == 0)
        values.push_back(values[at]);
      else if (Attribute other = changed(values[at], depth + 1))
        values[at] = other;
      return ArrayAttr::get(attribute.getContext(), values);
    }
    if (isa<UnitAttr>(attribute))
      return {};
    if (auto type = dyn_cast<TypeAttr>(attribute)) {
      Type other = changedType(type.getValue());
      return other ? TypeAttr::get(other) : Attribute();
    }
    return {};
  }

  std::optional<NamedAttribute> anyAttribute(Operation *op) {
    DictionaryAttr all = op->getAttrDictionary();
    if (all.empty())
      return std::nullopt;
    return *(all.begin() + below(all.size()));
  }

  bool changeConstant() {
    for (int i = 0; i < 50; ++i) {
      Operation *op = anyOp();
      if (!op->hasTrait<OpTrait::ConstantLike>())
        continue;
      if (Attribute value = op->getAttrDictionary().get("value"))
        if (Attribute other = changed(value)) {
          op->setAttr("value", other);
          return true;
        }
    }
    return false;
  }

  bool changeAttribute() {
    Operation *op = anyOp();
    auto named = anyAttribute(op);
    Attribute other = named ? changed(named->getValue()) : Attribute();
    if (!other)
      return false;
    op->setAttr(named->getName(), other);
    return true;
  }

  bool dropAttribute() {
    Operation *op = anyOp();
    auto named = anyAttribute(op);
    if (!named)
      return false;
    op->removeAttr(named->getName());
    return true;
  }

  bool exchangeAttribute() {
    Operation *a = anyOp();
    auto named = anyAttribute(a);
    if (!named)
      return false;
    std::vector<Operation *> others;
    for (Operation *op : ops)
      if (op != a && op->getName() == a->getName())
        others.push_back(op);
    if (others.empty())
      return false;
    Operation *b = others[below(others.size())];
    Attribute other = b->getAttrDictionary().get(named->getName());
    if (!other || other == named->getValue())
      return false;
    a->setAttr(named->getName(), other);
    return true;
  }

  Type changedType(Type type) {
    MLIRContext *context = type.getContext();
    if (auto shaped = dyn_cast<ShapedType>(type)) {
      if (!shaped.hasRank())
        return {};
      Type element = shaped.getElementType();
      if (below(3) == 0) {
        Type elements[] = {Float32Type::get(context), BFloat16Type::get(context),
                           Float16Type::get(context), Float64Type::get(context),
                           Float8E4M3FNType::get(context),
                           IntegerType::get(context, 32),
                           IntegerType::get(context, 1),
                           IntegerType::get(context, 8)};
        element = elements[below(std::size(elements))];
      }
      SmallVector<int64_t> shape(shaped.getShape());
      if (!shape.empty() && below(2) == 0) {
        const int64_t extents[] = {0,  1,  2,   3,   8,    16,
                                   48, 64, 128, 257, 1024, ShapedType::kDynamic};
        shape[below(shape.size())] = extents[below(std::size(extents))];
      } else if (below(4) == 0) {
        shape.push_back(4);
      }
      return shaped.clone(shape, element);
    }
    if (isa<IndexType>(type))
      return IntegerType::get(context, 64);
    if (isa<IntegerType>(type))
      return IntegerType::get(context, 1 + below(64));
    if (isa<FloatType>(type))
      return below(2) ? Type(Float32Type::get(context))
                      : Type(BFloat16Type::get(context));
    return {};
  }

  /// One element type becomes another wherever it stands: in values, in types that are
  /// attributes, in constants.
  bool changeElementType(Type old) {
    MLIRContext *context = old.getContext();
    const Type kinds[] = {Float16Type::get(context), BFloat16Type::get(context),
                          Float32Type::get(context), Float64Type::get(context),
                          Float8E4M3FNType::get(context)};
    auto other = cast<FloatType>(kinds[below(std::size(kinds))]);
    // Of the same width: conversions from and to it stay valid.
    if ((old.isF16() || old.isBF16()) && below(4))
      other = cast<FloatType>(kinds[old.isF16() ? 1 : 0]);
    if (!isa<FloatType>(old) || other == old)
      return false;
    auto convert = [&](APFloat value) {
      bool lost;
      value.convert(other.getFloatSemantics(), APFloat::rmNearestTiesToEven, &lost);
      return value;
    };
    using Replaced = std::optional<std::pair<Attribute, WalkResult>>;
    AttrTypeReplacer replacer;
    replacer.addReplacement([&](FloatType type) -> std::optional<Type> {
      return type == old ? Type(other) : Type(type);
    });
    replacer.addReplacement([&](FloatAttr attr) -> Replaced {
      Attribute result = attr;
      if (attr.getType() == old)
        result = FloatAttr::get(other, convert(attr.getValue()));
      return {{result, WalkResult::skip()}};
    });
    replacer.addReplacement([&](DenseElementsAttr attr) -> Replaced {
      Attribute result = attr;
      if (attr.getElementType() == old)
        result = cast<DenseFPElementsAttr>(attr).mapValues(
            other, [&](const APFloat &value) { return convert(value).bitcastToAPInt(); });
      return {{result, WalkResult::skip()}};
    });
    replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/true,
                                          /*replaceLocs=*/false, /*replaceTypes=*/true);
    return true;
  }

  bool changeType() {
    // Most of the time all of the module, which keeps more valid.
    for (size_t tries = below(4) ? 50 : 0; tries; --tries) {
      Operation *any = anyOp();
      if (any->getNumResults() &&
          changeElementType(getElementTypeOrSelf(any->getResult(0).getType())))
        return true;
    }
    Operation *op = anyOp();
    if (op->getNumResults() == 0)
      return false;
    Value result = op->getResult(below(op->getNumResults()));
    Type other = changedType(result.getType());
    if (!other || other == result.getType())
      return false;
    // Half of the time everything of that type changes, which keeps more valid.
    Type old = result.getType();
    if (below(2)) {
      result.setType(other);
      return true;
    }
    for (Operation *each : ops) {
      for (Value value : each->getResults())
        if (value.getType() == old)
          value.setType(other);
      for (Region &region : each->getRegions())
        for (Block &block : region)
          for (BlockArgument argument : block.getArguments())
            if (argument.getType() == old)
              argument.setType(other);
    }
    return true;
  }

  static bool definesForOthers(Operation *op) {
    auto usedOutside = [&](ValueRange values) {
      return llvm::any_of(values, [&](Value value) {
        return llvm::any_of(value.getUsers(), [&](Operation *user) {
          return !op->isAncestor(user);
        });
      });
    };
    return op
        ->walk([&](Operation *inner) {
          bool used = usedOutside(inner->getResults());
          for (Region &region : inner->getRegions())
            for (Block &block : region)
              used |= usedOutside(block.getArguments());
          return used ? WalkResult::interrupt() : WalkResult::advance();
        })
        .wasInterrupted();
  }

  bool deleteOp() {
    Operation *op = anyOp();
    for (Value result : op->getResults()) {
      if (result.use_empty())
        continue;
      std::vector<Value> values = visible(op, result.getType());
      if (values.empty())
        return false;
      result.replaceAllUsesWith(values[below(values.size())]);
    }
    // What was moved out of its regions may use what they define.
    if (definesForOthers(op))
      return false;
    op->erase();
    return true;
  }

  bool duplicateOp() {
    Operation *op = anyOp();
    if (op->hasTrait<OpTrait::IsTerminator>())
      return false;
    Operation *copy = op->clone();
    OpBuilder(op).insert(copy);
    return true;
  }

  bool moveOp() {
    Operation *op = anyOp(), *to = anyOp();
    if (op == to || op->isProperAncestor(to) || !to->getBlock())
      return false;
    if (below(3) && op->getBlock() != to->getBlock())
      return false;
    op->moveBefore(to);
    return true;
  }
};

} // namespace

const char *mlir::mk::fuzz::toString(Mutation mutation) {
  const char *names[] = {"swap operands",   "replace operand",
                         "change constant", "change attribute",
                         "drop attribute",  "exchange attribute",
                         "change type",     "delete op",
                         "duplicate op",    "move op"};
  return mutation < Mutation::Count ? names[static_cast<uint32_t>(mutation)]
                                    : "nothing";
}

Mutation mlir::mk::fuzz::mutate(ModuleOp module, uint64_t seed) {
  Mutator m(module, seed);
  if (m.ops.empty())
    return Mutation::Count;
  bool (Mutator::*const kinds[])() = {
      &Mutator::swapOperands,    &Mutator::replaceOperand,
      &Mutator::changeConstant,  &Mutator::changeAttribute,
      &Mutator::dropAttribute,   &Mutator::exchangeAttribute,
      &Mutator::changeType,      &Mutator::deleteOp,
      &Mutator::duplicateOp,     &Mutator::moveOp};
  for (int i = 0; i < 200; ++i) {
    size_t kind = m.below(std::size(kinds));
    if ((m.*kinds[kind])())
      return static_cast<Mutation>(kind);
  }
  return Mutation::Count;
}
