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

/// Makes mistakes in the program of a session's launches, one at a time, and
/// prints for each whether it was found, and how many of a kind were.
void tryMistakes(Session &session, const MistakeOptions &options);

} // namespace mk::ptx

#endif // MKERNEL_TEST_PTX_MISTAKES_H
