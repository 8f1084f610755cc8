//===- mk-run.cpp - Runs a kernel as the ranks of a job -------------------===//

#include "Launcher.h"
#include "Options.h"
#include "Rank.h"

#include "mkernel/Runtime/Env.h"

#include <cstdio>

int main(int argc, char **argv) {
  using namespace mk::run;
  auto options = parseOptions(argc, argv);
  if (!options) {
    std::fprintf(stderr, "mk-run: %s\nmk-run --help shows all options\n",
                 options.status().message().c_str());
    return 2;
  }
  if (options->help) {
    std::fputs(helpText(), stdout);
    return 0;
  }
  if (!options->rank) // once, not by every rank
    mk::rt::env::warnUnknown();
  return options->rank ? runRank(*options) : runLauncher(*options, argv);
}
