//===- Create.cpp - Transports by name ------------------------------------===//

#include "mkernel/Runtime/Heap.h"
#include "mkernel/Runtime/Transport.h"
#include "transport/Paths.h"
#include "transport/loopback/Loopback.h"
#ifdef MKERNEL_HAVE_VERBS
#include "transport/efa/Efa.h"
#include "transport/rdma/Options.h"
#include "transport/verbs/Verbs.h"
#endif

namespace mk::rt {
namespace {

/// One that gets at the memory of its heap itself.
Result<std::unique_ptr<Transport>> createDirect(std::string_view name,
                                                TransportConfig config) {
  if (name == "loopback") {
    MK_ASSIGN(LoopbackOptions options, LoopbackOptions::parse(config.options));
    return std::unique_ptr<Transport>(
        std::make_unique<Loopback>(std::move(config), options));
  }
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

} // namespace

Status checkTransport(std::string_view name, std::string_view options) {
  if (name != "loopback" && name != "verbs" && name != "efa")
    return error(StatusCode::InvalidArgument, "there is no transport '", name,
                 "'; there are: loopback, verbs, efa (ContextOptions::transport, "
                 "mk-run --transport)");
  std::string own(options);
  MK_TRY(PathOptions::take(own, name == "loopback").status());
  if (name == "loopback")
    return LoopbackOptions::parse(own).status();
#ifdef MKERNEL_HAVE_VERBS
  return rdma::Options::parse(own, name == "efa" ? NicKind::Efa : NicKind::Verbs).status();
#else
  return Status::success();
#endif
}

Result<std::unique_ptr<Transport>> createTransport(std::string_view name,
                                                   TransportConfig config) {
  if (!config.heap)
    return error(StatusCode::InvalidArgument, "a transport needs a heap");
  MK_TRY(checkTransport(name, config.options));
  MK_ASSIGN(PathOptions options, PathOptions::take(config.options, name == "loopback"));
  using Path = PathOptions::Path;
  if (options.path == Path::CopyEngine && (name != "loopback" || config.heap->asHost()))
    return error(StatusCode::InvalidArgument,
                 "network option 'path=copy-engine': that is how 'loopback' gets from GPU to "
                 "GPU, and here ", name == "loopback" ? "memory is the host's" : "are NICs",
                 ": use path=auto, path=direct or path=staged");
  // What is wrong with the others is said at once.
  MK_ASSIGN(std::unique_ptr<Transport> direct, createDirect(name, config));
  if (options.path != Path::Staged)
    return direct;
  return std::unique_ptr<Transport>(std::make_unique<Staged>(
      config, options.staged,
      [name = std::string(name), given = config.options](TransportConfig inner) {
        inner.options = given;
        return createDirect(name, std::move(inner));
      }));
}

Result<std::string> stagedInstead(std::string_view options) {
  std::string rest(options);
  MK_ASSIGN(PathOptions given, PathOptions::take(rest, /*loopback=*/true));
  if (given.path != PathOptions::Path::Auto)
    return std::string();
  return str(options, options.empty() ? "" : ",", "path=staged");
}

} // namespace mk::rt
