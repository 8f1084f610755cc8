//===- Frame.cpp - Messages of the store ----------------------------------===//

#include "bootstrap/Frame.h"

#include <cstring>

namespace mk::rt::store {

template <typename T> T Reader::integer() {
  std::string_view raw = take(sizeof(T));
  T value{};
  if (raw.size() == sizeof(T))
    memcpy(&value, raw.data(), sizeof(T));
  return value;
}
template uint32_t Reader::integer<uint32_t>();
template int64_t Reader::integer<int64_t>();

std::string_view Reader::take(size_t n) {
  if (!ok_ || n > data_.size()) {
    ok_ = false;
    data_ = {};
    return {};
  }
  std::string_view head = data_.substr(0, n);
  data_.remove_prefix(n);
  return head;
}

std::string encodeFrame(Type type, uint32_t id, std::string_view payload) {
  uint32_t length = static_cast<uint32_t>(payload.size()) + kHeaderBytes - 4;
  std::string out(kHeaderBytes, '\0');
  memcpy(out.data(), &length, 4);
  out[4] = static_cast<char>(type);
  memcpy(out.data() + 5, &id, 4);
  out += payload;
  return out;
}

Result<std::optional<Frame>> FrameBuffer::next(uint32_t limit) {
  size_t have = in_.size() - begin_;
  if (have < 4)
    return std::optional<Frame>();
  uint32_t length;
  memcpy(&length, in_.data() + begin_, 4);
  if (length < kHeaderBytes - 4 || length > limit)
    return error(StatusCode::InvalidArgument, "a message of ", length,
                 " bytes (the limit is ", limit, ")");
  if (have < 4 + size_t(length))
    return std::optional<Frame>();
  Frame frame;
  frame.type = static_cast<Type>(in_[begin_ + 4]);
  memcpy(&frame.id, in_.data() + begin_ + 5, 4);
  frame.payload.assign(in_, begin_ + kHeaderBytes, length + 4 - kHeaderBytes);
  begin_ += 4 + size_t(length);
  // Compact seldom, so that many small frames stay linear.
  if (begin_ > (64 << 10) || begin_ == in_.size()) {
    in_.erase(0, begin_);
    begin_ = 0;
  }
  return std::optional<Frame>(std::move(frame));
}

} // namespace mk::rt::store
