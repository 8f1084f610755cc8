//===- Metadata.cpp - Strict parsing of package metadata ------------------===//

#include "mkernel/Runtime/Package.h"

#include "mkernel/ABI/Gpu.h"
#include "package/JsonReader.h"
#include "package/VersionsMetadata.h"

#include <algorithm>

using namespace mk::rt;

namespace {

constexpr int64_t kMany = 1 << 20;

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
      if (const Json *extents = e.find("extents", false);
          extents && extents->is_array())
        for (const Json &text : *extents)
          arg.extents.push_back(text.is_string() ? text.get<std::string>() : "");
      if (arg.split.size() != arg.rank)
        e.fail(str("splits ", arg.split.size(), " dimensions of ", arg.rank));
      return arg;
    });
  }

  std::vector<Metadata::Wait> parseWaits(Reader &r) {
    std::vector<Metadata::Wait> waits;
    if (r.find("waits", /*required=*/false))
      each(r, "waits", waits, [](Reader &e) {
        return Metadata::Wait{uint32_t(e.number("role", 0, kMany)), e.text("at")};
      });
    return waits;
  }

  void parseObjects(Reader &r) {
    each(r, "signals", m.signals, [this](Reader &e) {
      Metadata::Signal s;
      s.name = e.text("name");
      s.rank = e.number("rank", 0, 16);
      s.sys = e.choice<bool>("scope", {{"gpu", false}, {"sys", true}});
      s.dynamic = e.flag("dynamic");
      s.waits = parseWaits(e);
      return s;
    });
    each(r, "counters", m.counters, [](Reader &e) {
      return Metadata::Counter{e.text("name"),
                               uint32_t(e.number("rank", 0, 16))};
    });
    each(r, "queues", m.queues, [this](Reader &e) {
      return Metadata::Queue{e.text("name"), uint32_t(e.number("width", 1, 64)), parseWaits(e)};
    });
  }

  void parseRoles(Reader &r) {
    using Schedule = Metadata::Schedule;
    each(r, "roles", m.roles, [](Reader &e) {
      Metadata::Role role;
      role.name = e.text("name");
      role.ctas = e.number("ctas", 0, 65535);
      role.then = e.number("then", -1, kMany);
      if (e.find("beside", /*required=*/false))
        role.beside = e.number("beside", 0, kMany);
      if (e.find("engines", /*required=*/false))
        role.engines = e.flag("engines");
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
    size_t ctas = 0; // on the host roles beside others have their own
    for (const Metadata::Role &role : m.roles) {
      ctas += role.isInGrid() || m.target == "host" ? role.ctas : 0;
      if (role.beside >= int64_t(m.roles.size()) ||
          (role.beside >= 0 && !m.roles[role.beside].isInGrid()))
        r.fail(str("role '", role.name, "' is run beside role ", role.beside, " of ", m.roles.size(),
                   ", which has no CTAs of its own"));
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
    if (e.find("check_epsilon", false)) {
      for (const Json &epsilon : e.list("check_epsilon"))
        if (!epsilon.is_number() || !(epsilon.get<double>() >= 0) ||
            !(epsilon.get<double>() <= 1))
          e.fail("key 'check_epsilon' has something that is no number from 0 to 1");
        else
          ref.epsilons.push_back(epsilon.get<double>());
      if (ref.epsilons.size() != ref.outputs.size())
        e.fail("key 'check_epsilon' has not one number for each output");
    }
    if (e.find("dims", false))
      for (const Json &v : e.list("dims"))
        ref.dims.push_back(
            e.number(v, "a dimension's index", 0, int64_t(m.dims.size()) - 1));
  }

  void parseTimeline(Reader &r) {
    const Json *json = r.find("timeline", /*required=*/false);
    if (!json)
      return;
    Reader e(status, *json, "metadata: timeline");
    Metadata::TimelineTracks &timeline = m.timeline.emplace();
    timeline.records = e.number("records", 1, kMany);
    timeline.tracks = e.number("tracks", 1, 32);
    for (auto [key, list] : {std::pair("communicates", &timeline.communicates),
                             {"computes", &timeline.computes}}) {
      for (const Json &flag : e.list(key))
        list->push_back(flag.is_boolean() && flag.get<bool>());
      if (list->size() != m.roles.size())
        e.fail(str("key '", key, "' has not one value for each role"));
    }
  }

  void parseGpu(Reader &r) {
    const Json *json = r.find("gpu", /*required=*/false);
    if (!json) {
      if (m.target != "host")
        r.fail(str("is for the target '", m.target,
                   "' and lacks the key 'gpu'"));
      return;
    }
    if (m.target == "host")
      return r.fail("has the key 'gpu', which the target 'host' does not have");
    Reader e(status, *json, "metadata: gpu");
    Metadata::Gpu &gpu = m.gpu.emplace();
    each(e, "variants", gpu.variants, [&](Reader &v) { return parseVariant(v); });
    if (gpu.variants.empty() || gpu.variants.back().needsMaps)
      e.fail("has no variant that needs nothing behind all others");
  }

  Metadata::Variant parseVariant(Reader &e) {
    Metadata::Variant variant;
    variant.name = e.text("name");
    variant.needsMaps = e.choice<bool>("needs", {{"", false}, {"tensor-maps", true}});
    variant.grid = e.number("grid", 1, std::max(m.grid, 1u));
    variant.threads = e.number("threads", 1, 1024);
    variant.cooperative = e.flag("cooperative");
    variant.sharedBytes = e.number("shared_bytes", 0, 1 << 20);
    variant.paramBytes =
        e.number("param_bytes", sizeof(mk_gpu_launch), MK_GPU_MAX_PARAM_BYTES);
    variant.workspaceBytes = e.number("workspace_bytes", 0, kLarge);
    int64_t last = int64_t(m.args.size()) - 1;
    auto readMap = [&](Reader &t) {
      Metadata::TensorMap map;
      map.arg = t.number("arg", 0, last);
      for (const Json &v : t.list("box"))
        map.box.push_back(t.number(v, "a size of the box", 1, 256));
      map.copies = t.flag("copies");
      map.packs = t.find("packs", /*required=*/false) && t.flag("packs");
      map.swizzle = t.number("swizzle", 0, 128);
      uint32_t s = map.swizzle;
      if (s != 0 && s != 32 && s != 64 && s != 128)
        t.fail(str("key 'swizzle' is ", s, ", not 0, 32, 64 or 128"));
      if (last >= 0 && (map.box.size() != m.args[map.arg].rank ||
                        map.box.empty() || map.box.size() > 5))
        t.fail(str("has a box of ", map.box.size(), " dimensions for argument '",
                   m.args[map.arg].name, "', which has ", m.args[map.arg].rank,
                   "; 1 to 5 are possible"));
      if (last >= 0 && map.packs &&
          (m.args[map.arg].kind != Metadata::ArgKind::In || m.args[map.arg].symmetric))
        t.fail(str("has the key 'packs' for argument '", m.args[map.arg].name,
                   "', which not only this rank's kernel reads"));
      return map;
    };
    each(e, "tensor_maps", variant.tensorMaps, readMap);
    each(e, "peer_maps", variant.peerMaps, readMap);
    if (variant.tensorMaps.size() > MK_GPU_MAX_TENSOR_MAPS)
      e.fail(str("has ", variant.tensorMaps.size(), " tensor maps; ",
                 MK_GPU_MAX_TENSOR_MAPS, " are possible"));
    // The compiler may have rounded the block up to its alignment.
    uint64_t needed = uint64_t(layOutGpuParams(m, variant).bytes);
    if (variant.paramBytes < needed || variant.paramBytes >= needed + 64)
      e.fail(str("has parameters of ", variant.paramBytes,
                 " bytes; those of this kernel take ", needed));
    return variant;
  }

  void parseParams(Reader &r) {
    const Json *params = r.find("params", /*required=*/false);
    if (!params)
      return;
    if (!params->is_object())
      return r.fail("key 'params' is not an object");
    for (auto &[name, json] : params->items()) {
      Reader e(status, json, "params['" + name + "']");
      Metadata::Param &param = m.params.emplace_back();
      param.name = name;
      if (const Json *value = e.find("value"); value && !value->is_null())
        param.value = e.number(*value, "key 'value'", INT64_MIN, INT64_MAX);
      param.from = e.choice<const char *>(
          "from", {{"given", "given"}, {"tuned", "tuned"}, {"model", "model"}, {"default", "default"}});
    }
  }

  /// What all versions have in common.
  void parseContainer(Reader &r) {
    parseAxes(r);
    parseDims(r);
    parseArgs(r);
    parseVersions(r, status, m);
    if (m.target != "host")
      m.gpu.emplace();
  }

  void parse(const Json &json) {
    Reader r(status, json, "metadata");
    m.kernel = r.text("kernel");
    m.target = r.text("target");
    m.cpu = r.text("cpu");
    if (const Json *features = r.find("cpu_features", false);
        features && features->is_array())
      for (const Json &feature : *features)
        m.cpuFeatures.push_back(
            feature.is_string() ? feature.get<std::string>() : "");
    m.grid = r.number("grid", 1, 65534);
    if (r.find("versions", /*required=*/false)) {
      parseContainer(r);
      return checkSplits(r);
    }
    m.stackBytes = r.number("stack_bytes", 0, int64_t(1) << 32);
    parseAxes(r);
    parseDims(r);
    parseParams(r);
    parseArgs(r);
    parseObjects(r);
    parseRoles(r);
    m.prepare = r.flag("prepare");
    for (auto [key, sites] : {std::pair("sites", &m.sites), {"engine_sites", &m.engineSites}})
      if (r.find(key, /*required=*/false))
        each(r, key, *sites, [](Reader &e) { return Metadata::Site{e.text("op"), e.text("at")}; });
    parseTimeline(r);
    for (const Json &text : r.list("requires"))
      m.requirements.push_back(text.is_string() ? text.get<std::string>() : "");
    parseReference(r);
    parseGpu(r);
    checkSplits(r);
  }

  void checkSplits(Reader &r) {
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

mkernel::abi::GpuParamLayout mk::rt::layOutGpuParams(const Metadata &m,
                                                     const Metadata::Variant &variant) {
  abi::GpuParamCounts counts;
  counts.tensorMaps = variant.tensorMaps.size();
  counts.dims = m.dims.size();
  for (const Metadata::Arg &arg : m.args)
    counts.argRanks.push_back(arg.rank);
  for (const Metadata::Signal &signal : m.signals)
    counts.signalRanks.push_back(signal.rank);
  for (const Metadata::Counter &counter : m.counters)
    counts.counterRanks.push_back(counter.rank);
  counts.queues = m.queues.size();
  counts.loops = m.loops.size();
  counts.peers = std::any_of(m.mesh.begin(), m.mesh.end(), [](const auto &axis) {
    return axis.size.value_or(1) > 1; // GPU code has all axes bound
  });
  counts.timeline = m.timeline.has_value();
  return abi::layOutGpuParams(counts);
}
