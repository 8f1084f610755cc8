//===- Agreement.cpp - What all ranks have to do alike --------------------===//

#include "device/Agreement.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>

using namespace mk::rt;

/// What a rank says: a code, 0 if it did not fail, and a text.
static std::string say(const Status &status, const std::string &text) {
  return str(int(status.code()), " ", status.isOk() ? text : status.message());
}

static std::string textOf(const std::string &said) { return said.substr(said.find(' ') + 1); }

/// The failure of the first rank that has one.
static Status findFailure(const std::vector<std::string> &said) {
  for (size_t r = 0; r < said.size(); ++r)
    if (int code = std::atoi(said[r].c_str()))
      return error(static_cast<StatusCode>(code), "rank ", r, ": ", textOf(said[r]));
  return Status::success();
}

Status mk::rt::agreeOn(
    Context &context, std::string_view what, uint64_t place, const Status &status,
    const std::function<Status(uint32_t, const std::string &, const std::string &)>
        &differ) {
  auto gathered = context.allGather(what, say(status, str(place)));
  MK_TRY(status);
  MK_TRY(gathered.status());
  const std::vector<std::string> &all = *gathered;
  MK_TRY(findFailure(all));
  for (uint32_t r = 1; r < all.size(); ++r)
    if (all[r] != all[0])
      return differ(r, textOf(all[0]), textOf(all[r]));
  return Status::success();
}

Status mk::rt::agreeOnLines(Context &context, std::string_view what, const std::string &text,
                            std::string_view remedy, const Status &status) {
  auto gathered = context.allGather(what, say(status, text));
  MK_TRY(status);
  MK_TRY(gathered.status());
  const std::vector<std::string> &all = *gathered;
  MK_TRY(findFailure(all));
  for (uint32_t r = 1; r < all.size(); ++r) {
    std::istringstream first(textOf(all[0])), other(textOf(all[r]));
    std::string a, b;
    while (all[0] != all[r]) {
      bool more = bool(std::getline(first, a));
      more |= bool(std::getline(other, b));
      if (a == b && more)
        continue;
      size_t tab = std::min(a.find('\t'), a.size());
      size_t otherTab = std::min(b.find('\t'), b.size());
      return error(StatusCode::InvalidArgument, "ranks disagree: ", a.substr(0, tab), " is ",
                   a.substr(std::min(tab + 1, a.size())), " on rank 0 and ",
                   b.substr(std::min(otherTab + 1, b.size())), " on rank ", r, ": ", remedy);
    }
  }
  return Status::success();
}
