//===- DeviceModule.cpp - Code for a GPU beside its host part -------------===//
#include "DeviceModule.h"
#include "mkernel/Dialect/SM/SM.h"
#include "mkernel/Dialect/Thread/Thread.h"

using namespace mlir;
using namespace mlir::mk;

static constexpr StringRef kDevice = "mk_device_";

bool mk::hasPartitions(KernelOp kernel) { return mk_sm::holds<mk_sm::PartitionOp>(kernel); }

void mk::listTickets(KernelOp kernel, llvm::json::Object &metadata) {
  llvm::json::Array loops;
  for (auto [i, role] : llvm::enumerate(kernel.getBody().getOps<RoleOp>())) {
    int64_t number = i;
    role->walk([&](mk_sm::TicketOp op) {
      while (loops.size() <= op.getLoop())
        loops.push_back(llvm::json::Object{{"role", number}, {"schedule", "ticket"}});
    });
  }
  metadata["loops"] = std::move(loops);
}

void mk::nestDeviceModule(ModuleOp host, ModuleOp device) {
  std::string name = (kDevice + Twine(findDeviceModules(host).size())).str();
  auto nested = ModuleOp::create(device.getLoc(), name);
  nested.getBody()->getOperations().splice(nested.getBody()->end(),
                                           device.getBody()->getOperations());
  host.push_back(nested);
}

bool mk::hasThreadLevel(ArrayRef<ModuleOp> devices) {
  return llvm::any_of(
      devices, [](ModuleOp device) { return !device.getOps<mk_thread::KernelOp>().empty(); });
}

SmallVector<ModuleOp> mk::findDeviceModules(ModuleOp host) {
  SmallVector<ModuleOp> devices;
  for (auto nested : host.getOps<ModuleOp>())
    if (nested.getSymName().value_or("").starts_with(kDevice))
      devices.push_back(nested);
  return devices;
}
