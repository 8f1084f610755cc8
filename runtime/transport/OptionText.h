//===- OptionText.h - Options as "key=value,..." ----------------*- C++ -*-===//
//
// What the options of all transports have in common: how they are written, and
// what is said about those that are wrong.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_RUNTIME_TRANSPORT_OPTIONTEXT_H
#define MKERNEL_RUNTIME_TRANSPORT_OPTIONTEXT_H

#include "mkernel/Runtime/Status.h"

#include <functional>
#include <span>
#include <vector>

namespace mk::rt {

/// An item of an option string: "key=value" or "key". Views of that string.
struct OptionItem {
  std::string_view text, key, value;
  bool hasValue = false; // there is a "="
};

/// The items between commas; empty ones are passed over.
std::vector<OptionItem> splitOptions(std::string_view text);

/// The options that somebody takes.
struct OptionNames {
  std::string_view owner;                  // for messages: "verbs"
  std::span<const std::string_view> names; // of all
  std::span<const std::string_view> flags; // those of them that take no value
  std::string valid;                       // for messages: "delay=TIME, pause"
};

/// Calls `apply` for each item in turn, with an empty value for flags.
/// InvalidArgument for a name that is not among them (with the nearest one that
/// is), for one that is there twice, for a value that is missing or too much, and for what `apply`
/// refuses; it names the item and lists what is valid.
Status parseOptions(std::string_view text, const OptionNames &names,
                    const std::function<Status(std::string_view key,
                                               std::string_view value)> &apply);

} // namespace mk::rt

#endif // MKERNEL_RUNTIME_TRANSPORT_OPTIONTEXT_H
