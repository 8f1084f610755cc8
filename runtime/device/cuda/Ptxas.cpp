//===- Ptxas.cpp - CUDA's assembler as a program --------------------------===//

#include "device/cuda/Ptxas.h"

#include "mkernel/Runtime/Env.h"

#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <spawn.h>
#include <sstream>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

using namespace mk::rt;

namespace {

/// A folder for the files of one run, gone with it.
class WorkFolder {
public:
  WorkFolder() {
    const char *base = std::getenv("TMPDIR");
    path_ = str(base && *base ? base : "/tmp", "/mkernel-XXXXXX");
    if (!mkdtemp(path_.data()))
      path_.clear();
  }
  ~WorkFolder() {
    if (path_.empty())
      return;
    for (const char *name : {"kernel.ptx", "kernel.cubin", "log"})
      unlink(file(name).c_str());
    rmdir(path_.c_str());
  }
  bool exists() const { return !path_.empty(); }
  std::string file(const char *name) const { return path_ + "/" + name; }

private:
  std::string path_;
};

bool isProgram(const std::string &path) {
  return access(path.c_str(), X_OK) == 0;
}

std::string slurp(const std::string &path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Runs a program with its output in `log`; its exit status, or -1.
int run(std::vector<std::string> words, const std::string &log) {
  std::vector<char *> arguments;
  for (std::string &word : words)
    arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, log.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  pid_t child = 0;
  int code = posix_spawn(&child, arguments[0], &actions, nullptr,
                         arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  if (code != 0)
    return -1;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR)
      return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

} // namespace

std::string cuda::findTool(const std::string &name) {
  std::string folders;
  for (const char *variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char *home = std::getenv(variable); home && *home)
      folders += str(home, "/bin:");
  folders += "/usr/local/cuda/bin";
  if (const char *path = std::getenv("PATH"))
    folders += str(":", path);
  std::istringstream list(folders);
  for (std::string folder; std::getline(list, folder, ':');)
    if (std::string path = str(folder, "/", name);
        !folder.empty() && isProgram(path))
      return path;
  return {};
}

std::string cuda::findPtxas() {
  if (auto given = env::get("MK_PTXAS"); given && !given->empty())
    return *given == "off" ? std::string() : std::string(*given);
  return findTool("ptxas");
}

std::string cuda::describeProgram(const std::string &path) {
  struct stat about;
  if (path.empty() || stat(path.c_str(), &about) != 0)
    return {};
  return str(path, " ", about.st_size, " ", about.st_mtim.tv_sec, ".",
             about.st_mtim.tv_nsec);
}

Result<std::vector<std::byte>> cuda::assemble(const std::string &ptx) {
  std::string program = findPtxas();
  if (program.empty())
    return error(StatusCode::FailedPrecondition,
                 "there is no ptxas (MK_PTXAS names one)");
  WorkFolder folder;
  if (!folder.exists())
    return error(StatusCode::FailedPrecondition,
                 "no temporary folder could be made: ", std::strerror(errno));
  std::string source = folder.file("kernel.ptx");
  std::string target = folder.file("kernel.cubin"), log = folder.file("log");
  std::ofstream(source, std::ios::binary) << ptx;
  int code = run({program, "-O3", "-arch=sm_90a", source, "-o", target}, log);
  if (code != 0)
    return error(StatusCode::FailedPrecondition, program, " ended with ", code,
                 ": ", slurp(log));
  std::string cubin = slurp(target);
  if (!std::string_view(cubin).starts_with("\x7f"
                                           "ELF"))
    return error(StatusCode::FailedPrecondition, program, " wrote no cubin");
  auto *bytes = reinterpret_cast<const std::byte *>(cubin.data());
  return std::vector<std::byte>(bytes, bytes + cubin.size());
}
