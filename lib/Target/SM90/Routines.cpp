//===- Routines.cpp - Code that kernels share until they are PTX ----------===//
#include "Routines.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/Module.h"

using namespace mlir;

static bool isRoutine(const llvm::Function &function) {
  return !function.isDeclaration() && function.getCallingConv() != llvm::CallingConv::PTX_Kernel;
}

void mk::hideRoutines(llvm::Module &module) {
  for (llvm::Function &function : module)
    if (isRoutine(function)) {
      function.addFnAttr(llvm::Attribute::NoUnwind);
      function.addFnAttr(llvm::Attribute::NoInline);
      function.addFnAttr(llvm::Attribute::OptimizeNone);
    }
}

void mk::showRoutines(llvm::Module &module) {
  for (llvm::Function &function : module)
    if (isRoutine(function))
      function.removeFnAttr(llvm::Attribute::OptimizeNone);
}

namespace {
/// Takes LLVM's text apart, a line after the other.
class Expander {
public:
  explicit Expander(StringRef text) : text(text) { out.reserve(2 * text.size()); }

  LogicalResult run();

  std::string out, problem;

private:
  /// The next line without its comment; what is left of it is `line`.
  bool next() {
    if (text.empty())
      return false;
    std::tie(whole, text) = text.split('\n');
    line = whole.split("//").first.trim();
    return true;
  }
  LogicalResult fail(const Twine &reason) {
    problem = (reason + ": " + line).str();
    return failure();
  }
  /// `mov`, or what cuts or extends a register of 64 bits as loads and stores of parameters do.
  static std::string move(StringRef type, StringRef to, StringRef from) {
    type = type.trim();
    std::string opcode = "mov" + type.str();
    if (type.ends_with("32") && from.starts_with("%rd"))
      opcode = "cvt.u32.u64";
    else if (type.ends_with("32") && to.starts_with("%rd"))
      opcode = type == ".s32" ? "cvt.s64.s32" : "cvt.u64.u32";
    return opcode + "\t" + to.str() + ", " + from.str() + ";\n";
  }
  LogicalResult readRoutine();
  LogicalResult expandCall();

  StringRef text, whole, line;
  llvm::StringMap<std::string> routines;
};
} // namespace

// .weak .func (.param .b64 func_retval0) name(
//   .param .b64 name_param_0
// )
// {
LogicalResult Expander::readRoutine() {
  StringRef first = line, head = line.split(".func").second.trim();
  if (head.starts_with("("))
    head = head.split(')').second.trim();
  StringRef name = head.split('(').first;
  std::string param = "[" + name.str() + "_param_";
  while (line != "{")
    if (!next() || line.ends_with(";")) {
      line = first;
      return fail("a function without code");
    }
  std::string &code = routines[name];
  bool returns = false, jumps = false;
  while (next() && line != "}") {
    if (line.empty())
      continue;
    // What follows a return.
    jumps |= returns;
    if (returns)
      code += "bra $L_return;\n";
    returns = line == "ret;";
    if (returns)
      continue;
    auto [instruction, operands] = line.split('\t');
    if (operands.contains(param)) {
      auto [to, from] = operands.split(param);
      if (!instruction.consume_front("ld.param") || !from.consume_back("];") ||
          instruction.contains(".v"))
        return fail("a routine takes its argument in an unknown way");
      code += move(instruction, to.trim().rtrim(','), ("param" + from).str());
    } else if (operands.starts_with("[func_retval0]")) {
      if (!instruction.consume_front("st.param") || instruction.contains(".v"))
        return fail("a routine gives its result in an unknown way");
      code += move(instruction, "retval0", operands.split("], ").second.rtrim(';'));
    } else {
      code += line;
      code += '\n';
    }
  }
  if (jumps)
    code += "$L_return:\n";
  return success();
}

// { // callseq 0, 0
// .param .b64 param0;
// .param .b64 retval0;
// st.param.b64 [param0], %rd1;
// call.uni (retval0), name, (param0);
// ld.param.b64 %rd2, [retval0];
// } // callseq 0
LogicalResult Expander::expandCall() {
  out += "{\n";
  while (next() && line != "}") {
    StringRef rest = line;
    if (rest.consume_front(".param")) {
      out += (".reg" + rest + "\n").str();
    } else if (rest.consume_front("st.param")) {
      auto [type, operands] = rest.split('\t');
      auto [param, value] = operands.split("], ");
      if (!param.consume_front("[param") || param.contains('+'))
        return fail("an argument in an unknown place");
      out += move(type, ("param" + param).str(), value.rtrim(';'));
    } else if (rest.consume_front("call")) {
      SmallVector<StringRef> parts;
      rest.split(parts, ',');
      size_t number = rest.contains("(retval0)") ? 1 : 0;
      StringRef name = parts.size() > number ? parts[number] : "";
      name.consume_front(".uni");
      auto found = routines.find(name.rtrim(';').trim());
      if (found == routines.end())
        return fail("a call of what is no routine");
      out += "{\n" + found->second + "}\n";
    } else if (rest.consume_front("ld.param") && rest.consume_back(", [retval0];")) {
      auto [type, to] = rest.split('\t');
      out += move(type, to.trim(), "retval0");
    } else {
      out += line;
      out += '\n';
    }
  }
  out += "}\n";
  return success();
}

LogicalResult Expander::run() {
  while (next()) {
    if (line.contains(".func ")) {
      if (failed(readRoutine()))
        return failure();
    } else if (line == "{" && whole.contains("// callseq")) {
      if (failed(expandCall()))
        return failure();
    } else {
      out += whole;
      out += '\n';
    }
  }
  return success();
}

FailureOr<std::string> mk::expandRoutines(StringRef ptx, std::string &problem) {
  Expander expander(ptx);
  LogicalResult result = expander.run();
  problem = std::move(expander.problem);
  if (failed(result))
    return failure();
  return std::move(expander.out);
}
