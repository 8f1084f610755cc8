//===- Timeline.h - --timeline ----------------------------------*- C++ -*-===//
#ifndef MKERNEL_TOOLS_MKRUN_TIMELINE_H
#define MKERNEL_TOOLS_MKRUN_TIMELINE_H

#include "Report.h"

namespace mk::run {

/// Timelines of all ranks, and what is needed to name what is in them.
struct JobTimeline {
  const rt::Metadata &metadata;
  const rt::Mesh &mesh;
  const rt::JobPlan &plan;
  std::string file; // of the kernel, for lines
  std::vector<rt::Timeline> ranks;

  int64_t begin() const; // of all records, ns
  int64_t end() const;
  /// "role 'gemm'"; "mk.prepare" outside of roles.
  std::string roleName(const rt::Timeline::Record &record) const;
  /// "item (3, 0)", "put to rank 1", "wait for signal 'ready'[3, 0]".
  std::string nameOf(const rt::Timeline::Record &record, uint32_t rank) const;
  /// "ag_gemm.mlir:48:5"; empty where it is not known.
  std::string placeOf(const rt::Timeline::Record &record) const;
};

bool isWait(const rt::Timeline::Record &record);

/// On a GPU the producer of a CTA waits for others, ahead of the consumer, whose own waits for
/// it leave no record: while the producer waits in an item, the consumer does if it has come to
/// that item. These waits are added to its tracks.
void addConsumerWaits(rt::Timeline &timeline);

/// Writes the file of --timeline, of what the ranks have left, and prints the summary.
Status writeTimeline(FILE *out, const Report &report, const rt::JobPlan &plan);

/// The file: trace events (JSON) that ui.perfetto.dev and chrome://tracing show. A process is
/// a rank, a thread what a thread of a CTA went through.
Status writeTrace(const JobTimeline &timeline, const std::string &path);

/// How long roles work and wait, the longest waits, and how much communication is hidden.
void printSummary(FILE *out, const JobTimeline &timeline);

} // namespace mk::run

#endif // MKERNEL_TOOLS_MKRUN_TIMELINE_H
