//===- Digest.cpp - SHA-256, HMAC and random tokens -----------------------===//

#include "mkernel/Runtime/Digest.h"
#include "mkernel/ABI/Hash.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include <cstdlib>

namespace mk::rt {
namespace {

Digest sha256(const void *data, size_t bytes) {
  Digest digest;
  // Fails only when the library is broken or out of memory; there is no
  // sensible way on from either.
  if (EVP_Digest(data, bytes, digest.data(), nullptr, EVP_sha256(), nullptr) !=
      1)
    std::abort();
  return digest;
}

} // namespace

Digest sha256(std::span<const std::byte> data) {
  return sha256(data.data(), data.size());
}

Digest sha256(std::string_view data) {
  return sha256(data.data(), data.size());
}

Digest hmacSha256(std::string_view key, std::string_view data) {
  Digest digest;
  unsigned size = digest.size();
  if (!HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
            reinterpret_cast<const unsigned char *>(data.data()), data.size(),
            digest.data(), &size))
    std::abort();
  return digest;
}

bool equalDigests(const Digest &a, const Digest &b) {
  return CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

std::string toHex(std::span<const uint8_t> bytes) {
  constexpr char digits[] = "0123456789abcdef";
  std::string hex;
  hex.reserve(bytes.size() * 2);
  for (uint8_t b : bytes) {
    hex += digits[b >> 4];
    hex += digits[b & 15];
  }
  return hex;
}

std::string randomBytes(size_t n) {
  std::string bytes(n, '\0');
  // A predictable token would admit anybody: rather stop.
  if (RAND_bytes(reinterpret_cast<unsigned char *>(bytes.data()),
                 static_cast<int>(n)) != 1)
    std::abort();
  return bytes;
}

std::string randomToken() {
  std::string raw = randomBytes(32);
  return toHex({reinterpret_cast<const uint8_t *>(raw.data()), raw.size()});
}

Digest abiHash() { return MK_ABI_HASH_BYTES; }

} // namespace mk::rt
