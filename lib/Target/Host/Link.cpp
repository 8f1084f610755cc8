//===- Link.cpp - Objects to shared objects -------------------------------===//
#include "lld/Common/Driver.h"
#include "mkernel/Target/Host/Emit.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/raw_ostream.h"

#include <cerrno>
#include <fcntl.h>
#include <mutex>
#include <sys/mman.h>
#include <pthread.h>
#include <unistd.h>

LLD_HAS_DRIVER(elf)

using namespace mlir;

namespace {
/// A descriptor, which the linker opens by the name that the system gives it. So
/// nothing has a name in a file system, and a process that is killed leaves nothing.
class Descriptor {
public:
  ~Descriptor() { reset(); }
  void reset() {
    if (fd >= 0)
      ::close(fd);
    fd = -1;
  }
  std::string path() const { return "/proc/self/fd/" + std::to_string(fd); }
  int fd = -1;
};

/// The bytes as a file in memory; false with errno.
bool fill(Descriptor &file, StringRef bytes) {
  file.fd = ::memfd_create("mkernel-object", MFD_CLOEXEC);
  if (file.fd < 0)
    return false;
  while (!bytes.empty()) {
    ssize_t n = ::write(file.fd, bytes.data(), bytes.size());
    if (n < 0 && errno != EINTR)
      return false;
    bytes = bytes.drop_front(n > 0 ? n : 0);
  }
  return true;
}

/// Until nobody has the other end any more.
void drain(int fd, SmallVectorImpl<char> &bytes) {
  char buffer[1 << 16];
  while (true) {
    ssize_t n = ::read(fd, buffer, sizeof(buffer));
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return;
    bytes.append(buffer, buffer + n);
  }
}
} // namespace

/// lld resets every command line option of the process before it parses its
/// own, of which it is given none. That would undo what the program that this
/// library is part of was told (mk-opt), or has set itself (options of code
/// generators). The build wraps the one function that does it.
extern "C" void MKERNEL_RESET_ALL_OPTIONS() {}

/// lld has one context for each process.
static std::mutex linkerMutex;

LogicalResult mk::linkSharedObject(Location loc, StringRef relocatable,
                                   SmallVectorImpl<char> &shared) {
  // The linker makes temporary files beside an output that is a file: it writes
  // to a pipe.
  Descriptor input, reader, writer;
  int ends[2];
  if (!fill(input, relocatable) || ::pipe2(ends, O_CLOEXEC) != 0)
    return emitError(loc) << "the object cannot be handed to the linker: "
                          << llvm::sys::StrError(errno);
  reader.fd = ends[0];
  writer.fd = ends[1];
  std::string from = input.path(), to = writer.path();
  // Symbols of the runtime and the C library are found among those of the
  // process that loads the object.
  const char *args[] = {"ld.lld",
                        "-shared",
                        "--hash-style=gnu",
                        "--eh-frame-hdr",
                        "-znoexecstack",
                        "-zrelro",
                        "-znow",
                        "--gc-sections",
                        "--threads=1",
                        "-o",
                        to.c_str(),
                        from.c_str()};
  std::string messages;
  llvm::raw_string_ostream os(messages);
  lld::Result result;
  shared.clear();
  struct Drain {
    int fd;
    SmallVectorImpl<char> &bytes;
  } job{reader.fd, shared};
  auto run = [](void *argument) -> void * {
    auto *job = static_cast<Drain *>(argument);
    drain(job->fd, job->bytes);
    return nullptr;
  };
  // std::thread throws where there is no thread to be had.
  pthread_t receiver;
  if (int error = ::pthread_create(&receiver, nullptr, run, &job))
    return emitError(loc) << "there is no thread for the linker's output: "
                          << llvm::sys::StrError(error)
                          << ": raise the limits of processes and memory (ulimit "
                             "-u, -v)";
  {
    std::lock_guard<std::mutex> lock(linkerMutex);
    result = lld::lldMain(args, os, os, {{lld::Gnu, &lld::elf::link}});
  }
  writer.reset();
  ::pthread_join(receiver, nullptr);
  if (result.retCode != 0)
    return emitError(loc) << "the object cannot be linked: "
                          << StringRef(messages).trim();
  return success();
}
