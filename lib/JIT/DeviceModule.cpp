//===- DeviceModule.cpp - Code for a GPU beside its host part -------------===//
#include "DeviceModule.h"
#include "mkernel/Analysis/Resources.h"
#include "mkernel/Dialect/SM/SM.h"
#include "mkernel/Dialect/Thread/Thread.h"

using namespace mlir;
using namespace mlir::mk;

static constexpr StringRef kDevice = "mk_device";

bool mk::hasPartitions(KernelOp kernel) {
  return kernel
      .walk([](mk_sm::PartitionOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

void mk::listTickets(KernelOp kernel, llvm::json::Object &metadata) {
  llvm::json::Array loops;
  for (auto [i, role] : llvm::enumerate(getKernelResources(kernel).roles)) {
    int64_t number = i;
    role->walk([&](mk_sm::TicketOp op) {
      while (loops.size() <= op.getLoop())
        loops.push_back(llvm::json::Object{{"role", number}, {"schedule", "ticket"}});
    });
  }
  metadata["loops"] = std::move(loops);
}

void mk::nestDeviceModule(ModuleOp host, ModuleOp device) {
  auto nested = ModuleOp::create(device.getLoc(), kDevice);
  nested.getBody()->getOperations().splice(nested.getBody()->end(),
                                           device.getBody()->getOperations());
  host.push_back(nested);
}

bool mk::hasThreadLevel(ModuleOp device) {
  return device && !device.getOps<mk_thread::KernelOp>().empty();
}

ModuleOp mk::findDeviceModule(ModuleOp host) {
  for (auto nested : host.getOps<ModuleOp>())
    if (nested.getSymName() == kDevice)
      return nested;
  return {};
}
