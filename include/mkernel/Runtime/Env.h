//===- Env.h - The environment variables of mKernel -------------*- C++ -*-===//
//
// One table lists every MK_* variable with its meaning and default; nothing
// else calls getenv for them. A misspelt name and a value that does not parse are
// warned about once instead of being ignored.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_RUNTIME_ENV_H
#define MKERNEL_RUNTIME_ENV_H

#include "mkernel/Runtime/Status.h"

#include <chrono>
#include <cstdint>
#include <span>
#include <vector>

namespace mk::rt::env {

struct Variable {
  const char *name;
  const char *defaultText; // "" when unset means absent
  const char *description; // one sentence, units included
};

/// All variables, sorted by name. New ones are added in core/Env.cpp.
std::span<const Variable> table();

/// Value of a variable of the table; nothing when unset or empty. Asserts that
/// the name is in the table.
std::optional<std::string> get(std::string_view name);

/// Bytes, a number with an optional K, M, G, T (powers of 1024): the fallback
/// when unset; InvalidArgument (naming variable, value and accepted form) when
/// it does not parse.
Result<uint64_t> getBytes(std::string_view name, uint64_t fallback);

/// The parsers, also of option strings. Durations are a number with ns, us, ms,
/// s or m; a bare number is seconds.
Result<int64_t> parseInt(std::string_view text);
Result<uint64_t> parseBytes(std::string_view text);
Result<std::chrono::nanoseconds> parseDuration(std::string_view text);

/// The name of `names` nearest to `name` by edit distance; empty when none is
/// near enough to be a misspelling.
std::string nearest(std::string_view name,
                    std::span<const std::string_view> names);

/// A message for each MK_* variable of `environment` ("NAME=value" strings,
/// null-terminated) that is not in the table.
std::vector<std::string> unknownVariables(char **environment);
/// A message for each variable of this process whose value does not parse and for
/// which a default is taken then: name, value, what it takes, the default. Values
/// without a default (MK_JOB and the like) are errors of whoever reads them.
std::vector<std::string> wrongValues();
/// Logs both, once a process. Called where programs come in: joining a job, making
/// a context, looking for the cache.
void warnOnce();
/// warnOnce() says nothing from now on: another process of the job has.
void dontWarn();

} // namespace mk::rt::env

#endif // MKERNEL_RUNTIME_ENV_H
