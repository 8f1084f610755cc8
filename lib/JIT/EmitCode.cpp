//===- EmitCode.cpp - From code to what is asked for ----------------------===//
#include "Compilation.h"
#include "DeviceModule.h"
#include "Merge.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

using namespace mlir;
using namespace mlir::mk;

/// Where the kernel stands whose code a module has.
static Location findKernelLoc(ModuleOp device) {
  for (auto function : device.getOps<FunctionOpInterface>())
    if (!function.isExternal() && !isa<UnknownLoc>(function.getLoc()))
      return function.getLoc();
  return device.getLoc();
}

/// Warns where the assembler keeps registers in memory.
LogicalResult Compilation::checkSpills(ModuleOp device, StringRef text) {
  if (options.assembler.empty())
    return success();
  Location loc = findKernelLoc(device);
  FailureOr<int64_t> bytes = backend.measureSpills(text, options.assembler, loc);
  if (failed(bytes))
    return failure();
  if (*bytes) {
    InFlightDiagnostic warning = emitWarning(loc);
    warning << "the kernel spills: " << *bytes
            << " bytes of each thread are in memory instead of registers, which makes it slower: "
               "compile it with smaller tiles";
    if (!tileParams.empty())
      warning << " (parameters " << tileParams << ')';
    warning << moverAdvice;
  }
  return success();
}

/// Refuses options that ask a module with metadata for what it no longer has.
LogicalResult Compilation::checkLowered(ModuleOp host) {
  SmallVector<ModuleOp> devices = findDeviceModules(host);
  if (devices.empty() == backend.hasDeviceModule())
    return host.emitError("the file has been lowered for another target than ")
           << options.target << ": say which by --target, or begin with the tile level";
  StringRef level = hasThreadLevel(devices) ? "at the thread level" : "in the LLVM dialect";
  auto refuse = [&](const Twine &why) {
    return host.emitError("the file is ")
           << level << " already: " << why << "; use the file that it was made from";
  };
  if (!options.bind.empty())
    return refuse("nothing can be bound");
  if (options.emit == "params")
    return refuse("it has no parameters left");
  if (options.emit == "tile" || options.emit == backend.getKernelPhase() ||
      (options.emit == backend.getCodePhase() && !hasThreadLevel(devices)))
    return refuse("there is no phase '" + Twine(options.emit) + "' left");
  return success();
}

LogicalResult Compilation::emitCode(ModuleOp host, const HostCpu &cpu) {
  if (options.emit == backend.getCodePhase()) {
    host.print(output);
    return success();
  }
  for (ModuleOp device : findDeviceModules(host))
    if (failed(run(
            device, [&](OpPassManager &pm) { backend.buildLLVMPipeline(pm); }, Verify::Last)))
      return failure();
  return emitLLVM(host, cpu);
}

LogicalResult Compilation::emitLLVM(ModuleOp host, const HostCpu &cpu) {
  if (options.emit == "llvm") {
    host.print(output);
    return success();
  }
  FailureOr<llvm::json::Object> metadata = takeMetadata(host);
  if (failed(metadata))
    return failure();
  if (options.timeline && !metadata->get("timeline"))
    return host.emitError("the file has been lowered without --timeline, and records nothing: use "
                          "the file that it was made from");
  SmallVector<ModuleOp> devices = findDeviceModules(host);
  llvm::LLVMContext llvmContext;
  if (options.emit == "llvmir") {
    auto translated = backend.translate(devices.empty() ? host : devices.front(), cpu, llvmContext);
    if (failed(translated))
      return failure();
    (*translated)->print(output, nullptr);
    return success();
  }
  llvm::json::Array variants;
  for (ModuleOp device : devices) {
    FailureOr<DeviceCode> code = backend.emitDevice(device);
    // The assembler takes its time: only the preferred variant's code.
    if (failed(code) || (variants.empty() && failed(checkSpills(device, code->text))))
      return failure();
    if (options.emit == backend.getTextPhase()) {
      output << code->text;
      return success();
    }
    llvm::json::Object &gpu = code->metadata;
    if (llvm::json::Value *sites = gpu.get("sites")) {
      // Ops that are checked are the same in all variants.
      (*metadata)["sites"] = std::move(*sites);
      gpu.erase("sites");
    }
    if (llvm::json::Value *timeline = gpu.get("timeline")) {
      // Known when there is code.
      llvm::json::Object &whole = *metadata->getObject("timeline");
      for (StringRef key : {"records", "tracks"})
        whole[key] = *timeline->getAsObject()->getInteger(key);
      gpu.erase("timeline");
    }
    device.erase();
    backend.addDevice(host, variants.size(), code->text);
    variants.push_back(std::move(gpu));
  }
  if (!devices.empty())
    (*metadata)["gpu"] = llvm::json::Object{{"variants", std::move(variants)}};
  SmallVector<char, 0> package;
  if (failed(emitPackage(host, cpu, std::move(*metadata), package)))
    return failure();
  output << StringRef(package.data(), package.size());
  return success();
}
