//===- Compile.cpp - Compile, or take from the cache ----------------------===//

#include "mkernel/JIT/JIT.h"

#include "Compiler.h"
#include "mkernel/ABI/Hash.h"
#include "mkernel/Runtime/Deadline.h"
#include "mkernel/Runtime/Env.h"
#include "mkernel/Runtime/Job.h"
#include "mkernel/Runtime/Log.h"
#include "mkernel/Version.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <set>

using namespace mk;
using namespace mk::rt;

Result<jit::Source> jit::Source::read(const std::string &path) {
  FILE *file = std::fopen(path.c_str(), "re");
  if (!file)
    return errnoError(StatusCode::NotFound, "reading '" + path + "'", errno);
  Source source{{}, path};
  char buffer[16384];
  while (size_t n = std::fread(buffer, 1, sizeof(buffer), file)) {
    source.text.append(buffer, n);
    if (source.text.size() > mkernel::options::kMostSourceBytes) {
      std::fclose(file);
      return error(StatusCode::InvalidArgument, "'", path, "' has more than ", mkernel::options::kMostSourceBytes,
                   " bytes, which is the largest file that can be compiled");
    }
  }
  int problem = std::ferror(file) ? errno : 0;
  std::fclose(file);
  if (problem)
    return errnoError(StatusCode::NotFound, "reading '" + path + "'", problem);
  return source;
}

static std::string quote(std::string_view text) {
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

// Values as JSON.
static std::string json(const std::string &text) { return quote(text); }
static std::string json(int64_t number) { return std::to_string(number); }
static std::string json(bool flag) { return flag ? "true" : "false"; }
static std::string json(std::vector<std::pair<std::string, std::string>> pairs) {
  std::sort(pairs.begin(), pairs.end());
  std::string text;
  for (const auto &[name, value] : pairs)
    text += str(text.empty() ? "" : ",", quote(name), ":", quote(value));
  return "{" + text + "}";
}
static std::string json(const std::vector<DimValue> &dims) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const DimValue &dim : dims) {
    std::string values;
    for (int64_t value : dim.values)
      values += str(values.empty() ? "" : ":", value);
    pairs.emplace_back(dim.name, values);
  }
  return json(std::move(pairs));
}

std::string jit::toJson(const Options &options) {
  std::string text;
  mkernel::options::forEachCompileOption(
      [&](const mkernel::options::Option &option, const auto &value, const auto &initial) {
        if (std::string is = json(value); is != json(initial))
          text += str(text.empty() ? "" : ",", quote(option.key), ":", is);
      },
      options, Options());
  return "{" + text + "}";
}

namespace {
/// The cache's view of one call.
///
/// A package lies under the digest of everything it depends on, the compiler
/// and what comes with it included. For programs without a compiler, that
/// digest lies under one without it.
struct CachedCall {
  static constexpr const char *kPackage = "package", *kLatest = "latest";
  const DiskCache &cache;
  const jit::Source &source;
  std::string options, tuning, cpu;

  CachedCall(const DiskCache &cache, const jit::Source &source,
             const jit::Options &given, std::string tuning)
      : cache(cache), source(source), options(jit::toJson(given)),
        tuning(std::move(tuning)),
        cpu(given.cpu.empty() || given.cpu == "native"
                ? jit::nativeCpuIdentity()
                : std::string()) {}

  Digest key(const std::string &compiler) const {
    return DiskCache::key(
        {"jit 1", MK_VERSION, MK_ABI_HASH_HEX, compiler, options,
         compiler.empty() ? std::string_view() : tuning, cpu, source.text});
  }

  std::optional<Package> get(const std::optional<std::string> &compiler) const {
    Digest name = key(compiler.value_or(std::string()));
    if (!compiler) {
      auto latest = cache.get(kLatest, name);
      if (!latest || latest->size() != sizeof(name))
        return std::nullopt;
      std::memcpy(name.data(), latest->data(), sizeof(name));
    }
    auto bytes = cache.get(kPackage, name);
    if (!bytes)
      return std::nullopt;
    auto package =
        Package::parse(std::move(*bytes), cache.path(kPackage, name));
    if (package)
      return std::move(*package);
    log::debug(str("cache: ", package.status().message(), "; compiling again"));
    return std::nullopt;
  }

  Status put(const std::string &compiler, const Package &package) const {
    Digest name = key(compiler);
    MK_TRY(cache.put(kPackage, name, package.bytes()));
    return cache.put(kLatest, key(""), std::as_bytes(std::span(name)));
  }
};
} // namespace

static Result<Package> callCompiler(const jit::Source &source,
                                    const std::string &options,
                                    const std::string &library) {
  MK_ASSIGN(jit::Compiler compiler, jit::loadCompiler(library));
  // One after the other: compiling takes cores and memory, not patience.
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  void *bytes = nullptr;
  size_t size = 0;
  char *message = nullptr;
  int failed = compiler.compile(source.text.data(), source.text.size(),
                                source.name.c_str(), options.c_str(), &bytes,
                                &size, &message);
  if (failed) {
    Status status =
        error(failed == 2 ? StatusCode::InvalidArgument
                          : StatusCode::FailedPrecondition,
              "cannot compile '", source.name,
              "': ", message ? message : "the compiler gave no reason");
    compiler.release(message);
    return status;
  }
  auto *data = static_cast<std::byte *>(bytes);
  std::vector<std::byte> copy(data, data + size);
  compiler.release(bytes);
  if (message)
    log::warn(message);
  compiler.release(message);
  return Package::parse(std::move(copy), source.name);
}

/// JSON has one of two values, and nobody could tell which. Parameters are integers.
static Status checkNames(const jit::Source &source, const jit::Options &options) {
  std::set<std::string_view> bound, set;
  for (const DimValue &dim : options.bind)
    if (!bound.insert(dim.name).second)
      return error(StatusCode::InvalidArgument, "cannot compile '", source.name, "': '", dim.name,
                   "' is bound twice");
  for (const auto &[name, value] : options.params) {
    if (!set.insert(name).second)
      return error(StatusCode::InvalidArgument, "cannot compile '", source.name, "': parameter '",
                   name, "' is set twice");
    if (auto number = env::parseInt(value); !number)
      return error(StatusCode::InvalidArgument, "cannot compile '", source.name, "': parameter '",
                   name, "': ", number.status().message(), "; give it an integer");
  }
  return Status::success();
}

Result<Package> jit::compile(const Source &source, const Options &options,
                             Report *report) {
  auto begin = Deadline::Clock::now();
  Report ignored;
  Report &out = report ? *report : ignored;
  out = {};
  MK_TRY(checkNames(source, options));
  auto finish = [&](Result<Package> result) {
    out.milliseconds = std::chrono::duration<double, std::milli>(
                           Deadline::Clock::now() - begin)
                           .count();
    return result;
  };
  DiskCache cache = options.cache ? *options.cache : DiskCache::standard();
  std::string library = compilerPath(options.library);
  std::optional<std::string> identity = compilerIdentity(library);
  std::string tuning;
  if (options.tuning != "none") {
    std::string path = options.tuning.empty()
                           ? tuningPath(library, options.target)
                           : options.tuning;
    // A file that cannot be read is the compiler's to complain of.
    if (!path.empty())
      if (auto file = Source::read(path))
        tuning = std::move(file->text);
  }
  // What describes the target decides about the code as tuning does.
  if (options.target.ends_with(".mlir"))
    if (auto file = Source::read(options.target))
      tuning += file->text;
  CachedCall call(cache, source, options, std::move(tuning));
  if (cache.enabled())
    if (auto package = call.get(identity)) {
      out.cached = true;
      return finish(std::move(*package));
    }
  Result<Package> package = callCompiler(source, call.options, library);
  if (package && cache.enabled() && identity)
    if (Status kept = call.put(*identity, *package); !kept.isOk()) {
      out.cacheProblem = kept.message();
      log::warn("the compiled kernel is not kept: " + kept.message());
    }
  return finish(std::move(package));
}

Result<Package> jit::compileFile(Job &job, const std::string &path,
                                 Options options, Report *report) {
  if (!options.nodes)
    options.nodes = job.nodes();
  if (!options.gpus)
    options.gpus = job.ranksPerNode();
  return sharePackage(job, [&]() -> Result<Package> {
    MK_ASSIGN(Source source, Source::read(path));
    return compile(source, options, report);
  });
}
