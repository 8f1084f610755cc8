//===- Paths.cpp - How bytes get from memory to memory --------------------===//

#include "transport/Paths.h"

#include "mkernel/Runtime/Env.h"
#include "transport/OptionText.h"

#include <algorithm>

namespace mk::rt {
namespace {

constexpr std::pair<std::string_view, PathOptions::Path> kPaths[] = {
    {"auto", PathOptions::Path::Auto},
    {"direct", PathOptions::Path::Direct},
    {"copy-engine", PathOptions::Path::CopyEngine},
    {"staged", PathOptions::Path::Staged}};

constexpr std::string_view kPathNames[] = {"path", "chunk", "chunks"};

Status apply(PathOptions &o, std::string_view key, std::string_view value) {
  if (key == "path") {
    for (auto [name, path] : kPaths)
      if (value == name) {
        o.path = path;
        return Status::ok();
      }
    return error(StatusCode::InvalidArgument, "'", value,
                 "' is none of auto, direct, copy-engine, staged");
  }
  MK_ASSIGN(uint64_t number, env::parseBytes(value));
  if (key == "chunk") {
    if (number < 256 || number > (64 << 20))
      return error(StatusCode::InvalidArgument, "use 256 bytes to 64 MB");
    o.staged.chunkBytes = number;
    return Status::ok();
  }
  if (number < 1 || number > 1024)
    return error(StatusCode::InvalidArgument, "use 1 to 1024");
  o.staged.chunks = number;
  return Status::ok();
}

} // namespace

Result<PathOptions> PathOptions::take(std::string &options) {
  PathOptions result;
  std::string own, rest;
  for (const OptionItem &item : splitOptions(options)) {
    bool isOwn = std::count(std::begin(kPathNames), std::end(kPathNames), item.key);
    std::string &list = isOwn ? own : rest;
    list += str(list.empty() ? "" : ",", item.text);
  }
  MK_TRY(parseOptions(
      own,
      {"network",
       kPathNames,
       {},
       "path=auto|direct|copy-engine|staged, chunk=BYTES, chunks=COUNT"},
      [&](std::string_view key, std::string_view value) { return apply(result, key, value); }));
  options = std::move(rest);
  return result;
}

} // namespace mk::rt
