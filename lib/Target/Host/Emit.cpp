//===- Emit.cpp - Objects and packages ------------------------------------===//
#include "mkernel/Target/Host/Emit.h"
#include "HostMachine.h"
#include "mkernel/ABI/Package.h"
#include "mkernel/Runtime/PackageC.h"
#include "mkernel/Target/Common.h"
#include "mkernel/Target/Host/Metadata.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

/// What compiled code may call besides the runtime: memory functions that
/// LLVM itself introduces, and functions of mathematics.
// clang-format off
static const char *const kLibraryCalls[] = {
    "malloc", "free", "aligned_alloc", "memcpy", "memmove", "memset", "memcmp",
    "acos", "acosf", "acosh", "acoshf", "asin", "asinf", "asinh", "asinhf",
    "atan", "atanf", "atan2", "atan2f", "atanh", "atanhf", "cbrt", "cbrtf",
    "ceil", "ceilf", "copysign", "copysignf", "cos", "cosf", "cosh", "coshf",
    "erf", "erff", "erfc", "erfcf", "exp", "expf", "exp2", "exp2f", "exp10",
    "exp10f", "expm1", "expm1f", "fabs", "fabsf", "floor", "floorf", "fma",
    "fmaf", "fmax", "fmaxf", "fmaximum", "fmaximumf", "fmin", "fminf",
    "fminimum", "fminimumf", "fmod", "fmodf", "frexp", "frexpf", "ldexp",
    "ldexpf", "llrint", "llround", "log", "logf", "log10", "log10f", "log1p",
    "log1pf", "log2", "log2f", "lrint", "lround", "modf", "modff", "nearbyint",
    "nearbyintf", "pow", "powf", "rint", "rintf", "round", "roundf",
    "roundeven", "roundevenf", "sin", "sinf", "sincos", "sincosf", "sinh",
    "sinhf", "sqrt", "sqrtf", "tan", "tanf", "tanh", "tanhf", "tgamma",
    "tgammaf", "trunc", "truncf",
};
// clang-format on

/// The entry points of mkernel/ABI/HostCalls.h, read from it by the build.
static const char *const kRuntimeCalls[] = {
#include "mkernel/Target/Host/HostCalls.inc"
};

static LogicalResult checkSymbols(StringRef bytes, Location loc) {
  // LLVM wrote it.
  auto object = llvm::cantFail(
      llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(bytes, "kernel.o")));
  llvm::StringSet<> allowed;
  for (const char *name : kLibraryCalls)
    allowed.insert(name);
  for (const char *name : kRuntimeCalls)
    allowed.insert(name);
  // The linker's own.
  allowed.insert("_GLOBAL_OFFSET_TABLE_");
  LogicalResult result = success();
  for (const llvm::object::SymbolRef &symbol : object->symbols()) {
    uint32_t flags = llvm::cantFail(symbol.getFlags());
    StringRef name = llvm::cantFail(symbol.getName());
    if (!(flags & llvm::object::SymbolRef::SF_Undefined) || name.empty() || allowed.contains(name))
      continue;
    emitError(loc) << "compiled code needs '" << name
                   << "', which is neither a runtime entry point nor a C library function that a "
                      "package may use; the op that calls it cannot be used on the host target";
    result = failure();
  }
  return result;
}

LogicalResult mk::emitSharedObject(ModuleOp module, const HostCpu &cpu,
                                   SmallVectorImpl<char> &object) {
  std::string problems;
  llvm::LLVMContext context;
  mk::collectProblems(context, problems);
  FailureOr<std::unique_ptr<llvm::Module>> translated = translateHostModule(module, cpu, context);
  if (failed(translated))
    return failure();
  std::unique_ptr<llvm::TargetMachine> machine = mk::makeHostMachine(cpu);
  keepBf16AsBits(**translated);
  addHalfConversions(**translated, cpu);
  SmallVector<char, 0> relocatable;
  llvm::raw_svector_ostream os(relocatable);
  llvm::legacy::PassManager passes;
  [[maybe_unused]] bool cannot =
      machine->addPassesToEmitFile(passes, os, nullptr, llvm::CodeGenFileType::ObjectFile);
  assert(!cannot && "every native target writes objects");
  passes.run(**translated);
  if (!problems.empty())
    return module.emitError("LLVM cannot generate code for CPU '")
           << cpu.name << "': " << problems << ": report this as a bug, with the file";
  StringRef bytes(relocatable.data(), relocatable.size());
  if (failed(checkSymbols(bytes, module.getLoc())))
    return failure();
  return linkSharedObject(module.getLoc(), bytes, object);
}

/// So that the loader knows which metadata the code was compiled with.
static void addDigest(ModuleOp module, StringRef metadata) {
  auto digest = llvm::SHA256::hash(llvm::arrayRefFromStringRef(metadata));
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), digest.size());
  LLVM::GlobalOp::create(builder, module.getLoc(), type, /*isConstant=*/true,
                         LLVM::Linkage::External, "mk_metadata_digest",
                         builder.getStringAttr(llvm::toStringRef(digest)));
}

/// What `metadata` says and, behind the code of the module, `versions`.
static LogicalResult pack(ModuleOp module, const mk::HostCpu &cpu, llvm::json::Object metadata,
                          ArrayRef<std::string> versions, SmallVectorImpl<char> &package) {
  metadata["cpu"] = cpu.name;
  llvm::json::Array needs;
  for (StringRef feature : cpu.needs)
    needs.push_back(feature);
  metadata["cpu_features"] = std::move(needs);
  std::string text;
  llvm::raw_string_ostream(text) << llvm::json::Value(std::move(metadata));
  addDigest(module, text);
  SmallVector<char, 0> payload;
  if (failed(mk::emitSharedObject(module, cpu, payload)))
    return failure();
  for (StringRef version : versions)
    payload.append(version.begin(), version.end());
  void *bytes = nullptr;
  size_t size = 0;
  char *error = nullptr;
  if (mk_package_write(text.data(), text.size(), payload.data(), payload.size(), &bytes, &size,
                       &error) != 0) {
    module.emitError("cannot be packed: ") << (error ? error : "");
    mk_package_free(error);
    return failure();
  }
  package.assign(static_cast<char *>(bytes), static_cast<char *>(bytes) + size);
  mk_package_free(bytes);
  return success();
}

LogicalResult mk::emitContainer(ModuleOp module, const HostCpu &cpu, llvm::json::Object metadata,
                                ArrayRef<std::string> versions, SmallVectorImpl<char> &package) {
  return pack(module, cpu, std::move(metadata), versions, package);
}

LogicalResult mk::emitPackage(ModuleOp module, const HostCpu &cpu, llvm::json::Object metadata,
                              SmallVectorImpl<char> &package) {
  // Larger ones are for checks without a run.
  if (const auto *dims = metadata.getArray("dims"))
    for (const llvm::json::Value &dim : *dims)
      if (const auto *entry = dim.getAsObject())
        if (auto value = entry->getInteger("value"); value && *value > MK_MAX_DIM) {
          StringRef name = entry->getString("name").value_or("");
          return module.emitError("dimension '")
                 << name << "' is " << *value
                 << "; a package takes at most 2^47: bind a smaller size";
        }
  if (metadata.getInteger("grid").value_or(1) == 0) {
    Operation *plan = module.lookupSymbol("mk_plan"); // where the kernel stands
    return emitError(plan ? plan->getLoc() : module.getLoc(),
                     "the kernel has no role, so that nothing would run: write a mk.role");
  }
  FailureOr<int64_t> stack = measureStack(module);
  if (failed(stack))
    return failure();
  metadata["stack_bytes"] = *stack;
  return pack(module, cpu, std::move(metadata), /*versions=*/{}, package);
}
