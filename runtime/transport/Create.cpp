//===- Create.cpp - Transports by name ------------------------------------===//

#include "mkernel/Runtime/Transport.h"
#include "transport/loopback/Loopback.h"

namespace mk::rt {

Result<std::unique_ptr<Transport>> createTransport(std::string_view name,
                                                   TransportConfig config) {
  if (!config.heap)
    return error(StatusCode::InvalidArgument, "a transport needs a heap");
  if (name == "loopback") {
    if (!config.heap->asHost())
      return error(StatusCode::InvalidArgument,
                   "transport 'loopback' copies on the CPU, which does not reach "
                   "the memory of a GPU: use --target=host for several nodes");
    MK_ASSIGN(LoopbackOptions options, LoopbackOptions::parse(config.options));
    return std::unique_ptr<Transport>(
        std::make_unique<Loopback>(std::move(config), options));
  }
  return error(StatusCode::InvalidArgument, "there is no transport '", name,
               "'; there is: loopback (ContextOptions::transport)");
}

} // namespace mk::rt
