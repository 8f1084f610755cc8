//===- SelfTest.h - mk-run --selftest ---------------------------*- C++ -*-===//
#ifndef MKERNEL_TOOLS_MKRUN_SELFTEST_H
#define MKERNEL_TOOLS_MKRUN_SELFTEST_H

#include "mkernel/Runtime/Context.h"

namespace mk::run {

/// What testLinks() needs: bytes of symmetric memory and slots of signals.
constexpr uint64_t kSelfTestBytes = 20 << 20;
constexpr uint32_t kSelfTestSlots = 16;

/// The kernel that is run behind it: share/mkernel/selftest.mlir beside this program. NotFound
/// says where it was looked for.
rt::Result<std::string> selfTestKernel();

/// Every two ranks, over the network or the link between them, one pair after the other on each
/// rank: whether data is there when its signal is, latency and bandwidth. Rank 0 prints a line for
/// each pair with a verdict, also of pairs that did not get through. Collective; the kernels'
/// network stands still meanwhile. An error on all ranks where data was wrong or a pair did not
/// get through, with both ranks. `deadline`: of every single wait.
rt::Status testLinks(rt::Context &context, std::chrono::nanoseconds deadline);

} // namespace mk::run

#endif // MKERNEL_TOOLS_MKRUN_SELFTEST_H
