//===- Paths.cpp - How bytes get from memory to memory --------------------===//

#include "transport/Paths.h"

#include "mkernel/Runtime/Env.h"

#include <string_view>

namespace mk::rt {
namespace {

constexpr std::pair<std::string_view, PathOptions::Path> kPaths[] = {
    {"auto", PathOptions::Path::Auto},
    {"direct", PathOptions::Path::Direct},
    {"copy-engine", PathOptions::Path::CopyEngine},
    {"staged", PathOptions::Path::Staged}};

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
  std::string rest;
  std::string_view text = options;
  while (!text.empty()) {
    size_t comma = std::min(text.find(','), text.size());
    std::string_view item = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    size_t equals = std::min(item.find('='), item.size());
    std::string_view key = item.substr(0, equals);
    if (key != "path" && key != "chunk" && key != "chunks") {
      rest += str(rest.empty() ? "" : ",", item);
      continue;
    }
    Status status = equals < item.size()
                        ? apply(result, key, item.substr(equals + 1))
                        : error(StatusCode::InvalidArgument, "it needs a value");
    if (!status)
      return error(StatusCode::InvalidArgument, "network option '", item, "': ",
                   status.message());
  }
  options = std::move(rest);
  return result;
}

} // namespace mk::rt
