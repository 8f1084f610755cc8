//===- Memory.cpp - The heap's memory on the NICs -------------------------===//

#include "transport/rdma/Memory.h"

#include "core/Socket.h"
#include "mkernel/Runtime/Log.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace mk::rt::rdma {

const Segment *SegmentMap::find(uint64_t offset) const {
  auto after = std::upper_bound(
      segments_.begin(), segments_.end(), offset,
      [](uint64_t at, const Segment &segment) { return at < segment.offset; });
  if (after == segments_.begin())
    return nullptr;
  const Segment &segment = *std::prev(after);
  return offset - segment.offset < segment.bytes ? &segment : nullptr;
}

Result<Segment> Memory::add(std::span<const std::unique_ptr<Nic>> nics,
                            uint64_t offset, uint64_t bytes) {
  uint64_t end = std::min(offset + bytes, heap_.bytes());
  Segment segment;
  segment.offset = std::max(offset, heap_.dataOffset());
  if (segment.offset >= end)
    return segment;
  segment.bytes = end - segment.offset;
  segment.address = reinterpret_cast<uint64_t>(heap_.base() + segment.offset);
  for (const auto &nic : nics) {
    std::string why;
    ibv_mr *region = registerPart(*nic, segment.offset, segment.bytes, why);
    if (!region)
      return error(StatusCode::ResourceExhausted, "NIC ", nic->name(),
                   " cannot register ", segment.bytes,
                   " bytes of symmetric memory: ", why);
    regions_.push_back({&nic->library, region});
    segment.localKeys.push_back(region->lkey);
    segment.remoteKeys.push_back(region->rkey);
    log::info("NIC ", nic->name(), ": ", segment.bytes, " bytes of memory, ",
              how_);
  }
  segments_.add(segment);
  return segment;
}

ibv_mr *Memory::byAddress(const Nic &nic, void *address, uint64_t bytes,
                          int access) {
  auto iova = reinterpret_cast<uint64_t>(address);
  if (relaxed_ && nic.library.reg_mr_iova2) {
    // The library drops the flag for kernels that do not know it.
    if (ibv_mr *region = nic.library.reg_mr_iova2(
            nic.pd, address, bytes, iova,
            static_cast<unsigned>(access | IBV_ACCESS_RELAXED_ORDERING))) {
      how_ = "by address, relaxed ordering";
      return region;
    }
  }
  how_ = "by address";
  return (nic.library.reg_mr)(nic.pd, address, bytes, access);
}

ibv_mr *Memory::registerPart(const Nic &nic, uint64_t offset, uint64_t bytes,
                             std::string &why) {
  // Writing remotely includes writing locally.
  constexpr int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
  void *address = heap_.base() + offset;
  if (heap_.asHost()) {
    ibv_mr *region = byAddress(nic, address, bytes, access);
    if (!region)
      why = registrationError(errno);
    return region;
  }
  Result<Fd> fd = heap_.dmaBuf(offset, bytes);
  if (fd && nic.library.reg_dmabuf_mr) {
    auto iova = reinterpret_cast<uint64_t>(address);
    for (bool relaxed : {relaxed_, false}) {
      int flags = relaxed ? access | IBV_ACCESS_RELAXED_ORDERING : access;
      ibv_mr *region = nic.library.reg_dmabuf_mr(nic.pd, 0, bytes, iova,
                                                 fd->get(), flags);
      if (region) {
        how_ = relaxed ? "by dma-buf, relaxed ordering" : "by dma-buf";
        return region;
      }
    }
    why = str("by dma-buf: ", std::strerror(errno));
  } else {
    why = str("by dma-buf: ", fd ? "this rdma-core is older than 34"
                                 : fd.status().message());
  }
  errno = 0;
  if (ibv_mr *region = byAddress(nic, address, bytes, access)) {
    how_ += " (peer memory)";
    return region;
  }
  why += str("; by address: ", registrationError(errno),
             ": use the open kernel modules of the NVIDIA driver with Linux 5.12 or "
             "newer, or load nvidia_peermem, or stage through memory of the host");
  return nullptr;
}

void Memory::clear() {
  for (auto &[library, region] : regions_)
    library->dereg_mr(region);
  regions_.clear();
  segments_ = {};
}

} // namespace mk::rt::rdma
