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

#ifdef MKERNEL_HAVE_VERBS
static Result<std::unique_ptr<Transport>> createOverNics(std::string_view name,
                                                         TransportConfig config) {
  using rdma::Options;
  NicKind kind = name == "efa" ? NicKind::Efa : NicKind::Verbs;
  if (config.heap->slots() >= rdma::kMaxSlots)
    return error(StatusCode::InvalidArgument, "transport '", name, "' takes less than ",
                 rdma::kMaxSlots, " signal slots, and the heap has ",
                 config.heap->slots(), " (ContextOptions::slots)");
  MK_ASSIGN(Options options, Options::parse(config.options, kind));
  auto create = kind == NicKind::Efa ? rdma::Efa::create : rdma::Verbs::create;
  bool staged = options.path == Options::Path::Staged ||
                (options.path == Options::Path::Auto && !config.heap->asHost());
  if (!staged)
    return create(std::move(config));
  std::string text = config.options;
  return std::unique_ptr<Transport>(std::make_unique<Staged>(
      std::move(config), StagedOptions(),
      [create, text](TransportConfig inner) -> Result<std::unique_ptr<Transport>> {
        inner.options = text + ",path=direct";
        return create(std::move(inner));
      }));
}
#else
static Result<std::unique_ptr<Transport>> createOverNics(std::string_view name,
                                                         TransportConfig) {
  return error(StatusCode::Unavailable, "this mKernel was built without transport '",
               name, "': install libibverbs-dev (elsewhere: rdma-core-devel) and build "
               "again");
}
#endif

Result<std::unique_ptr<Transport>> createTransport(std::string_view name,
                                                   TransportConfig config) {
  if (!config.heap)
    return error(StatusCode::InvalidArgument, "a transport needs a heap");
  if (name == "loopback")
    return createLoopback(std::move(config));
  if (name == "verbs" || name == "efa")
    return createOverNics(name, std::move(config));
  return error(StatusCode::InvalidArgument, "there is no transport '", name,
               "'; there are: loopback, verbs, efa (ContextOptions::transport, "
               "mk-run --transport)");
}

} // namespace mk::rt
