//===- OptionText.cpp - Options as "key=value,..." ------------------------===//

#include "transport/OptionText.h"

#include "mkernel/Runtime/Env.h"

#include <algorithm>

namespace mk::rt {

std::vector<OptionItem> splitOptions(std::string_view text) {
  std::vector<OptionItem> items;
  while (!text.empty()) {
    size_t comma = std::min(text.find(','), text.size());
    OptionItem item;
    item.text = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    if (item.text.empty())
      continue;
    size_t equals = item.text.find('=');
    item.hasValue = equals != std::string_view::npos;
    item.key = item.text.substr(0, equals);
    if (item.hasValue)
      item.value = item.text.substr(equals + 1);
    items.push_back(item);
  }
  return items;
}

Status
parseOptions(std::string_view text, const OptionNames &names,
             const std::function<Status(std::string_view, std::string_view)> &apply) {
  auto has = [](std::span<const std::string_view> list, std::string_view key) {
    return std::find(list.begin(), list.end(), key) != list.end();
  };
  auto check = [&](const OptionItem &item) {
    if (has(names.flags, item.key))
      return item.hasValue ? error(StatusCode::InvalidArgument, "it takes no value")
                           : Status::success();
    return item.value.empty() ? error(StatusCode::InvalidArgument, "it needs a value")
                              : Status::success();
  };
  std::vector<OptionItem> items = splitOptions(text);
  for (const OptionItem &item : items) {
    if (!has(names.names, item.key)) {
      std::string like = env::nearest(item.key, names.names);
      return error(StatusCode::InvalidArgument, "the ", names.owner,
                   " transport has no option '", item.key, "'",
                   like.empty() ? "" : str(" (did you mean ", like, "?)"),
                   "; valid: ", names.valid);
    }
    for (const OptionItem *before = items.data(); before != &item; ++before)
      if (before->key == item.key)
        return error(StatusCode::InvalidArgument, names.owner, " option '", item.text,
                     "': '", before->text, "' is given as well: give one of them");
    Status status = check(item);
    if (status)
      status = apply(item.key, item.value);
    if (!status)
      return error(StatusCode::InvalidArgument, names.owner, " option '", item.text, "': ",
                   status.message(), "; valid: ", names.valid);
  }
  return Status::success();
}

} // namespace mk::rt
