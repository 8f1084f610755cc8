//===- Versions.cpp - Several versions of a kernel in a package -----------===//
#include "Versions.h"
#include "mkernel/ABI/Package.h"
#include "mkernel/Target/Host/Emit.h"
#include "llvm/Support/FormatVariadic.h"

#include <cstring>

using namespace mlir;
using namespace mlir::mk;
namespace json = llvm::json;

static json::Object toObject(const DimSizes &sizes) {
  json::Object object;
  for (const auto &[name, size] : sizes)
    object[name] = size;
  return object;
}

namespace {
/// A version, and those before it that came out the same.
struct Version {
  const VersionRequest *request;
  std::vector<DimSizes> merged;
  json::Object about; // what --emit=params prints, then the package's metadata
  std::string package;

  DimSizes serves() const { return request->serves; }
  /// Adds the sizes that it serves, and those that it serves since versions are merged into it.
  void describeSizes(json::Object &entry) const {
    entry["serves"] = toObject(serves());
    json::Array sizes;
    llvm::transform(merged, std::back_inserter(sizes), toObject);
    if (!sizes.empty())
      entry["merged"] = std::move(sizes);
  }
};

class VersionsCompiler {
public:
  VersionsCompiler(const VersionsOf &what, ModuleOp module, llvm::raw_ostream &output,
                   std::string &messages)
      : what(what), module(module), output(output), messages(messages) {}

  bool run();

private:
  /// Appends what is said of the version.
  bool compileOne(const VersionRequest &request, StringRef emit, std::string &out,
                  std::string &said);
  bool askParams();
  bool compilePackages();
  void mergeEqual();
  bool writeParams();
  bool writePackage();
  bool fail(const VersionRequest &request, StringRef said);

  const VersionsOf &what;
  ModuleOp module;
  llvm::raw_ostream &output;
  std::string &messages;
  std::vector<Version> versions;
};
} // namespace

/// Parameters by name, without where they are from.
static json::Object getValues(const json::Object &about) {
  json::Object values;
  if (const json::Object *params = about.getObject("params"))
    for (const auto &[name, param] : *params)
      if (const json::Object *object = param.getAsObject())
        if (const json::Value *value = object->get("value"))
          values[name] = *value;
  return values;
}

bool VersionsCompiler::compileOne(const VersionRequest &request, StringRef emit, std::string &out,
                                  std::string &said) {
  CompileOptions options = what.given;
  options.variants.clear();
  options.emit = emit.str();
  options.tuneFor = request.serves;
  options.completeDims = false; // has been looked at
  for (const auto &param : request.params) {
    llvm::erase_if(options.params, [&](const auto &all) { return all.first == param.first; });
    options.params.push_back(param);
  }
  return compile(what.source, what.name, options, out, said);
}

bool VersionsCompiler::fail(const VersionRequest &request, StringRef said) {
  messages += said;
  messages += "error: --variants: the version '" + request.text +
              "' cannot be compiled, see above: give it other parameters, or leave it out\n";
  return false;
}

bool VersionsCompiler::askParams() {
  for (const VersionRequest &request : what.requests.list) {
    std::string text, said;
    if (!compileOne(request, "params", text, said))
      return fail(request, said);
    llvm::Expected<json::Value> about = json::parse(text);
    if (!about)
      return fail(request, "error: " + llvm::toString(about.takeError()) + "\n");
    versions.push_back({&request, {}, std::move(*about->getAsObject()), {}});
  }
  return true;
}

/// A version whose sizes the next one is for as well is not needed where that has the same
/// parameters.
void VersionsCompiler::mergeEqual() {
  for (size_t i = 0; i + 1 < versions.size();) {
    Version &version = versions[i], &next = versions[i + 1];
    bool isLast = i + 2 == versions.size(); // is for all others, too
    if ((!isLast && !isServedBy(version.serves(), next.serves())) ||
        getValues(version.about) != getValues(next.about)) {
      ++i;
      continue;
    }
    version.merged.push_back(version.serves());
    llvm::append_range(version.merged, next.merged);
    next.merged = std::move(version.merged);
    versions.erase(versions.begin() + i);
  }
}

bool VersionsCompiler::writeParams() {
  json::Array list;
  for (Version &version : versions) {
    version.describeSizes(version.about);
    list.push_back(std::move(version.about));
  }
  output << llvm::formatv("{0:2}\n", json::Value(json::Object{{"versions", std::move(list)}}));
  return true;
}

bool VersionsCompiler::compilePackages() {
  for (Version &version : versions) {
    std::string said;
    if (!compileOne(*version.request, "package", version.package, said))
      return fail(*version.request, said);
    if (!said.empty())
      messages += "note: --variants: of the version '" + version.request->text + "':\n" + said;
    mk_package_header header;
    std::memcpy(&header, version.package.data(), sizeof(header));
    llvm::Expected<json::Value> about =
        json::parse(StringRef(version.package).substr(sizeof(header), header.metadata_bytes));
    if (!about)
      return fail(*version.request, "error: " + llvm::toString(about.takeError()) + "\n");
    version.about = std::move(*about->getAsObject());
  }
  // A compilation may have fallen back on other parameters than it was to have.
  mergeEqual();
  return true;
}

bool VersionsCompiler::writePackage() {
  const json::Object &first = versions.front().about;
  json::Object metadata;
  for (StringRef key : {"kernel", "target", "mesh", "dims"})
    metadata[key] = *first.get(key);
  // Behind those of the file a version may have scratch of its own.
  json::Array args;
  for (size_t i = 0; i < what.requests.numArgs; ++i)
    args.push_back((*first.getArray("args"))[i]);
  metadata["args"] = std::move(args);
  int64_t grid = 0;
  json::Array list;
  std::vector<DimSizes> serves;
  std::vector<std::string> packages;
  for (Version &version : versions) {
    grid = std::max(grid, version.about.getInteger("grid").value_or(0));
    json::Object entry{{"bytes", int64_t(version.package.size())}};
    version.describeSizes(entry);
    list.push_back(std::move(entry));
    serves.push_back(version.serves());
    packages.push_back(std::move(version.package));
  }
  metadata["grid"] = grid;
  metadata["versions"] = std::move(list);
  FailureOr<HostCpu> cpu = resolveCpu(what.given.cpu, what.given.optimize, module.getLoc());
  if (failed(cpu))
    return false;
  OwningOpRef<ModuleOp> select =
      buildSelect(*module.getContext(), module.getLoc(), serves, what.requests.dims);
  SmallVector<char, 0> package;
  if (failed(emitContainer(*select, *cpu, std::move(metadata), packages, package)))
    return false;
  output << StringRef(package.data(), package.size());
  return true;
}

bool VersionsCompiler::run() {
  if (what.given.emit != "package" && what.given.emit != "params") {
    const VersionRequest &only = what.requests.list.front();
    std::string text, said;
    if (!compileOne(only, what.given.emit, text, said))
      return fail(only, said);
    messages += said;
    output << text;
    return true;
  }
  if (!askParams())
    return false;
  mergeEqual();
  if (what.given.emit == "params")
    return writeParams();
  if (!compilePackages())
    return false;
  if (versions.size() == 1 && what.requests.list.size() > 1)
    messages += llvm::formatv("warning: --variants: all {0} versions have the same parameters, and "
                              "are one: neither tuning file nor cost model tells them apart; give "
                              "them parameters, as in --variants={1}+NAME=NUMBER,...\n",
                              what.requests.list.size(), what.requests.list.front().text);
  return writePackage();
}

bool mk::compileVersions(const VersionsOf &what, ModuleOp module, llvm::raw_ostream &output,
                         std::string &messages) {
  return VersionsCompiler(what, module, output, messages).run();
}
