//===- SMToThread.cpp - A kernel becomes code of one thread -----------------===//
#include "Structure.h"
#include "mkernel/ABI/Timeline.h"
#include "mkernel/Analysis/Ctas.h"
#include "mkernel/Analysis/Packing.h"
#include "mkernel/Analysis/SMPhases.h"
#include "mkernel/Conversion/Passes.h"
#include "mkernel/Conversion/Variants.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/Support/JSON.h"

namespace mlir::mk {
#define GEN_PASS_DEF_CONVERTSMTOTHREADPASS
#include "mkernel/Conversion/Passes.h.inc"
} // namespace mlir::mk

using namespace mlir;
using namespace mlir::mk;
namespace json = llvm::json;

/// What the metadata says of a variant (mkernel/ABI/Gpu.h).
static json::Object describe(KernelOp kernel, const KernelResources &resources,
                             const KernelVariant &variant, const sm::ParamLayout &params,
                             int64_t grid, int64_t threads, int64_t sharedBytes) {
  auto describeMaps = [&](ArrayRef<sm::TensorMap> maps) {
    json::Array array;
    for (const sm::TensorMap &map : maps) {
      json::Object about{{"arg", map.arg},
                         {"box", json::Array(map.box)},
                         {"copies", map.copies},
                         {"swizzle", getSm(kernel).getChunk()}};
      if (variant.needs == kTensorMaps.needs && map.copies && mayPack(kernel, map.arg))
        about["packs"] = true;
      array.push_back(std::move(about));
    }
    return array;
  };
  return json::Object{{"name", variant.name},
                      {"needs", variant.needs},
                      {"grid", grid},
                      {"threads", threads},
                      {"cooperative", !resources.signals.empty() || !resources.queues.empty() ||
                                          resources.prepare ||
                                          kernel.getMeshOp().getNumRanks() != 1},
                      {"shared_bytes", sharedBytes},
                      {"param_bytes", params.bytes},
                      {"workspace_bytes", 0},
                      {"tensor_maps", describeMaps(params.maps)},
                      {"peer_maps", describeMaps(params.peerMaps)}};
}

namespace {
struct ConvertSMToThreadPass : mk::impl::ConvertSMToThreadPassBase<ConvertSMToThreadPass> {
  using ConvertSMToThreadPassBase::ConvertSMToThreadPassBase;

  LogicalResult convert(KernelOp kernel) {
    if (failed(verifyMeshIsBound(kernel)) || failed(mk_sm::verifyPlaced(kernel)))
      return failure();
    FailureOr<SmallVector<int64_t>> ctas = getCtas(kernel);
    if (failed(ctas))
      return failure();
    mk_sm::SharedMemoryOp shared = *kernel.getBody().getOps<mk_sm::SharedMemoryOp>().begin();
    bool timeline = shared.getTracks();
    const auto &resources = getChildAnalysis<KernelResources>(kernel);
    FailureOr<sm::ParamLayout> params = sm::layOutParams(kernel, resources, loops, timeline);
    if (failed(params))
      return failure();
    SiteTable sites;
    sm::KernelInfo info(kernel, resources, *ctas, *params, shared, bounds ? &sites : nullptr,
                        timeline ? &sites : nullptr);
    if (failed(sm::emitKernel(info)))
      return failure();
    json::Object about =
        describe(kernel, resources, info.byThreads ? kAnyStrides : kTensorMaps, *params,
                 info.countCtas(), info.getNumThreads(), shared.getBytes());
    // Of the metadata as a whole; they travel with the code.
    if (timeline)
      about["timeline"] =
          json::Object{{"records", MK_TIMELINE_RECORDS}, {"tracks", info.getNumTracks()}};
    if (!sites.empty())
      about["sites"] = sites.describe();
    std::string text;
    llvm::raw_string_ostream(text) << json::Value(std::move(about));
    OpBuilder b(kernel);
    LLVM::GlobalOp::create(b, kernel.getLoc(), LLVM::LLVMArrayType::get(b.getI8Type(), text.size()),
                           /*isConstant=*/true, LLVM::Linkage::Internal, "mk_gpu",
                           b.getStringAttr(text));
    kernel.erase();
    return success();
  }

  void runOnOperation() override {
    SmallVector<KernelOp> kernels(getOperation().getOps<KernelOp>());
    if (kernels.size() > 1) {
      kernels[1].emitOpError() << "is the second kernel of the module; a package "
                                  "has one, choose it with --kernel";
      return signalPassFailure();
    }
    for (KernelOp kernel : kernels)
      if (failed(convert(kernel)))
        return signalPassFailure();
    for (Operation &op : llvm::make_early_inc_range(*getOperation().getBody()))
      if (isa<MeshOp, func::FuncOp>(op))
        op.erase();
  }
};
} // namespace
