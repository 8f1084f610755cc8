//===- Metadata.cpp - What a host package says about its kernel -----------===//
#include "mkernel/Target/Host/Metadata.h"
#include "mkernel/Analysis/Ctas.h"
#include "mkernel/Analysis/ReferenceDims.h"
#include "mkernel/Analysis/Resources.h"
#include "mkernel/Analysis/Roundings.h"
#include "mkernel/Dialect/Tile/Sizes.h"

#include <cmath>

using namespace mlir;
using namespace mlir::mk;
namespace json = llvm::json;

StringRef mk::getPackageTypeName(Type type) {
  if (type.isF64())
    return "f64";
  if (type.isF32())
    return "f32";
  if (type.isF16())
    return "f16";
  if (type.isBF16())
    return "bf16";
  if (isa<Float8E4M3FNType>(type))
    return "f8e4m3";
  if (isa<Float8E5M2Type>(type))
    return "f8e5m2";
  for (auto [width, name] : {std::pair(64, "i64"), {32, "i32"}, {16, "i16"}, {8, "i8"}, {1, "i1"}})
    if (type.isSignlessInteger(width))
      return name;
  return {};
}

static StringRef getString(Attribute attr) { return cast<StringAttr>(attr).getValue(); }

//===----------------------------------------------------------------------===//
// Parts of the interface
//===----------------------------------------------------------------------===//

static json::Array describeMesh(MeshOp mesh) {
  json::Array axes;
  for (unsigned i = 0, e = mesh.getNumAxes(); i != e; ++i) {
    AxisAttr axis = mesh.getAxis(i);
    json::Value size = nullptr;
    if (!ShapedType::isDynamic(axis.getSize()))
      size = axis.getSize();
    axes.push_back(json::Object{{"name", axis.getName()},
                                {"link", stringifyLinkKind(axis.getLink())},
                                {"size", std::move(size)}});
  }
  return axes;
}

static json::Array describeDims(KernelOp kernel, const DimValues &values) {
  json::Array dims;
  for (unsigned i = 0, e = kernel.getNumDims(); i != e; ++i) {
    StringRef name = getString(kernel.getDimNames()[i]);
    json::Value value = nullptr;
    if (auto it = values.find(name); it != values.end()) {
      if (it->second.size() == 1)
        value = it->second.front();
      else
        value = json::Array(it->second);
    }
    dims.push_back(json::Object{{"name", name},
                                {"kind", stringifyDimKind(kernel.getDimKind(i))},
                                {"value", std::move(value)}});
  }
  return dims;
}

static json::Array describeArgs(KernelOp kernel) {
  json::Array args;
  for (unsigned i = 0, e = kernel.getNumKernelArgs(); i != e; ++i) {
    auto type = cast<MemRefType>(kernel.getKernelArg(i).getType());
    ArrayAttr split = kernel.getArgSplit(i);
    json::Array splits;
    for (int64_t d = 0; d < type.getRank(); ++d) {
      json::Array axes;
      if (!split.empty())
        for (Attribute axis : cast<ArrayAttr>(split[d]))
          axes.push_back(getString(axis));
      splits.push_back(std::move(axes));
    }
    json::Array local, extents;
    for (AffineExpr extent : kernel.getArgShape(i).getResults()) {
      local.push_back(dependsOnRankDim(kernel, extent));
      extents.push_back(describeExtent(kernel, extent));
    }
    args.push_back(json::Object{{"name", getString(kernel.getArgNames()[i])},
                                {"kind", stringifyArgKind(kernel.getArgKind(i))},
                                {"type", getPackageTypeName(type.getElementType())},
                                {"rank", type.getRank()},
                                {"symmetric", isSymmetric(type)},
                                {"local", std::move(local)},
                                {"extents", std::move(extents)},
                                {"split", std::move(splits)}});
  }
  return args;
}

static int64_t getThen(const KernelResources &resources, RoleOp role) {
  if (std::optional<StringRef> then = role.getThen())
    if (std::optional<unsigned> index = resources.roleIndex(*then))
      return *index;
  return -1;
}

static void describeResources(const KernelResources &resources, json::Object &object) {
  json::Array signals, counters, queues, loops, requirements;
  for (SignalsOp op : resources.signals) {
    SignalType type = op.getResult().getType();
    signals.push_back(json::Object{{"name", op.getName()},
                                   {"rank", static_cast<int64_t>(type.getShape().size())},
                                   {"scope", stringifyScope(type.getScope())},
                                   {"dynamic", type.isDynamic()}});
  }
  for (CountersOp op : resources.counters)
    counters.push_back(
        json::Object{{"name", op.getName()},
                     {"rank", static_cast<int64_t>(op.getResult().getType().getShape().size())}});
  for (QueueOp op : resources.queues)
    queues.push_back(
        json::Object{{"name", op.getName()}, {"width", op.getResult().getType().getWidth()}});
  for (const KernelResources::Loop &loop : resources.loops) {
    StringRef schedule = "queue";
    if (auto foreach = dyn_cast<ForeachOp>(loop.op))
      schedule = foreach.getScheduleKind() == ScheduleKind::Static ? "static" : "ticket";
    loops.push_back(json::Object{{"role", loop.role}, {"schedule", schedule}});
  }
  for (RequireOp op : resources.requirements)
    requirements.push_back(op.getMessage());
  object["signals"] = std::move(signals);
  object["counters"] = std::move(counters);
  object["queues"] = std::move(queues);
  object["loops"] = std::move(loops);
  object["requires"] = std::move(requirements);
}

//===----------------------------------------------------------------------===//
// Reference
//===----------------------------------------------------------------------===//

func::FuncOp mk::findReference(KernelOp kernel) {
  auto module = kernel->getParentOfType<ModuleOp>();
  for (const std::string &name :
       {kernel.getSymName().str() + "_reference", std::string("reference")})
    if (auto function = module.lookupSymbol<func::FuncOp>(name))
      return function;
  return {};
}

bool mk::hasDestinations(KernelOp kernel, func::FuncOp reference) {
  unsigned inputs = 0;
  for (unsigned i = 0, e = kernel.getNumKernelArgs(); i != e; ++i)
    inputs += llvm::is_contained({ArgKind::In, ArgKind::InOut}, kernel.getArgKind(i));
  FunctionType type = reference.getFunctionType();
  return type.getNumResults() > 0 &&
         type.getNumInputs() - countReferenceDims(reference) == inputs + type.getNumResults();
}

/// Matches tensors of the reference with arguments of the kernel, by position
/// among those of the kinds listed.
static LogicalResult matchArgs(KernelOp kernel, func::FuncOp reference, TypeRange tensors,
                               ArrayRef<ArgKind> kinds, StringRef what, json::Array &indices,
                               json::Array &types) {
  SmallVector<unsigned> args;
  for (unsigned i = 0, e = kernel.getNumKernelArgs(); i != e; ++i)
    if (llvm::is_contained(kinds, kernel.getArgKind(i)))
      args.push_back(i);
  if (args.size() != tensors.size())
    return reference.emitError() << "@" << reference.getSymName() << " has " << tensors.size()
                                 << ' ' << what << " but kernel '" << kernel.getSymName()
                                 << "' has " << args.size() << " arguments of kind "
                                 << stringifyArgKind(kinds[0]) << " or "
                                 << stringifyArgKind(kinds[1]) << "; they correspond in order";
  for (auto [arg, type] : llvm::zip(args, tensors)) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    auto buffer = cast<MemRefType>(kernel.getKernelArg(arg).getType());
    StringRef name = getString(kernel.getArgNames()[arg]);
    if (!tensor || tensor.getRank() != buffer.getRank())
      return reference.emitError()
             << "@" << reference.getSymName() << " takes or returns " << type << " for argument '"
             << name << "' of kernel '" << kernel.getSymName() << "', which has rank "
             << buffer.getRank() << ": give the tensor as many dimensions";
    StringRef element = getPackageTypeName(tensor.getElementType());
    bool isFloat = isa<FloatType>(buffer.getElementType());
    if (element.empty() || isFloat != isa<FloatType>(tensor.getElementType()))
      return reference.emitError()
             << "@" << reference.getSymName() << " takes or returns " << tensor.getElementType()
             << " for argument '" << name << "' of type " << buffer.getElementType()
             << "; use f64 for floats and an integer for integers";
    indices.push_back(arg);
    types.push_back(element);
  }
  return success();
}

/// Indices of the dimensions that the reference takes behind its tensors.
static LogicalResult matchDims(KernelOp kernel, func::FuncOp reference, json::Array &indices) {
  unsigned count = countReferenceDims(reference);
  unsigned first = reference.getNumArguments() - count;
  for (unsigned i = 0, e = reference.getNumArguments(); i != e; ++i) {
    auto name = reference.getArgAttrOfType<StringAttr>(i, kReferenceDim);
    if (!name && !reference.getArgAttr(i, kReferenceDim))
      continue;
    InFlightDiagnostic error = reference.emitError()
                               << "argument " << i << " of @" << reference.getSymName() << " ";
    if (!name)
      return error << "has the attribute '" << kReferenceDim
                   << "', which has to be the name of a dimension, a string";
    if (i < first)
      return error << "stands for dimension '" << name.getValue()
                   << "': it has to come behind all tensors";
    unsigned dim = 0, dims = kernel.getNumDims();
    while (dim != dims && getString(kernel.getDimNames()[dim]) != name)
      ++dim;
    if (dim == dims) {
      error << "stands for dimension '" << name.getValue() << "', but kernel '"
            << kernel.getSymName() << "' has ";
      return dims ? error << quoted(kernel.getDimNames().getAsValueRange<StringAttr>())
                  : error << "none";
    }
    Type type = reference.getArgumentTypes()[i];
    bool perRank = kernel.getDimKind(dim) == DimKind::Rank;
    auto list = dyn_cast<RankedTensorType>(type);
    if (perRank ? !list || list.getRank() != 1 || !list.isDynamicDim(0) ||
                      !list.getElementType().isInteger(64)
                : !type.isIndex())
      return error << "stands for dimension '" << name.getValue() << "' and is of type " << type
                   << "; it has to be "
                   << (perRank ? "tensor<?xi64>, with a value for each rank" : "index");
    error.abandon();
    indices.push_back(dim);
  }
  return success();
}

static FailureOr<json::Value> describeReference(KernelOp kernel, const MetadataOptions &options) {
  func::FuncOp reference = options.reference;
  if (!reference)
    return json::Value(nullptr);
  json::Array inputs, outputs, types, dims;
  if (failed(matchDims(kernel, reference, dims)))
    return failure();
  FunctionType type = reference.getFunctionType();
  TypeRange tensors = type.getInputs().drop_back(dims.size());
  if (hasDestinations(kernel, reference))
    tensors = tensors.drop_back(type.getNumResults());
  if (failed(matchArgs(kernel, reference, tensors, {ArgKind::In, ArgKind::InOut}, "arguments",
                       inputs, types)) ||
      failed(matchArgs(kernel, reference, type.getResults(), {ArgKind::Out, ArgKind::InOut},
                       "results", outputs, types)))
    return failure();
  json::Object object{{"inputs", std::move(inputs)}, {"types", std::move(types)}};
  if (options.roundings) {
    json::Array epsilons;
    SmallVector<double> all = getRoundings(kernel, options.fp8Sums);
    for (const json::Value &output : outputs)
      epsilons.push_back(all[*output.getAsInteger()]);
    object["check_epsilon"] = std::move(epsilons);
  }
  object["outputs"] = std::move(outputs);
  if (!dims.empty())
    object["dims"] = std::move(dims);
  return json::Value(std::move(object));
}

//===----------------------------------------------------------------------===//
// Whole
//===----------------------------------------------------------------------===//

FailureOr<json::Object> mk::buildMetadata(KernelOp kernel, const MetadataOptions &options) {
  for (unsigned i = 0, e = kernel.getNumKernelArgs(); i != e; ++i) {
    Type type = cast<MemRefType>(kernel.getKernelArg(i).getType()).getElementType();
    if (getPackageTypeName(type).empty())
      return kernel.emitError() << "argument '" << getString(kernel.getArgNames()[i])
                                << "' has elements of type " << type
                                << ", which packages cannot hold: use f64, f32, f16, bf16, "
                                   "f8E4M3FN, f8E5M2, or i64 to i1 (for index, i64)";
  }
  FailureOr<SmallVector<int64_t>> ctas = getCtas(kernel);
  if (failed(ctas))
    return failure();
  FailureOr<json::Value> reference = describeReference(kernel, options);
  if (failed(reference))
    return failure();
  KernelResources resources = getKernelResources(kernel);
  json::Array roles;
  int64_t grid = 0;
  for (auto [i, role] : llvm::enumerate(resources.roles)) {
    RoleOp op = role;
    json::Object about{
        {"name", op.getSymName()}, {"ctas", (*ctas)[i]}, {"then", getThen(resources, op)}};
    if (StringAttr beside = op.getBeside())
      about["beside"] = *resources.roleIndex(beside.getValue());
    grid += options.runsBeside && op.getBeside() ? 0 : (*ctas)[i];
    roles.push_back(std::move(about));
  }
  json::Object object{{"kernel", kernel.getSymName()},
                      {"target", options.target},
                      {"cpu", options.cpu},
                      // CTAs without a role would have nothing to do.
                      {"grid", grid},
                      {"mesh", describeMesh(kernel.getMeshOp())},
                      {"dims", describeDims(kernel, options.dims)},
                      {"args", describeArgs(kernel)},
                      {"roles", std::move(roles)},
                      {"prepare", static_cast<bool>(resources.prepare)},
                      {"reference", std::move(*reference)}};
  if (!options.params.empty())
    object["params"] = json::Object(options.params);
  describeResources(resources, object);
  return object;
}

json::Value mk::buildSignature(ModuleOp module) {
  json::Array kernels;
  for (auto kernel : module.getOps<KernelOp>()) {
    json::Array roles;
    KernelResources resources = getKernelResources(kernel);
    for (RoleOp role : resources.roles) {
      std::string ctas; // #mk.ctas<...>
      llvm::raw_string_ostream(ctas) << role.getCtas();
      StringRef text = StringRef(ctas).split('<').second.drop_back();
      roles.push_back(json::Object{
          {"name", role.getSymName()}, {"ctas", text.str()}, {"then", getThen(resources, role)}});
    }
    json::Object object{{"kernel", kernel.getSymName()},
                        {"mesh", describeMesh(kernel.getMeshOp())},
                        {"dims", describeDims(kernel, {})},
                        {"args", describeArgs(kernel)},
                        {"roles", std::move(roles)},
                        {"prepare", static_cast<bool>(resources.prepare)},
                        {"reference", static_cast<bool>(findReference(kernel))}};
    describeResources(resources, object);
    kernels.push_back(std::move(object));
  }
  return json::Object{{"kernels", std::move(kernels)}};
}
