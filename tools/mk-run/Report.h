//===- Report.h - What mk-run prints ----------------------------*- C++ -*-===//
#ifndef MKERNEL_TOOLS_MKRUN_REPORT_H
#define MKERNEL_TOOLS_MKRUN_REPORT_H

#include "Check.h"

#include <cstdio>

namespace mk::run {

/// The version of the kernel that was run, of a package with several, and which candidate.
struct RunVersion {
  size_t number = 0, of = 0; // from 1; 0: the package has one
  std::string serves, name;
  size_t candidate = 0, candidates = 0; // from 1
  std::vector<std::string> params;      // of each candidate
};
RunVersion versionOf(const rt::Package &package, size_t chosen);

/// The most roles that a candidate of the version has of which `chosen` is one.
size_t countRoles(const rt::Package &package, size_t chosen);

struct Report {
  const Options &options;
  const rt::Metadata &metadata;
  const rt::Mesh &mesh;
  const JobMemory &job;
  double compileMs = 0;
  std::string launcher = {}; // "mk-run", "torchrun", ...
  RunVersion version = {};
  bool checked = false;
  std::vector<OutputCheck> checks = {};

  bool passed() const;
};

/// One line for each rank: coordinates, times, largest error, verdict; then
/// mismatches and tolerances. Here and below: only what was measured.
void printTable(FILE *out, const Report &report);
/// Bytes and puts by link kind and pair, waits and times.
void printStats(FILE *out, const Report &report);
/// One JSON object on one line.
void printJson(FILE *out, const Report &report);
/// "check: PASS ..." or "check: FAIL ..."; without --check what was run.
void printVerdict(FILE *out, const Report &report);

} // namespace mk::run

#endif // MKERNEL_TOOLS_MKRUN_REPORT_H
