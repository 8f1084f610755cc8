//===- CommandLine.cpp - Options, their help text and how they are read ---===//

#include "CommandLine.h"

#include <algorithm>
#include <utility>

using namespace mk::run;
using namespace mk::rt;

void CommandLine::add(std::string name, Kind kind, const char *value, const char *meaning,
                      Handler handle) {
  entries_.push_back({std::move(name), kind, std::move(handle), value, meaning,
                      std::exchange(nextSection_, nullptr)});
}

void CommandLine::flag(std::string name, bool &out, const char *meaning, bool to) {
  add(std::move(name), Flag, "", meaning, [&out, to](const std::string &) {
    out = to;
    return Status::success();
  });
}

void CommandLine::text(std::string name, std::string &out, const char *value,
                       const char *meaning) {
  add(std::move(name), Value, value, meaning, [&out](const std::string &v) {
    out = v;
    return Status::success();
  });
}

void CommandLine::once(std::string name, std::string &out, const char *value,
                       const char *meaning) {
  add(name, Value, value, meaning, [=, &out](const std::string &v) {
    if (!out.empty())
      return error(StatusCode::InvalidArgument, name, " ", v, ": ", name, " ", out,
                   " is given as well: give one of them, with all its options behind commas");
    out = v;
    return Status::success();
  });
}

void CommandLine::duration(std::string name, std::chrono::nanoseconds &out, const char *value,
                           const char *meaning) {
  add(name, Value, value, meaning, [=, &out](const std::string &v) {
    auto d = env::parseDuration(v);
    if (!d || d->count() <= 0)
      return error(StatusCode::InvalidArgument, name, " ", v,
                   ": seconds are needed, or a number with ms, s or m");
    out = *d;
    return Status::success();
  });
}

void CommandLine::help(const char *name, const char *meaning) {
  entries_.push_back({name, Flag, nullptr, "", meaning, nullptr});
}

std::string CommandLine::helpText() const {
  constexpr size_t kColumn = 24, kWidth = 86;
  std::string out;
  for (const Entry &e : entries_) {
    if (e.section)
      out += str("\n", e.section, "\n");
    if (e.meaning.empty())
      continue;
    std::string line = str("  ", e.name, e.value.empty() || e.value[0] == '[' ? "" : " ",
                           e.value);
    line.resize(std::max(line.size() + 2, kColumn), ' ');
    // Words; a line ends where the text says so.
    for (size_t at = 0; at <= e.meaning.size();) {
      size_t end = std::min(e.meaning.find_first_of(" \n", at), e.meaning.size());
      if (line.size() + end - at > kWidth) {
        out += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
        line.assign(kColumn, ' ');
      }
      line += e.meaning.substr(at, end - at);
      if (end < e.meaning.size() && e.meaning[end] == '\n') {
        out += line + "\n";
        line.assign(kColumn, ' ');
      } else {
        line += ' ';
      }
      at = end + 1;
    }
    out += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return out;
}

Status CommandLine::unknown(const std::string &name) const {
  std::vector<std::string_view> names;
  for (const Entry &e : entries_)
    if (e.handle && e.name != "--internal-rank")
      names.push_back(e.name);
  std::string near = env::nearest(name, names);
  return error(StatusCode::InvalidArgument, "there is no option ", name,
               near.empty() ? "" : "; did you mean " + near + "?");
}

Status CommandLine::read(int argc, char **argv, const Handler &file,
                         std::vector<std::string> &given) {
  for (int i = 1; i < argc; ++i) {
    std::string arg = argv[i], value;
    if (arg.size() < 2 || arg[0] != '-') {
      MK_TRY(file(arg));
      continue;
    }
    size_t equals = arg.find('=');
    bool attached = equals != std::string::npos;
    if (attached) {
      value = arg.substr(equals + 1);
      arg.resize(equals);
    }
    const Entry *entry = nullptr;
    for (const Entry &e : entries_)
      if (e.name == arg && e.handle)
        entry = &e;
    if (!entry)
      return unknown(arg);
    if (attached && entry->kind == Flag)
      return error(StatusCode::InvalidArgument, arg, " takes no value");
    if (!attached && entry->kind == Value) {
      if (i + 1 == argc)
        return error(StatusCode::InvalidArgument, arg, " needs a value");
      value = argv[++i];
    }
    MK_TRY(entry->handle(value));
    given.push_back(arg);
  }
  return Status::success();
}
