//===- Digest.h - SHA-256, HMAC and random tokens ---------------*- C++ -*-===//
#ifndef MKERNEL_RUNTIME_DIGEST_H
#define MKERNEL_RUNTIME_DIGEST_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace mk::rt {

using Digest = std::array<uint8_t, 32>;

Digest sha256(std::span<const std::byte> data);
Digest sha256(std::string_view data);
Digest hmacSha256(std::string_view key, std::string_view data);

/// Compares in time that does not depend on the contents.
bool equalDigests(const Digest &a, const Digest &b);

/// Lower-case hexadecimal.
std::string toHex(std::span<const uint8_t> bytes);
inline std::string toHex(const Digest &d) {
  return toHex(std::span<const uint8_t>(d.data(), d.size()));
}

/// `n` bytes from the system's cryptographic generator (raw, not text).
std::string randomBytes(size_t n);
/// A fresh job token: 64 hexadecimal characters.
std::string randomToken();

/// Hash of the ABI headers this library was built with (mkernel/ABI/Hash.h).
Digest abiHash();

} // namespace mk::rt

#endif // MKERNEL_RUNTIME_DIGEST_H
