//===- Report.h - What a failed wait on a GPU says --------------*- C++ -*-===//
#ifndef MKERNEL_RUNTIME_DEVICE_CUDA_REPORT_H
#define MKERNEL_RUNTIME_DEVICE_CUDA_REPORT_H

#include "mkernel/ABI/Gpu.h"
#include "mkernel/Runtime/Plan.h"

#include <chrono>

namespace mk::rt::cuda {

/// Worded as the host target's: "kernel 'k', role 'gemm', CTA 3: waited 5 s for
/// signal 'ready'[2] to count 3 arrivals of this launch, saw 1 (of 3 declared)".
/// Whatever the report holds, the text can be made.
std::string reportText(const mk_gpu_report &report, const Metadata &metadata,
                       const Plan &plan, std::chrono::nanoseconds deadline);

/// Whether a wait did not end; else the program did what it must not.
bool isWait(const mk_gpu_report &report);

} // namespace mk::rt::cuda

#endif // MKERNEL_RUNTIME_DEVICE_CUDA_REPORT_H
