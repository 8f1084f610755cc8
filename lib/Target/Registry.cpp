//===- Registry.cpp - The targets that there are --------------------------===//
#include "mkernel/Dialect/Tile/Target.h"
#include "mkernel/Target/Backend.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::mk;

namespace mlir::mk {
#define MK_TARGET_BACKEND(Folder) const TargetBackend &get##Folder##Backend();
#include "mkernel/Target/Backends.inc"
#undef MK_TARGET_BACKEND
} // namespace mlir::mk

ArrayRef<const TargetBackend *> mk::getTargetBackends() {
  static const TargetBackend *const backends[] = {
#define MK_TARGET_BACKEND(Folder) &get##Folder##Backend(),
#include "mkernel/Target/Backends.inc"
#undef MK_TARGET_BACKEND
  };
  return backends;
}

const TargetBackend *mk::findTargetBackend(StringRef name) {
  for (const TargetBackend *backend : getTargetBackends())
    if (backend->getName() == name)
      return backend;
  return nullptr;
}

std::string mk::listTargetBackends() {
  return llvm::join(
      llvm::map_range(getTargetBackends(), [](auto *backend) { return backend->getName(); }),
      " or ");
}

/// The description in a file.
static FailureOr<TargetAttr> readDescription(StringRef path, MLIRContext *context) {
  ParserConfig config(context);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(path, config);
  if (!module)
    return failure();
  auto target = (*module)->getAttrOfType<TargetAttr>(kTargetAttr);
  if (!target)
    return module->emitError() << "describes no target: write 'module attributes {mk.target = "
                                  "#mk.target<...>} {}' (docs/targets.md)";
  const TargetBackend *backend = findTargetBackend(target.getBackend());
  if (!backend)
    return module->emitError() << "describes target '" << target.getName() << "' of backend '"
                               << target.getBackend() << "', which there is not; use "
                               << listTargetBackends();
  if (failed(backend->verify(target, module->getLoc())))
    return failure();
  return target;
}

FailureOr<TargetAttr> mk::resolveTarget(StringRef target, MLIRContext *context) {
  if (const TargetBackend *backend = findTargetBackend(target))
    return backend->describe(context);
  if (target.ends_with(".mlir"))
    return readDescription(target, context);
  return emitError(UnknownLoc::get(context))
         << "there is no target '" << target << "'; use " << listTargetBackends();
}
