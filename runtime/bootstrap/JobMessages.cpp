//===- JobMessages.cpp - What ranks of a job send each other --------------===//

#include "mkernel/Runtime/Job.h"

#include "bootstrap/Frame.h"

using namespace mk::rt;

namespace {

// Below the limit of one message of the store.
constexpr size_t kChunk = 8u << 20;

size_t chunksOf(size_t bytes) { return (bytes + kChunk - 1) / kChunk; }

/// Writes `value` under "key/0", "key/1", ...
Status putChunks(StoreClient &store, const std::string &key,
                 std::string_view value, Deadline deadline) {
  for (size_t i = 0; i < chunksOf(value.size()); ++i)
    MK_TRY(store.set(str(key, "/", i), value.substr(i * kChunk, kChunk),
                     deadline));
  return Status::success();
}

/// Reads them; `keep` leaves them for others.
Result<std::string> getChunks(StoreClient &store, const std::string &key,
                              size_t bytes, bool keep, Deadline deadline) {
  std::string value;
  value.reserve(bytes);
  for (size_t i = 0; i < chunksOf(bytes); ++i) {
    std::string name = str(key, "/", i);
    MK_ASSIGN(std::string chunk, store.get(name, deadline));
    value += chunk;
    if (!keep)
      MK_TRY(store.set(name, "", deadline));
  }
  if (value.size() != bytes)
    return error(StatusCode::Internal, "the store has ", value.size(), " of ",
                 bytes, " bytes of '", key, "'");
  return value;
}

} // namespace

Result<std::string>
Job::broadcast(std::string_view what,
               const std::function<Result<std::string>()> &make,
               Deadline deadline) {
  std::string key = str("mk.job.", what, ".", messages_++);
  if (rank() == 0) {
    Result<std::string> value = make();
    std::string head =
        value ? store::Writer().u32(0).i64(int64_t(value->size())).take()
              : store::Writer()
                    .u32(static_cast<uint32_t>(value.status().code()))
                    .bytes(value.status().message())
                    .take();
    if (value)
      MK_TRY(putChunks(*store_, key, *value, deadline));
    MK_TRY(store_->set(key, head, deadline));
    return value;
  }
  auto head = store_->get(key, deadline);
  if (!head)
    return head.status().code() == StatusCode::Aborted
               ? head.status()
               : head.status().withContext(str("rank 0 did not send ", what));
  store::Reader reader(*head);
  uint32_t code = reader.u32();
  if (code != 0)
    return Status(static_cast<StatusCode>(code), std::string(reader.bytes()));
  return getChunks(*store_, key, static_cast<size_t>(reader.i64()),
                   /*keep=*/true, deadline);
}

Status Job::collect(std::string_view what, std::string_view mine,
                    const std::function<Status(uint32_t, std::string)> &take,
                    Deadline deadline) {
  std::string key = str("mk.job.", what, ".", messages_++);
  // In turn, so that the store holds the data of one rank at a time.
  auto of = [&](uint32_t r) { return str(key, "/rank ", r); };
  if (rank() != 0) {
    MK_TRY(store_->get(of(rank()) + "/turn", deadline).status());
    MK_TRY(store_->set(of(rank()), store::Writer().i64(int64_t(mine.size())).take(),
                       deadline));
    return putChunks(*store_, of(rank()), mine, deadline);
  }
  for (uint32_t r = 1; r < world(); ++r) {
    MK_TRY(store_->set(of(r) + "/turn", "", deadline));
    auto head = store_->get(of(r), deadline);
    if (!head)
      return head.status().withContext(str(what, " of rank ", r));
    int64_t bytes = store::Reader(*head).i64();
    MK_ASSIGN(std::string value,
              getChunks(*store_, of(r), static_cast<size_t>(bytes),
                        /*keep=*/false, deadline));
    MK_TRY(take(r, std::move(value)));
  }
  return Status::success();
}
