//===- Link.cpp - Objects to shared objects -------------------------------===//
#include "lld/Common/Driver.h"
#include "mkernel/Target/Host/Emit.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/raw_ostream.h"

#include <cerrno>
#include <fcntl.h>
#include <mutex>
#include <pthread.h>
#include <sys/mman.h>
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

/// Moves what comes out of a pipe to a file, until nobody has the other end any more.
/// The descriptors are the halves of the argument: nothing is on the stack of the
/// thread that started this one, and nothing is allocated. Returns errno.
void *drain(void *descriptors) {
  auto halves = reinterpret_cast<uint64_t>(descriptors);
  int from = static_cast<int>(halves >> 32), to = static_cast<int>(halves & 0xffffffff);
  uint64_t failed = 0;
  char rest[4096];
  while (true) {
    // The linker has to be rid of the rest even if there is no place for it.
    ssize_t n = failed ? ::read(from, rest, sizeof(rest))
                       : ::splice(from, nullptr, to, nullptr, 1 << 20, 0);
    if (n == 0 || (n < 0 && failed && errno != EINTR))
      return reinterpret_cast<void *>(failed);
    if (n < 0 && errno != EINTR)
      failed = errno;
  }
}

/// A thread with a small stack; not std::thread, which throws where none is to be had.
int startDrain(int from, int to, pthread_t &thread) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 256 << 10);
  uint64_t halves = uint64_t(from) << 32 | uint32_t(to);
  int err = pthread_create(&thread, &attributes, drain, reinterpret_cast<void *>(halves));
  pthread_attr_destroy(&attributes);
  return err;
}

/// All of a file.
bool read(const Descriptor &file, SmallVectorImpl<char> &bytes) {
  off_t size = ::lseek(file.fd, 0, SEEK_END);
  if (size < 0)
    return false;
  bytes.resize_for_overwrite(size);
  for (off_t at = 0; at < size;) {
    ssize_t n = ::pread(file.fd, bytes.data() + at, size - at, at);
    if (n == 0 || (n < 0 && errno != EINTR))
      return false;
    at += n > 0 ? n : 0;
  }
  return true;
}
} // namespace

/// lld resets every command line option of the process before it parses its own, of which it is
/// given none. That would undo what the program that this library is part of was told (mk-opt), or
/// has set itself (options of code generators). The build wraps the one function that does it.
extern "C" void MKERNEL_RESET_ALL_OPTIONS() {}

/// lld has one context for each process.
static std::mutex linkerMutex;

static constexpr const char *kRemedy =
    "; raise the limit of open files (ulimit -n), of their size (ulimit -f) or of memory";

LogicalResult mk::linkSharedObject(Location loc, StringRef relocatable,
                                   SmallVectorImpl<char> &shared) {
  // The linker makes temporary files beside an output that is a file: it writes to a pipe.
  Descriptor input, reader, writer, output;
  int ends[2];
  if (!fill(input, relocatable) || !fill(output, "") || ::pipe2(ends, O_CLOEXEC) != 0)
    return emitError(loc) << "the object cannot be handed to the linker: "
                          << llvm::sys::StrError(errno) << kRemedy;
  reader.fd = ends[0];
  writer.fd = ends[1];
  std::string from = input.path(), to = writer.path();
  // Symbols of the runtime and the C library are found among those of the
  // process that loads the object.
  const char *args[] = {
      "ld.lld",   "-shared",   "--hash-style=gnu", "--eh-frame-hdr", "-znoexecstack",
      "-zrelro",  "-znow",     "--gc-sections",    "--threads=1",    "-o",
      to.c_str(), from.c_str()};
  std::string messages;
  llvm::raw_string_ostream os(messages);
  lld::Result result;
  shared.clear();
  pthread_t receiver;
  if (int err = startDrain(reader.fd, output.fd, receiver))
    return emitError(loc) << "the linker needs a thread: " << llvm::sys::StrError(err)
                          << "; raise the limit of memory (ulimit -v) or of threads (ulimit -u)";
  {
    std::lock_guard<std::mutex> lock(linkerMutex);
    result = lld::lldMain(args, os, os, {{lld::Gnu, &lld::elf::link}});
  }
  writer.reset();
  void *failed = nullptr;
  pthread_join(receiver, &failed);
  if (result.retCode != 0)
    return emitError(loc) << "the object cannot be linked: " << StringRef(messages).trim();
  if (failed)
    errno = static_cast<int>(reinterpret_cast<uintptr_t>(failed));
  if (failed || !read(output, shared))
    return emitError(loc) << "what the linker made cannot be read: " << llvm::sys::StrError(errno)
                          << kRemedy;
  return success();
}
