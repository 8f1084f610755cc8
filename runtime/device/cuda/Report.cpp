//===- Report.cpp - What a failed wait on a GPU says ----------------------===//

#include "device/cuda/Report.h"

#include "device/Device.h"

using namespace mk::rt;

static std::string what(const mk_gpu_report &r, const Metadata &metadata,
                        const Plan &plan) {
  switch (r.kind) {
  case MK_WAIT_SIGNAL: {
    if (r.number >= metadata.signals.size())
      break;
    const Plan::Signal &signal = plan.signals[r.number];
    return str(elementName("signal", metadata.signals[r.number].name, signal.extents, r.element),
               " to count ", r.wanted, r.wanted == 1 ? " arrival" : " arrivals",
               " of this launch, saw ", r.seen,
               signal.arrivals >= 0 ? str(" (of ", signal.arrivals, " declared)") : std::string(),
               placesText(metadata.signals[r.number].waits, r.role));
  }
  case MK_WAIT_QUEUE:
    if (r.number >= metadata.queues.size())
      break;
    return str("entry ", r.element, " of queue '", metadata.queues[r.number].name,
               "', which nobody has pushed so far",
               placesText(metadata.queues[r.number].waits, r.role));
  case MK_WAIT_RING:
    return str("stage ", r.element, " of ring ", r.number,
               " to reach phase ", r.wanted, ", saw ", r.seen);
  case MK_WAIT_COPY:
    // Who sends tiles for the consumer has no number.
    if (r.number == uint32_t(-1))
      return str("the CTA's sender to have sent a tile (phase ", r.wanted, ", saw ", r.seen, ")");
    return str("stage ", r.element, " of a put's copy to reach phase ", r.wanted,
               ", saw ", r.seen);
  case MK_WAIT_ENGINES:
    return "copies of its GPU's copy engines to complete";
  case MK_WAIT_READY:
    return str("rank ", r.element,
               " to begin this launch (its memory may be written only then)");
  case MK_WAIT_DONE:
    return str("rank ", r.element, " to close this launch");
  case MK_WAIT_GRID:
    return str("all ", r.wanted, " CTAs to end mk.prepare, saw ", r.seen);
  case MK_WAIT_COMMAND:
    return str("a place in the ring of commands for the proxy, which is full "
               "before command ",
               r.element);
  case MK_WAIT_PUTS:
    return str("its puts across the network to complete: ", r.wanted,
               " were sent since the start, ", r.seen, " are complete");
  default:
    break;
  }
  return str("something unknown (kind ", r.kind, ", number ", r.number,
             ", element ", r.element, ", wanted ", r.wanted, ", saw ", r.seen,
             ")");
}

bool cuda::isWait(const mk_gpu_report &report) {
  return report.kind < MK_FAIL_LOOP;
}

std::string cuda::reportText(const mk_gpu_report &report,
                             const Metadata &metadata, const Plan &plan,
                             std::chrono::nanoseconds deadline) {
  // Outside of roles it is none of them.
  std::string role;
  if (report.role < metadata.roles.size())
    role = str("role '", metadata.roles[report.role].name, "', ");
  else if (report.role != MK_NO_ROLE)
    role = str("role ", report.role, ", ");
  if (report.kind == MK_FAIL_LOOP)
    return str("kernel '", metadata.kernel, "', ", role,
               "a loop begins or ends beyond 2^30, which this target cannot count to: "
               "check its bounds, or divide it into two loops");
  if (report.kind == MK_FAIL_PEER)
    return str("kernel '", metadata.kernel, "', ", role,
               "a put, store or signal names a peer that is no rank of the mesh, or one across the "
               "network that only plain puts reach: check how the peer is computed");
  std::string who =
      str("kernel '", metadata.kernel, "', ", role, "CTA ", report.cta, ": ");
  if (report.kind == MK_FAIL_BOUNDS) {
    Outside outside;
    outside.site = report.number;
    outside.named = report.named & 0xff;
    outside.dim = report.named >> 8 & 0xff;
    outside.number = report.named >> 16;
    outside.index = report.element;
    outside.size = report.seen;
    outside.extent = report.wanted;
    outside.rank = report.rank;
    return who + outsideText(metadata, outside);
  }
  return str(who, "waited ", Deadline::after(deadline).duration(), " for ",
             what(report, metadata, plan));
}
