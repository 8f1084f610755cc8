//===- Launch.cpp - Moving data and launching from C ----------------------===//

#include "capi/Support.h"

using namespace mk;
using namespace mk::capi;
using rt::Status;

static rt::Result<rt::LaunchOptions>
launchOptions(const mkernel_launch_options *given) {
  MK_ASSIGN(mkernel_launch_options known,
            readOptions(given, "mkernel_launch_options"));
  Fields o(known);
  rt::LaunchOptions options;
#define MK_LAUNCH_OPTION(kind, field, c, ...) take(mkernel::options::Kind::kind, o.c, options.field);
#include "mkernel/Options/Options.def"
  return options;
}

mkernel_status mkernel_attach(mkernel_bound *bound, size_t arg, void *data,
                              const int64_t *strides) {
  return guard(__func__, [&](const char *function) -> Status {
    MK_NOT_NULL(bound);
    const auto &args = bound->bound->metadata().args;
    size_t rank = arg < args.size() ? args[arg].rank : 0;
    return bound->bound->attach(arg, data,
                                std::span(strides, strides ? rank : 0));
  });
}

mkernel_status mkernel_upload(mkernel_bound *bound, size_t arg,
                              const void *from, void *stream) {
  return guard(__func__, [&](const char *function) -> Status {
    MK_NOT_NULL(bound);
    MK_NOT_NULL(from);
    return bound->bound->upload(arg, from, stream);
  });
}

mkernel_status mkernel_download(mkernel_bound *bound, size_t arg, void *to,
                                void *stream) {
  return guard(__func__, [&](const char *function) -> Status {
    MK_NOT_NULL(bound);
    MK_NOT_NULL(to);
    return bound->bound->download(arg, to, stream);
  });
}

mkernel_status mkernel_launch(mkernel_bound *bound,
                              const mkernel_launch_options *options) {
  return guard(__func__, [&](const char *function) -> Status {
    MK_NOT_NULL(bound);
    MK_ASSIGN(rt::LaunchOptions read, launchOptions(options));
    return bound->bound->launch(read);
  });
}

mkernel_status mkernel_synchronize(mkernel_bound *bound, void *stream) {
  return guard(__func__, [&](const char *function) -> Status {
    MK_NOT_NULL(bound);
    return bound->bound->synchronize(stream);
  });
}

uint64_t mkernel_epoch(const mkernel_bound *bound) {
  return bound ? bound->bound->epoch() : 0;
}

mkernel_status mkernel_capture(mkernel_bound *bound,
                               const mkernel_launch_options *options,
                               mkernel_graph **out) {
  return guard(__func__, [&](const char *function) -> Status {
    MK_NOT_NULL(bound);
    MK_NOT_NULL(out);
    MK_ASSIGN(rt::LaunchOptions read, launchOptions(options));
    MK_ASSIGN(auto graph, bound->bound->capture(read));
    *out = new mkernel_graph{bound->context, bound->bound, std::move(graph)};
    return Status::success();
  });
}

mkernel_status mkernel_graph_launch(mkernel_graph *graph, void *stream) {
  return guard(__func__, [&](const char *function) -> Status {
    MK_NOT_NULL(graph);
    return graph->graph->launch(stream);
  });
}

void mkernel_graph_destroy(mkernel_graph *graph) { delete graph; }
