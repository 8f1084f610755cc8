//===- Network.h - How kernels of a device and the proxy meet ---*- C++ -*-===//
#ifndef MKERNEL_RUNTIME_DEVICE_NETWORK_H
#define MKERNEL_RUNTIME_DEVICE_NETWORK_H

#include "mkernel/Runtime/Proxy.h"

namespace mk::rt {

/// What kernels and proxy share besides symmetric memory, where the kernels are not threads
/// of this process. Outlives the proxy.
class DeviceNetwork {
public:
  virtual ~DeviceNetwork() = default;
  virtual CommandRing &ring() = 0;
  virtual ProxySink &sink() = 0;
};

} // namespace mk::rt

#endif // MKERNEL_RUNTIME_DEVICE_NETWORK_H
