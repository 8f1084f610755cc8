//===- ReadVersions.cpp - What --variants asks for ------------------------===//
#include "Compilation.h"
#include "DeviceModule.h"
#include "Merge.h"
#include "VerifyFile.h"
#include "mkernel/ABI/Package.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::mk;

namespace {
class VersionReader {
public:
  VersionReader(KernelOp kernel, const CompileOptions &options) : kernel(kernel), options(options) {
    kernel.walk([&](ParamOp param) { params.insert(param.getName()); });
    for (Attribute name : kernel.getDimNames())
      result.dims.push_back(cast<StringAttr>(name).getValue().str());
    result.numArgs = kernel.getNumKernelArgs();
  }

  FailureOr<VersionRequests> read();

private:
  InFlightDiagnostic error() {
    return kernel.emitError() << "kernel '" << kernel.getSymName() << "': --variants: ";
  }
  LogicalResult readVersion(StringRef text);
  LogicalResult readItem(VersionRequest &request, StringRef item);
  LogicalResult readSize(VersionRequest &request, unsigned dim, StringRef name, int64_t size);
  LogicalResult unknown(StringRef name);
  LogicalResult checkOrder();

  KernelOp kernel;
  const CompileOptions &options;
  llvm::SetVector<StringRef> params;
  VersionRequests result;
};
} // namespace

bool mk::isServedBy(const DimSizes &sizes, const DimSizes &by) {
  return llvm::all_of(by, [&](const auto &most) {
    return llvm::any_of(sizes, [&](const auto &size) {
      return size.first == most.first && size.second <= most.second;
    });
  });
}

LogicalResult VersionReader::unknown(StringRef name) {
  MeshOp mesh = kernel.getMeshOp();
  if (mesh.findAxis(name) >= 0)
    return error() << "'" << name
                   << "' is an axis of the mesh, whose size is compiled in: compile a package for "
                      "each mesh";
  auto list = [](InFlightDiagnostic &diag, const auto &names) {
    llvm::interleaveComma(names, diag, [&](StringRef each) { diag << "'" << each << "'"; });
  };
  InFlightDiagnostic diag = error();
  diag << "there is no dimension and no parameter '" << name << "'; dimensions are ";
  list(diag, result.dims);
  diag << (params.empty() ? "; there are no parameters" : "; parameters are ");
  list(diag, params);
  return diag;
}

LogicalResult VersionReader::readSize(VersionRequest &request, unsigned dim, StringRef name,
                                      int64_t size) {
  if (kernel.getDimKind(dim) == DimKind::Rank)
    return error() << "dimension '" << name
                   << "' is each rank's own, and all ranks need the same version: choose by a "
                      "uniform dimension";
  for (const auto &[bound, value] : options.bind)
    if (bound == name)
      return error() << "dimension '" << name << "' is bound to " << value
                     << ": leave it out of --bind, so that it is given when the kernel is bound, "
                        "or out of --variants";
  if (std::optional<int64_t> fixed = kernel.getDimSize(dim))
    return error() << "dimension '" << name << "' is " << *fixed
                   << " in the file: leave its size out there, or the dimension out of --variants";
  if (size < 1 || size > MK_MAX_DIM)
    return error() << "dimension '" << name << "' of at most " << size
                   << ": give a size from 1 to 2^47";
  request.serves.emplace_back(name.str(), size);
  return success();
}

LogicalResult VersionReader::readItem(VersionRequest &request, StringRef item) {
  auto [name, text] = item.split('=');
  int64_t value;
  if (name.empty() || text.getAsInteger(10, value))
    return error() << "'" << item << "'"
                   << (item == request.text() ? "" : " in '" + request.text() + "'")
                   << " is not of the form NAME=NUMBER, as in --variants=M=64,M=512+TM=128";
  auto isName = [&](const auto &given) { return given.first == name; };
  if (llvm::any_of(request.serves, isName) || llvm::any_of(request.candidates[0].params, isName))
    return error() << "'" << name << "' stands twice in '" << request.text() << "': give it once";
  if (auto dim = llvm::find(result.dims, name); dim != result.dims.end())
    return readSize(request, dim - result.dims.begin(), name, value);
  if (!params.contains(name))
    return unknown(name);
  request.candidates[0].params.emplace_back(name.str(), text.str());
  return success();
}

/// One with the sizes of the version in front of it is a candidate of that.
LogicalResult VersionReader::readVersion(StringRef text) {
  VersionRequest request{{}, {{text.str(), {}, {}}}};
  SmallVector<StringRef> items;
  text.split(items, '+');
  for (StringRef item : items)
    if (failed(readItem(request, item)))
      return failure();
  if (request.serves.empty())
    return error() << "'" << text << "' names no dimension: say the largest size that it is for, "
                   << "as in --variants=M=64+" << text;
  llvm::sort(request.serves);
  if (result.list.empty() || result.list.back().serves != request.serves) {
    result.list.push_back(std::move(request));
    return success();
  }
  std::vector<CandidateRequest> &candidates = result.list.back().candidates;
  candidates.push_back(std::move(request.candidates[0]));
  if (candidates.size() > MK_MAX_CANDIDATES)
    return error() << "'" << text << "' is the " << candidates.size()
                   << "th candidate for the same sizes, and a version has at most "
                   << MK_MAX_CANDIDATES << ": leave some out";
  return success();
}

/// Each has to be the first for some sizes.
LogicalResult VersionReader::checkOrder() {
  for (size_t i = 0; i < result.list.size(); ++i)
    for (size_t before = 0; before < i; ++before)
      if (result.list[i].serves == result.list[before].serves)
        return error() << "'" << result.list[i].text() << "' has the sizes of '"
                       << result.list[before].text()
                       << "', of which it is a candidate if it stands right behind it";
      else if (isServedBy(result.list[i].serves, result.list[before].serves))
        return error() << "'" << result.list[i].text() << "' would serve nothing, since '"
                       << result.list[before].text()
                       << "' in front of it is for all of its sizes: put smaller sizes first, or "
                          "leave one out";
  return success();
}

FailureOr<VersionRequests> VersionReader::read() {
  if (options.variants.empty()) {
    result.list.push_back({{}, {{}}});
    return std::move(result);
  }
  SmallVector<StringRef> texts;
  StringRef(options.variants).split(texts, ',');
  for (StringRef text : texts)
    if (failed(readVersion(text)))
      return failure();
  if (result.list.size() > MK_MAX_VERSIONS)
    return error() << result.list.size() << " versions are asked for, and a package has at most "
                   << MK_MAX_VERSIONS << ": leave some out";
  if (failed(checkOrder()))
    return failure();
  // Also what else is bound, once for all.
  CompileOptions whole = options;
  for (const VersionRequest &request : result.list)
    llvm::append_range(whole.tuneFor, request.serves);
  if (failed(resolveBinding(kernel, whole)))
    return failure();
  return std::move(result);
}

FailureOr<VersionRequests> Compilation::readVersions() {
  if (hasMetadata(module) || llvm::any_of(module.getOps<KernelOp>(), hasPartitions)) {
    module.emitError("has been lowered already, and has no parameters left for ")
        << (options.variants.empty() ? "--candidates" : "--variants")
        << "; use the file that it was made from";
    return misuse();
  }
  if (failed(verifyFile(module)))
    return failure();
  FailureOr<KernelOp> kernel = selectKernel();
  if (failed(kernel))
    return misuse();
  FailureOr<VersionRequests> requests = VersionReader(*kernel, options).read();
  if (failed(requests))
    return misuse();
  bool isForAll = options.emit == "package" || options.emit == "params";
  size_t count = 0;
  for (const VersionRequest &request : requests->list)
    count += request.candidates.size();
  if (isForAll || count == 1)
    return requests;
  kernel->emitError("--emit=") << options.emit << " prints one version, and --variants asks for "
                               << count << ": give the one to print, as in --variants="
                               << requests->list.front().text();
  return misuse();
}
