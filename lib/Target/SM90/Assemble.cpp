//===- Assemble.cpp - What ptxas says of a kernel -------------------------===//
#include "Emit.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Regex.h"

using namespace mlir;

FailureOr<int64_t> mk::measureSpills(StringRef ptx, StringRef program, Location loc) {
  SmallString<64> source, log;
  int file = -1;
  auto fail = [&](StringRef what, StringRef why) {
    return emitError(loc) << "cannot be assembled: " << what << ": " << why
                          << ": MK_PTXAS names the ptxas of CUDA 12.9 or newer, or 'off'";
  };
  if (std::error_code code = llvm::sys::fs::createTemporaryFile("mkernel", "ptx", file, source))
    return fail("no temporary file could be made", code.message());
  llvm::scope_exit removeSource([&] { llvm::sys::fs::remove(source); });
  {
    llvm::raw_fd_ostream os(file, /*shouldClose=*/true);
    os << ptx;
    os.close();
    if (os.has_error()) {
      std::string why = os.error().message();
      os.clear_error();
      return fail("the code could not be written", why);
    }
  }
  if (std::error_code code = llvm::sys::fs::createTemporaryFile("mkernel", "log", log))
    return fail("no temporary file could be made", code.message());
  llvm::scope_exit removeLog([&] { llvm::sys::fs::remove(log); });
  std::string error;
  std::optional<StringRef> redirects[] = {StringRef(""), StringRef(log), StringRef(log)};
  int status = llvm::sys::ExecuteAndWait(
      program, {program, "-v", "-O3", "-arch=sm_90a", source, "-o", "/dev/null"}, std::nullopt,
      redirects, 0, 0, &error);
  auto text = llvm::MemoryBuffer::getFile(log);
  StringRef said = text ? (*text)->getBuffer() : StringRef();
  if (status != 0)
    return fail((program + " ended with " + Twine(status)).str(),
                error.empty() ? said.trim() : StringRef(error));
  // Of the kernel, and of functions that it calls.
  int64_t bytes = 0;
  llvm::Regex frame("([0-9]+) bytes stack frame, ([0-9]+) bytes spill stores");
  for (SmallVector<StringRef> parts; frame.match(said, &parts);) {
    int64_t stack = 0, stores = 0;
    parts[1].getAsInteger(10, stack);
    parts[2].getAsInteger(10, stores);
    bytes += std::max(stack, stores);
    said = said.drop_front(parts[0].end() - said.begin());
  }
  return bytes;
}
