//===- Kernel.cpp - Contexts, kernels and arguments from C ----------------===//

#include "capi/Support.h"

using namespace mk;
using namespace mk::capi;
using rt::Status;

static rt::Result<rt::ContextOptions>
contextOptions(const rt::Metadata &metadata,
               const mkernel_context_options &given) {
  Fields o(given);
  MK_ASSIGN(auto axes, readSizes(o.axes, o.num_axes, "axes"));
  std::vector<rt::NamedSize> sizes;
  for (const rt::DimValue &axis : axes)
    sizes.push_back({axis.name, axis.values[0]});
  rt::ContextOptions options;
  if (o.member_of) {
    rt::Job &job = *o.member_of->job;
    MK_ASSIGN(rt::Mesh mesh, rt::resolveMesh(metadata, sizes, job.nodes(),
                                             job.ranksPerNode()));
    MK_TRY(job.checkMesh(mesh));
    options = rt::ContextOptions::of(job, std::move(mesh));
    o.rank = options.rank;
  } else {
    MK_ASSIGN(options.mesh, rt::resolveMesh(metadata, sizes, 0, 0));
  }
#define MK_CONTEXT_OPTION(kind, field, c, ...) take(mkernel::options::Kind::kind, o.c, options.field);
#include "mkernel/Options/Options.def"
  options.maxGrid = std::max(options.maxGrid, metadata.grid);
  options.gpu = o.gpu_plus_one - 1; // -1: as the local rank says, or the thread
  if (metadata.gpu)
    options.device = mk::rt::DeviceKind::Gpu;
  return options;
}

mkernel_status mkernel_context_create(const mkernel_package *package,
                                      const mkernel_context_options *options,
                                      mkernel_context **out) {
  return guard(__func__, [&](const char *function) -> Status {
    MK_NOT_NULL(package);
    MK_NOT_NULL(out);
    MK_ASSIGN(mkernel_context_options known,
              readOptions(options, "mkernel_context_options"));
    MK_ASSIGN(rt::ContextOptions read,
              contextOptions(package->package.metadata(), known));
    MK_ASSIGN(std::shared_ptr<rt::Context> context,
              rt::Context::create(std::move(read)));
    *out = new mkernel_context{known.member_of ? known.member_of->job : nullptr,
                               std::move(context)};
    return Status::success();
  });
}

mkernel_status mkernel_context_close(mkernel_context *context) {
  return guard(__func__, [&](const char *function) -> Status {
    MK_NOT_NULL(context);
    return context->context->close();
  });
}

void mkernel_context_destroy(mkernel_context *context) { delete context; }

mkernel_status mkernel_symmetric_allocate(mkernel_context *context,
                                          uint64_t bytes, void **out) {
  return guard(__func__, [&](const char *function) -> Status {
    MK_NOT_NULL(context);
    MK_NOT_NULL(out);
    MK_ASSIGN(*out, context->context->allocate(bytes));
    return Status::success();
  });
}

mkernel_status mkernel_symmetric_free(mkernel_context *context, void *memory) {
  return guard(__func__, [&](const char *function) -> Status {
    MK_NOT_NULL(context);
    return context->context->free(memory);
  });
}

mkernel_status mkernel_symmetric_at(mkernel_context *context, uint32_t rank,
                                    const void *memory, void **out) {
  return guard(__func__, [&](const char *function) -> Status {
    MK_NOT_NULL(context);
    MK_NOT_NULL(memory);
    MK_NOT_NULL(out);
    MK_ASSIGN(*out, context->context->addressAt(rank, memory));
    return Status::success();
  });
}

mkernel_status mkernel_kernel_load(mkernel_context *context,
                                   const mkernel_package *package,
                                   mkernel_kernel **out) {
  return guard(__func__, [&](const char *function) -> Status {
    MK_NOT_NULL(context);
    MK_NOT_NULL(package);
    MK_NOT_NULL(out);
    MK_ASSIGN(auto kernel,
              rt::Kernel::load(*context->context, package->package));
    *out = new mkernel_kernel{context->context, std::move(kernel)};
    return Status::success();
  });
}

void mkernel_kernel_destroy(mkernel_kernel *kernel) { delete kernel; }

mkernel_status mkernel_kernel_bind(mkernel_kernel *kernel,
                                   const mkernel_size *sizes, size_t num_sizes,
                                   mkernel_bound **out) {
  return guard(__func__, [&](const char *function) -> Status {
    MK_NOT_NULL(kernel);
    MK_NOT_NULL(out);
    MK_ASSIGN(auto dims, readSizes(sizes, num_sizes, "sizes"));
    MK_ASSIGN(std::shared_ptr<rt::BoundKernel> bound,
              kernel->kernel->bind(dims));
    *out = new mkernel_bound{kernel->context, std::move(bound)};
    return Status::success();
  });
}

static rt::MeasureOptions measureOptions(mkernel_kernel &kernel,
                                         const mkernel_measure_options &given) {
  rt::MeasureOptions options;
  options.stream = given.stream;
  take(mkernel::options::Kind::Duration, given.deadline_ns, options.deadline);
  if (given.cache)
    options.cache = cacheAt(given.cache);
  if (given.prepare)
    options.prepare = [&kernel, given](rt::BoundKernel &candidate) -> Status {
      // The binding is not the caller's: it goes when it has been measured.
      mkernel_bound bound{kernel.context, {std::shared_ptr<void>(), &candidate}};
      forgetMessage(); // of a call before it
      mkernel_status status = given.prepare(&bound, given.data);
      if (status == MKERNEL_OK)
        return Status::success();
      const char *said = mkernel_message();
      return rt::error(rt::StatusCode(status), "'prepare' has failed: ",
                       *said ? said : "it returned a status other than MKERNEL_OK");
    };
  return options;
}

mkernel_status mkernel_kernel_bind_fastest(mkernel_kernel *kernel, const mkernel_size *sizes,
                                           size_t num_sizes, const mkernel_measure_options *options,
                                           mkernel_bound **out) {
  return guard(__func__, [&](const char *function) -> Status {
    MK_NOT_NULL(kernel);
    MK_NOT_NULL(out);
    MK_ASSIGN(mkernel_measure_options known, readOptions(options, "mkernel_measure_options"));
    MK_ASSIGN(auto dims, readSizes(sizes, num_sizes, "sizes"));
    MK_ASSIGN(std::shared_ptr<rt::BoundKernel> bound,
              kernel->kernel->bindFastest(dims, measureOptions(*kernel, known)));
    *out = new mkernel_bound{kernel->context, std::move(bound)};
    return Status::success();
  });
}

void mkernel_bound_destroy(mkernel_bound *bound) { delete bound; }

size_t mkernel_bound_version(const mkernel_bound *bound) {
  return bound ? bound->bound->version() : 0;
}

static const rt::Metadata::Arg *findArg(const mkernel_bound *bound,
                                        size_t arg) {
  if (!bound || arg >= bound->bound->metadata().args.size())
    return nullptr;
  return &bound->bound->metadata().args[arg];
}

size_t mkernel_num_args(const mkernel_bound *bound) {
  return bound ? bound->bound->metadata().args.size() : 0;
}

mkernel_status mkernel_arg_index(const mkernel_bound *bound, const char *name,
                                 size_t *out) {
  return guard(__func__, [&](const char *function) -> Status {
    MK_NOT_NULL(bound);
    MK_NOT_NULL(name);
    MK_NOT_NULL(out);
    const rt::Metadata &metadata = bound->bound->metadata();
    int index = metadata.argIndex(name);
    if (index >= 0) {
      *out = static_cast<size_t>(index);
      return Status::success();
    }
    std::string names;
    for (const rt::Metadata::Arg &arg : metadata.args)
      names += (names.empty() ? "" : ", ") + arg.name;
    return rt::error(rt::StatusCode::NotFound, "kernel '", metadata.kernel,
                     "' has no argument '", name, "'; it has ", names);
  });
}

const char *mkernel_arg_name(const mkernel_bound *bound, size_t arg) {
  const rt::Metadata::Arg *a = findArg(bound, arg);
  return a ? a->name.c_str() : nullptr;
}

const char *mkernel_arg_type(const mkernel_bound *bound, size_t arg) {
  const rt::Metadata::Arg *a = findArg(bound, arg);
  return a ? rt::name(a->type).data() : nullptr; // literals
}

size_t mkernel_arg_rank(const mkernel_bound *bound, size_t arg) {
  const rt::Metadata::Arg *a = findArg(bound, arg);
  return a ? a->rank : 0;
}

const int64_t *mkernel_arg_sizes(const mkernel_bound *bound, size_t arg) {
  return findArg(bound, arg) ? bound->bound->shard(arg).sizes.data() : nullptr;
}

uint64_t mkernel_arg_bytes(const mkernel_bound *bound, size_t arg) {
  return findArg(bound, arg) ? bound->bound->bytes(arg) : 0;
}

void *mkernel_arg_data(const mkernel_bound *bound, size_t arg) {
  return findArg(bound, arg) ? bound->bound->data(arg) : nullptr;
}

void *mkernel_arg_host_data(const mkernel_bound *bound, size_t arg) {
  return findArg(bound, arg) ? bound->bound->hostData(arg) : nullptr;
}
