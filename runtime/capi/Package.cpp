//===- Package.cpp - Compiling and packages from C ------------------------===//

#include "capi/Support.h"

using namespace mk;
using namespace mk::capi;
using rt::Status;

rt::Result<jit::Options>
capi::compileOptions(const mkernel_compile_options *given) {
  MK_ASSIGN(mkernel_compile_options known,
            readOptions(given, "mkernel_compile_options"));
  Fields o(known);
  jit::Options options;
#define MK_COMPILE_OPTION(kind, field, initial, key, c, ...)                   \
  take(mkernel::options::Kind::kind, o.c, options.field);
#include "mkernel/Options/Options.def"
  MK_ASSIGN(options.bind, readSizes(o.sizes, o.num_sizes, "sizes"));
  MK_ASSIGN(auto params, readSizes(o.params, o.num_params, "params"));
  for (const rt::DimValue &param : params)
    options.params.emplace_back(param.name, std::to_string(param.values[0]));
  if (o.cache)
    options.cache = cacheAt(o.cache);
  options.library = text(o.library);
  return options;
}

static Status compile(const jit::Source &source,
                      const mkernel_compile_options *given,
                      mkernel_package **out) {
  MK_ASSIGN(jit::Options options, compileOptions(given));
  MK_ASSIGN(rt::Package package, jit::compile(source, options));
  *out = new mkernel_package{std::move(package)};
  return Status::success();
}

mkernel_status mkernel_compile_file(const char *path,
                                    const mkernel_compile_options *options,
                                    mkernel_package **out) {
  return guard(__func__, [&](const char *function) -> Status {
    MK_NOT_NULL(path);
    MK_NOT_NULL(out);
    MK_ASSIGN(jit::Source source, jit::Source::read(path));
    return compile(source, options, out);
  });
}

mkernel_status mkernel_compile_text(const char *text, size_t bytes,
                                    const char *name,
                                    const mkernel_compile_options *options,
                                    mkernel_package **out) {
  return guard(__func__, [&](const char *function) -> Status {
    MK_NOT_NULL(text);
    MK_NOT_NULL(out);
    return compile({std::string(text, bytes), name ? name : "kernel.mlir"},
                   options, out);
  });
}

mkernel_status mkernel_package_read(const char *path, mkernel_package **out) {
  return guard(__func__, [&](const char *function) -> Status {
    MK_NOT_NULL(path);
    MK_NOT_NULL(out);
    MK_ASSIGN(rt::Package package, rt::Package::read(path));
    *out = new mkernel_package{std::move(package)};
    return Status::success();
  });
}

mkernel_status mkernel_package_parse(const void *bytes, size_t size,
                                     mkernel_package **out) {
  return guard(__func__, [&](const char *function) -> Status {
    MK_NOT_NULL(bytes);
    MK_NOT_NULL(out);
    auto *data = static_cast<const std::byte *>(bytes);
    MK_ASSIGN(rt::Package package,
              rt::Package::parse({data, data + size}, "package in memory"));
    *out = new mkernel_package{std::move(package)};
    return Status::success();
  });
}

void mkernel_package_destroy(mkernel_package *package) { delete package; }

const void *mkernel_package_bytes(const mkernel_package *package,
                                  size_t *size) {
  if (size)
    *size = package ? package->package.bytes().size() : 0;
  return package ? package->package.bytes().data() : nullptr;
}

const char *mkernel_package_kernel(const mkernel_package *package) {
  return package ? package->package.metadata().kernel.c_str() : nullptr;
}

size_t mkernel_package_num_versions(const mkernel_package *package) {
  return package ? package->package.numVersions() : 0;
}

const char *mkernel_package_target(const mkernel_package *package) {
  return package ? package->package.metadata().target.c_str() : nullptr;
}
