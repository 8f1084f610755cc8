//===- Box.cpp - Boxes of elements ----------------------------------------===//

#include "mkernel/Check/Event.h"

#include <algorithm>

using namespace mk::check;

int64_t Box::end(int d) const {
  int64_t result;
  return __builtin_add_overflow(begin[d], size[d], &result) ? INT64_MAX : result;
}

bool Box::empty() const {
  for (int d = 0; d < rank; ++d)
    if (size[d] <= 0)
      return true;
  return false;
}

bool Box::overlaps(const Box &other) const {
  for (int d = 0; d < rank; ++d)
    if (begin[d] >= other.end(d) || other.begin[d] >= end(d))
      return false;
  return true;
}

bool Box::contains(const Box &other) const {
  for (int d = 0; d < rank; ++d)
    if (other.begin[d] < begin[d] || other.end(d) > end(d))
      return false;
  return true;
}

Box Box::intersection(const Box &other) const {
  Box both = *this;
  for (int d = 0; d < rank; ++d) {
    int64_t last = std::min(end(d), other.end(d));
    both.begin[d] = std::max(begin[d], other.begin[d]);
    if (last <= both.begin[d] ||
        __builtin_sub_overflow(last, both.begin[d], &both.size[d]))
      both.size[d] = last <= both.begin[d] ? 0 : INT64_MAX;
  }
  return both;
}

std::string Box::toString() const {
  std::string text = "[";
  for (int d = 0; d < rank; ++d) {
    text += (d ? ", " : "") + std::to_string(begin[d]);
    if (size[d] != 1)
      text += ":" + std::to_string(end(d));
  }
  return text + "]";
}
