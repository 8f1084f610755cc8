//===- PackageWrite.cpp - Writing packages --------------------------------===//

#include "mkernel/Runtime/PackageC.h"

#include "mkernel/ABI/Package.h"
#include "mkernel/Runtime/Package.h"

#include <cstdlib>
#include <cstring>

using namespace mk::rt;

static char *copyText(const std::string &text) {
  auto *copy = static_cast<char *>(std::malloc(text.size() + 1));
  if (copy)
    std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

int mk_package_write(const char *metadata, size_t metadataBytes,
                     const void *payload, size_t payloadBytes, void **package,
                     size_t *packageBytes, char **errorText) {
  // Parsed here so that a compiler hears of its own mistake, not its user.
  auto parsed = parseMetadata(std::string_view(metadata, metadataBytes));
  if (!parsed) {
    *errorText = copyText(parsed.status().message());
    return 1;
  }
  size_t body = metadataBytes + payloadBytes;
  auto *bytes =
      static_cast<std::byte *>(std::malloc(sizeof(mk_package_header) + body));
  if (!bytes) {
    *errorText = copyText(str("no memory for a package of ", body, " bytes"));
    return 1;
  }
  std::byte *data = bytes + sizeof(mk_package_header);
  std::memcpy(data, metadata, metadataBytes);
  if (payloadBytes)
    std::memcpy(data + metadataBytes, payload, payloadBytes);

  mk_package_header header = {};
  std::memcpy(header.magic, MK_PACKAGE_MAGIC, sizeof(header.magic));
  header.abi_version = MK_ABI_VERSION;
  header.header_bytes = sizeof(header);
  header.metadata_bytes = metadataBytes;
  header.payload_bytes = payloadBytes;
  Digest abi = abiHash();
  std::memcpy(header.abi_hash, abi.data(), abi.size());
  Digest digest = sha256(std::span<const std::byte>(data, body));
  std::memcpy(header.digest, digest.data(), digest.size());
  std::memcpy(bytes, &header, sizeof(header));
  *package = bytes;
  *packageBytes = sizeof(header) + body;
  return 0;
}

void mk_package_free(void *memory) { std::free(memory); }
