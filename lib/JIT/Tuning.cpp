//===- Tuning.cpp - Values of parameters that were measured ---------------===//
#include "Tuning.h"

#include <cmath>

using namespace mlir;
using namespace mlir::mk;
namespace json = llvm::json;

namespace {
using Sizes = std::map<std::string, int64_t>;

/// Reads one entry; `where` is how messages call it.
struct EntryReader {
  const json::Object &object;
  std::string where;

  llvm::Error error(const llvm::Twine &text) {
    return llvm::createStringError(where + ": " + text.str());
  }

  llvm::Error sizes(StringRef key, Sizes &out) {
    const json::Value *value = object.get(key);
    const json::Object *map = value ? value->getAsObject() : nullptr;
    if (!map)
      return error("'" + key + "' has to be an object of names and integers");
    for (const auto &[name, item] : *map) {
      std::optional<int64_t> number = item.getAsInteger();
      if (!number)
        return error("'" + key + "': '" + StringRef(name) + "' is not an integer");
      out[StringRef(name).str()] = *number;
    }
    return llvm::Error::success();
  }

  llvm::Error read(TuningTable::Entry &entry) {
    std::optional<StringRef> kernel = object.getString("kernel");
    if (!kernel)
      return error("'kernel' has to be the name of a kernel");
    entry.kernel = kernel->str();
    const json::Array *types = object.getArray("types");
    if (!types)
      return error("'types' has to be a list of element types, one for each argument");
    for (const json::Value &type : *types) {
      std::optional<StringRef> name = type.getAsString();
      if (!name)
        return error("'types' holds something that is no string");
      entry.types.push_back(name->str());
    }
    if (const json::Value *grid = object.get("grid")) {
      entry.grid = grid->getAsInteger();
      if (!entry.grid)
        return error("'grid' has to be an integer");
    }
    if (llvm::Error problem = sizes("dims", entry.dims))
      return problem;
    return sizes("set", entry.set);
  }
};
} // namespace

llvm::Expected<TuningTable> TuningTable::parse(StringRef text) {
  llvm::Expected<json::Value> value = json::parse(text);
  if (!value)
    return value.takeError();
  const json::Object *root = value->getAsObject();
  if (!root || root->getInteger("version") != 1)
    return llvm::createStringError("is no tuning file: 'version' has to be 1");
  std::optional<StringRef> target = root->getString("target");
  const json::Array *entries = root->getArray("entries");
  if (!target || !entries)
    return llvm::createStringError("is no tuning file: it lacks 'target' or 'entries'");
  TuningTable table;
  table.target = target->str();
  for (const auto &[i, item] : llvm::enumerate(*entries)) {
    std::string where = "entries[" + std::to_string(i) + "]";
    const json::Object *object = item.getAsObject();
    if (!object)
      return llvm::createStringError(where + " is not an object");
    EntryReader reader{*object, where};
    if (llvm::Error problem = reader.read(table.entries.emplace_back()))
      return problem;
  }
  return table;
}

/// Nothing if the entry is no candidate.
static std::optional<double> getDistance(const TuningTable::Entry &entry,
                                         const TuningQuery &query) {
  if (entry.kernel != query.kernel || entry.types != query.types ||
      (entry.grid && *entry.grid != query.grid))
    return std::nullopt;
  for (const auto &[name, value] : entry.set) {
    if (!llvm::is_contained(query.params, name))
      return std::nullopt;
    auto given = query.given.find(name);
    if (given != query.given.end() && given->second != value)
      return std::nullopt;
  }
  double sum = 0;
  for (const auto &[name, size] : query.dims)
    if (auto it = entry.dims.find(name); it != entry.dims.end()) {
      if (size != it->second && llvm::is_contained(query.followed, name))
        return std::nullopt;
      // Sizes of 0 are as good as 1.
      double ratio = std::log2(double(std::max<int64_t>(size, 1))) -
                     std::log2(double(std::max<int64_t>(it->second, 1)));
      sum += ratio * ratio;
    }
  return sum;
}

std::optional<TuningTable::Match> TuningTable::find(const TuningQuery &query) const {
  std::optional<Match> best;
  for (const Entry &entry : entries)
    if (std::optional<double> distance = getDistance(entry, query))
      if (!best || *distance < best->distance)
        best = Match{&entry, *distance};
  return best;
}
