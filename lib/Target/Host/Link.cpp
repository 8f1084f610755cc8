//===- Link.cpp - Objects to shared objects -------------------------------===//
#include "lld/Common/Driver.h"
#include "mkernel/Target/Host/Emit.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <mutex>

LLD_HAS_DRIVER(elf)

using namespace mlir;

namespace {
/// A directory that only this user can read, gone when this is.
struct PrivateDirectory {
  SmallString<128> path;

  std::error_code create() {
    if (std::error_code error =
            llvm::sys::fs::createUniqueDirectory("mkernel-link", path))
      return error;
    return llvm::sys::fs::setPermissions(path, llvm::sys::fs::owner_all);
  }
  ~PrivateDirectory() {
    if (!path.empty())
      llvm::sys::fs::remove_directories(path, /*IgnoreErrors=*/true);
  }
  std::string file(StringRef name) const {
    SmallString<128> result(path);
    llvm::sys::path::append(result, name);
    return result.str().str();
  }
};
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
  PrivateDirectory directory;
  if (std::error_code error = directory.create())
    return emitError(loc) << "cannot make a temporary directory: "
                          << error.message()
                          << "; set TMPDIR to one that is writable";
  std::string input = directory.file("kernel.o");
  std::string output = directory.file("kernel.so");
  {
    std::error_code error;
    llvm::raw_fd_ostream os(input, error);
    if (!error) {
      os << relocatable;
      os.close();
      error = os.error();
      os.clear_error();
    }
    if (error)
      return emitError(loc)
             << "cannot write " << input << ": " << error.message();
  }
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
                        output.c_str(),
                        input.c_str()};
  std::string messages;
  llvm::raw_string_ostream os(messages);
  lld::Result result;
  {
    std::lock_guard<std::mutex> lock(linkerMutex);
    result = lld::lldMain(args, os, os, {{lld::Gnu, &lld::elf::link}});
  }
  if (result.retCode != 0)
    return emitError(loc) << "the object cannot be linked: "
                          << StringRef(messages).trim();
  auto linked = llvm::MemoryBuffer::getFile(output);
  if (!linked)
    return emitError(loc) << "cannot read what the linker wrote: "
                          << linked.getError().message();
  StringRef bytes = (*linked)->getBuffer();
  shared.assign(bytes.begin(), bytes.end());
  return success();
}
