//===- Json.cpp - Facts as JSON and back ----------------------------------===//

#include "Facts.h"

using namespace mk;
using namespace mk::info;

namespace {
/// Visits every member with its key, so that writing and reading agree.
template <typename V, typename F>
void visit(V &v,
           F &&f) requires std::is_same_v<std::remove_const_t<V>, ManagedGpu> {
  f("name", v.name), f("bus", v.bus), f("nvlinks", v.nvlinks), f("mig", v.mig);
}
template <typename V, typename F>
void visit(V &v,
           F &&f) requires std::is_same_v<std::remove_const_t<V>, VisibleGpu> {
  f("name", v.name), f("capability", v.capability), f("sms", v.sms),
      f("memory_bytes", v.memoryBytes);
}
template <typename V, typename F>
void visit(V &v, F &&f) requires std::is_same_v<std::remove_const_t<V>, Nic> {
  f("name", v.name), f("driver", v.driver), f("state", v.state),
      f("link", v.link), f("rate", v.rate), f("numa", v.numa);
}
template <typename V, typename F>
void visit(V &v,
           F &&f) requires std::is_same_v<std::remove_const_t<V>, Program> {
  f("path", v.path), f("version", v.version);
}
template <typename V, typename F>
void visit(V &v, F &&f) requires std::is_same_v<std::remove_const_t<V>, Facts> {
  f("version", v.version), f("abi", v.abi), f("compiler", v.compiler);
  f("cpu", v.cpu), f("machine", v.machine), f("kernel", v.kernel);
  f("libc", v.libc), f("threads", v.threads), f("numa_nodes", v.numaNodes);
  f("memory_bytes", v.memoryBytes), f("vectors", v.vectors);
  f("driver", v.driver), f("open_module", v.openModule), f("cuda", v.cuda);
  f("cuda_problem", v.cudaProblem), f("visible_gpus", v.visible);
  f("nvml_problem", v.nvmlProblem), f("gpus", v.gpus), f("peers", v.peers);
  f("ptxas", v.ptxas), f("compute_sanitizer", v.sanitizer);
  f("nics", v.nics), f("libibverbs", v.verbs), f("libefa", v.efa);
  f("nvidia_peermem", v.peermem), f("locked_bytes", v.lockedBytes);
}

template <typename T>
constexpr bool isPlain =
    std::is_same_v<T, std::string> || std::is_arithmetic_v<T> ||
    std::is_same_v<T, std::vector<std::string>>;

template <typename T> Json write(const T &value) {
  if constexpr (isPlain<T>) {
    return value;
  } else if constexpr (requires { value.begin(); }) {
    Json array = Json::array();
    for (const auto &item : value)
      array.push_back(write(item));
    return array;
  } else {
    Json object = Json::object();
    visit(value, [&](const char *key, const auto &member) {
      object[key] = write(member);
    });
    return object;
  }
}

/// Whether the value is of the member's kind: numbers are integers.
template <typename T> bool fits(const Json &json) {
  if constexpr (std::is_same_v<T, std::string>)
    return json.is_string();
  else if constexpr (std::is_same_v<T, bool>)
    return json.is_boolean();
  else if constexpr (std::is_arithmetic_v<T>)
    return json.is_number_integer();
  else if constexpr (requires(T v) { v.begin(); })
    return json.is_array();
  else
    return json.is_object();
}

template <typename T>
void read(const Json &json, const std::string &path, T &value,
          std::string &problem) {
  if (!problem.empty())
    return;
  if (!fits<T>(json)) {
    problem = "'" + path + "' is of the wrong kind";
  } else if constexpr (std::is_same_v<T, std::string> ||
                       std::is_arithmetic_v<T>) {
    value = json.get<T>();
  } else if constexpr (requires { value.begin(); }) {
    for (size_t i = 0; i < json.size(); ++i)
      read(json[i], rt::str(path, "[", i, "]"), value.emplace_back(), problem);
  } else {
    visit(value, [&](const char *key, auto &member) {
      std::string name = path.empty() ? key : path + "." + key;
      // What is not said is as on a machine that has nothing of it.
      if (auto found = json.find(key); found != json.end())
        read(*found, name, member, problem);
    });
  }
}
} // namespace

Json info::toJson(const Facts &facts) { return write(facts); }

rt::Result<Facts> info::fromJson(const Json &json) {
  Facts facts;
  std::string problem;
  if (json.is_discarded())
    problem = "it is no JSON";
  else if (!json.is_object())
    problem = "it is no JSON object";
  read(json, "", facts, problem);
  auto features = json.find("features");
  if (problem.empty() && features != json.end() && !features->is_object())
    problem = "'features' is of the wrong kind";
  if (problem.empty() && !json.contains("version"))
    problem = "it lacks the key 'version'";
  if (!problem.empty())
    return rt::error(rt::StatusCode::InvalidArgument, problem);
  return facts;
}
