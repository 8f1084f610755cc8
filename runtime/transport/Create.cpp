//===- Create.cpp - Transports by name ------------------------------------===//

#include "mkernel/Runtime/Heap.h"
#include "mkernel/Runtime/Transport.h"
#include "transport/loopback/Loopback.h"
#include "transport/staged/Staged.h"

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
  return error(StatusCode::InvalidArgument, "there is no transport '", name,
               "'; there is: loopback (ContextOptions::transport)");
}

} // namespace mk::rt
