//===- ContextMemory.cpp - Symmetric memory of the program's own ----------===//
//
// What a rank wants, and whether it got it, is told to all: either every rank has
// the memory, at the same offset, or none has.
//
//===----------------------------------------------------------------------===//

#include "device/Agreement.h"
#include "device/Device.h"

using namespace mk::rt;

Status Context::checkOpen(std::string_view what) const {
  MK_TRY(abort_.status());
  if (closed_)
    return error(StatusCode::FailedPrecondition, what,
                 " of symmetric memory: the context is closed");
  return Status::success();
}

Result<std::byte *> Context::allocate(uint64_t bytes, std::string_view what) {
  MK_TRY(checkOpen("allocation"));
  MK_ASSIGN(std::vector<std::string> wanted,
            allGather("symmetric memory", str(bytes)));
  for (uint32_t r = 1; r < wanted.size(); ++r)
    if (wanted[r] != wanted[0])
      return error(StatusCode::InvalidArgument, "ranks disagree: rank 0 allocates ",
                   wanted[0], " bytes of symmetric memory, rank ", r, " ",
                   wanted[r], " (", what, " on rank ", rank(),
                   "): allocate the same on all ranks, in the same order");

  HeapMemory memory;
  auto take = [&]() -> Status {
    MK_ASSIGN(memory, HeapMemory::allocate(*heap_, bytes, what));
    return heap_->clear(memory.data(), bytes);
  };
  Status status = take();
  // Also the barrier behind which peers may write.
  MK_TRY(agreeOn(*this, "symmetric memory", status.isOk() ? *heap_->offsetOf(memory.data()) : 0,
                 status, [&](uint32_t r, const std::string &first, const std::string &other) {
                   return error(StatusCode::InvalidArgument, "ranks disagree: ", what,
                                " is at offset ", first,
                                " of the symmetric memory on rank 0 and at ", other, " on rank ", r,
                                ": allocate, bind and free in the same order on "
                                "all ranks");
                 }));
  std::byte *data = memory.data();
  allocated_.emplace(data, std::move(memory));
  return data;
}

Status Context::free(void *memory) {
  MK_TRY(checkOpen("release"));
  auto it = allocated_.find(static_cast<std::byte *>(memory));
  Status status =
      it != allocated_.end()
          ? device_->synchronize() // what is under way may use it
          : error(StatusCode::InvalidArgument,
                  "this is no address that Context::allocate gave and that is "
                  "still allocated");
  MK_TRY(agreeOn(*this, "freed symmetric memory", status.isOk() ? *heap_->offsetOf(memory) : 0,
                 status, [](uint32_t r, const std::string &first, const std::string &other) {
                   return error(StatusCode::InvalidArgument,
                                "ranks disagree: rank 0 frees symmetric memory at "
                                "offset ",
                                first, ", rank ", r, " at ", other,
                                ": free the same on all ranks, in the same order");
                 }));
  allocated_.erase(it);
  return Status::success();
}

Result<std::byte *> Context::addressAt(uint32_t rank, const void *memory) const {
  if (rank >= world())
    return error(StatusCode::InvalidArgument, "there is no rank ", rank,
                 " in a mesh of ", world(), " ranks");
  if (!heap_->allocationOf(memory))
    return error(StatusCode::InvalidArgument,
                 "the address is not in symmetric memory of this context: use "
                 "what Context::allocate gave, or the data of a symmetric "
                 "argument");
  if (!heap_->reachable(rank))
    return error(StatusCode::FailedPrecondition, "the memory of rank ", rank,
                 " is not mapped on rank ", this->rank(),
                 ": it is on another node, which kernels reach by puts");
  return heap_->peerPointer(rank, memory);
}
