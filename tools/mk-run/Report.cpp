//===- Report.cpp - What mk-run prints ------------------------------------===//

#include "Report.h"

#include "mkernel/Runtime/Versions.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

using namespace mk::run;
using namespace mk::rt;

namespace {

/// Traffic of the last launch over one kind of link; Local: to the own rank.
struct Traffic {
  uint64_t bytes = 0, puts = 0;
};
enum Kind { Local, Link, Net };
constexpr const char *kindNames[] = {"local", "link", "net"};

Kind kindOf(const Mesh &mesh, uint32_t from, uint32_t to) {
  return from == to ? Local : mesh.reachable(from, to) ? Link : Net;
}

std::array<Traffic, 3> total(const Report &r) {
  std::array<Traffic, 3> sums{};
  for (uint32_t from = 0; from < r.mesh.size(); ++from)
    for (uint32_t to = 0; to < r.mesh.size(); ++to) {
      Traffic &t = sums[kindOf(r.mesh, from, to)];
      t.bytes += r.job.peers(from)[to].bytes;
      t.puts += r.job.peers(from)[to].puts;
    }
  return sums;
}

/// Over all ranks: longest time, sums of waits.
LaunchStats::Role roleTotal(const Report &r, size_t role) {
  LaunchStats::Role sum;
  for (uint32_t rank = 0; rank < r.mesh.size(); ++rank) {
    const LaunchStats::Role &one = r.job.roles(rank)[role];
    sum.ms = std::max(sum.ms, one.ms);
    sum.blockedMs += one.blockedMs;
    sum.waits += one.waits;
  }
  return sum;
}

double wall(const Report &r) {
  double ms = 0;
  for (uint32_t rank = 0; rank < r.mesh.size(); ++rank)
    ms = std::max(ms, r.job.rank(rank).times.wall);
  return ms;
}

/// All ranks measure the same things: those of rank 0.
bool counted(const Report &r) { return r.job.rank(0).times.counted; }
bool timed(const Report &r) { return r.job.rank(0).times.timed; }

/// Of the slowest rank.
RankTimes slowest(const Report &r) {
  RankTimes most{};
  for (uint32_t rank = 0; rank < r.mesh.size(); ++rank) {
    const RankTimes &one = r.job.rank(rank).times;
    if (one.median >= most.median)
      most = one;
  }
  return most;
}

/// What all ranks sent in all launches; the same way on all.
struct Network {
  std::string how;
  uint64_t bytes = 0, requests = 0;
};
Network networkOf(const Report &r) {
  Network network;
  for (uint32_t rank = 0; rank < r.mesh.size(); ++rank) {
    const RankBlock &block = r.job.rank(rank);
    network.how = block.network;
    network.bytes += block.netBytes;
    network.requests += block.netRequests;
  }
  return network;
}

} // namespace

RunVersion mk::run::versionOf(const Package &package, size_t chosen) {
  if (package.metadata().versions.empty())
    return {};
  const Metadata &metadata = package.metadata();
  VersionPlace place = placeOf(metadata, chosen);
  RunVersion version{place.version + 1,
                     place.versions,
                     versionText(metadata, chosen),
                     versionName(metadata, chosen),
                     place.candidate + 1,
                     place.candidates,
                     {}};
  for (size_t i = place.first; i < place.end(); ++i) {
    std::string &text = version.params.emplace_back();
    for (const auto &param : package.version(i).metadata().params)
      if (param.value)
        text += str(text.empty() ? "" : ",", param.name, "=", *param.value);
  }
  return version;
}

size_t mk::run::countRoles(const Package &package, size_t chosen) {
  VersionPlace place = placeOf(package.metadata(), chosen);
  size_t most = 0;
  for (size_t i = place.first; i < place.end(); ++i)
    most = std::max(most, package.version(i).metadata().roles.size());
  return most;
}

bool Report::passed() const {
  return std::all_of(checks.begin(), checks.end(),
                     [](const OutputCheck &c) { return c.passed; });
}

void mk::run::printTable(FILE *out, const Report &r) {
  std::vector<std::vector<std::string>> rows(1);
  rows[0] = {"rank"};
  for (const Axis &axis : r.mesh.axes())
    rows[0].push_back(axis.name);
  if (counted(r))
    for (const auto &role : r.metadata.roles)
      rows[0].push_back(role.name + " ms");
  if (timed(r))
    rows[0].insert(rows[0].end(), {"median ms", "min ms", "max ms"});
  rows[0].insert(rows[0].end(), {"wall ms"});
  if (r.checked)
    rows[0].insert(rows[0].end(), {"max error", "verdict"});
  char text[64];
  auto number = [&](const char *format, double value) {
    std::snprintf(text, sizeof(text), format, value);
    return std::string(text);
  };
  for (uint32_t rank = 0; rank < r.mesh.size(); ++rank) {
    std::vector<std::string> row = {std::to_string(rank)};
    for (int64_t coord : r.mesh.coords(rank))
      row.push_back(std::to_string(coord));
    const RankTimes &times = r.job.rank(rank).times;
    for (size_t i = 0; counted(r) && i < r.metadata.roles.size(); ++i)
      row.push_back(number("%.3f", r.job.roles(rank)[i].ms));
    if (timed(r))
      for (double ms : {times.median, times.min, times.max})
        row.push_back(number("%.4f", ms));
    row.push_back(number("%.3f", times.wall));
    if (r.checked) {
      double worst = 0;
      bool good = true;
      for (const OutputCheck &check : r.checks) {
        worst = std::max(worst, check.maxErrorOfRank[rank]);
        // What fails without an element that is wrong is no one rank's.
        good &= check.mismatchesOfRank[rank] == 0 && (check.passed || check.mismatches > 0);
      }
      row.push_back(number("%.3g", worst));
      row.push_back(good ? "ok" : "FAIL");
    }
    rows.push_back(std::move(row));
  }
  std::vector<size_t> widths(rows[0].size());
  for (const auto &row : rows)
    for (size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], row[i].size());
  for (const auto &row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i)
      line +=
          std::string(widths[i] - row[i].size() + (i ? 2 : 0), ' ') + row[i];
    std::fprintf(out, "%s\n", line.c_str());
  }
  for (const OutputCheck &check : r.checks) {
    std::fprintf(out,
                 "%s: max error %.3g (tolerance %.3g + %.3g * |ref|), rms "
                 "error %.3g (tolerance %.3g), rms %.3g, %lld of %lld elements "
                 "compared\n",
                 check.name.c_str(), check.maxError, check.base, check.relative,
                 check.rmsError, check.rmsTolerance, check.rms,
                 static_cast<long long>(check.compared),
                 static_cast<long long>(check.elements));
    for (const std::string &mismatch : check.firstMismatches)
      std::fprintf(out, "  %s\n", mismatch.c_str());
    if (!check.note.empty())
      std::fprintf(out, "  %s\n", check.note.c_str());
  }
}

/// Bytes by link kind and pair, waits and times of roles.
static void printCounts(FILE *out, const Report &r) {
  auto sums = total(r);
  for (int kind = Local; kind <= Net; ++kind)
    std::fprintf(out, "%-5s  %llu bytes in %llu puts\n", kindNames[kind],
                 static_cast<unsigned long long>(sums[kind].bytes),
                 static_cast<unsigned long long>(sums[kind].puts));
  for (uint32_t from = 0; from < r.mesh.size(); ++from)
    for (uint32_t to = 0; to < r.mesh.size(); ++to)
      if (const auto &peer = r.job.peers(from)[to]; peer.puts && from != to)
        std::fprintf(out, "  %u -> %u (%s)  %llu bytes in %llu puts\n", from,
                     to, kindNames[kindOf(r.mesh, from, to)],
                     static_cast<unsigned long long>(peer.bytes),
                     static_cast<unsigned long long>(peer.puts));
  for (size_t i = 0; i < r.metadata.roles.size(); ++i) {
    LaunchStats::Role role = roleTotal(r, i);
    std::fprintf(out,
                 "role %s: %.3f ms, %llu waits that blocked for %.3f ms in "
                 "all\n",
                 r.metadata.roles[i].name.c_str(), role.ms,
                 static_cast<unsigned long long>(role.waits), role.blockedMs);
  }
}

void mk::run::printStats(FILE *out, const Report &r) {
  std::fprintf(out, "started by %s\n", r.launcher.c_str());
  if (counted(r))
    printCounts(out, r);
  if (Network network = networkOf(r); !network.how.empty())
    std::fprintf(out, "network: %s; %llu bytes in %llu requests of all launches\n",
                 network.how.c_str(), static_cast<unsigned long long>(network.bytes),
                 static_cast<unsigned long long>(network.requests));
  if (timed(r)) {
    RankTimes most = slowest(r);
    std::fprintf(out,
                 "launches on the slowest rank: median %.4f ms, min %.4f ms, max "
                 "%.4f ms (%llu timed by events)\n",
                 most.median, most.min, most.max,
                 static_cast<unsigned long long>(most.timed));
  }
  const RankBlock &first = r.job.rank(0);
  for (size_t i = 0; i < first.numCandidates; ++i)
    std::fprintf(out, "candidate %zu: %.4f ms, %s%s\n", i + 1, first.candidates[i].ms,
                 r.version.params[i].c_str(), i + 1 == r.version.candidate ? " (taken)" : "");
  if (r.compileMs > 0)
    std::fprintf(out, "compiled in %.0f ms\n", r.compileMs);
}

using Json = nlohmann::ordered_json;

static void addCounts(Json &json, const Report &r) {
  auto sums = total(r);
  for (int kind = Local; kind <= Net; ++kind)
    json["traffic"][kindNames[kind]] = {{"bytes", sums[kind].bytes},
                                        {"puts", sums[kind].puts}};
  json["pairs"] = Json::array();
  for (uint32_t from = 0; from < r.mesh.size(); ++from)
    for (uint32_t to = 0; to < r.mesh.size(); ++to)
      if (const auto &peer = r.job.peers(from)[to]; peer.puts)
        json["pairs"].push_back({{"src", from},
                                 {"dst", to},
                                 {"link", kindNames[kindOf(r.mesh, from, to)]},
                                 {"bytes", peer.bytes},
                                 {"puts", peer.puts}});
  for (size_t i = 0; i < r.metadata.roles.size(); ++i) {
    LaunchStats::Role role = roleTotal(r, i);
    Json entry = {
        {"ms", role.ms}, {"blocked_ms", role.blockedMs}, {"waits", role.waits}};
    for (uint32_t rank = 0; rank < r.mesh.size(); ++rank)
      entry["ms_of_rank"].push_back(r.job.roles(rank)[i].ms);
    json["roles"][r.metadata.roles[i].name] = std::move(entry);
  }
}

void mk::run::printJson(FILE *out, const Report &r) {
  Json json;
  json["kernel"] = r.metadata.kernel;
  json["target"] = r.metadata.target;
  if (r.version.of)
    json["version"] = {{"number", r.version.number},
                       {"of", r.version.of},
                       {"serves", r.version.serves}};
  const RankBlock &first = r.job.rank(0);
  for (size_t i = 0; i < first.numCandidates; ++i)
    json["candidates"].push_back({{"ms", first.candidates[i].ms},
                                  {"params", r.version.params[i]},
                                  {"taken", i + 1 == r.version.candidate}});
  json["grid"] = r.metadata.grid;
  json["world"] = r.mesh.size();
  json["launcher"] = r.launcher;
  for (const Axis &axis : r.mesh.axes())
    json["mesh"][axis.name] = axis.size;
  json["launches"] = r.options.launches;
  json["seed"] = r.options.launch.seed;
  json["compile_ms"] = r.compileMs;
  json["wall_ms"] = wall(r);
  if (timed(r)) {
    auto times = [](const RankTimes &t) {
      return Json{{"median", t.median}, {"min", t.min}, {"max", t.max}};
    };
    json["launch_ms"] = times(slowest(r));
    for (uint32_t rank = 0; rank < r.mesh.size(); ++rank)
      json["launch_ms_of_rank"].push_back(times(r.job.rank(rank).times));
  }
  if (counted(r))
    addCounts(json, r);
  if (Network network = networkOf(r); !network.how.empty())
    json["network"] = {{"path", network.how},
                       {"bytes", network.bytes},
                       {"requests", network.requests}};
  if (r.checked) {
    json["check"]["passed"] = r.passed();
    // JSON has no infinity, which stands for NaN here.
    auto finite = [](double v) { return std::isfinite(v) ? Json(v) : Json(); };
    for (const OutputCheck &check : r.checks)
      json["check"]["outputs"][check.name] = {
          {"passed", check.passed},
          {"max_error", finite(check.maxError)},
          {"rms_error", finite(check.rmsError)},
          {"rms", check.rms},
          {"tolerance", check.base},
          {"tolerance_relative", check.relative},
          {"tolerance_rms", check.rmsTolerance},
          {"compared", check.compared},
          {"elements", check.elements},
          {"mismatches", check.mismatches}};
  }
  std::fprintf(out, "%s\n", json.dump().c_str());
}

void mk::run::printVerdict(FILE *out, const Report &r) {
  const char *plural = r.options.launches == 1 ? "" : "es";
  std::string version;
  if (r.version.of)
    version = r.version.name + ", ";
  std::string what = str("kernel '", r.metadata.kernel, "', ", version, r.mesh.size(),
                         r.mesh.size() == 1 ? " rank" : " ranks", ", ",
                         r.options.launches, " launch", plural);
  if (!r.checked) {
    std::fprintf(out, "done: %s, %.3f ms\n", what.c_str(), wall(r));
    return;
  }
  std::string names;
  for (const OutputCheck &check : r.checks)
    if (r.passed() || !check.passed)
      names += (names.empty() ? "" : ", ") + check.name;
  std::fprintf(out, "check: %s %s (%s)\n", r.passed() ? "PASS" : "FAIL",
               names.c_str(), what.c_str());
}
