//===- Compile.cpp - Packages from kernel files ---------------------------===//

#include "Compile.h"

#include "../Support/Input.h"

#include <algorithm>
#include <cerrno>
#include <unistd.h>

using namespace mk::run;
using namespace mk::rt;

/// Whether --variants chooses by a dimension, which then is given when the kernel is bound.
static bool isChosenBy(const std::string &variants, const std::string &dim) {
  for (size_t at = 0; at < variants.size();) {
    size_t end = std::min(variants.find_first_of(",+", at), variants.size());
    if (variants.compare(at, std::min(variants.find('=', at), end) - at, dim) == 0)
      return true;
    at = end + 1;
  }
  return false;
}

mk::jit::Options mk::run::compilerOptions(const Options &options) {
  jit::Options out = options.compile;
  out.completeDims = true;
  std::erase_if(out.bind, [&](const DimValue &dim) { return isChosenBy(out.variants, dim.name); });
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
