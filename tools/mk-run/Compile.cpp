//===- Compile.cpp - Packages from kernel files ---------------------------===//

#include "Compile.h"

#include "mkernel/JIT/CompileC.h"
#include "mkernel/Runtime/Deadline.h"
#include "mkernel/Runtime/Env.h"

#include <cerrno>
#include <cstdio>
#include <dlfcn.h>
#include <unistd.h>

using namespace mk::run;
using namespace mk::rt;

namespace {

std::string quote(std::string_view text) {
  std::string out(1, '"');
  for (unsigned char c : text) {
    char escaped[8];
    if (c < 0x20) {
      std::snprintf(escaped, sizeof(escaped), "\\u%04x", c);
      out += escaped;
      continue;
    }
    if (c == '"' || c == '\\')
      out.push_back('\\');
    out.push_back(static_cast<char>(c));
  }
  out.push_back('"');
  return out;
}

/// Beside this program: bin/mk-run and lib/libmkernel_jit.so.
std::string defaultLibrary() {
  char path[4096];
  ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
  std::string self(path, n > 0 ? n : 0);
  return self.substr(0, self.rfind('/') + 1) + "../lib/libmkernel_jit.so";
}

} // namespace

std::string mk::run::compilerOptions(const Options &options) {
  std::string json = str("{\"complete_mesh\":true,\"target\":", quote(options.target),
                         ",\"cpu\":", quote(options.cpu));
  if (!options.kernel.empty())
    json += str(",\"kernel\":", quote(options.kernel));
  if (options.nodes)
    json += str(",\"nodes\":", options.nodes);
  if (options.gpus)
    json += str(",\"gpus\":", options.gpus);
  if (options.grid)
    json += str(",\"grid\":", options.grid);
  std::string bind;
  for (const DimValue &b : options.bind) {
    std::string values;
    for (int64_t v : b.values)
      values += str(values.empty() ? "" : ":", v);
    bind += str(bind.empty() ? "" : ",", quote(b.name), ":", quote(values));
  }
  return str(json, ",\"bind\":{", bind, "}}");
}

Result<Compiled> mk::run::loadOrCompile(const Options &options) {
  if (access(options.file.c_str(), R_OK) != 0)
    return errnoError(StatusCode::NotFound, "reading '" + options.file + "'",
                      errno);
  if (!options.file.ends_with(".mlir")) {
    auto package = Package::read(options.file);
    // A bad file is a failure, not wrong usage.
    if (!package)
      return Status(StatusCode::FailedPrecondition, package.status().message());
    return Compiled{std::move(*package), 0};
  }
  std::string library = options.jitLibrary;
  if (library.empty())
    library = env::get("MK_JIT_LIBRARY").value_or(defaultLibrary());
  // Never closed: a compiler's static objects do not survive that.
  void *handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    return error(StatusCode::Unavailable,
                 "cannot load the compiler to compile '", options.file,
                 "': ", dlerror(),
                 "; build it (MKERNEL_BUILD_COMPILER=ON), name it with "
                 "--jit-lib, or run a package");
  auto compile = reinterpret_cast<decltype(&mk_jit_compile)>(
      dlsym(handle, "mk_jit_compile"));
  auto release =
      reinterpret_cast<decltype(&mk_jit_free)>(dlsym(handle, "mk_jit_free"));
  if (!compile || !release)
    return error(StatusCode::Unavailable, "'", library,
                 "' is no mKernel compiler: it lacks mk_jit_compile or "
                 "mk_jit_free");

  auto begin = Deadline::Clock::now();
  void *bytes = nullptr;
  size_t size = 0;
  char *message = nullptr;
  if (compile(options.file.c_str(), compilerOptions(options).c_str(), &bytes,
              &size, &message) != 0) {
    Status status =
        error(StatusCode::FailedPrecondition, "cannot compile '", options.file,
              "': ", message ? message : "the compiler gave no reason");
    if (message)
      release(message);
    return status;
  }
  auto *data = static_cast<std::byte *>(bytes);
  std::vector<std::byte> copy(data, data + size);
  release(bytes);
  double ms =
      std::chrono::duration<double, std::milli>(Deadline::Clock::now() - begin)
          .count();
  MK_ASSIGN(Package package, Package::parse(std::move(copy), options.file));
  return Compiled{std::move(package), ms};
}
