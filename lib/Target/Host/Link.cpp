//===- Link.cpp - Run the linker ------------------------------------------===//
#include "mkernel/Target/Host/Emit.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

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

static std::string findLinker() {
  for (const char *name : {"ld.lld-22", "ld.lld", "ld"})
    if (llvm::ErrorOr<std::string> path = llvm::sys::findProgramByName(name))
      return *path;
  return {};
}

LogicalResult mk::linkSharedObject(Location loc, StringRef relocatable,
                                   SmallVectorImpl<char> &shared) {
  std::string linker = findLinker();
  if (linker.empty())
    return emitError(loc) << "no linker was found on PATH (looked for "
                             "ld.lld-22, ld.lld, ld); install one, on Debian: "
                             "apt-get install lld-22 or binutils";
  PrivateDirectory directory;
  if (std::error_code error = directory.create())
    return emitError(loc) << "cannot make a temporary directory: "
                          << error.message()
                          << "; set TMPDIR to one that is writable";
  std::string input = directory.file("kernel.o");
  std::string output = directory.file("kernel.so");
  std::string messages = directory.file("messages");
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
      return emitError(loc) << "cannot write " << input << ": "
                            << error.message();
  }
  // Symbols of the runtime and the C library are found among those of the
  // process that loads the object.
  StringRef args[] = {linker,           "-shared",       "--hash-style=gnu",
                      "--eh-frame-hdr", "-znoexecstack", "-zrelro",
                      "-znow",          "--gc-sections", "-o",
                      output,           input};
  std::optional<StringRef> redirects[] = {StringRef(""), StringRef(messages),
                                          StringRef(messages)};
  std::string failure;
  int status =
      llvm::sys::ExecuteAndWait(linker, args, /*Env=*/std::nullopt, redirects,
                                /*SecondsToWait=*/120, 0, &failure);
  if (status != 0) {
    if (auto text = llvm::MemoryBuffer::getFile(messages))
      failure += (*text)->getBuffer().trim().str();
    return emitError(loc) << linker << " failed (status " << status
                          << "): " << failure;
  }
  auto result = llvm::MemoryBuffer::getFile(output);
  if (!result)
    return emitError(loc) << "cannot read what " << linker
                          << " wrote: " << result.getError().message();
  StringRef bytes = (*result)->getBuffer();
  shared.assign(bytes.begin(), bytes.end());
  return success();
}
