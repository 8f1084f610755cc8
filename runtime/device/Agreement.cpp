//===- Agreement.cpp - What all ranks have to do alike --------------------===//

#include "device/Agreement.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>

using namespace mk::rt;

Status mk::rt::agreeOn(
    Context &context, std::string_view what, uint64_t place, const Status &status,
    const std::function<Status(uint32_t, const std::string &, const std::string &)>
        &differ) {
  // A code and a message, or the place.
  std::string mine = status.isOk() ? str("0 ", place)
                                   : str(int(status.code()), " ",
                                         status.message());
  auto gathered = context.allGather(what, mine);
  MK_TRY(status);
  MK_TRY(gathered.status());
  const std::vector<std::string> &all = *gathered;
  auto textOf = [&](uint32_t r) { return all[r].substr(all[r].find(' ') + 1); };
  for (uint32_t r = 0; r < all.size(); ++r)
    if (int code = std::atoi(all[r].c_str()))
      return error(static_cast<StatusCode>(code), "rank ", r, ": ", textOf(r));
  for (uint32_t r = 1; r < all.size(); ++r)
    if (all[r] != all[0])
      return differ(r, textOf(0), textOf(r));
  return Status::success();
}

Status mk::rt::agreeOnLines(Context &context, std::string_view what, const std::string &text,
                            std::string_view remedy) {
  MK_ASSIGN(std::vector<std::string> all, context.allGather(what, text));
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
