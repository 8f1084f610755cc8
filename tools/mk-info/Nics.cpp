//===- Nics.cpp - Network adapters that do RDMA ---------------------------===//

#include "Facts.h"

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <dirent.h>
#include <dlfcn.h>
#include <unistd.h>

using namespace mk;
using namespace mk::info;

static std::vector<std::string> list(const std::string &folder) {
  std::vector<std::string> names;
  if (DIR *entries = opendir(folder.c_str())) {
    while (dirent *entry = readdir(entries))
      if (entry->d_name[0] != '.')
        names.push_back(entry->d_name);
    closedir(entries);
  }
  std::sort(names.begin(), names.end());
  return names;
}

/// Of a link's target; empty if it is none.
static std::string lastPart(const std::string &link) {
  char target[PATH_MAX];
  ssize_t n = readlink(link.c_str(), target, sizeof(target));
  std::string path(target, n > 0 ? n : 0);
  return path.substr(path.rfind('/') + 1);
}

static bool hasLibrary(const std::string &root, const char *name) {
  if (!root.empty())
    return access(rt::str(root, "/lib/", name).c_str(), F_OK) == 0;
  void *library = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
  if (library)
    dlclose(library);
  return library != nullptr;
}

void info::collectNics(const std::string &root, Facts &facts) {
  std::string folder = root + "/sys/class/infiniband";
  for (const std::string &name : list(folder)) {
    std::string device = folder + "/" + name;
    Nic nic;
    nic.name = name;
    nic.driver = lastPart(device + "/device/driver");
    nic.state = "no port";
    std::string numa = readText(device + "/device/numa_node");
    nic.numa = numa.empty() ? -1 : std::atoll(numa.c_str());
    // The port in the best state: RDMA adapters of servers have one each.
    for (const std::string &port : list(device + "/ports")) {
      std::string path = device + "/ports/" + port;
      std::string state = readText(path + "/state"); // "4: ACTIVE"
      size_t colon = state.find(": ");
      if (nic.state == "ACTIVE")
        break;
      nic.state = colon == std::string::npos ? state : state.substr(colon + 2);
      nic.link = readText(path + "/link_layer");
      nic.rate = readText(path + "/rate");
    }
    facts.nics.push_back(std::move(nic));
  }
  facts.verbs = hasLibrary(root, "libibverbs.so.1");
  facts.efa = hasLibrary(root, "libefa.so.1");
}
