//===- Agreement.h - What all ranks have to do alike ------------*- C++ -*-===//
#ifndef MKERNEL_RUNTIME_DEVICE_AGREEMENT_H
#define MKERNEL_RUNTIME_DEVICE_AGREEMENT_H

#include "mkernel/Runtime/Context.h"

#include <functional>

namespace mk::rt {

/// Tells all ranks the `place` that this one got, or why it has none, and compares.
/// Ok when no rank failed and all places are the same; else the own failure, that of
/// the first rank that has one ("rank 2: ..."), or `differ(rank, place of rank 0,
/// place of that rank)`. So all ranks succeed or none does. Collective.
Status agreeOn(
    Context &context, std::string_view what, uint64_t place, const Status &status,
    const std::function<Status(uint32_t, const std::string &, const std::string &)>
        &differ);

/// Ok when no rank failed; else the own failure, or that of the first rank that has one.
/// Collective.
Status agreeOnSuccess(Context &context, std::string_view what, const Status &status);

/// Compares texts whose lines are "what\tvalue": where this rank's differs from another's,
/// InvalidArgument names the first such thing with both values, and ends in `remedy`. A rank that
/// has no text says why (`status`), and all ranks fail. Collective.
Status agreeOnLines(Context &context, std::string_view what, const std::string &text,
                    std::string_view remedy, const Status &status = Status::success());

} // namespace mk::rt

#endif // MKERNEL_RUNTIME_DEVICE_AGREEMENT_H
