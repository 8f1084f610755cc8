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
    return str(elementName("signal", metadata.signals[r.number].name,
                           signal.extents, r.element),
               " to count ", r.wanted,
               r.wanted == 1 ? " arrival" : " arrivals",
               " of this launch, saw ", r.seen,
               signal.arrivals >= 0 ? str(" (of ", signal.arrivals, " declared)")
                                    : std::string());
  }
  case MK_WAIT_QUEUE:
    if (r.number >= metadata.queues.size())
      break;
    return str("entry ", r.element, " of queue '",
               metadata.queues[r.number].name, "', which has ", r.seen,
               " entries so far");
  case MK_WAIT_RING:
    return str("stage ", r.element, " of ring ", r.number,
               " to reach phase ", r.wanted, ", saw ", r.seen);
  default:
    break;
  }
  return str("something unknown (kind ", r.kind, ", number ", r.number,
             ", element ", r.element, ", wanted ", r.wanted, ", saw ", r.seen,
             ")");
}

std::string cuda::reportText(const mk_gpu_report &report,
                             const Metadata &metadata, const Plan &plan,
                             std::chrono::nanoseconds deadline) {
  std::string role = report.role < metadata.roles.size()
                         ? str("role '", metadata.roles[report.role].name, "'")
                         : str("role ", report.role);
  return str("kernel '", metadata.kernel, "', ", role, ", CTA ", report.cta,
             ": waited ", Deadline::after(deadline).duration(), " for ",
             what(report, metadata, plan));
}
