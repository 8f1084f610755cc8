//===- Frame.h - Messages of the store --------------------------*- C++ -*-===//
//
// A frame is {u32 length of what follows; u8 type; u32 id; payload}, integers
// in the machine's order (all ranks of a job are alike). The id pairs replies
// with requests.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_RUNTIME_BOOTSTRAP_FRAME_H
#define MKERNEL_RUNTIME_BOOTSTRAP_FRAME_H

#include "mkernel/Runtime/Status.h"

#include <cstdint>

namespace mk::rt::store {

enum class Type : uint8_t {
  // Handshake.
  Challenge = 1, // server: magic, nonce
  Hello,         // client: rank, job, abi, nonce, proof
  Welcome,       // server: proof
  Refuse,        // server: code, text; then it disconnects
  // Requests.
  Set,     // key, value
  Get,     // key
  Add,     // key, delta
  Barrier, // name, n
  Cancel,  // id of a Get or Barrier whose deadline passed; no reply
  Goodbye, //
  Abort,   // record; no reply
  // Server to client.
  Reply,   // payload by request
  Failed,  // code, text
  Aborted, // record; id 0
  // Requests.
  Recover, // n; the reply: how many aborts are over
  // Both ways.
  Alive, // sent all the time, and answered, so that silence means something; id 0
};

inline constexpr uint32_t kHeaderBytes = 9;       // of a frame
inline constexpr uint32_t kHandshakeLimit = 2048; // bytes before admission
inline constexpr size_t kMaxKey = 1024;           // bytes
inline constexpr std::string_view kMagic = "mKernel store 1";

/// Builds payloads.
class Writer {
public:
  Writer &u32(uint32_t v) { return raw(&v, sizeof(v)); }
  Writer &i64(int64_t v) { return raw(&v, sizeof(v)); }
  Writer &bytes(std::string_view v) {
    u32(static_cast<uint32_t>(v.size()));
    return raw(v.data(), v.size());
  }
  const std::string &take() const { return out_; }

private:
  Writer &raw(const void *data, size_t n) {
    out_.append(static_cast<const char *>(data), n);
    return *this;
  }
  std::string out_;
};

/// Takes payloads apart; after a read past the end every value is zero or empty
/// and ok() is false.
class Reader {
public:
  explicit Reader(std::string_view data) : data_(data) {}
  uint32_t u32() { return integer<uint32_t>(); }
  int64_t i64() { return integer<int64_t>(); }
  std::string_view bytes() { return take(u32()); }
  /// Everything was read, and no more.
  bool done() const { return ok_ && data_.empty(); }
  bool ok() const { return ok_; }

private:
  template <typename T> T integer();
  std::string_view take(size_t n);
  std::string_view data_;
  bool ok_ = true;
};

struct Frame {
  Type type{};
  uint32_t id = 0;
  std::string payload;
};

std::string encodeFrame(Type type, uint32_t id, std::string_view payload);

/// Cuts a byte stream into frames.
class FrameBuffer {
public:
  void append(const char *data, size_t n) { in_.append(data, n); }
  /// Next whole frame; nothing when more bytes are needed; InvalidArgument for
  /// a length below the header's or above `limit`.
  Result<std::optional<Frame>> next(uint32_t limit);

private:
  std::string in_;
  size_t begin_ = 0;
};

} // namespace mk::rt::store

#endif // MKERNEL_RUNTIME_BOOTSTRAP_FRAME_H
