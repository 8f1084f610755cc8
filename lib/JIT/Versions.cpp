//===- Versions.cpp - Several versions of a kernel in a package -----------===//
#include "Versions.h"
#include "Json.h"
#include "mkernel/ABI/Package.h"
#include "mkernel/Target/Host/Emit.h"
#include "llvm/Support/FormatVariadic.h"

#include <cstring>

using namespace mlir;
using namespace mlir::mk;
namespace json = llvm::json;

namespace {
/// What is compiled with one set of parameters.
struct Candidate {
  CandidateRequest request;
  json::Object about; // what --emit=params prints, then the package's metadata
  std::string package;

  /// For messages: what was asked for, and what the model chooses for it.
  std::string getName() const {
    std::string name = request.text;
    for (const auto &[param, value] : request.choice)
      name += (name.empty() ? "" : "+") + param + "=" + std::to_string(value);
    return name;
  }
};

/// A version, and those before it that came out the same.
struct Version {
  const VersionRequest *request;
  std::vector<DimSizes> merged;
  std::vector<Candidate> candidates; // at least one

  const DimSizes &serves() const { return request->serves; }
  /// Adds the sizes that it serves, those that it serves since versions are merged into it, and
  /// which of its candidates this is.
  void describe(size_t candidate, json::Object &entry) const {
    entry["serves"] = toObject(serves());
    if (candidate)
      entry["candidate"] = int64_t(candidate);
    json::Array sizes;
    llvm::transform(merged, std::back_inserter(sizes), toObject<DimSizes>);
    if (!sizes.empty() && !candidate)
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
  /// Appends what is said of the candidate.
  bool compileOne(const Version &version, const CandidateRequest &request, StringRef emit,
                  std::string &out, std::string &said);
  bool askParams();
  /// Those that the cost model takes for the fastest behind its choice.
  void addCandidates(Version &version);
  void warnOfNone(const Version &version);
  bool compilePackage(const Version &version, Candidate &candidate, std::string &said);
  bool compilePackages();
  void mergeEqual();
  bool writeParams();
  bool writePackage();
  bool fail(const CandidateRequest &request, StringRef said);
  /// The option that asks for several, for messages.
  StringRef option() const { return what.given.variants.empty() ? "--candidates" : "--variants"; }

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

bool VersionsCompiler::compileOne(const Version &version, const CandidateRequest &request,
                                  StringRef emit, std::string &out, std::string &said) {
  CompileOptions options = what.given;
  options.variants.clear();
  options.emit = emit.str();
  if (emit != "params")
    options.candidates = 0;
  options.tuneFor = version.serves();
  if (!what.given.variants.empty())
    options.completeDims = false; // has been looked at
  options.choice = request.choice;
  for (const auto &param : request.params) {
    llvm::erase_if(options.params, [&](const auto &all) { return all.first == param.first; });
    options.params.push_back(param);
  }
  return compile(what.source, what.name, options, out, said);
}

bool VersionsCompiler::fail(const CandidateRequest &request, StringRef said) {
  messages += said;
  if (!request.text.empty())
    messages += "error: " + option().str() + ": the version '" + request.text +
                "' cannot be compiled, see above: give it other parameters, or leave it out\n";
  return false;
}

/// Unless somebody has measured these very sizes.
void VersionsCompiler::warnOfNone(const Version &version) {
  const json::Object &about = version.candidates.front().about;
  const json::Object *model = about.getObject("model"), *params = about.getObject("params");
  const auto cause = model ? model->getString("why") : std::nullopt;
  bool isTuned = params && llvm::any_of(*params, [](const auto &param) {
                   return param.second.getAsObject()->getString("from") == "tuned";
                 });
  if (isTuned && !cause)
    return;
  std::string text = "warning: --candidates: there are none";
  if (!version.request->text().empty())
    text += " of the version '" + version.request->text() + "'";
  text +=
      ": " + (cause ? cause->str()
                    : std::string("nothing is left to choose, as nobody may (--tuning=none), all "
                                  "is given, or the file lists no values (mk.param ... in [...])"));
  if (cause && cause->contains("before the launch"))
    text += "; bind all dimensions (--bind), or say which sizes to expect (--variants)";
  else
    text += "; candidates can be named: versions with the same sizes "
            "(--variants=M=64+TM=16,M=64+TM=32)";
  messages += text + "\n";
}

void VersionsCompiler::addCandidates(Version &version) {
  const CandidateRequest given = version.candidates.front().request;
  const json::Object *model = version.candidates.front().about.getObject("model");
  const json::Array *list = model ? model->getArray("candidates") : nullptr;
  if (!list)
    return warnOfNone(version);
  std::vector<Candidate> more;
  for (const json::Value &entry : llvm::drop_begin(*list)) {
    Candidate candidate{given, {}, {}};
    for (const auto &[name, value] : *entry.getAsObject()->getObject("set"))
      candidate.request.choice[name.str()] = value.getAsInteger().value_or(0);
    more.push_back(std::move(candidate));
  }
  llvm::append_range(version.candidates, std::move(more));
}

bool VersionsCompiler::askParams() {
  bool adds = what.given.candidates > 1 && what.given.emit == "package";
  for (const VersionRequest &request : what.requests.list) {
    Version version{&request, {}, {}};
    for (const CandidateRequest &one : request.candidates) {
      std::string text, said;
      if (!compileOne(version, one, "params", text, said))
        return fail(one, said);
      llvm::Expected<json::Value> about = json::parse(text);
      if (!about)
        return fail(one, "error: " + llvm::toString(about.takeError()) + "\n");
      version.candidates.push_back({one, std::move(*about->getAsObject()), {}});
    }
    // Who names candidates has said which.
    if (adds && version.candidates.size() == 1)
      addCandidates(version);
    versions.push_back(std::move(version));
  }
  return true;
}

/// A version whose sizes the next one is for as well is not needed where that has the same
/// parameters, nor is a candidate that has those of one in front of it.
void VersionsCompiler::mergeEqual() {
  auto getSets = [](const Version &version) {
    std::vector<json::Object> sets;
    for (const Candidate &candidate : version.candidates)
      sets.push_back(getValues(candidate.about));
    return sets;
  };
  for (Version &version : versions) {
    std::vector<json::Object> known;
    llvm::erase_if(version.candidates, [&](const Candidate &candidate) {
      // What the model lists has not been asked for its parameters yet, and differs.
      if (candidate.about.empty())
        return false;
      json::Object set = getValues(candidate.about);
      bool isKnown = llvm::is_contained(known, set);
      known.push_back(std::move(set));
      if (isKnown && !candidate.request.text.empty())
        messages += "warning: --variants: '" + candidate.request.text +
                    "' has the parameters of a candidate in front of it, and is left out\n";
      return isKnown;
    });
  }
  for (size_t i = 0; i + 1 < versions.size();) {
    Version &version = versions[i], &next = versions[i + 1];
    bool isLast = i + 2 == versions.size(); // is for all others, too
    bool isAsked = llvm::all_of(version.candidates, [](auto &c) { return !c.about.empty(); });
    if (!isAsked || (!isLast && !isServedBy(version.serves(), next.serves())) ||
        getSets(version) != getSets(next)) {
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
  for (Version &version : versions)
    for (auto [i, candidate] : llvm::enumerate(version.candidates)) {
      version.describe(i, candidate.about);
      list.push_back(std::move(candidate.about));
    }
  output << llvm::formatv("{0:2}\n", json::Value(json::Object{{"versions", std::move(list)}}));
  return true;
}

bool VersionsCompiler::compilePackage(const Version &version, Candidate &candidate,
                                      std::string &said) {
  if (!compileOne(version, candidate.request, "package", candidate.package, said))
    return false;
  mk_package_header header;
  std::memcpy(&header, candidate.package.data(), sizeof(header));
  llvm::Expected<json::Value> about =
      json::parse(StringRef(candidate.package).substr(sizeof(header), header.metadata_bytes));
  if (!about) {
    said += "error: " + llvm::toString(about.takeError()) + "\n";
    return false;
  }
  candidate.about = std::move(*about->getAsObject());
  return true;
}

bool VersionsCompiler::compilePackages() {
  for (Version &version : versions) {
    std::vector<Candidate> compiled;
    for (Candidate &candidate : version.candidates) {
      // Nobody asked for what the model lists.
      bool isListed = candidate.about.empty();
      std::string said, name = candidate.getName();
      if (compilePackage(version, candidate, said))
        compiled.push_back(std::move(candidate));
      else if (!isListed)
        return fail(candidate.request, said);
      else
        said = "note: this candidate is left out, since it does not compile:\n" + said;
      if (!said.empty() && !name.empty())
        messages += llvm::formatv("note: {0}: of the version '{1}':\n", option(), name);
      messages += said;
    }
    version.candidates = std::move(compiled);
  }
  // A compilation may have fallen back on other parameters than it was to have.
  mergeEqual();
  return true;
}

bool VersionsCompiler::writePackage() {
  if (what.given.variants.empty() && versions[0].candidates.size() == 1) {
    output << versions[0].candidates[0].package;
    return true;
  }
  const json::Object &first = versions.front().candidates.front().about;
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
  std::vector<SelectedVersion> selected;
  std::vector<std::string> packages;
  for (Version &version : versions) {
    selected.push_back({version.serves(), int64_t(packages.size())});
    for (auto [i, candidate] : llvm::enumerate(version.candidates)) {
      grid = std::max(grid, candidate.about.getInteger("grid").value_or(0));
      json::Object entry{{"bytes", int64_t(candidate.package.size())}};
      version.describe(i, entry);
      list.push_back(std::move(entry));
      packages.push_back(std::move(candidate.package));
    }
  }
  metadata["grid"] = grid;
  metadata["versions"] = std::move(list);
  FailureOr<HostCpu> cpu = resolveCpu(what.given.cpu, what.given.optimize, module.getLoc());
  if (failed(cpu))
    return false;
  OwningOpRef<ModuleOp> select =
      buildSelect(*module.getContext(), module.getLoc(), selected, what.requests.dims);
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
    if (!compileOne({&only, {}, {}}, only.candidates[0], what.given.emit, text, said))
      return fail(only.candidates[0], said);
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
                              what.requests.list.size(), what.requests.list.front().text());
  return writePackage();
}

bool mk::compileVersions(const VersionsOf &what, ModuleOp module, llvm::raw_ostream &output,
                         std::string &messages) {
  return VersionsCompiler(what, module, output, messages).run();
}
