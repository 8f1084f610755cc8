//===- Agreement.cpp - What all ranks have to do alike --------------------===//

#include "device/Agreement.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>

using namespace mk::rt;

/// What all ranks say; where one has nothing to say, as it has failed (`status`), the own failure
/// or that of the first such rank.
static Result<std::vector<std::string>> gatherOrFail(Context &context, std::string_view what,
                                                     const std::string &text,
                                                     const Status &status) {
  // A code, 0 if the rank did not fail, and a text.
  auto gathered = context.allGather(
      what, str(int(status.code()), " ", status.isOk() ? text : status.message()));
  MK_TRY(status);
  MK_TRY(gathered.status());
  std::vector<std::string> all = std::move(*gathered);
  for (size_t r = 0; r < all.size(); ++r) {
    int code = std::atoi(all[r].c_str());
    all[r].erase(0, all[r].find(' ') + 1);
    if (code)
      return error(static_cast<StatusCode>(code), "rank ", r, ": ", all[r]);
  }
  return all;
}

Status mk::rt::agreeOn(
    Context &context, std::string_view what, uint64_t place, const Status &status,
    const std::function<Status(uint32_t, const std::string &, const std::string &)>
        &differ) {
  MK_ASSIGN(std::vector<std::string> all, gatherOrFail(context, what, str(place), status));
  for (uint32_t r = 1; r < all.size(); ++r)
    if (all[r] != all[0])
      return differ(r, all[0], all[r]);
  return Status::success();
}

Status mk::rt::agreeOnSuccess(Context &context, std::string_view what, const Status &status) {
  return gatherOrFail(context, what, "", status).status();
}

Status mk::rt::agreeOnLines(Context &context, std::string_view what, const std::string &text,
                            std::string_view remedy, const Status &status) {
  MK_ASSIGN(std::vector<std::string> all, gatherOrFail(context, what, text, status));
  for (uint32_t r = 1; r < all.size(); ++r) {
    std::istringstream first(all[0]), other(all[r]);
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
