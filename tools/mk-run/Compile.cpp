//===- Compile.cpp - Packages from kernel files ---------------------------===//

#include "Compile.h"

#include "../Support/Input.h"

#include <cerrno>
#include <unistd.h>

using namespace mk::run;
using namespace mk::rt;

mk::jit::Options mk::run::compilerOptions(const Options &options) {
  jit::Options out = options.compile;
  out.completeDims = true;
  out.record = options.races;
  out.timeline = !options.timeline.empty();
  // What is run is what this compiler makes of the file now.
  out.cache = DiskCache("");
  return out;
}

Result<Compiled> mk::run::loadOrCompile(const Options &options) {
  if (access(options.file.c_str(), R_OK) != 0)
    return errnoError(StatusCode::NotFound, "reading '" + options.file + "'",
                      errno);
  if (std::string why = mkernel::findEndless(options.file); !why.empty())
    return error(StatusCode::FailedPrecondition, "'", options.file, "' ", why);
  if (!options.file.ends_with(".mlir")) {
    auto package = Package::read(options.file);
    // A bad file is a failure, not wrong usage.
    if (!package)
      return Status(StatusCode::FailedPrecondition, package.status().message());
    return Compiled{std::move(*package), 0};
  }
  MK_ASSIGN(jit::Source source, jit::Source::read(options.file));
  jit::Report report;
  auto package = jit::compile(source, compilerOptions(options), &report);
  if (package)
    return Compiled{std::move(*package), report.milliseconds};
  if (package.status().code() == StatusCode::Unavailable)
    return error(StatusCode::Unavailable, package.status().message(),
                 ", name it with --jit-lib, or run a package");
  return package.status();
}
