//===- TileVerifyKernel.cpp - Verifiers of kernels and roles --------------===//
#include "TileVerify.h"
#include "TileVerifySizes.h"
#include "mkernel/Dialect/Tile/Dims.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ShapedOpInterfaces.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mlir::mk;

//===----------------------------------------------------------------------===//
// Signature
//===----------------------------------------------------------------------===//

/// The accessors trust the attributes; the generic form can hold anything.
static LogicalResult verifyAttributes(KernelOp kernel) {
  size_t dims = kernel.getDimNames().size(), args = kernel.getArgNames().size();
  if (kernel.getDimKinds().size() != dims)
    return kernel.emitOpError() << "has " << dims << " dimensions, but "
                                << kernel.getDimKinds().size() << " kinds for them";
  for (ArrayAttr list :
       {kernel.getArgKinds(), kernel.getArgShapes(), kernel.getArgSplits(), kernel.getArgTypes()})
    if (list.size() != args)
      return kernel.emitOpError() << "has " << args << " arguments, but an attribute lists "
                                  << list.size()
                                  << ": each needs a kind, a shape, a split and a type";
  for (Attribute kind : kernel.getDimKinds()) {
    auto text = dyn_cast<StringAttr>(kind);
    if (!text || !symbolizeDimKind(text.getValue()))
      return kernel.emitOpError() << "has a dimension of kind " << kind
                                  << ", expected \"uniform\" or \"rank\"";
  }
  if (std::optional<ArrayRef<int64_t>> known = kernel.getDimSizes()) {
    if (known->size() != dims)
      return kernel.emitOpError() << "has " << dims << " dimensions, but " << known->size()
                                  << " sizes for them";
    for (auto [i, size] : llvm::enumerate(*known)) {
      if (ShapedType::isDynamic(size))
        continue;
      Attribute name = kernel.getDimNames()[i];
      if (size < 0)
        return kernel.emitOpError()
               << "has dimension " << name << " of size " << size << ", which must not be negative";
      if (kernel.getDimKind(i) == DimKind::Rank)
        return kernel.emitOpError()
               << "has a size for dimension " << name << ", which is each rank's own: leave it out";
    }
  }
  for (Attribute kind : kernel.getArgKinds()) {
    auto text = dyn_cast<StringAttr>(kind);
    if (!text || !symbolizeArgKind(text.getValue()))
      return kernel.emitOpError() << "has an argument of kind " << kind
                                  << ", expected \"in\", \"out\", \"inout\" or \"scratch\"";
  }
  size_t sizes = kernel.getSizeAxes().size();
  for (Attribute shape : kernel.getArgShapes()) {
    auto map = dyn_cast<AffineMapAttr>(shape);
    if (!map || map.getValue().getNumDims() != dims || map.getValue().getNumSymbols() != sizes)
      return kernel.emitOpError() << "has argument shape " << shape
                                  << ", expected an affine map of " << dims << " dimensions and "
                                  << sizes << " axis sizes";
  }
  for (Attribute split : kernel.getArgSplits()) {
    auto list = dyn_cast<ArrayAttr>(split);
    if (!list || !llvm::all_of(list, [](Attribute axes) {
          auto names = dyn_cast<ArrayAttr>(axes);
          return names && llvm::all_of(names, llvm::IsaPred<StringAttr>);
        }))
      return kernel.emitOpError() << "has argument split " << split
                                  << ", expected lists of axis names";
  }
  return success();
}

/// A name must mean one thing in the shapes and in the body.
static LogicalResult verifyNames(KernelOp kernel) {
  llvm::StringMap<StringRef> seen;
  auto add = [&](ArrayAttr names, StringRef what) -> LogicalResult {
    for (auto name : names.getAsRange<StringAttr>()) {
      auto [it, inserted] = seen.try_emplace(name.getValue(), what);
      if (!inserted)
        return kernel.emitOpError()
               << "@" << kernel.getSymName() << " uses the name '" << name.getValue() << "' for "
               << it->second << " and for " << what << ": rename one of them";
    }
    return success();
  };
  if (failed(add(kernel.getDimNames(), "a dimension")) ||
      failed(add(kernel.getArgNames(), "an argument")))
    return failure();
  // Arguments do not occur in shapes, so they may be named like an axis.
  for (auto name : kernel.getArgNames().getAsRange<StringAttr>())
    seen.erase(name.getValue());
  return add(kernel.getSizeAxes(), "an axis size");
}

static LogicalResult verifyArgument(KernelOp kernel, unsigned i) {
  StringRef name = cast<StringAttr>(kernel.getArgNames()[i]).getValue();
  auto error = [&]() { return kernel.emitOpError() << "argument '" << name << "' "; };
  Type declared = cast<TypeAttr>(kernel.getArgTypes()[i]).getValue();
  Type type = kernel.getKernelArg(i).getType();
  if (declared != type)
    return error() << "is declared as " << declared << ", but the body has it as " << type;
  auto memref = dyn_cast<MemRefType>(type);
  if (!memref)
    return error() << "has type " << type << ", expected a memref with a rank";
  Attribute space = memref.getMemorySpace();
  if (space && !isa<SymmetricAttr>(space))
    return error() << "lies in memory space " << space << ": leave it out, or use #mk.symmetric";

  if (!memref.getLayout().isIdentity())
    return error()
           << "has type " << type
           << ", whose layout nobody reads: leave it out, strides are given with the memory "
              "that is attached";

  AffineMap shape = kernel.getArgShape(i);
  ArrayAttr split = kernel.getArgSplit(i);
  int64_t rank = memref.getRank();
  if (shape.getNumResults() != rank)
    return error() << "has rank " << rank << ", but a shape of " << shape.getNumResults()
                   << (shape.getNumResults() == 1 ? " extent" : " extents")
                   << ": give one for each dimension";
  if (!split.empty() && static_cast<int64_t>(split.size()) != rank)
    return error() << "has rank " << rank << ", but its split has " << split.size()
                   << (split.size() == 1 ? " entry" : " entries")
                   << ": give one list of axes for each dimension, () for one that is whole";
  if (!split.empty() && kernel.getArgKind(i) == ArgKind::Scratch)
    return error() << "is scratch and cannot be split: there is no whole; give the extents that "
                      "each rank needs";

  llvm::StringSet<> used;
  for (int64_t d = 0; d != rank; ++d) {
    ArrayAttr axes = split.empty() ? ArrayAttr() : cast<ArrayAttr>(split[d]);
    bool isSplit = axes && !axes.empty();
    if (isSplit)
      for (auto axis : axes.getAsRange<StringAttr>())
        if (!used.insert(axis.getValue()).second)
          return error() << "is split twice over axis '" << axis.getValue() << "'";
    AffineExpr extent = shape.getResult(d);
    if (auto constant = dyn_cast<AffineConstantExpr>(extent)) {
      if (constant.getValue() < 0)
        return error() << "has extent " << constant.getValue() << " in dimension " << d;
      // The extent of a shard is smaller and may be uneven.
      if (!isSplit && !memref.isDynamicDim(d) && memref.getDimSize(d) != constant.getValue())
        return error() << "has extent " << constant.getValue() << " in dimension " << d
                       << ", but its type says " << memref.getDimSize(d);
    }
    if (isSplit || kernel.getArgKind(i) == ArgKind::Scratch)
      continue;
    for (unsigned j = 0, e = kernel.getNumDims(); j != e; ++j)
      if (kernel.getDimKind(j) == DimKind::Rank && extent.isFunctionOfDim(j))
        return error() << "has extent '" << cast<StringAttr>(kernel.getDimNames()[j]).getValue()
                       << "' of its own on each rank in dimension " << d
                       << ": say by 'split' over which axes the whole is spread";
  }
  return success();
}

LogicalResult KernelOp::verify() {
  if (failed(verifyAttributes(*this)) || failed(verifyNames(*this)))
    return failure();
  int64_t expected = getNumDims() + getNumKernelArgs();
  if (getBody().getNumArguments() != expected)
    return emitOpError() << "has " << getNumDims() << " dimensions and " << getNumKernelArgs()
                         << " arguments, but a body with " << getBody().getNumArguments()
                         << " block arguments";
  for (unsigned i = 0, e = getNumDims(); i != e; ++i)
    if (!getDim(i).getType().isIndex())
      return emitOpError() << "dimension " << cast<StringAttr>(getDimNames()[i])
                           << " must be of type index in the body, got " << getDim(i).getType();
  for (unsigned i = 0, e = getNumKernelArgs(); i != e; ++i)
    if (failed(verifyArgument(*this, i)))
      return failure();
  return verifyArgumentExtents(*this);
}

LogicalResult KernelOp::verifySymbolUses(SymbolTableCollection &symbols) {
  Operation *symbol = symbols.lookupNearestSymbolFrom((*this)->getParentOp(), getMeshAttr());
  auto mesh = dyn_cast_or_null<MeshOp>(symbol);
  if (!mesh)
    return emitOpError() << "@" << getSymName() << " runs on @" << getMesh()
                         << (symbol ? ", which is no mk.mesh" : ", which does not exist")
                         << ": declare mk.mesh @" << getMesh() << " (...)";
  for (auto axis : getSizeAxes().getAsRange<StringAttr>())
    if (failed(verifyAxis(*this, axis.getValue(), symbols)))
      return failure();
  for (auto dim : getDimNames().getAsRange<StringAttr>())
    if (mesh.findAxis(dim) >= 0)
      return emitOpError() << "has dimension '" << dim.getValue() << "', and @" << getMesh()
                           << " has an axis of that name: rename one, since sizes of both are "
                              "bound by name";
  for (unsigned i = 0, e = getNumKernelArgs(); i != e; ++i)
    for (auto axes : getArgSplit(i).getAsRange<ArrayAttr>())
      for (auto axis : axes.getAsRange<StringAttr>())
        if (failed(verifyAxis(*this, axis.getValue(), symbols)))
          return failure();
  return verifyNetAccesses(*this, mesh);
}

//===----------------------------------------------------------------------===//
// Body
//===----------------------------------------------------------------------===//

/// Every CTA evaluates what stands beside the roles, at no particular time.
static LogicalResult verifyKernelScope(Operation &op) {
  if (isa<RoleOp, PrepareOp, SignalsOp, CountersOp, QueueOp, RequireOp, ParamOp>(op))
    return success();
  // The body of a helper is checked once it is inlined.
  if (isa<CallOpInterface>(op))
    return success();
  if (isa<ForeachOp, ForeachItemOp, ForeachPeerOp>(op))
    return op.emitOpError()
           << "stands beside the roles of a kernel: work is done in a mk.role or in mk.prepare";
  // Ops of the SM level have verifiers of their own.
  if (isMemoryEffectFree(&op) || op.getName().getDialectNamespace() == "mk_sm" || !mayStand(&op))
    return success();
  return op.emitOpError() << "has side effects and stands beside the roles of a kernel, where only "
                             "pure scalar ops and declarations may: move it into a mk.role";
}

/// CTAs that come late can only take part in loops that hand out items.
static LogicalResult verifySuccessor(RoleOp role, RoleOp helper) {
  WalkResult result = role.walk([&](ForeachOp loop) {
    if (!isDistributedLoop(loop) || (loop.getSchedule() && loop.getSchedule()->getKindParam()) ||
        loop.getScheduleKind() == ScheduleKind::Ticket)
      return WalkResult::advance();
    InFlightDiagnostic diag = loop.emitOpError()
                              << "of role '" << role.getSymName() << "' has a "
                              << stringifyScheduleKind(loop.getScheduleKind())
                              << " schedule, but CTAs of role '" << helper.getSymName()
                              << "' help there: use schedule(ticket), or drop 'then @"
                              << role.getSymName() << "'";
    diag.attachNote(helper.getLoc()) << "helper declared here";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

/// A role beside another is run by one warp, which holds no tiles.
static LogicalResult verifyBeside(RoleOp role, RoleOp other) {
  if (role.getThen())
    return role.emitOpError() << "'" << role.getSymName() << "' is run beside @"
                              << other.getSymName()
                              << ", with which its CTAs begin as well: drop 'then @"
                              << *role.getThen() << "'";
  if (other.isOfEngines())
    return role.emitOpError() << "'" << role.getSymName() << "' is run beside @"
                              << other.getSymName()
                              << ", which copy engines carry out: name a role that has CTAs";
  if (other.getBeside())
    return role.emitOpError() << "'" << role.getSymName() << "' is run beside @"
                              << other.getSymName() << ", which has no CTAs of its own: name "
                              << other.getBeside() << ", beside which that is run";
  auto isTile = [](Type type) { return isa<TensorType>(type); };
  WalkResult result = role.walk([&](Operation *op) -> WalkResult {
    if (llvm::none_of(op->getOperandTypes(), isTile) && llvm::none_of(op->getResultTypes(), isTile))
      return WalkResult::advance();
    return op->emitOpError() << "takes or gives a tile in role '" << role.getSymName()
                             << "', which is run beside @" << other.getSymName()
                             << " by a warp that holds none: give the role CTAs of its own";
  });
  return failure(result.wasInterrupted());
}

/// Copies of engines are found out before a launch, and begin with it.
static LogicalResult verifyEngines(RoleOp role) {
  auto refuse = [&](Operation *op) {
    return op->emitOpError() << "stands in role '" << role.getSymName()
                             << "', which copy engines carry out: ";
  };
  if (role.getThen())
    return role.emitOpError() << "'" << role.getSymName()
                              << "' is of copy engines, which cannot go on with @"
                              << *role.getThen() << ": drop 'then'";
  WalkResult result = role.walk<WalkOrder::PreOrder>([&](Operation *op) -> WalkResult {
    if (auto put = dyn_cast<PutOp>(op)) {
      if (put.getReduction())
        return refuse(op) << "they do not add; give the role CTAs";
      if (put.getRows())
        return refuse(op) << "they cannot read the list of rows; give the role CTAs";
      return WalkResult::advance();
    }
    if (auto loop = dyn_cast<ForeachOp>(op);
        loop && !(loop.getSchedule() && loop.getSchedule()->getKindParam()) &&
        loop.getScheduleKind() != ScheduleKind::Static)
      return refuse(op) << "there are no tickets; drop 'schedule'";
    // The body of a helper is checked once it is inlined.
    if (op == role || op->hasTrait<OpTrait::IsTerminator>() ||
        isa<ForeachOp, ForeachPeerOp, CallOpInterface, LoopLikeOpInterface,
            RegionBranchOpInterface>(op) ||
        op->getDialect()->getNamespace() == "mk_sm")
      return WalkResult::advance();
    auto isTile = [](Type type) { return isa<TensorType>(type); };
    if (isMemoryEffectFree(op) && llvm::none_of(op->getResultTypes(), isTile))
      return WalkResult::advance();
    return refuse(op) << "they do nothing but puts, whose places follow from sizes and ranks; give "
                         "the role CTAs";
  });
  return failure(result.wasInterrupted());
}

static LogicalResult verifyRoles(KernelOp kernel) {
  llvm::StringMap<RoleOp> roles;
  for (RoleOp role : kernel.getBody().getOps<RoleOp>())
    if (!roles.try_emplace(role.getSymName(), role).second)
      return role.emitOpError() << "'" << role.getSymName() << "' of kernel @"
                                << kernel.getSymName() << " exists already: rename one of them";
  for (RoleOp role : kernel.getBody().getOps<RoleOp>()) {
    if (role.isOfEngines()) {
      auto prepares = kernel.getBody().getOps<PrepareOp>();
      if (!prepares.empty())
        return role.emitOpError()
               << "'" << role.getSymName()
               << "' is of copy engines, which begin with the launch, but kernel @"
               << kernel.getSymName() << " has mk.prepare, which comes before: give the role CTAs";
      if (failed(verifyEngines(role)))
        return failure();
    }
    if (StringAttr beside = role.getBeside()) {
      RoleOp other = roles.lookup(beside.getValue());
      if (!other)
        return role.emitOpError() << "'" << role.getSymName() << "' is run beside @"
                                  << beside.getValue() << ", but kernel @" << kernel.getSymName()
                                  << " has no such role";
      if (failed(verifyBeside(role, other)))
        return failure();
    }
    if (!role.getThen())
      continue;
    RoleOp next = roles.lookup(*role.getThen());
    if (!next)
      return role.emitOpError() << "'" << role.getSymName() << "' goes on with @" << *role.getThen()
                                << ", but kernel @" << kernel.getSymName() << " has no such role";
    if (next.isOfEngines())
      return role.emitOpError() << "'" << role.getSymName() << "' goes on with @" << *role.getThen()
                                << ", which copy engines carry out: drop 'then'";
    if (next.getBeside())
      return role.emitOpError() << "'" << role.getSymName() << "' goes on with @" << *role.getThen()
                                << ", which is run beside @" << next.getBeside().getValue()
                                << " and nowhere else: drop 'then'";
    if (failed(verifySuccessor(next, role)))
      return failure();
  }
  // Each role names at most one other, so a chain longer than the number of
  // roles has closed on itself.
  for (RoleOp role : kernel.getBody().getOps<RoleOp>()) {
    RoleOp last = role;
    for (size_t steps = 0; last.getThen(); ++steps) {
      if (steps > roles.size())
        return role.emitOpError() << "'" << role.getSymName()
                                  << "' never ends: its chain of 'then' is a cycle; drop one";
      last = roles.lookup(*last.getThen());
    }
  }
  return success();
}

LogicalResult mk::verifyDims(Operation *root) {
  auto verify = [](ShapedDimOpInterface op) -> LogicalResult {
    auto type = dyn_cast<ShapedType>(op.getShapedValue().getType());
    auto d = getConstantIntValue(op.getDimension());
    if (!type || !type.hasRank() || !d || (*d >= 0 && *d < type.getRank()))
      return success();
    return op->emitOpError() << "asks for dimension " << *d << " of a "
                             << (isa<TensorType>(type) ? "tensor" : "buffer") << " of rank "
                             << type.getRank() << "; they count from 0";
  };
  return failure(
      root->walk([&](ShapedDimOpInterface op) { return WalkResult(verify(op)); }).wasInterrupted());
}

LogicalResult KernelOp::verifyRegions() {
  PrepareOp prepare;
  for (Operation &op : getBody().front()) {
    if (failed(verifyKernelScope(op)))
      return failure();
    if (auto other = dyn_cast<PrepareOp>(op)) {
      if (prepare)
        return other.emitOpError() << "is the second of kernel @" << getSymName() << ": merge them";
      prepare = other;
    }
  }
  if (failed(verifyBody(*this)) || failed(verifyDims(*this)) || failed(verifyTileSizes(*this)))
    return failure();
  return verifyRoles(*this);
}

LogicalResult RoleOp::verify() {
  if (getBody().getNumArguments())
    return emitOpError() << "'" << getSymName()
                         << "' takes no block arguments: use the kernel's values";
  return success();
}

LogicalResult PrepareOp::verify() {
  if (getBody().getNumArguments())
    return emitOpError() << "takes no block arguments: use the kernel's values";
  return success();
}
