//===- Ptx.cpp - Inline PTX ------------------------------------------------===//
#include "Ptx.h"

using namespace mlir;
using namespace mlir::mk::thread;

std::string mk::thread::listOperands(int64_t first, int64_t count) {
  std::string text;
  for (int64_t i = 0; i != count; ++i)
    text += (i ? ", $" : "$") + std::to_string(first + i);
  return count == 1 ? text : "{" + text + "}";
}

/// The letter of a register of this type in constraints.
static char getLetter(Type type) {
  if (type.isInteger(1))
    return 'b';
  if (type.isF32())
    return 'f';
  if (type.isF64())
    return 'd';
  if (isa<LLVM::LLVMPointerType>(type) || type.isInteger(64))
    return 'l';
  if (type.isInteger(128))
    return 'q';
  return type.getIntOrFloatBitWidth() <= 16 ? 'h' : 'r';
}

static SmallVector<Value> makeAsm(Ptx &ptx, StringRef text, StringRef constraints,
                                  TypeRange results, ValueRange operands, bool effects) {
  MLIRContext *context = ptx.b.getContext();
  Type type;
  if (results.size() == 1)
    type = results.front();
  else if (!results.empty())
    type = LLVM::LLVMStructType::getLiteral(context, SmallVector<Type>(results));
  auto op = LLVM::InlineAsmOp::create(ptx.b, ptx.loc, type, operands, text, constraints, effects,
                                      /*is_align_stack=*/false, LLVM::TailCallKind::None,
                                      LLVM::AsmDialectAttr::get(context, LLVM::AsmDialect::AD_ATT),
                                      ArrayAttr());
  SmallVector<Value> values;
  if (results.size() == 1)
    values.push_back(op.getRes());
  else
    for (int64_t i = 0, n = results.size(); i != n; ++i)
      values.push_back(LLVM::ExtractValueOp::create(ptx.b, ptx.loc, op.getRes(), i));
  return values;
}

SmallVector<Value> Ptx::run(StringRef text, TypeRange results, ValueRange operands,
                            bool touchesMemory) {
  SmallVector<std::string> parts;
  for (Type type : results)
    parts.push_back(std::string("=") + getLetter(type));
  for (Value value : operands)
    parts.push_back(std::string(1, getLetter(value.getType())));
  if (touchesMemory)
    parts.push_back("~{memory}");
  return makeAsm(*this, text, llvm::join(parts, ","), results, operands, true);
}

void Ptx::store(StringRef instruction, Value address, int64_t offset, OpFoldResult value,
                Value predicate) {
  SmallVector<Value> operands{address};
  std::string text = (instruction + " [$0+" + Twine(offset) + "], ").str();
  if (auto number = dyn_cast<Attribute>(value)) {
    text += std::to_string(cast<IntegerAttr>(number).getInt());
  } else {
    text += "$1";
    operands.push_back(cast<Value>(value));
  }
  if (predicate) {
    text = "@$" + std::to_string(operands.size()) + " " + text;
    operands.push_back(predicate);
  }
  run(text + ";", {}, operands);
}

Value Ptx::pure(StringRef text, Type result, ValueRange operands) {
  std::string constraints = std::string("=") + getLetter(result);
  for (Value value : operands)
    constraints += std::string(",") + getLetter(value.getType());
  return makeAsm(*this, text, constraints, result, operands, false)[0];
}

SmallVector<Value> Ptx::tied(StringRef text, ValueRange values, ValueRange others) {
  SmallVector<std::string> parts;
  SmallVector<Value> operands(values);
  operands.append(others.begin(), others.end());
  for (Value value : values)
    parts.push_back(std::string("=") + getLetter(value.getType()));
  for (size_t i = 0; i != values.size(); ++i)
    parts.push_back(std::to_string(i));
  for (Value value : others)
    parts.push_back(std::string(1, getLetter(value.getType())));
  if (values.empty())
    parts.push_back("~{memory}");
  return makeAsm(*this, text, llvm::join(parts, ","), values.getTypes(), operands, true);
}
