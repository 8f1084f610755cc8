//===- Metadata.cpp - Strict parsing of package metadata ------------------===//

#include "mkernel/Runtime/Package.h"

#include <nlohmann/json.hpp>

using namespace mk::rt;
using Json = nlohmann::json;

namespace {

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

constexpr int64_t kMany = 1 << 20;
constexpr int64_t kLarge = int64_t(1) << 47;

struct Parser {
  Metadata m;
  Status status;

  template <typename T, typename Fn>
  void each(Reader &r, const char *key, std::vector<T> &out, Fn fn) {
    size_t index = 0;
    for (const Json &item : r.list(key)) {
      Reader entry(status, item, str("metadata: ", key, "[", index++, "]"));
      out.push_back(fn(entry));
    }
  }

  void parseAxes(Reader &r) {
    each(r, "mesh", m.mesh, [](Reader &e) {
      Metadata::MeshAxis axis;
      axis.name = e.text("name");
      axis.kind = e.choice<LinkKind>(
          "link", {{"link", LinkKind::Link}, {"net", LinkKind::Net}});
      if (const Json *size = e.find("size"); size && !size->is_null())
        axis.size = e.number(*size, "key 'size'", 1, 65536);
      return axis;
    });
  }

  void parseDims(Reader &r) {
    each(r, "dims", m.dims, [](Reader &e) {
      Metadata::Dim dim;
      dim.name = e.text("name");
      dim.perRank =
          e.choice<bool>("kind", {{"uniform", false}, {"rank", true}});
      const Json *value = e.find("value");
      if (!value || value->is_null())
        return dim;
      if (!value->is_array()) {
        dim.values.push_back(e.number(*value, "key 'value'", 0, kLarge));
        return dim;
      }
      if (!dim.perRank)
        e.fail("has a list of values, which only a 'rank' dimension may have");
      for (const Json &v : *value)
        dim.values.push_back(e.number(v, "key 'value'", 0, kLarge));
      return dim;
    });
  }

  void parseArgs(Reader &r) {
    using Kind = Metadata::ArgKind;
    each(r, "args", m.args, [](Reader &e) {
      Metadata::Arg arg;
      arg.name = e.text("name");
      arg.kind = e.choice<Kind>("kind", {{"in", Kind::In},
                                         {"out", Kind::Out},
                                         {"inout", Kind::InOut},
                                         {"scratch", Kind::Scratch}});
      arg.type = e.type(e.text("type"));
      arg.rank = e.number("rank", 0, 16);
      arg.symmetric = e.flag("symmetric");
      for (const Json &axes : e.list("split")) {
        auto &names = arg.split.emplace_back();
        if (!axes.is_array()) {
          e.fail("key 'split' is not a list of lists");
          break;
        }
        for (const Json &axis : axes)
          if (axis.is_string())
            names.push_back(axis.get<std::string>());
          else
            e.fail("key 'split' holds something that is no axis name");
      }
      if (const Json *local = e.find("local", false);
          local && local->is_array())
        for (const Json &flag : *local)
          arg.local.push_back(flag.is_boolean() && flag.get<bool>());
      if (!arg.local.empty() && arg.local.size() != arg.rank)
        e.fail("key 'local' has not one value for each dimension");
      if (arg.split.size() != arg.rank)
        e.fail(str("splits ", arg.split.size(), " dimensions of ", arg.rank));
      return arg;
    });
  }

  void parseObjects(Reader &r) {
    each(r, "signals", m.signals, [](Reader &e) {
      Metadata::Signal s;
      s.name = e.text("name");
      s.rank = e.number("rank", 0, 16);
      s.sys = e.choice<bool>("scope", {{"gpu", false}, {"sys", true}});
      s.dynamic = e.flag("dynamic");
      return s;
    });
    each(r, "counters", m.counters, [](Reader &e) {
      return Metadata::Counter{e.text("name"),
                               uint32_t(e.number("rank", 0, 16))};
    });
    each(r, "queues", m.queues, [](Reader &e) {
      return Metadata::Queue{e.text("name"),
                             uint32_t(e.number("width", 1, 64))};
    });
  }

  void parseRoles(Reader &r) {
    using Schedule = Metadata::Schedule;
    each(r, "roles", m.roles, [](Reader &e) {
      Metadata::Role role;
      role.name = e.text("name");
      role.ctas = e.number("ctas", 0, 65535);
      role.then = e.number("then", -1, kMany);
      return role;
    });
    each(r, "loops", m.loops, [](Reader &e) {
      Metadata::Loop loop;
      loop.role = e.number("role", 0, kMany);
      loop.schedule =
          e.choice<Schedule>("schedule", {{"static", Schedule::Static},
                                          {"ticket", Schedule::Ticket},
                                          {"queue", Schedule::Queue}});
      return loop;
    });
    size_t ctas = 0;
    for (const Metadata::Role &role : m.roles) {
      ctas += role.ctas;
      if (role.then >= int64_t(m.roles.size()))
        r.fail(str("role '", role.name, "' goes on with role ", role.then,
                   " of ", m.roles.size()));
    }
    for (const Metadata::Loop &loop : m.loops)
      if (loop.role >= m.roles.size())
        r.fail(str("has a loop of role ", loop.role, " of ", m.roles.size()));
    if (m.roles.empty())
      r.fail("has no roles");
    else if (ctas != m.grid)
      r.fail(str("gives ", ctas, " CTAs to roles, but the grid has ", m.grid));
  }

  void parseReference(Reader &r) {
    const Json *json = r.find("reference");
    if (!json || json->is_null())
      return;
    Reader e(status, *json, "metadata: reference");
    Metadata::Reference &ref = m.reference.emplace();
    int64_t last = int64_t(m.args.size()) - 1;
    for (const Json &v : e.list("inputs"))
      ref.inputs.push_back(e.number(v, "an input's index", 0, last));
    for (const Json &v : e.list("outputs"))
      ref.outputs.push_back(e.number(v, "an output's index", 0, last));
    for (const Json &v : e.list("types"))
      ref.types.push_back(e.type(v.is_string() ? v.get<std::string>() : ""));
    if (ref.types.size() != ref.inputs.size() + ref.outputs.size())
      e.fail("has not one type for each input and output");
    if (const Json *k = e.find("check_k", false))
      ref.contraction = e.number(*k, "key 'check_k'", 0, kLarge);
  }

  void parse(const Json &json) {
    Reader r(status, json, "metadata");
    m.kernel = r.text("kernel");
    m.target = r.text("target");
    m.cpu = r.text("cpu");
    m.grid = r.number("grid", 1, 65534);
    m.stackBytes = r.number("stack_bytes", 0, int64_t(1) << 32);
    parseAxes(r);
    parseDims(r);
    parseArgs(r);
    parseObjects(r);
    parseRoles(r);
    m.prepare = r.flag("prepare");
    for (const Json &text : r.list("requires"))
      m.requirements.push_back(text.is_string() ? text.get<std::string>() : "");
    parseReference(r);
    for (const Metadata::Arg &arg : m.args)
      for (const auto &axes : arg.split)
        for (const std::string &axis : axes)
          if (std::none_of(m.mesh.begin(), m.mesh.end(),
                           [&](auto &a) { return a.name == axis; }))
            r.fail(str("splits argument '", arg.name, "' over the axis '", axis,
                       "', which the mesh does not have"));
  }
};

} // namespace

Result<Metadata> mk::rt::parseMetadata(std::string_view text) {
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded())
    return error(StatusCode::InvalidArgument, "metadata: not well-formed JSON");
  Parser parser;
  parser.parse(json);
  if (!parser.status.isOk())
    return parser.status;
  return std::move(parser.m);
}
