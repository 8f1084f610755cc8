//===- Bind.cpp - Fix sizes of axes, dimensions and parameters ------------===//
#include "mkernel/Dialect/Tile/Sizes.h"
#include "mkernel/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace mlir::mk {
#define GEN_PASS_DEF_BINDPASS
#include "mkernel/Transforms/Passes.h.inc"
} // namespace mlir::mk

using namespace mlir;
using namespace mlir::mk;

namespace {
struct BindPass : mk::impl::BindPassBase<BindPass> {
  using BindPassBase::BindPassBase;

  using Values = llvm::StringMap<int64_t>;

  /// Where messages stand about what options give.
  Operation *getPlace() {
    auto kernels = getOperation().getOps<KernelOp>();
    return kernels.empty() ? getOperation() : (*kernels.begin()).getOperation();
  }

  /// Reads `name=value` pairs; `what` is the option that gives them.
  LogicalResult parse(ArrayRef<std::string> list, StringRef what, Values &values) {
    for (StringRef item : list) {
      auto [name, text] = item.split('=');
      int64_t value;
      if (name.empty() || text.getAsInteger(10, value))
        return getPlace()->emitError()
               << what << ": '" << item << "' is not of the form NAME=INTEGER";
      if (!values.try_emplace(name, value).second)
        return getPlace()->emitError() << what << ": '" << name << "' is given twice: give it once";
    }
    return success();
  }

  LogicalResult bindMesh(MeshOp mesh, const Values &values, llvm::StringSet<> &used) {
    SmallVector<Attribute> axes;
    for (unsigned i = 0, e = mesh.getNumAxes(); i != e; ++i) {
      AxisAttr axis = mesh.getAxis(i);
      auto value = values.find(axis.getName());
      if (value == values.end()) {
        axes.push_back(axis);
        continue;
      }
      used.insert(axis.getName());
      int64_t size = value->second;
      if (size < 1)
        return mesh.emitOpError() << "axis '" << axis.getName() << "' is bound to " << size
                                  << ", but an axis has at least one rank";
      if (!ShapedType::isDynamic(axis.getSize()) && axis.getSize() != size)
        return mesh.emitOpError() << "axis '" << axis.getName() << "' is " << axis.getSize()
                                  << " in the file and cannot be bound to " << size;
      axes.push_back(AxisAttr::get(axis.getContext(), axis.getName(), size, axis.getLink()));
    }
    mesh.setAxesAttr(ArrayAttr::get(mesh.getContext(), axes));
    return success();
  }

  LogicalResult bindKernel(KernelOp kernel, const Values &values, llvm::StringSet<> &used) {
    OpBuilder builder = OpBuilder::atBlockBegin(&kernel.getBody().front());
    for (unsigned i = 0, e = kernel.getNumDims(); i != e; ++i) {
      StringRef name = cast<StringAttr>(kernel.getDimNames()[i]).getValue();
      auto value = values.find(name);
      if (value == values.end())
        continue;
      used.insert(name);
      if (value->second < 0)
        return kernel.emitOpError() << "dimension '" << name << "' is bound to " << value->second
                                    << ", it must not be negative";
      if (kernel.getDimKind(i) == DimKind::Rank)
        return kernel.emitOpError()
               << "dimension '" << name << "' is each rank's own and is bound at launch";
      kernel.setDimSize(i, value->second);
      kernel.getDim(i).replaceAllUsesWith(
          arith::ConstantIndexOp::create(builder, kernel.getLoc(), value->second));
    }
    return success();
  }

  /// Extents of arguments that follow from what is bound: what is computed from them is known, too.
  WalkResult foldExtents(KernelOp kernel) {
    return kernel.walk([&](memref::DimOp dim) -> WalkResult {
      auto arg = dyn_cast<BlockArgument>(dim.getSource());
      std::optional<int64_t> index = dim.getConstantIndex();
      auto type = dyn_cast<MemRefType>(dim.getSource().getType());
      if (type && index && (*index < 0 || *index >= type.getRank()))
        return dim.emitOpError() << "asks for dimension " << *index << " of a buffer of "
                                 << type.getRank() << ": they are numbered from 0";
      if (!arg || !index || arg.getOwner() != &kernel.getBody().front())
        return WalkResult::advance();
      if (auto extent = kernel.getArgExtent(arg.getArgNumber() - kernel.getNumDims(), *index)) {
        OpBuilder builder(dim);
        dim.replaceAllUsesWith(
            arith::ConstantIndexOp::create(builder, dim.getLoc(), *extent).getResult());
        dim.erase();
      }
      return WalkResult::advance();
    });
  }

  void runOnOperation() override {
    Values values, parameters;
    llvm::StringSet<> used;
    if (failed(parse(sizes, "--bind", values)) || failed(parse(params, "--set", parameters)))
      return signalPassFailure();
    WalkResult result = getOperation().walk([&](Operation *op) -> WalkResult {
      if (auto mesh = dyn_cast<MeshOp>(op))
        return bindMesh(mesh, values, used);
      if (auto kernel = dyn_cast<KernelOp>(op))
        return bindKernel(kernel, values, used);
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return signalPassFailure();
    WalkResult set = getOperation().walk([&](ParamOp param) -> WalkResult {
      auto it = parameters.find(param.getName());
      if (it == parameters.end())
        return WalkResult::advance();
      if (it->second < int64_t(param.getLeast()))
        return param.emitOpError() << param.explainTooSmall(it->second);
      param.getDefaultValueMutable().clear();
      param.setNumber(it->second);
      param.removeChoicesAttr();
      used.insert(param.getName());
      return WalkResult::advance();
    });
    if (set.wasInterrupted())
      return signalPassFailure();
    for (auto kernel : getOperation().getOps<KernelOp>())
      if (foldExtents(kernel).wasInterrupted())
        return signalPassFailure();
    if (failed(verifyUsed(values, "dimension or axis", "--bind", used)) ||
        failed(verifyUsed(parameters, "parameter", "--set", used)))
      return signalPassFailure();
  }

  /// Refuses a name that the file does not have, where the kernel stands.
  LogicalResult verifyUsed(const Values &values, StringRef what, StringRef option,
                           const llvm::StringSet<> &used) {
    for (StringRef name : values.keys())
      if (!used.contains(name))
        return getPlace()->emitError() << "there is no " << what << " '" << name << "' for "
                                       << option << "; " << describe();
    return success();
  }

  /// What could have been bound.
  std::string describe() {
    std::string text;
    llvm::raw_string_ostream os(text);
    getOperation().walk([&](MeshOp mesh) {
      os << "mesh @" << mesh.getSymName() << " has " << mesh.describeAxes() << "; ";
    });
    getOperation().walk([&](KernelOp kernel) {
      os << "kernel @" << kernel.getSymName() << " has ";
      if (kernel.getDimNames().empty())
        os << "no dimensions; ";
      else
        os << "dimensions " << quoted(kernel.getDimNames().getAsValueRange<StringAttr>()) << "; ";
    });
    llvm::SetVector<StringRef> names;
    getOperation().walk([&](ParamOp param) { names.insert(param.getName()); });
    if (names.empty())
      os << "there are no parameters";
    else
      os << "parameters are " << quoted(names);
    return StringRef(text).rtrim("; ").str();
  }
};
} // namespace
