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
/// A function whose code replaces calls of it.
struct Routine {
  std::string code;
  SmallVector<StringRef> params; // their types: ".b64"
};

/// Takes LLVM's text apart, a line after the other. Refuses what it does not know: of a call only
/// what stands here is understood.
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
  LogicalResult readHead(Routine &routine, StringRef name);
  LogicalResult readRoutine();
  LogicalResult expandCall();

  StringRef text, whole, line;
  llvm::StringMap<Routine> routines;
};
} // namespace

/// Writes `mov`, or what cuts or extends a register of 64 bits as loads and stores of parameters
/// do. Fails for types that no argument has.
static LogicalResult move(std::string &code, StringRef type, StringRef to, StringRef from) {
  type = type.trim();
  if (type.size() != 4 || !StringRef("bus").contains(type[1]) ||
      (!type.ends_with("32") && !type.ends_with("64")))
    return failure();
  std::string opcode = "mov" + type.str();
  if (type.ends_with("32") && from.starts_with("%rd"))
    opcode = "cvt.u32.u64";
  else if (type.ends_with("32") && to.starts_with("%rd"))
    opcode = type == ".s32" ? "cvt.s64.s32" : "cvt.u64.u32";
  code += opcode + "\t" + to.str() + ", " + from.str() + ";\n";
  return success();
}

/// Whether the line is such an instruction, under a predicate too.
static bool is(StringRef line, StringRef opcode) {
  if (line.starts_with("@"))
    line = line.drop_until([](char c) { return isspace(c); }).ltrim();
  return line.starts_with(opcode);
}

LogicalResult Expander::readHead(Routine &routine, StringRef name) {
  StringRef first = line;
  while (line != "{") {
    if (!next() || line.ends_with(";")) {
      line = first;
      return fail("a function without code");
    }
    // .param .b64 name_param_0,
    StringRef param = line;
    if (!param.consume_front(".param"))
      continue;
    auto [type, own] = param.trim().rtrim(',').rsplit(' ');
    if (own.trim() != (name + "_param_" + Twine(routine.params.size())).str())
      return fail("a routine has an unknown argument");
    routine.params.push_back(type.trim());
  }
  return success();
}

// .weak .func (.param .b64 func_retval0) name(
//   .param .b64 name_param_0
// )
// {
LogicalResult Expander::readRoutine() {
  StringRef head = line.split(".func").second.trim();
  if (head.starts_with("("))
    head = head.split(')').second.trim();
  StringRef name = head.split('(').first;
  std::string param = name.str() + "_param_";
  Routine &routine = routines[name];
  if (failed(readHead(routine, name)))
    return failure();
  std::string &code = routine.code;
  bool returns = false, jumps = false;
  while (true) {
    if (!next())
      return fail("a routine without an end");
    if (line == "}")
      break;
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
    if (line.contains(param)) {
      auto [to, from] = operands.split("[" + param);
      unsigned number;
      if (!instruction.consume_front("ld.param") || !from.consume_back("];") ||
          from.getAsInteger(10, number) || number >= routine.params.size() ||
          !instruction.trim().ends_with(routine.params[number].take_back(2)) ||
          failed(move(code, instruction, to.trim().rtrim(','), ("param" + from).str())))
        return fail("a routine takes its argument in an unknown way");
    } else if (line.contains("func_retval")) {
      if (!instruction.consume_front("st.param") || !operands.consume_front("[func_retval0], ") ||
          failed(move(code, instruction, "retval0", operands.rtrim(';'))))
        return fail("a routine gives its result in an unknown way");
    } else if (line == "{" || is(line, "call") || is(line, "ret")) {
      return fail(name + " calls, or returns in an unknown way");
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
  while (true) {
    if (!next())
      return fail("a call without an end");
    if (line == "}")
      break;
    StringRef rest = line;
    if (rest.consume_front(".param")) {
      out += (".reg" + rest + "\n").str();
    } else if (rest.consume_front("st.param")) {
      auto [type, operands] = rest.split('\t');
      auto [param, value] = operands.split("], ");
      if (!param.consume_front("[param") || param.contains('+') ||
          failed(move(out, type, ("param" + param).str(), value.rtrim(';'))))
        return fail("an argument in an unknown place");
    } else if (rest.consume_front("call")) {
      SmallVector<StringRef> parts;
      rest.split(parts, ',');
      size_t number = rest.contains("(retval0)") ? 1 : 0;
      StringRef name = parts.size() > number ? parts[number] : "";
      name.consume_front(".uni");
      auto found = routines.find(name.rtrim(';').trim());
      if (found == routines.end())
        return fail("a call of what is no routine");
      out += "{\n" + found->second.code + "}\n";
    } else if (rest.contains("retval0")) {
      if (!rest.consume_front("ld.param") || !rest.consume_back(", [retval0];") ||
          failed(move(out, rest.split('\t').first, rest.split('\t').second.trim(), "retval0")))
        return fail("a result in an unknown place");
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
      if (is(line, "call"))
        return fail("a call in an unknown form");
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
