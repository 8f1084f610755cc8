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

/// The names of paths, those of loopback or of NICs, with `separator` between them.
std::string pathNames(bool loopback, std::string_view separator) {
  std::string names;
  for (auto [name, path] : kPaths)
    if (loopback || path != PathOptions::Path::CopyEngine)
      names += str(names.empty() ? "" : separator, name);
  return names;
}

Status apply(PathOptions &o, bool loopback, std::string_view key, std::string_view value) {
  if (key == "path") {
    for (auto [name, path] : kPaths)
      if (value == name) {
        o.path = path;
        return Status::success();
      }
    return error(StatusCode::InvalidArgument, "'", value, "' is none of ",
                 pathNames(loopback, ", "));
  }
  MK_ASSIGN(uint64_t number, env::parseBytes(value));
  if (key == "chunk") {
    if (number < 256 || number > (64 << 20))
      return error(StatusCode::InvalidArgument, "use 256 bytes to 64 MB");
    o.staged.chunkBytes = number;
    return Status::success();
  }
  if (number < 1 || number > 1024)
    return error(StatusCode::InvalidArgument, "use 1 to 1024");
  o.staged.chunks = number;
  return Status::success();
}

} // namespace

std::string PathOptions::valid(bool loopback) {
  return str("path=", pathNames(loopback, "|"), ", chunk=BYTES, chunks=COUNT");
}

Result<PathOptions> PathOptions::take(std::string &options, bool loopback) {
  PathOptions result;
  std::string own, rest;
  for (const OptionItem &item : splitOptions(options)) {
    bool isOwn = std::count(std::begin(kPathNames), std::end(kPathNames), item.key);
    std::string &list = isOwn ? own : rest;
    list += str(list.empty() ? "" : ",", item.text);
  }
  MK_TRY(parseOptions(own, {"network", kPathNames, {}, valid(loopback)},
                      [&](std::string_view key, std::string_view value) {
                        return apply(result, loopback, key, value);
                      }));
  options = std::move(rest);
  return result;
}

} // namespace mk::rt
