//===- JsonReader.h - Strict reading of JSON objects ------------*- C++ -*-===//
#ifndef MKERNEL_RUNTIME_PACKAGE_JSONREADER_H
#define MKERNEL_RUNTIME_PACKAGE_JSONREADER_H

#include "mkernel/ABI/Package.h"
#include "mkernel/Runtime/ElementType.h"
#include "mkernel/Runtime/Status.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

namespace mk::rt {

using Json = nlohmann::json;

/// No size or number of bytes in metadata is larger.
inline constexpr int64_t kLarge = MK_MAX_DIM;

/// Walks one JSON object. The first problem is kept, later reads return
/// defaults, so that the parser reads straight through.
class Reader {
public:
  Reader(Status &status, const Json &json, std::string where)
      : status_(status), where_(std::move(where)) {
    if (!json.is_object())
      fail("is not an object");
    else
      json_ = &json;
  }
  ~Reader() {
    if (json_ && status_.isOk())
      for (auto &[key, value] : json_->items())
        if (std::find(seen_.begin(), seen_.end(), key) == seen_.end())
          fail("has the unknown key '" + key + "'");
  }

  std::string text(const char *key) {
    const Json *value = find(key);
    if (value && !value->is_string())
      fail(str("key '", key, "' is not a string"));
    return value && value->is_string() ? value->get<std::string>() : "";
  }
  bool flag(const char *key) {
    const Json *value = find(key);
    if (value && !value->is_boolean())
      fail(str("key '", key, "' is not true or false"));
    return value && value->is_boolean() && value->get<bool>();
  }
  int64_t number(const char *key, int64_t low, int64_t high) {
    const Json *value = find(key);
    return value ? number(*value, str("key '", key, "'"), low, high) : low;
  }
  int64_t number(const Json &value, const std::string &what, int64_t low,
                 int64_t high) {
    if (!value.is_number_integer()) {
      fail(what + " is not an integer");
      return low;
    }
    // Beyond int64 reads as negative and is refused with the rest.
    int64_t n = value.get<int64_t>();
    if (n < low || n > high) {
      fail(str(what, " is ", n, ", not within ", low, " to ", high));
      return low;
    }
    return n;
  }
  const Json &list(const char *key) {
    static const Json empty = Json::array();
    const Json *value = find(key);
    if (value && !value->is_array())
      fail(str("key '", key, "' is not a list"));
    return value && value->is_array() ? *value : empty;
  }
  template <typename T>
  T choice(const char *key,
           std::initializer_list<std::pair<const char *, T>> choices) {
    std::string value = text(key), names;
    for (auto &[choice, result] : choices) {
      if (value == choice)
        return result;
      names += str(names.empty() ? "" : ", ", choice);
    }
    fail(str("key '", key, "' is '", value, "', not one of ", names));
    return choices.begin()->second;
  }
  ElementType type(const std::string &text) {
    auto result = parseElementType(text);
    if (!result)
      fail("has the unknown element type '" + text + "'");
    return result.value_or(ElementType::f32);
  }
  const Json *find(const char *key, bool required = true) {
    if (!json_)
      return nullptr;
    seen_.push_back(key);
    auto it = json_->find(key);
    if (it != json_->end())
      return &*it;
    if (required)
      fail(str("lacks the key '", key, "'"));
    return nullptr;
  }
  void fail(const std::string &what) {
    if (status_.isOk())
      status_ = error(StatusCode::InvalidArgument, where_, " ", what);
  }

private:
  Status &status_;
  const Json *json_ = nullptr;
  std::string where_;
  std::vector<std::string> seen_;
};

} // namespace mk::rt

#endif // MKERNEL_RUNTIME_PACKAGE_JSONREADER_H
