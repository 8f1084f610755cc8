//===- JIT.cpp - The compiler as a shared object --------------------------===//
#include "mkernel/JIT/CompileC.h"
#include "mkernel/JIT/Compiler.h"
#include "mkernel/JIT/Guarded.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cstdlib>
#include <cstring>

using namespace mlir;
namespace json = llvm::json;

/// A number may be given as a number or as text.
static bool getText(const json::Value &value, std::string &text) {
  if (auto string = value.getAsString())
    return text = string->str(), true;
  if (auto number = value.getAsInteger())
    return text = std::to_string(*number), true;
  return false;
}

/// Returns what is wrong, or nothing.
static std::string readPairs(StringRef key, const json::Value &value,
                             decltype(mk::CompileOptions::bind) &pairs) {
  const json::Object *object = value.getAsObject();
  if (!object)
    return ("option '" + key + "' is not an object of names and values").str();
  for (const auto &[name, item] : *object) {
    std::string text;
    if (!getText(item, text))
      return ("option '" + key + "': '" + StringRef(name) +
              "' is neither a number nor a string")
          .str();
    pairs.emplace_back(StringRef(name).str(), text);
  }
  // Objects have no order; messages should.
  llvm::sort(pairs);
  return {};
}

static std::string readOptions(StringRef text, mk::CompileOptions &options) {
  llvm::Expected<json::Value> parsed = json::parse(text.empty() ? "{}" : text);
  if (!parsed)
    return "options: " + llvm::toString(parsed.takeError());
  const json::Object *object = parsed->getAsObject();
  if (!object)
    return "options: not a JSON object";
  std::pair<StringRef, std::string *> texts[] = {{"target", &options.target},
                                                 {"kernel", &options.kernel},
                                                 {"emit", &options.emit},
                                                 {"tuning", &options.tuning},
                                                 {"cpu", &options.cpu}};
  std::pair<StringRef, int64_t *> numbers[] = {{"nodes", &options.nodes},
                                               {"gpus", &options.gpus},
                                               {"grid", &options.grid}};
  for (const auto &[name, value] : *object) {
    StringRef key = name;
    if (key == "bind" || key == "set") {
      std::string problem =
          readPairs(key, value, key == "bind" ? options.bind : options.params);
      if (!problem.empty())
        return problem;
      continue;
    }
    bool known = false;
    std::pair<StringRef, bool *> flags[] = {
        {"complete_mesh", &options.completeMesh},
        {"complete_dims", &options.completeDims}, {"verify", &options.verify},
        {"record", &options.record},
        {"timeline", &options.timeline},
        {"bounds", &options.bounds}};
    for (auto &[option, target] : flags)
      if (key == option) {
        known = true;
        std::optional<bool> flag = value.getAsBoolean();
        if (!flag)
          return ("option '" + key + "' is not true or false").str();
        *target = *flag;
      }
    for (auto &[option, target] : texts)
      if (key == option) {
        known = true;
        auto string = value.getAsString();
        if (!string)
          return ("option '" + key + "' is not a string").str();
        *target = string->str();
      }
    for (auto &[option, target] : numbers)
      if (key == option) {
        known = true;
        auto number = value.getAsInteger();
        if (!number)
          return ("option '" + key + "' is not an integer").str();
        *target = *number;
      }
    if (!known)
      return ("there is no option '" + key + "'").str();
  }
  return {};
}

/// The C functions' results.
enum { kFailed = 1, kMisused = 2 };

static int fail(const std::string &message, char **error,
                int result = kFailed) {
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

static int compileText(StringRef source, const char *name,
                       const char *optionsJson, void **package, size_t *size,
                       char **error) {
  mk::CompileOptions options;
  bool misused = false;
  options.misused = &misused;
  std::string problem = readOptions(optionsJson ? optionsJson : "", options);
  if (!problem.empty())
    return fail(problem, error, kMisused);
  std::string output, messages, ended;
  bool ok = false;
  if (!mk::runGuarded(
          [&] { ok = mk::compile(source, name, options, output, messages); }, ended))
    return fail(messages + "error: " + name + ": " + ended, error);
  if (!ok)
    return fail(messages, error, misused ? kMisused : kFailed);
  *package = std::malloc(output.size() ? output.size() : 1);
  if (!*package)
    return fail("no memory for the package", error);
  std::memcpy(*package, output.data(), output.size());
  *size = output.size();
  return 0;
}

extern "C" int mk_jit_compile(const char *path, const char *optionsJson,
                              void **package, size_t *size, char **error) {
  *package = nullptr;
  *size = 0;
  auto source = llvm::MemoryBuffer::getFileOrSTDIN(path, /*IsText=*/true);
  if (!source)
    return fail(std::string("cannot read ") + path + ": " +
                    source.getError().message(),
                error);
  return compileText((*source)->getBuffer(), path, optionsJson, package, size,
                     error);
}

extern "C" int mk_jit_compile_text(const char *text, size_t bytes,
                                   const char *name, const char *optionsJson,
                                   void **package, size_t *size, char **error) {
  *package = nullptr;
  *size = 0;
  return compileText(StringRef(text, bytes), name, optionsJson, package, size,
                     error);
}

extern "C" void mk_jit_free(void *memory) { std::free(memory); }
