//===- CommandLine.h - Options, their help text and how they are read -*- C++ -*-===//
//
// A table of options: each has a handler and a line of help. What the options mean is not
// known here.
//
//===----------------------------------------------------------------------===//
#ifndef MK_RUN_COMMANDLINE_H
#define MK_RUN_COMMANDLINE_H

#include "mkernel/Runtime/Env.h"
#include "mkernel/Runtime/Status.h"

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace mk::run {

class CommandLine {
public:
  using Handler = std::function<rt::Status(const std::string &)>;
  enum Kind { Flag, Value, Optional };

  /// The options that follow stand under this title in the help text.
  void section(const char *title) { nextSection_ = title; }
  /// An option by name ("--grid"). `value`: what stands behind it in the help text; without a meaning it
  /// is not in there.
  void add(std::string name, Kind kind, const char *value, const char *meaning, Handler handle);
  void flag(std::string name, bool &out, const char *meaning, bool to = true);
  void text(std::string name, std::string &out, const char *value, const char *meaning);
  /// A text that may be given once: two of them contradict each other, or one was forgotten.
  void once(std::string name, std::string &out, const char *value, const char *meaning);
  /// Seconds, or with a unit; above 0.
  void duration(std::string name, std::chrono::nanoseconds &out, const char *value,
                const char *meaning);
  template <typename T>
  void integer(std::string name, T &out, int64_t low, int64_t high, const char *value,
               const char *meaning) {
    add(name, Value, value, meaning, [=, &out](const std::string &v) {
      auto n = rt::env::parseInt(v);
      if (!n || *n < low || *n > high)
        return rt::error(rt::StatusCode::InvalidArgument, name, " ", v, ": an integer from ", low,
                         " to ", high, " is needed");
      out = static_cast<T>(*n);
      return rt::Status::success();
    });
  }
  /// A line of the help text about a value of the option before.
  void help(const char *name, const char *meaning);

  /// All lines, by section.
  std::string helpText() const;
  /// Calls handlers in the order of the arguments; what is no option goes to `file`. Appends the
  /// names of options to `given`. InvalidArgument names the one that is wrong, and the nearest one that
  /// there is.
  rt::Status read(int argc, char **argv, const Handler &file, std::vector<std::string> &given);

private:
  struct Entry {
    std::string name;
    Kind kind;
    Handler handle; // null: a line of help only
    std::string value, meaning;
    const char *section; // begins one in the help text
  };
  rt::Status unknown(const std::string &name) const;

  std::vector<Entry> entries_;
  const char *nextSection_ = nullptr;
};

} // namespace mk::run

#endif // MK_RUN_COMMANDLINE_H
