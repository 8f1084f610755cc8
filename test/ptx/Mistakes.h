//===- Mistakes.h - Kernels that lack what orders ---------------*- C++ -*-===//
#ifndef MKERNEL_TEST_PTX_MISTAKES_H
#define MKERNEL_TEST_PTX_MISTAKES_H

#include "Session.h"

namespace mk::ptx {

struct MistakeOptions {
  std::string kinds; // "": none; as --mistakes
  int tries = 6;     // seeds for each
  int sample = 0;    // places of a kind; 0: all
};

/// Does the launches again with another seed and program: "" if nothing is wrong.
using Again = std::function<std::string(uint64_t seed, std::shared_ptr<const Program>)>;

/// Makes mistakes in the program of a session's launches, one at a time, and
/// prints for each whether it was found, and how many of a kind were.
void tryMistakes(const Session &session, const MistakeOptions &options, const Again &again);

} // namespace mk::ptx

#endif // MKERNEL_TEST_PTX_MISTAKES_H
