//===- Tools.cpp - mKernel itself and NVIDIA's programs -------------------===//

#include "Facts.h"
#include "device/cuda/Ptxas.h"
#include "jit/Compiler.h"
#include "mkernel/ABI/Hash.h"
#include "mkernel/Version.h"

#include <cstdio>
#include <cstdlib>

using namespace mk;
using namespace mk::info;

/// The number behind "release " or "Version " in what `--version` prints.
static std::string versionOf(const std::string &path) {
  std::string quoted;
  for (char c : path)
    quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  FILE *pipe =
      popen(("'" + quoted + "' --version 2>&1 </dev/null").c_str(), "re");
  if (!pipe)
    return "unknown";
  std::string text;
  char buffer[1024];
  while (size_t n = std::fread(buffer, 1, sizeof(buffer), pipe))
    text.append(buffer, n);
  pclose(pipe);
  for (std::string_view word : {"release ", "Version "})
    if (size_t at = text.find(word); at != std::string::npos) {
      at += word.size();
      return text.substr(at, text.find_first_not_of("0123456789.", at) - at);
    }
  return "unknown";
}

void info::collectTools(Facts &facts) {
  facts.version = MK_VERSION;
  facts.abi = std::string(MK_ABI_HASH_HEX).substr(0, 12);
  std::string compiler = jit::compilerPath({});
  if (char *real = realpath(compiler.c_str(), nullptr)) {
    facts.compiler = real;
    std::free(real);
  }
  facts.ptxas.path = rt::cuda::findPtxas();
  facts.sanitizer.path = rt::cuda::findTool("compute-sanitizer");
  for (auto *program : {&facts.ptxas, &facts.sanitizer})
    if (!program->path.empty())
      program->version = versionOf(program->path);
}

Facts info::collect(const std::string &root) {
  Facts facts;
  collectTools(facts);
  collectCpu(root, facts);
  collectGpus(root, facts);
  collectNics(root, facts);
  return facts;
}
