//===- ApplyTuning.cpp - Parameters of a kernel from its tuning file ------===//
#include "Json.h"
#include "Model.h"
#include "mkernel/Analysis/Evaluate.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <dlfcn.h>

using namespace mlir;
using namespace mlir::mk;
namespace json = llvm::json;

std::string mk::defaultTuningFile(StringRef target) {
  Dl_info info;
  if (!dladdr(reinterpret_cast<void *>(&defaultTuningFile), &info) || !info.dli_fname)
    return {};
  SmallString<256> self;
  // A program that was found by PATH has no folder in its name.
  StringRef name = info.dli_fname;
  if (!name.contains('/'))
    name = "/proc/self/exe";
  if (llvm::sys::fs::real_path(name, self))
    return {};
  // bin/mk-opt, lib/libmkernel_jit.so or lib/<machine>/libmkernel_jit.so.
  StringRef folder = llvm::sys::path::parent_path(self);
  for (int up = 0; up != 2; ++up) {
    folder = llvm::sys::path::parent_path(folder);
    SmallString<256> path(folder);
    llvm::sys::path::append(path, "share", "mkernel", "tuning", target + ".json");
    if (llvm::sys::fs::exists(path))
      return path.str().str();
  }
  return {};
}

/// Every parameter of the kernel once, in order, with its first op.
static llvm::MapVector<StringRef, ParamOp> getParams(KernelOp kernel) {
  llvm::MapVector<StringRef, ParamOp> params;
  kernel.walk([&](ParamOp op) { params.insert({op.getName(), op}); });
  return params;
}

TuningQuery mk::makeQuery(KernelOp kernel, const CompileOptions &options, const Binding &binding) {
  TuningQuery query;
  query.kernel = kernel.getSymName().str();
  for (unsigned i = 0, e = kernel.getNumKernelArgs(); i != e; ++i)
    query.types.push_back(
        getPackageTypeName(cast<MemRefType>(kernel.getKernelArg(i).getType()).getElementType())
            .str());
  query.grid = options.grid;
  auto read = [](ArrayRef<std::string> pairs, auto &map) {
    for (StringRef pair : pairs) {
      auto [name, text] = pair.split('=');
      int64_t value;
      if (!text.getAsInteger(10, value))
        map[name.str()] = value;
    }
  };
  read(binding.sizes, query.dims);
  read(binding.params, query.given);
  for (const auto &[name, size] : options.tuneFor)
    query.dims[name] = size;
  for (auto &[name, param] : getParams(kernel)) {
    query.params.push_back(name.str());
    for (unsigned i = 0, e = kernel.getNumDims(); i != e; ++i)
      if (param.getDefaultValue() == kernel.getDim(i))
        query.followed.push_back(cast<StringAttr>(kernel.getDimNames()[i]).str());
  }
  return query;
}

FailureOr<TuningChoice> mk::findTuning(KernelOp kernel, const CompileOptions &options,
                                       const Binding &binding) {
  TuningChoice choice;
  if (options.tuning == kNoTuning || options.tuning == kModelAlone)
    return choice;
  choice.file = options.tuning.empty() ? defaultTuningFile(options.target) : options.tuning;
  if (choice.file.empty())
    return choice;
  auto text = llvm::MemoryBuffer::getFile(choice.file, /*IsText=*/true);
  if (!text)
    return kernel.emitError() << "cannot read the tuning file '" << choice.file
                              << "': " << text.getError().message()
                              << "; --tuning=none goes without";
  llvm::Expected<TuningTable> table = TuningTable::parse((*text)->getBuffer());
  if (!table)
    return kernel.emitError()
           << "tuning file '" << choice.file << "': " << llvm::toString(table.takeError())
           << "; mend it (mk-bench --tune writes such files), or go without by --tuning=none";
  if (table->target != options.target)
    return kernel.emitError() << "tuning file '" << choice.file << "' is for target '"
                              << table->target << "', not '" << options.target << "'";
  TuningQuery query = makeQuery(kernel, options, binding);
  std::optional<TuningTable::Match> match = table->find(query);
  if (!match)
    return choice;
  choice.found = true;
  // Sizes that are open may become others.
  choice.exact = match->distance == 0 && llvm::all_of(match->entry->dims, [&](const auto &dim) {
                   return query.dims.contains(dim.first);
                 });
  choice.entry = *match->entry;
  return choice;
}

void mk::setParams(const std::map<std::string, int64_t> &set, Binding &binding) {
  for (const auto &[name, value] : set)
    if (llvm::none_of(binding.params,
                      [&](StringRef pair) { return pair.split('=').first == name; }))
      binding.params.push_back(name + "=" + std::to_string(value));
}

ParamChoices mk::listChoices(KernelOp kernel) {
  ParamChoices choices;
  for (auto &[name, op] : getParams(kernel))
    if (std::optional<ArrayRef<int64_t>> values = op.getChoices())
      choices.emplace_back(name.str(), values->vec());
  return choices;
}

json::Object mk::describeParams(KernelOp kernel, const CompileOptions &options,
                                const Binding &binding, const ParamChoice &from) {
  const TuningChoice &choice = from.tuning;
  const ModelChoice &model = from.model;
  TuningQuery query = makeQuery(kernel, options, binding);
  json::Object params, choices;
  for (const auto &[name, values] : from.choices)
    choices[name] = json::Array(values);
  for (auto &[name, op] : getParams(kernel)) {
    json::Object param;
    if (auto it = query.given.find(name.str()); it != query.given.end())
      param["value"] = it->second;
    else if (op.getNumber())
      param["value"] = static_cast<int64_t>(*op.getNumber());
    else if (auto number = evaluateIndex(op.getDefaultValue()))
      param["value"] = *number;
    else
      param["value"] = nullptr;
    bool given = llvm::any_of(options.params, [&](const auto &pair) { return pair.first == name; });
    const auto &chosen = model.set.empty() ? choice.entry.set : model.set;
    StringRef chooser = model.set.empty() ? "tuned" : "model";
    param["from"] = given ? "given" : chosen.contains(name.str()) ? chooser : "default";
    params[name] = std::move(param);
  }
  json::Value entry = nullptr;
  if (choice.found)
    entry = json::Object{{"dims", toObject(choice.entry.dims)},
                         {"set", toObject(choice.entry.set)},
                         {"exact", choice.exact}};
  json::Value file = nullptr;
  if (!choice.file.empty())
    file = choice.file;
  return json::Object{
      {"kernel", query.kernel},
      {"target", options.target},
      {"types", json::Array(query.types)},
      {"grid", query.grid},
      {"dims", toObject(query.dims)},
      {"params", std::move(params)},
      {"choices", std::move(choices)},
      {"model", describeModel(model)},
      {"tuning", json::Object{{"file", std::move(file)}, {"entry", std::move(entry)}}}};
}
