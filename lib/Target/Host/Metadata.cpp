//===- Metadata.cpp - What a host package says about its kernel -----------===//
#include "mkernel/Target/Host/Metadata.h"
#include "mkernel/Analysis/Ctas.h"
#include "mkernel/Analysis/Resources.h"
#include "mkernel/Analysis/Sites.h"
#include "mkernel/Dialect/Tile/Sizes.h"

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

static json::Array describeRoles(const KernelResources &resources,
                                 function_ref<json::Value(unsigned)> ctas) {
  json::Array roles;
  for (auto [i, op] : llvm::enumerate(resources.roles)) {
    RoleOp role = op;
    std::optional<StringRef> then = role.getThen();
    std::optional<unsigned> next = then ? resources.roleIndex(*then) : std::nullopt;
    json::Object about{
        {"name", role.getSymName()}, {"ctas", ctas(i)}, {"then", next ? int64_t(*next) : -1}};
    if (StringAttr beside = role.getBeside())
      about["beside"] = *resources.roleIndex(beside.getValue());
    if (role.isOfEngines())
      about["engines"] = true;
    roles.push_back(std::move(about));
  }
  return roles;
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

/// Where roles wait for a signal, or for records of a queue, for reports of waits that do not end.
static json::Array describeWaits(Value waited, const KernelResources &resources) {
  SmallVector<Operation *> waits = llvm::filter_to_vector(waited.getUsers(), [](Operation *op) {
    return isa<WaitOp, ForeachItemOp>(op) && op->getParentOfType<RoleOp>();
  });
  json::Array places;
  llvm::StringSet<> seen;
  for (Operation *op : llvm::reverse(waits)) { // users come last first
    unsigned role = *resources.roleIndex(op->getParentOfType<RoleOp>().getSymName());
    std::string at = describePlace(op->getLoc());
    if (seen.insert(at + " " + std::to_string(role)).second)
      places.push_back(json::Object{{"role", role}, {"at", at}});
  }
  return places;
}

static void addWaits(const KernelResources &resources, json::Object &object) {
  for (auto [op, about] : llvm::zip(resources.signals, *object.getArray("signals")))
    about.getAsObject()->insert({"waits", describeWaits(SignalsOp(op).getResult(), resources)});
  for (auto [op, about] : llvm::zip(resources.queues, *object.getArray("queues")))
    about.getAsObject()->insert({"waits", describeWaits(QueueOp(op).getResult(), resources)});
}

//===----------------------------------------------------------------------===//
// Whole
//===----------------------------------------------------------------------===//

static json::Object describeKernel(KernelOp kernel, const KernelResources &resources,
                                   const DimValues &dims,
                                   function_ref<json::Value(unsigned)> ctas) {
  json::Object object{
      {"kernel", kernel.getSymName()},           {"mesh", describeMesh(kernel.getMeshOp())},
      {"dims", describeDims(kernel, dims)},      {"args", describeArgs(kernel)},
      {"roles", describeRoles(resources, ctas)}, {"prepare", static_cast<bool>(resources.prepare)}};
  describeResources(resources, object);
  return object;
}

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
  int64_t grid = 0;
  for (auto [i, role] : llvm::enumerate(resources.roles))
    grid += options.runsBeside && !RoleOp(role).isInGrid() ? 0 : (*ctas)[i];
  json::Object object =
      describeKernel(kernel, resources, options.dims, [&](unsigned role) { return (*ctas)[role]; });
  addWaits(resources, object);
  object["target"] = options.target;
  object["cpu"] = options.cpu;
  // CTAs without a role would have nothing to do.
  object["grid"] = grid;
  object["reference"] = std::move(*reference);
  if (!options.params.empty())
    object["params"] = json::Object(options.params);
  return object;
}

json::Value mk::buildSignature(ModuleOp module) {
  json::Array kernels;
  for (auto kernel : module.getOps<KernelOp>()) {
    KernelResources resources = getKernelResources(kernel);
    json::Object object = describeKernel(kernel, resources, {}, [&](unsigned role) {
      std::string ctas; // #mk.ctas<...>
      llvm::raw_string_ostream(ctas) << RoleOp(resources.roles[role]).getCtas();
      return StringRef(ctas).split('<').second.drop_back().str();
    });
    object["reference"] = static_cast<bool>(findReference(kernel));
    kernels.push_back(std::move(object));
  }
  return json::Object{{"kernels", std::move(kernels)}};
}
