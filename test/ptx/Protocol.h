//===- Protocol.h - Between the driver and the machine ----------*- C++ -*-===//
//
// The driver is a library in each rank's process, the machine a process of its
// own (ptx-run), so that all ranks are steps of one schedule. They speak over a
// socket of whole messages, each answered; what is long travels as a memory
// file.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_TEST_PTX_PROTOCOL_H
#define MKERNEL_TEST_PTX_PROTOCOL_H

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

namespace mk::ptx {

/// Environment: the path of the socket, how many GPUs there are, and what memory one of them has
/// (GPU:BYTES).
inline constexpr const char *kSocket = "PTX_RUN_SOCKET";
inline constexpr const char *kGpus = "PTX_RUN_GPUS";
inline constexpr const char *kMemory = "PTX_RUN_MEMORY";

struct Request {
  enum Kind : uint32_t {
    Hello,  // of device a; b: 1 of its proxy
    Map,    // b bytes at a, the file: rank's kernels may address them; c: 1 of the host
    Unmap,  // at a
    Load,   // the file: b bytes of PTX; answer: its number, bytes of parameters
    Launch, // of module a, the file: b bytes of parameters
    Wait,   // until all launches have ended; answer: a CUresult
    Upload, // b bytes at a have been written
    Download, // b bytes at a are read
    Beside, // c bytes are copied from b to a, beside the next launch
    // Of a proxy, over a socket of its own, also while launches run. Addresses are of the
    // device's.
    Copy,    // c bytes from b to a
    Read,    // c bytes from b into the file
    Write,   // c bytes to a from the file
    Publish, // word c to a
  };
  Kind kind = Hello;
  uint32_t ctas = 0, threads = 0, shared = 0;
  uint64_t a = 0, b = 0, c = 0;
};

struct Answer {
  int32_t code = 0; // a CUresult
  uint32_t unused = 0;
  uint64_t a = 0, b = 0;
  char text[200] = {};
};

/// False: nobody is there.
template <typename T>
bool sendMessage(int socket, const T &message, int file = -1) {
  iovec part{const_cast<T *>(&message), sizeof(T)};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  if (file >= 0) {
    header.msg_control = control;
    header.msg_controllen = sizeof(control);
    cmsghdr *c = CMSG_FIRSTHDR(&header);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(c), &file, sizeof(int));
  }
  return ::sendmsg(socket, &header, MSG_NOSIGNAL) == ssize_t(sizeof(T));
}

/// `file` becomes what came along, or -1.
template <typename T> bool receiveMessage(int socket, T &message, int &file) {
  iovec part{&message, sizeof(T)};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = sizeof(control);
  file = -1;
  if (::recvmsg(socket, &header, MSG_CMSG_CLOEXEC) != ssize_t(sizeof(T)))
    return false;
  if (cmsghdr *c = CMSG_FIRSTHDR(&header); c && c->cmsg_type == SCM_RIGHTS)
    std::memcpy(&file, CMSG_DATA(c), sizeof(int));
  return true;
}

/// A memory file of `bytes` bytes, with `data` in it; -1 if there is no memory.
inline int memoryFile(const void *data, size_t bytes) {
  int file = ::memfd_create("mk-ptx", MFD_CLOEXEC);
  if (file < 0 || ::ftruncate(file, off_t(bytes)) < 0)
    return -1;
  if (data && ::pwrite(file, data, bytes, 0) != ssize_t(bytes))
    return -1;
  return file;
}

} // namespace mk::ptx

#endif // MKERNEL_TEST_PTX_PROTOCOL_H
