//===- Thread.h - Threads that may be refused -------------------*- C++ -*-===//
#ifndef MKERNEL_RUNTIME_CORE_THREAD_H
#define MKERNEL_RUNTIME_CORE_THREAD_H

#include "mkernel/Runtime/Status.h"

#include <functional>
#include <thread>

namespace mk::rt {

/// Starts `run` in `thread`. std::thread throws when the system has no thread left for
/// this user, which nobody further up would catch; `what` ("the proxy") names it.
Status startThread(std::thread &thread, const char *what, std::function<void()> run);

} // namespace mk::rt

#endif // MKERNEL_RUNTIME_CORE_THREAD_H
