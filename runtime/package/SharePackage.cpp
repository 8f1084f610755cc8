//===- SharePackage.cpp - One rank's package for all ----------------------===//

#include "mkernel/Runtime/Job.h"
#include "mkernel/Runtime/Package.h"

using namespace mk::rt;

Result<Package>
mk::rt::sharePackage(Job &job, const std::function<Result<Package>()> &make) {
  auto bytes = [&]() -> Result<std::string> {
    MK_ASSIGN(Package package, make());
    return std::string(reinterpret_cast<const char *>(package.bytes().data()),
                       package.bytes().size());
  };
  // Compiling takes as long as it takes; a lost rank 0 ends the wait at once.
  MK_ASSIGN(std::string text,
            job.broadcast("package", bytes,
                          Deadline::after(std::chrono::hours(1))));
  auto *data = reinterpret_cast<const std::byte *>(text.data());
  return Package::parse(std::vector<std::byte>(data, data + text.size()),
                        "the package of rank 0");
}
