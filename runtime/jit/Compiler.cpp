//===- Compiler.cpp - The compiler's shared object ------------------------===//

#include "Compiler.h"

#include "mkernel/ABI/HostCalls.h"
#include "mkernel/Runtime/Env.h"

#include <climits>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <map>
#include <mutex>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

using namespace mk;
using namespace mk::rt;

static constexpr const char *kName = "libmkernel_jit.so";

static std::string folderOf(const std::string &path) {
  return path.substr(0, path.rfind('/') + 1);
}

std::string jit::compilerPath(const std::string &given) {
  if (!given.empty())
    return given;
  if (auto path = env::get("MK_JIT_LIBRARY"))
    return *path;
  // This code's own file: the runtime, or a program that it is linked into.
  Dl_info info;
  if (dladdr(reinterpret_cast<void *>(&mkrt_put), &info) && info.dli_fname) {
    std::string beside = folderOf(info.dli_fname) + kName;
    if (access(beside.c_str(), R_OK) == 0)
      return beside;
  }
  char path[4096];
  ssize_t n = readlink("/proc/self/exe", path, sizeof(path));
  return folderOf(std::string(path, n > 0 ? n : 0)) + "../lib/" + kName;
}

std::string jit::tuningPath(const std::string &compiler,
                            const std::string &target) {
  char real[PATH_MAX];
  if (!realpath(compiler.c_str(), real))
    return {};
  std::string folder = folderOf(real); // ends in '/'
  for (int up = 0; up != 2 && folder.size() > 1; ++up) {
    folder = folderOf(folder.substr(0, folder.size() - 1));
    std::string path = str(folder, "share/mkernel/tuning/", target, ".json");
    if (access(path.c_str(), F_OK) == 0)
      return path;
  }
  return {};
}

/// The GNU build ID of an ELF file of this machine's own kind; empty if it has
/// none.
static std::string buildId(int fd) {
  ElfW(Ehdr) header;
  if (pread(fd, &header, sizeof(header), 0) != sizeof(header) ||
      std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_phentsize != sizeof(ElfW(Phdr)))
    return {};
  std::vector<ElfW(Phdr)> segments(header.e_phnum);
  ssize_t size = segments.size() * sizeof(segments[0]);
  if (pread(fd, segments.data(), size, header.e_phoff) != size)
    return {};
  for (const ElfW(Phdr) & segment : segments) {
    if (segment.p_type != PT_NOTE || segment.p_filesz > 4096)
      continue;
    std::vector<unsigned char> notes(segment.p_filesz);
    if (pread(fd, notes.data(), notes.size(), segment.p_offset) !=
        ssize_t(notes.size()))
      continue;
    auto round = [](size_t n) { return (n + 3) & ~size_t(3); };
    for (size_t at = 0; at + sizeof(ElfW(Nhdr)) <= notes.size();) {
      ElfW(Nhdr) note;
      std::memcpy(&note, &notes[at], sizeof(note));
      size_t name = at + sizeof(note), value = name + round(note.n_namesz);
      at = value + round(note.n_descsz);
      if (at > notes.size())
        break;
      if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != 4 ||
          std::memcmp(&notes[name], "GNU", 4) != 0)
        continue;
      std::string id = "build ID ";
      for (size_t i = 0; i < note.n_descsz; ++i) {
        char hex[3];
        std::snprintf(hex, sizeof(hex), "%02x", notes[value + i]);
        id += hex;
      }
      return id;
    }
  }
  return {};
}

std::optional<std::string> jit::compilerIdentity(const std::string &path) {
  int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return std::nullopt;
  std::string id = buildId(fd);
  struct stat file {};
  if (id.empty() && fstat(fd, &file) == 0)
    id = str("size ", file.st_size, ", changed ", file.st_mtim.tv_sec, ".",
             file.st_mtim.tv_nsec);
  close(fd);
  return id;
}

Result<jit::Compiler> jit::loadCompiler(const std::string &path) {
  static std::mutex mutex;
  static std::map<std::string, Compiler> loaded;
  std::lock_guard lock(mutex);
  if (auto found = loaded.find(path); found != loaded.end())
    return found->second;
  void *handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  const char *why = handle ? nullptr : dlerror();
  if (why && (strstr(why, "map segment") || strstr(why, "allocate memory")))
    return error(StatusCode::ResourceExhausted, "the compiler cannot be loaded: ", why,
                 "; it takes half a gigabyte of addresses: raise the limit (ulimit -v)");
  if (!handle)
    return error(StatusCode::Unavailable, "the compiler cannot be loaded: ", why,
                 "; build it (MKERNEL_BUILD_COMPILER=ON) or name it in "
                 "MK_JIT_LIBRARY");
  Compiler compiler;
  compiler.compile = reinterpret_cast<decltype(compiler.compile)>(
      dlsym(handle, "mk_jit_compile_text"));
  compiler.release = reinterpret_cast<decltype(compiler.release)>(
      dlsym(handle, "mk_jit_free"));
  if (!compiler.compile || !compiler.release)
    return error(StatusCode::Unavailable, "'", path,
                 "' is no mKernel compiler of this version: it lacks "
                 "mk_jit_compile_text or mk_jit_free");
  return loaded[path] = compiler;
}
