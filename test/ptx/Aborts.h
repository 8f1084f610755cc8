//===- Aborts.h - Launches whose job is given up on -------------*- C++ -*-===//
#ifndef MKERNEL_TEST_PTX_ABORTS_H
#define MKERNEL_TEST_PTX_ABORTS_H

#include "Session.h"

namespace mk::ptx {

struct AbortOptions {
  int count = 0;      // aborts to try; 0: none
  bool raises = true; // else the word stays 0, and a rank leaves its last launch out
};

/// Does a session's launches again, `count` times, and raises the job's abort word on all ranks
/// at a random moment of one of them. Every launch has to end by itself, with its barriers
/// complete, without a report, and without a word to others once it has failed. Prints what
/// was seen; whether all went well.
bool tryAborts(Session &session, uint64_t seed, const AbortOptions &options);

} // namespace mk::ptx

#endif // MKERNEL_TEST_PTX_ABORTS_H
