//===- Package.cpp - Reading packages -------------------------------------===//

#include "mkernel/Runtime/Package.h"

#include "mkernel/ABI/Package.h"
#include "package/VersionsMetadata.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

using namespace mk::rt;

namespace {

constexpr uint64_t kLargest = uint64_t(1) << 32; // bytes of a whole package

Status refuse(const std::string &what, const std::string &why) {
  return error(StatusCode::InvalidArgument, "package '", what, "' ", why);
}

} // namespace

int Metadata::argIndex(std::string_view name) const {
  for (size_t i = 0; i < args.size(); ++i)
    if (args[i].name == name)
      return static_cast<int>(i);
  return -1;
}

size_t Metadata::countOwnCtas() const {
  size_t ctas = 0;
  for (const Role &role : roles)
    ctas += role.isInGrid() ? role.ctas : 0;
  return ctas;
}

uint32_t Metadata::countBeside() const {
  return std::count_if(roles.begin(), roles.end(), [](const Role &role) { return role.beside >= 0; });
}

std::span<const std::byte> Package::metadataText() const {
  return std::span(bytes_).subspan(sizeof(mk_package_header),
                                   payloadOffset_ - sizeof(mk_package_header));
}

Result<Package> Package::read(const std::string &path) {
  // A named pipe would wait for a writer.
  int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0)
    return errnoError(StatusCode::NotFound, "opening package '" + path + "'",
                      errno);
  auto result = read(fd, path);
  close(fd);
  return result;
}

Result<Package> Package::read(int fd, const std::string &what) {
  struct stat info;
  if (fstat(fd, &info) != 0)
    return errnoError(StatusCode::Unavailable, "reading '" + what + "'", errno);
  if (!S_ISREG(info.st_mode))
    return refuse(what, "is not a regular file");
  if (static_cast<uint64_t>(info.st_size) > kLargest)
    return refuse(what, str("has ", info.st_size,
                            " bytes; the largest package "
                            "has ",
                            kLargest));
  std::vector<std::byte> bytes(info.st_size);
  size_t done = 0;
  while (done < bytes.size()) {
    ssize_t n = pread(fd, bytes.data() + done, bytes.size() - done, done);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return errnoError(StatusCode::Unavailable, "reading '" + what + "'",
                        errno);
    if (n == 0)
      return refuse(what, "became shorter while it was read");
    done += n;
  }
  return parse(std::move(bytes), what);
}

Result<Package> Package::parse(std::vector<std::byte> bytes,
                               const std::string &what) {
  return parse(std::move(bytes), what, /*isVersion=*/false);
}

Result<Package> Package::parse(std::vector<std::byte> bytes, const std::string &what,
                               bool isVersion) {
  mk_package_header header;
  if (bytes.size() < sizeof(header.magic) ||
      std::memcmp(bytes.data(), MK_PACKAGE_MAGIC, sizeof(header.magic)) != 0)
    return refuse(what, "is not a package: it does not start as one (packages "
                        "come from mk-opt --emit=package)");
  if (bytes.size() < sizeof(header))
    return refuse(what, str("is truncated: ", bytes.size(),
                            " bytes, its header "
                            "alone has ",
                            sizeof(header)));
  std::memcpy(&header, bytes.data(), sizeof(header));
  if (header.abi_version != MK_ABI_VERSION)
    return refuse(what, str("has ABI version ", header.abi_version,
                            ", this runtime has ", MK_ABI_VERSION,
                            ": compile the kernel again"));
  if (header.header_bytes != sizeof(header))
    return refuse(what, str("has a header of ", header.header_bytes,
                            " bytes instead of ", sizeof(header)));
  Digest abi;
  std::memcpy(abi.data(), header.abi_hash, abi.size());
  if (!equalDigests(abi, abiHash()))
    return refuse(what, str("was compiled for another ABI (hash ",
                            toHex(abi).substr(0, 16), ", this runtime has ",
                            toHex(abiHash()).substr(0, 16),
                            "), or its header is damaged: compile the kernel again with this version"));
  uint64_t body = bytes.size() - sizeof(header);
  if (header.metadata_bytes > body ||
      header.payload_bytes > body - header.metadata_bytes)
    return refuse(what, str("is truncated: ", bytes.size(), " bytes of ",
                            sizeof(header) + header.metadata_bytes +
                                header.payload_bytes));
  if (header.metadata_bytes + header.payload_bytes != body)
    return refuse(what, str("has ",
                            body - header.metadata_bytes - header.payload_bytes,
                            " bytes behind its end"));
  Package package;
  package.digest_ = sha256(std::span(bytes).subspan(sizeof(header)));
  Digest stated;
  std::memcpy(stated.data(), header.digest, stated.size());
  if (!equalDigests(package.digest_, stated))
    return refuse(what, "was altered: its SHA-256 digest is not the one it "
                        "states");
  std::string_view text(reinterpret_cast<const char *>(bytes.data()) +
                            sizeof(header),
                        header.metadata_bytes);
  auto metadata = parseMetadata(text);
  if (!metadata)
    return metadata.status().withContext("package '" + what + "'");
  if (isVersion && !metadata->versions.empty())
    return refuse(what, "has versions itself: it was put together wrongly; compile the kernel again");
  package.metadata_ = std::move(*metadata);
  package.payloadOffset_ = sizeof(header) + header.metadata_bytes;
  package.payloadBytes_ = header.payload_bytes;
  package.bytes_ = std::move(bytes);
  if (!package.metadata_.versions.empty())
    MK_TRY(package.readVersions(what));
  return package;
}

/// They lie behind the shared object.
Status Package::readVersions(const std::string &what) {
  uint64_t bytes = 0;
  for (const Metadata::Version &version : metadata_.versions)
    bytes += version.bytes;
  if (bytes >= payloadBytes_)
    return refuse(what, str("has versions of ", bytes, " bytes in a payload of ", payloadBytes_,
                            ", which also holds the code that chooses: it was put together wrongly; "
                            "compile the kernel again"));
  payloadBytes_ -= bytes;
  auto next = bytes_.begin() + ptrdiff_t(payloadOffset_ + payloadBytes_);
  for (size_t i = 0; i < metadata_.versions.size(); ++i) {
    auto end = next + ptrdiff_t(metadata_.versions[i].bytes);
    MK_ASSIGN(Package version,
              parse({std::exchange(next, end), end}, str(what, "', version ", i + 1, " of '",
                                                         metadata_.kernel),
                    /*isVersion=*/true));
    if (std::string why = findDifference(metadata_, version.metadata()); !why.empty())
      return refuse(what, str("has a version ", i + 1, " that ", why,
                              ", unlike what it says of all versions: it was put together wrongly; "
                              "compile the kernel again"));
    versions_.push_back(std::move(version));
  }
  return Status::success();
}

std::string mk::rt::shapeText(std::span<const int64_t> extents) {
  std::string text;
  for (int64_t extent : extents)
    text += str(text.empty() ? "" : " x ", extent);
  return text.empty() ? "scalar" : text;
}
