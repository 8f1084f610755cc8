//===- Library.cpp - libibverbs and libefa, loaded when asked -------------===//

#include "transport/rdma/Library.h"

#include "mkernel/Runtime/Env.h"

#include <dlfcn.h>

namespace mk::rt::rdma {
namespace {

struct LibraryFile {
  const char *variable, *name, *remedy;
};

constexpr LibraryFile kIbverbs = {
    "MK_IBVERBS_LIBRARY", "libibverbs.so.1",
    "apt-get install libibverbs1 ibverbs-providers (elsewhere: rdma-core)"};
constexpr LibraryFile kEfa = {
    "MK_EFA_LIBRARY", "libefa.so.1",
    "apt-get install ibverbs-providers, or run AWS's EFA installer"};

Result<void *> openLibrary(const LibraryFile &file) {
  std::string path = env::get(file.variable).value_or(file.name);
  // Never closed: providers have threads and hooks of their own.
  if (void *handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL))
    return handle;
  const char *why = ::dlerror();
  return error(StatusCode::Unavailable, "'", path, "' cannot be loaded (",
               why ? why : "no reason given", "): ", file.remedy,
               ", or name it in ", file.variable);
}

/// Of this handle only, so that nothing that was preloaded gets in between.
template <typename Function>
bool findSymbol(void *handle, const char *name, Function &function) {
  function = reinterpret_cast<Function>(::dlsym(handle, name));
  return function != nullptr;
}

Status lacksSymbol(const LibraryFile &file, const char *symbol) {
  return error(StatusCode::Unavailable, "'",
               env::get(file.variable).value_or(file.name), "' lacks ", symbol,
               ": rdma-core 34 or newer is needed");
}

} // namespace

Result<Library> Library::load(bool efa) {
  Library library;
  MK_ASSIGN(void *verbs, openLibrary(kIbverbs));
#define MK_FIND(name)                                                          \
  if (!findSymbol(verbs, "ibv_" #name, library.name))                          \
    return lacksSymbol(kIbverbs, "ibv_" #name);
  MK_IBVERBS_FUNCTIONS(MK_FIND)
#undef MK_FIND
#define MK_FIND(name) findSymbol(verbs, "ibv_" #name, library.name);
  MK_IBVERBS_OPTIONAL(MK_FIND)
#undef MK_FIND
  findSymbol(verbs, "_ibv_query_gid_ex", library.query_gid_ex);
  if (!efa)
    return library;
  MK_ASSIGN(void *handle, openLibrary(kEfa));
#define MK_FIND(name)                                                          \
  if (!findSymbol(handle, "efadv_" #name, library.efa.name))                   \
    return lacksSymbol(kEfa, "efadv_" #name);
  MK_EFA_FUNCTIONS(MK_FIND)
#undef MK_FIND
  return library;
}

} // namespace mk::rt::rdma
