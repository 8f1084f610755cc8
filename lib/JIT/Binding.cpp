//===- Binding.cpp - Sizes given on the command line ----------------------===//
#include "Binding.h"
#include "mkernel/Dialect/Tile/Sizes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mlir::mk;

namespace {
struct Binder {
  KernelOp kernel;
  MeshOp mesh;
  const CompileOptions &options;
  Binding binding;
  SmallVector<int64_t> axes; // kDynamic: unbound

  Binder(KernelOp kernel, const CompileOptions &options)
      : kernel(kernel), mesh(kernel.getMeshOp()), options(options) {
    for (unsigned i = 0, e = mesh.getNumAxes(); i != e; ++i)
      axes.push_back(mesh.getAxis(i).getSize());
  }

  InFlightDiagnostic error() {
    return kernel.emitError() << "kernel '" << kernel.getSymName() << "': ";
  }

  std::string describe() {
    std::string text;
    llvm::raw_string_ostream os(text);
    os << "the mesh has " << mesh.describeAxes() << ", the kernel ";
    if (kernel.getDimNames().empty())
      os << "no dimensions";
    else
      os << (kernel.getNumDims() == 1 ? "dimension " : "dimensions ")
         << quoted(kernel.getDimNames().getAsValueRange<StringAttr>());
    return text;
  }

  int64_t findDim(StringRef name) {
    for (auto [i, dim] : llvm::enumerate(kernel.getDimNames()))
      if (cast<StringAttr>(dim).getValue() == name)
        return i;
    return -1;
  }

  LogicalResult bindAxis(unsigned axis, StringRef name, ArrayRef<int64_t> values) {
    if (values.size() != 1 || values[0] < 1)
      return error() << "axis '" << name << "' needs one size of at least 1, as in --bind " << name
                     << "=2";
    if (!ShapedType::isDynamic(axes[axis]) && axes[axis] != values[0])
      return error() << "axis '" << name << "' is bound to " << values[0] << " but the file says "
                     << axes[axis];
    axes[axis] = values[0];
    return success();
  }

  LogicalResult bindNames() {
    llvm::StringSet<> seen;
    for (const auto &[name, text] : options.bind) {
      if (!seen.insert(name).second)
        return error() << "'" << name << "' is bound twice";
      SmallVector<StringRef> parts;
      StringRef(text).split(parts, ':');
      SmallVector<int64_t> values;
      for (StringRef part : parts)
        if (part.trim().getAsInteger(10, values.emplace_back())) {
          if (!part.trim().empty() && llvm::all_of(part.trim(), llvm::isDigit))
            return error() << "'" << name << "' is bound to " << part.trim()
                           << ", which is too large: sizes are less than 2^63";
          return error() << "'" << name << "' is bound to '" << text
                         << "', which is neither an integer nor a list of integers for ranks as in "
                            "100:80:0:33";
        }
      int64_t axis = mesh.findAxis(name), dim = findDim(name);
      if (axis < 0 && dim < 0)
        return error() << "there is no '" << name << "' to bind; " << describe();
      if (axis >= 0 && failed(bindAxis(axis, name, values)))
        return failure();
      if (dim < 0)
        continue;
      if (llvm::any_of(values, [](int64_t v) { return v < 0; }))
        return error() << "dimension '" << name << "' is bound to " << text
                       << "; dimensions are not negative";
      if (kernel.getDimKind(dim) == DimKind::Uniform) {
        if (values.size() != 1)
          return error() << "dimension '" << name << "' is uniform and takes one value, not "
                         << values.size();
        binding.sizes.push_back(name + "=" + std::to_string(values[0]));
      }
      binding.dims[name] = values;
    }
    return bindFileDefaults();
  }

  /// Dimensions with a size in the file are bound to it.
  LogicalResult bindFileDefaults() {
    for (auto [i, attr] : llvm::enumerate(kernel.getDimNames())) {
      std::optional<int64_t> size = kernel.getDimSize(i);
      if (!size)
        continue;
      StringRef name = cast<StringAttr>(attr).getValue();
      auto [given, isNew] = binding.dims.try_emplace(name, SmallVector<int64_t>{*size});
      if (isNew)
        binding.sizes.push_back((name + "=" + Twine(*size)).str());
      else if (given->second.front() != *size)
        return error() << "dimension '" << name << "' is bound to " << given->second.front()
                       << " but the file says " << *size;
    }
    return success();
  }

  /// Makes the product of the axes of one kind `count`.
  LogicalResult fill(LinkKind kind, int64_t count, StringRef option) {
    if (count == 0)
      return success();
    int64_t product = 1, open = -1;
    for (unsigned i = 0; i != axes.size(); ++i) {
      if (mesh.getAxis(i).getLink() != kind)
        continue;
      if (!ShapedType::isDynamic(axes[i])) {
        product *= axes[i];
        continue;
      }
      if (open >= 0)
        return error() << "--" << option << " " << count << " could be divided over axes '"
                       << mesh.getAxis(open).getName() << "' and '" << mesh.getAxis(i).getName()
                       << "' in several ways; bind all but one of them";
      open = i;
    }
    if (count < 0 || count % product != 0 || (open < 0 && count != product))
      return error() << "--" << option << " " << count << " does not fit the mesh, whose "
                     << (open < 0 ? "" : "bound ") << stringifyLinkKind(kind) << " axes have "
                     << product << (product == 1 ? " rank; " : " ranks; ") << describe();
    if (open >= 0)
      axes[open] = count / product;
    return success();
  }

  /// An error that lists all dimensions without a value;
  /// runtime/package/Plan.cpp says the same of a package.
  LogicalResult checkDims() {
    SmallVector<std::string> names, example;
    bool perRank = false;
    for (auto [i, attr] : llvm::enumerate(kernel.getDimNames())) {
      std::string name = cast<StringAttr>(attr).getValue().str();
      if (binding.dims.contains(name) ||
          llvm::any_of(options.tuneFor, [&](const auto &size) { return size.first == name; }))
        continue;
      bool each = kernel.getDimKind(i) == DimKind::Rank;
      names.push_back("'" + name + "'");
      example.push_back(name + (each ? "=100:80:..." : "=1024"));
      perRank |= each;
    }
    if (names.empty())
      return success();
    bool one = names.size() == 1;
    return error() << (one ? "dimension " : "dimensions ") << llvm::join(names, ", ")
                   << (one ? " has" : " have") << " no value; bind " << (one ? "it" : "them")
                   << " (with mk-run, --bind " << llvm::join(example, ",")
                   << (perRank ? ", one for each rank)" : ")");
  }

  LogicalResult checkRankDims() {
    int64_t ranks = 1;
    bool open = false;
    for (int64_t size : axes) {
      open |= ShapedType::isDynamic(size);
      if (ShapedType::isDynamic(size))
        continue;
      if (size > kMaxRanks / ranks)
        return error() << "the mesh would have more than " << kMaxRanks
                       << " ranks: give its axes smaller sizes";
      ranks *= size;
    }
    if (open)
      return success();
    for (auto &entry : binding.dims) {
      if (kernel.getDimKind(findDim(entry.first())) != DimKind::Rank)
        continue;
      int64_t count = entry.second.size();
      if (count == 1)
        entry.second.assign(ranks, entry.second.front());
      else if (count != ranks)
        return error() << "dimension '" << entry.first() << "' has " << count << " values for "
                       << ranks << " ranks";
    }
    return success();
  }

  LogicalResult run() {
    if (failed(bindNames()) || (options.completeDims && failed(checkDims())) ||
        failed(fill(LinkKind::Net, options.nodes, "nodes")) ||
        failed(fill(LinkKind::Link, options.gpus, "gpus")))
      return failure();
    if (options.nodes || options.gpus || options.completeMesh)
      for (int64_t &size : axes)
        if (ShapedType::isDynamic(size))
          size = 1;
    bool mustBeBound = options.emit != "tile" && options.emit != "params";
    for (auto [i, size] : llvm::enumerate(axes)) {
      std::string name = mesh.getAxis(i).getName().str();
      if (!ShapedType::isDynamic(size))
        binding.sizes.push_back(name + "=" + std::to_string(size));
      else if (mustBeBound)
        return error() << "axis '" << name << "' of mesh @" << mesh.getSymName()
                       << " has no size; say --bind " << name << "=N, or --nodes and --gpus";
    }
    for (const auto &[name, value] : options.params)
      binding.params.push_back(name + "=" + value);
    return checkRankDims();
  }
};
} // namespace

SmallVector<std::string> Binding::rankSizes() const {
  SmallVector<std::string> list;
  for (const auto &entry : dims) {
    std::string name = (entry.first() + "=").str();
    if (llvm::any_of(sizes, [&](StringRef size) { return size.starts_with(name); }))
      continue;
    llvm::raw_string_ostream os(name);
    llvm::interleave(entry.second, os, ":");
    list.push_back(name);
  }
  return list;
}

FailureOr<Binding> mk::resolveBinding(KernelOp kernel, const CompileOptions &options) {
  Binder binder(kernel, options);
  if (failed(binder.run()))
    return failure();
  return std::move(binder.binding);
}
