//===- JIT.cpp - The compiler as a shared object --------------------------===//
#include "mkernel/Compiler/Compiler.h"
#include "mkernel/Compiler/Guarded.h"
#include "mkernel/JIT/CompileC.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cstdlib>
#include <cstring>

using namespace mlir;
namespace json = llvm::json;

// Each reads one value and returns what it should have been, or null.
static const char *read(const json::Value &value, std::string &text) {
  auto string = value.getAsString();
  if (string)
    text = string->str();
  return string ? nullptr : "a string";
}
static const char *read(const json::Value &value, int64_t &number) {
  auto integer = value.getAsInteger();
  number = integer.value_or(number);
  return integer ? nullptr : "an integer";
}
static const char *read(const json::Value &value, bool &flag) {
  auto boolean = value.getAsBoolean();
  flag = boolean.value_or(flag);
  return boolean ? nullptr : "true or false";
}
static const char *read(const json::Value &value, decltype(mk::CompileOptions::bind) &pairs) {
  const json::Object *object = value.getAsObject();
  if (!object)
    return "an object of names and values";
  for (const auto &[name, item] : *object) {
    int64_t number = 0;
    std::string text;
    if (!read(item, number))
      text = std::to_string(number);
    else if (read(item, text))
      return "an object of names and values that are numbers or strings";
    pairs.emplace_back(StringRef(name).str(), text);
  }
  // Objects have no order; messages should.
  llvm::sort(pairs);
  return nullptr;
}

/// Returns what is wrong, or nothing.
static std::string readOptions(StringRef text, mk::CompileOptions &options) {
  llvm::Expected<json::Value> parsed = json::parse(text.empty() ? "{}" : text);
  if (!parsed)
    return "options: " + llvm::toString(parsed.takeError());
  const json::Object *object = parsed->getAsObject();
  if (!object)
    return "options: not a JSON object";
  for (const auto &[name, value] : *object) {
    StringRef key = name;
    bool known = false;
    const char *wanted = nullptr;
    auto take = [&](const mkernel::options::Option &option, auto &field) {
      if (key != option.key)
        return;
      known = true;
      wanted = read(value, field);
    };
    mkernel::options::forEachCompileOption(take, options);
    take({.key = "emit"}, options.emit);
    if (!known)
      return ("there is no option '" + key + "'").str();
    if (wanted)
      return ("option '" + key + "' is not " + wanted).str();
  }
  return {};
}

/// The C functions' results.
enum { kFailed = 1, kMisused = 2 };

static int fail(const std::string &message, char **error, int result = kFailed) {
  if (error) {
    StringRef text = StringRef(message).rtrim('\n');
    *error = static_cast<char *>(std::malloc(text.size() + 1));
    if (*error) {
      std::memcpy(*error, text.data(), text.size());
      (*error)[text.size()] = '\0';
    }
  }
  return result;
}

/// The messages of a compilation that failed: what it failed at comes before warnings. A note of
/// all that follows stays in front of that.
static std::string putErrorsFirst(StringRef messages) {
  std::string errors, others;
  std::string *block = &errors;
  while (!messages.empty() && !messages.starts_with("note: ")) {
    auto [line, rest] = messages.split('\n');
    if (line.starts_with("error: ") || line.contains(": error: "))
      block = &errors;
    else if (line.starts_with("warning: ") || line.contains(": warning: "))
      block = &others;
    *block += line;
    *block += '\n';
    messages = rest;
  }
  return errors + others + messages.str();
}

static int compileText(StringRef source, const char *name, const char *optionsJson, void **package,
                       size_t *size, char **error) {
  mk::CompileOptions options;
  bool misused = false;
  options.misused = &misused;
  std::string problem = readOptions(optionsJson ? optionsJson : "", options);
  if (!problem.empty())
    return fail(problem, error, kMisused);
  std::string output, messages, ended;
  bool ok = false;
  if (!mk::runGuarded([&] { ok = mk::compile(source, name, options, output, messages); }, ended))
    return fail(messages + "error: " + name + ": " + ended, error);
  if (!ok)
    return fail(putErrorsFirst(messages), error, misused ? kMisused : kFailed);
  *package = std::malloc(output.size() ? output.size() : 1);
  if (!*package)
    return fail("no memory for the package", error);
  std::memcpy(*package, output.data(), output.size());
  *size = output.size();
  return messages.empty() ? 0 : fail(messages, error, /*result=*/0);
}

extern "C" int mk_jit_compile(const char *path, const char *optionsJson, void **package,
                              size_t *size, char **error) {
  *package = nullptr;
  *size = 0;
  auto source = llvm::MemoryBuffer::getFileOrSTDIN(path, /*IsText=*/true);
  if (!source)
    return fail(std::string("cannot read ") + path + ": " + source.getError().message(), error);
  return compileText((*source)->getBuffer(), path, optionsJson, package, size, error);
}

extern "C" int mk_jit_compile_text(const char *text, size_t bytes, const char *name,
                                   const char *optionsJson, void **package, size_t *size,
                                   char **error) {
  *package = nullptr;
  *size = 0;
  return compileText(StringRef(text, bytes), name, optionsJson, package, size, error);
}

extern "C" void mk_jit_free(void *memory) { std::free(memory); }
