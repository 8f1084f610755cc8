//===- Create.cpp - Transports by name ------------------------------------===//

#include "mkernel/Runtime/Heap.h"
#include "mkernel/Runtime/Transport.h"
#include "transport/loopback/Loopback.h"
#include "transport/staged/Staged.h"
#ifdef MKERNEL_HAVE_VERBS
#include "transport/efa/Efa.h"
#include "transport/verbs/Verbs.h"
#endif

namespace mk::rt {

static Result<std::unique_ptr<Transport>> createLoopback(TransportConfig config) {
  using Path = LoopbackOptions::Path;
  MK_ASSIGN(LoopbackOptions options, LoopbackOptions::parse(config.options));
  if (options.path == Path::CopyEngine && config.heap->asHost())
    return error(StatusCode::InvalidArgument,
                 "loopback option 'path=copy-engine': memory of the host is copied by the "
                 "CPU: use path=auto or path=staged");
  if (options.path != Path::Staged)
    return std::unique_ptr<Transport>(
        std::make_unique<Loopback>(std::move(config), options));
  StagedOptions staged{options.chunk, options.chunks};
  return std::unique_ptr<Transport>(std::make_unique<Staged>(
      std::move(config), staged,
      [options](TransportConfig inner) -> Result<std::unique_ptr<Transport>> {
        return std::unique_ptr<Transport>(
            std::make_unique<Loopback>(std::move(inner), options));
      }));
}

Result<std::unique_ptr<Transport>> createTransport(std::string_view name,
                                                   TransportConfig config) {
  if (!config.heap)
    return error(StatusCode::InvalidArgument, "a transport needs a heap");
  if (name == "loopback")
    return createLoopback(std::move(config));
  if (name == "verbs" || name == "efa") {
#ifdef MKERNEL_HAVE_VERBS
    if (config.heap->slots() >= rdma::kMaxSlots)
      return error(StatusCode::InvalidArgument, "transport '", name,
                   "' takes less than ", rdma::kMaxSlots,
                   " signal slots, and the heap has ", config.heap->slots(),
                   " (ContextOptions::slots)");
    return name == "efa" ? rdma::Efa::create(std::move(config))
                         : rdma::Verbs::create(std::move(config));
#else
    return error(StatusCode::Unavailable, "this mKernel was built without transport '",
                 name, "': install libibverbs-dev (elsewhere: rdma-core-devel) and "
                 "build again");
#endif
  }
  return error(StatusCode::InvalidArgument, "there is no transport '", name,
               "'; there are: loopback, verbs, efa (ContextOptions::transport, "
               "mk-run --transport)");
}

} // namespace mk::rt
