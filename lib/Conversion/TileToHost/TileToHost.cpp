//===- TileToHost.cpp - A kernel becomes functions the runtime calls ------===//
#include "HostLowering.h"
#include "mkernel/ABI/Launch.h"
#include "mkernel/Analysis/Resources.h"
#include "mkernel/Conversion/Passes.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::mk {
#define GEN_PASS_DEF_CONVERTTILETOHOSTPASS
#include "mkernel/Conversion/Passes.h.inc"
} // namespace mlir::mk

using namespace mlir;
using namespace mlir::mk;

namespace {
struct ConvertTileToHostPass : mk::impl::ConvertTileToHostPassBase<ConvertTileToHostPass> {
  using ConvertTileToHostPassBase::ConvertTileToHostPassBase;

  /// The memref that a launch's descriptor of argument `i` describes.
  Value loadArgument(HostLowering &lowering, KernelOp kernel, unsigned i) {
    OpBuilder &b = lowering.b;
    Location loc = lowering.loc;
    auto type = cast<MemRefType>(kernel.getKernelArg(i).getType());
    Type pointer = lowering.pointerType();
    Value args = lowering.loadField(lowering.getLaunch(), offsetof(mk_launch, args), pointer);
    Value descriptor = lowering.loadField(args, i * 8, pointer);
    auto extents = LLVM::LLVMArrayType::get(b.getI64Type(), type.getRank());
    auto layout = LLVM::LLVMStructType::getLiteral(
        b.getContext(), type.getRank()
                            ? ArrayRef<Type>{pointer, pointer, b.getI64Type(), extents, extents}
                            : ArrayRef<Type>{pointer, pointer, b.getI64Type()});
    Value value = LLVM::LoadOp::create(b, loc, layout, descriptor);
    // Same space as in the kernel until the whole function is rewritten.
    return UnrealizedConversionCastOp::create(b, loc, type, value).getResult(0);
  }

  /// Clones a role's (or the preparation's) body with the scalars it needs.
  LogicalResult outline(KernelOp kernel, Block &body, StringRef name,
                        const KernelResources &resources,
                        const llvm::StringMap<int64_t> &ctasOfRole) {
    func::FuncOp function = createHostFunction(kernel, name, 1);
    HostLowering lowering(kernel, function, /*pointerIsLaunch=*/false);
    lowering.record = record;
    lowering.lines = lines || record;
    sites.forget();
    if (bounds)
      lowering.sites = &sites;
    OpBuilder &b = lowering.b;
    IRMapping mapping;
    if (kernel.getNumDims()) {
      Value dims = lowering.loadField(lowering.getLaunch(), offsetof(mk_launch, dims),
                                      lowering.pointerType());
      for (unsigned d = 0, e = kernel.getNumDims(); d != e; ++d)
        mapping.map(kernel.getDim(d), lowering.loadElement(dims, d));
    }
    for (unsigned i = 0, e = kernel.getNumKernelArgs(); i != e; ++i) {
      Value argument = loadArgument(lowering, kernel, i);
      mapping.map(kernel.getKernelArg(i), argument);
      lowering.arguments[argument] = i;
    }
    auto remember = [&](Operation *from, Operation *to) {
      if (std::optional<unsigned> number = resources.indexOf(from))
        lowering.numbers[to] = *number;
    };
    cloneScalars(kernel, b, mapping, remember);
    for (Operation &op : body) {
      Operation *copy = b.clone(op, mapping);
      // Same structure, so the walks visit the same ops in the same order.
      SmallVector<Operation *> originals, copies;
      op.walk([&](Operation *inner) { originals.push_back(inner); });
      copy->walk([&](Operation *inner) { copies.push_back(inner); });
      for (auto [from, to] : llvm::zip(originals, copies))
        remember(from, to);
    }
    func::ReturnOp::create(b, kernel.getLoc());
    lowering.ctasOfRole = ctasOfRole;
    dropMemorySpaces(function);
    return lowering.run();
  }

  LogicalResult convert(KernelOp kernel) {
    sites = SiteTable();
    FailureOr<llvm::StringMap<int64_t>> ctasOfRole = countCtasOfRoles(kernel);
    if (failed(ctasOfRole))
      return failure();
    const KernelResources &resources = getChildAnalysis<KernelResources>(kernel);
    if (PrepareOp prepare = resources.prepare;
        prepare &&
        failed(outline(kernel, prepare.getBody().front(), "mk_prepare", resources, *ctasOfRole)))
      return failure();
    for (auto [i, role] : llvm::enumerate(resources.roles)) {
      RoleOp op = role;
      if (failed(outline(kernel, op.getBody().front(), "mk_role_" + std::to_string(i), resources,
                         *ctasOfRole)))
        return failure();
    }
    if (!sites.empty())
      addSites(kernel);
    kernel.erase();
    return success();
  }

  /// The string `mk_sites`.
  void addSites(KernelOp kernel) {
    std::string text;
    llvm::raw_string_ostream(text)
        << llvm::json::Value(llvm::json::Object{{"sites", sites.describe()}});
    OpBuilder b(kernel);
    LLVM::GlobalOp::create(b, kernel.getLoc(), LLVM::LLVMArrayType::get(b.getI8Type(), text.size()),
                           /*isConstant=*/true, LLVM::Linkage::Internal, "mk_sites",
                           b.getStringAttr(text));
  }

  SiteTable sites;

  void runOnOperation() override {
    if (failed(verifyHostKernel(getOperation())))
      return signalPassFailure();
    SmallVector<KernelOp> kernels(getOperation().getOps<KernelOp>());
    // Meshes and functions of the file: helpers are inlined, and the reference
    // has a lowering of its own.
    SmallVector<Operation *> leftovers;
    for (Operation &op : *getOperation().getBody())
      if (auto function = dyn_cast<func::FuncOp>(op);
          isa<MeshOp>(op) || (function && function.getSymName() != kPlanFunction))
        leftovers.push_back(&op);
    for (KernelOp kernel : kernels)
      if (failed(convert(kernel)))
        return signalPassFailure();
    for (Operation *op : leftovers)
      op->erase();
  }
};
} // namespace
