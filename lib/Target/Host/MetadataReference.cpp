//===- MetadataReference.cpp - Which tensors of @reference are which arguments -===//
#include "mkernel/Analysis/ReferenceDims.h"
#include "mkernel/Analysis/Roundings.h"
#include "mkernel/Dialect/Tile/Sizes.h"
#include "mkernel/Target/Host/Metadata.h"

using namespace mlir;
using namespace mlir::mk;
namespace json = llvm::json;

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
    StringRef name = cast<StringAttr>(kernel.getArgNames()[arg]).getValue();
    if (!tensor || tensor.getRank() != buffer.getRank())
      return reference.emitError()
             << "@" << reference.getSymName() << " takes or returns " << type << " for argument '"
             << name << "' of kernel '" << kernel.getSymName() << "', which has rank "
             << buffer.getRank() << ": give the tensor as many dimensions";
    StringRef element = getPackageTypeName(tensor.getElementType());
    bool isFloat = isa<FloatType>(buffer.getElementType());
    // What is compared with must be more precise than what is checked.
    if (element.empty() || isFloat != tensor.getElementType().isF64())
      return reference.emitError()
             << "@" << reference.getSymName() << " takes or returns " << tensor.getElementType()
             << " for argument '" << name << "' of type " << buffer.getElementType()
             << "; use f64 for floats and an integer for integers";
    for (int64_t d = 0; d < tensor.getRank(); ++d) {
      std::optional<SplitExtent> extent = getSplitExtent(kernel, arg, d);
      if (extent && !tensor.isDynamicDim(d) && tensor.getDimSize(d) != extent->whole)
        return reference.emitError()
               << "@" << reference.getSymName() << " takes or returns " << type << " for argument '"
               << name << "', which has " << extent->whole << " elements in dimension " << d
               << " over all ranks: give the tensor the argument's global shape, or write '?'";
    }
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
    if (!name)
      continue;
    InFlightDiagnostic error = reference.emitError()
                               << "argument " << i << " of @" << reference.getSymName() << " ";
    if (i < first)
      return error << "stands for dimension '" << name.getValue()
                   << "': it has to come behind all tensors";
    unsigned dim = 0, dims = kernel.getNumDims();
    while (dim != dims && kernel.getDimNames()[dim] != name)
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

FailureOr<json::Value> mk::describeReference(KernelOp kernel, const MetadataOptions &options) {
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
