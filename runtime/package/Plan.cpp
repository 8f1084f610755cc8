//===- Plan.cpp - A kernel's sizes for given dimensions -------------------===//

#include "mkernel/Runtime/Plan.h"
#include "mkernel/ABI/Package.h"
#include "mkernel/Support/Checked.h"
#include "package/Launch.h"

#include <algorithm>

using namespace mk::rt;

namespace {

using mkernel::checked::kMostElements;

/// What no plan says, and how much of it stands behind a plan.
constexpr int64_t kUnwritten = INT64_MIN + 0x6d6b706c;
constexpr size_t kGuard = 64;

/// Product of extents; -1 when one is negative or the product is absurd.
int64_t product(std::span<const int64_t> extents) {
  int64_t elements = mkernel::checked::product(extents).value_or(-1);
  for (int64_t e : extents) // of none, strides must not wrap either
    if (e > kMostElements)
      return -1;
  return elements > kMostElements ? -1 : elements;
}

} // namespace

/// Which of two values counts, nobody could tell.
static Status checkOnce(const Metadata &metadata, std::span<const DimValue> bind) {
  for (size_t i = 0; i < bind.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (bind[i].name == bind[j].name)
        return error(StatusCode::InvalidArgument, "kernel '", metadata.kernel, "': '", bind[i].name,
                     "' is bound twice");
  return Status::success();
}

/// An error that lists all dimensions without a value; lib/JIT/Binding.cpp says
/// the same of a file's kernel.
static Status checkGiven(const Metadata &metadata,
                         std::span<const DimValue> bind) {
  std::string names, example;
  int missing = 0;
  bool perRank = false;
  for (const Metadata::Dim &dim : metadata.dims) {
    bool given = std::any_of(bind.begin(), bind.end(), [&](const DimValue &b) {
      return b.name == dim.name;
    });
    if (given || !dim.values.empty())
      continue;
    const char *comma = missing++ ? "," : "";
    names += str(comma, *comma ? " '" : "'", dim.name, "'");
    example += str(comma, dim.name, dim.perRank ? "=100:80:..." : "=1024");
    perRank |= dim.perRank;
  }
  if (!missing)
    return Status::success();
  bool one = missing == 1;
  return error(StatusCode::InvalidArgument, "kernel '", metadata.kernel,
               "': ", one ? "dimension " : "dimensions ", names, one ? " has" : " have",
               " no value; bind ", one ? "it" : "them", " (with mk-run, --bind ", example,
               perRank ? ", one for each rank)" : ")");
}

int64_t Shard::elements() const { return product(sizes); }
int64_t Shard::globalElements() const { return product(global); }

Result<std::vector<std::vector<int64_t>>>
mk::rt::resolveDims(const Metadata &metadata, const Mesh &mesh,
                    std::span<const DimValue> bind) {
  MK_TRY(checkOnce(metadata, bind));
  MK_TRY(checkGiven(metadata, bind));
  std::vector<std::vector<int64_t>> result(mesh.size());
  for (const Metadata::Dim &dim : metadata.dims) {
    const std::vector<int64_t> *given = nullptr;
    for (const DimValue &b : bind)
      if (b.name == dim.name)
        given = &b.values;
    const auto &fixed = dim.values;
    // One value for a dimension of each rank stands for the same on all.
    bool same = !given || fixed.empty() || *given == fixed ||
                (given->size() == 1 &&
                 std::all_of(fixed.begin(), fixed.end(),
                             [&](int64_t v) { return v == (*given)[0]; }));
    if (!same)
      return error(StatusCode::InvalidArgument, "kernel '", metadata.kernel,
                   "': dimension '", dim.name, "' was compiled for ",
                   fixed.front(), fixed.size() > 1 ? ":..." : "", ", not for ",
                   given->empty() ? 0 : given->front(),
                   ": compile it again with the other value");
    const auto &values = fixed.empty() ? *given : fixed;
    if (values.size() > 1 && !dim.perRank)
      return error(StatusCode::InvalidArgument, "kernel '", metadata.kernel,
                   "': dimension '", dim.name,
                   "' is the same on every rank; it "
                   "got ",
                   values.size(), " values");
    if (values.size() != 1 && values.size() != mesh.size())
      return error(StatusCode::InvalidArgument, "kernel '", metadata.kernel,
                   "': dimension '", dim.name, "' got ", values.size(),
                   " values for ", mesh.size(),
                   " ranks: give one, or one for "
                   "each rank");
    for (uint32_t r = 0; r < mesh.size(); ++r) {
      int64_t value = values[values.size() == 1 ? 0 : r];
      if (value < 0)
        return error(StatusCode::InvalidArgument, "kernel '", metadata.kernel,
                     "': dimension '", dim.name, "' is ", value,
                     "; it must not be negative");
      result[r].push_back(value);
    }
  }
  return result;
}

std::string mk::rt::faultText(const Metadata &metadata, int64_t fault, bool inRole) {
  int64_t code = -1 - fault;
  int64_t line = code & 0xffffffff, kind = code >> 32 & 0xf;
  int64_t place = (code >> 36) - 1; // -1: none
  std::string where = line ? str(", in line ", line) : std::string();
  if (place >= 0 && size_t(place >> 8) < metadata.args.size()) {
    const Metadata::Arg &arg = metadata.args[place >> 8];
    size_t d = place & 255;
    where = str(", in extent ", d, " of argument '", arg.name, "'",
                d < arg.extents.size() ? ", " + arg.extents[d] : std::string(), where);
  }
  switch (kind) {
  case MK_FAULT_DIVISION:
    return str("an integer is divided by zero, or the quotient does not fit", where,
               ": test the divisor",
               inRole ? " (beyond an edge a tile has zeros, unless its load has a pad)" : "",
               ", or refuse such sizes by mk.require");
  case MK_FAULT_OVERFLOW:
    return str("a sum, difference or product of sizes does not fit in its integers",
               where, ": give smaller sizes");
  case MK_FAULT_BOUNDS:
    return str("an index or a slice lies outside of its tensor, or extents of "
               "operands disagree", where);
  case MK_FAULT_MEMORY:
    return str("there is no memory for a temporary", where,
               ": give smaller sizes");
  }
  return str(kind == MK_FAULT_ASSERT ? "an assertion does not hold" : "unknown fault",
             where);
}

/// Extents as the kernel's file has them: " [M - 100, N]".
static std::string asWritten(const std::vector<std::string> &extents) {
  std::string text;
  for (const std::string &extent : extents) {
    if (extent.empty())
      return {};
    text += (text.empty() ? " [" : ", ") + extent;
  }
  return text.empty() ? text : text + "]";
}

std::string mk::rt::dimsText(const Metadata &metadata, std::span<const int64_t> dims) {
  std::string text;
  for (size_t d = 0; d < dims.size() && d < metadata.dims.size(); ++d)
    text += str(text.empty() ? " (" : ", ", metadata.dims[d].name, " = ", dims[d]);
  return text.empty() ? text : text + ")";
}

mk_launch mk::rt::makeLaunch(const Mesh &mesh, uint32_t rank, std::span<const int64_t> coords,
                             std::span<const int64_t> dims) {
  mk_launch launch = {};
  launch.abi_version = MK_ABI_VERSION;
  launch.rank = rank;
  launch.world = mesh.size();
  launch.num_axes = static_cast<uint32_t>(mesh.axes().size());
  launch.axis_sizes = mesh.sizes().data();
  launch.coords = coords.data();
  launch.dims = dims.data();
  return launch;
}

Result<Plan> mk::rt::evaluatePlan(const Metadata &metadata,
                                  const Payload &payload, const Mesh &mesh,
                                  uint32_t rank,
                                  std::span<const int64_t> dims) {
  size_t words = 0;
  for (const auto &arg : metadata.args)
    words += arg.rank;
  for (const auto &signal : metadata.signals)
    words += signal.rank + 1;
  for (const auto &counter : metadata.counters)
    words += counter.rank;
  words += metadata.queues.size();

  std::vector<int64_t> out(words + kGuard, kUnwritten);
  std::vector<int64_t> coords = mesh.coords(rank);
  mk_launch launch = makeLaunch(mesh, rank, coords, dims);
  if (int64_t failed = payload.plan(&launch, out.data())) {
    if (failed < 0)
      return error(StatusCode::FailedPrecondition, "kernel '", metadata.kernel,
                   "' cannot run with these sizes (rank ", rank, "): ",
                   faultText(metadata, failed));
    bool known = failed > 0 && size_t(failed) <= metadata.requirements.size();
    return error(StatusCode::FailedPrecondition, "kernel '", metadata.kernel,
                 "' cannot run with these sizes (rank ", rank, "): ",
                 known ? metadata.requirements[failed - 1]
                       : str("requirement ", failed - 1, " does not hold"));
  }

  auto unwritten = std::find(out.begin(), out.end(), kUnwritten);
  if (size_t written = unwritten - out.begin(); written != words)
    return error(StatusCode::Internal, "kernel '", metadata.kernel,
                 "': its plan has ", written == out.size() ? "at least " : "",
                 written, " numbers, and its metadata promises ", words,
                 ": the package's parts do not belong together; compile the "
                 "kernel again");
  const int64_t *next = out.data();
  auto take = [&](size_t n) {
    std::vector<int64_t> extents(next, next + n);
    next += n;
    return extents;
  };
  auto count = [&](const char *what, const std::string &name,
                   const std::vector<int64_t> &extents, int64_t &elements,
                   const std::vector<std::string> &written = {}) -> Status {
    elements = product(extents);
    if (elements >= 0)
      return Status::success();
    return error(StatusCode::OutOfRange, "kernel '", metadata.kernel,
                 "': ", what, " '", name, "'", asWritten(written), " would be ",
                 shapeText(extents), " on rank ", rank, dimsText(metadata, dims),
                 ": extents have to be at least 0 and elements at most 2^46; "
                 "give other sizes");
  };
  Plan plan;
  int64_t elements;
  for (const auto &arg : metadata.args) {
    plan.args.push_back(take(arg.rank));
    MK_TRY(count("argument", arg.name, plan.args.back(), elements,
                 arg.extents));
  }
  for (const auto &signal : metadata.signals) {
    Plan::Signal s;
    s.extents = take(signal.rank);
    s.arrivals = *next++;
    MK_TRY(count("signal", signal.name, s.extents, s.elements));
    if ((s.arrivals < 0) != signal.dynamic)
      return error(StatusCode::Internal, "kernel '", metadata.kernel,
                   "': signal '", signal.name, "' is planned with ", s.arrivals,
                   " arrivals, but is ",
                   signal.dynamic ? "dynamic" : "not dynamic");
    plan.signals.push_back(std::move(s));
  }
  for (const auto &counter : metadata.counters) {
    Plan::Counter c;
    c.extents = take(counter.rank);
    MK_TRY(count("counter", counter.name, c.extents, c.elements));
    plan.counters.push_back(std::move(c));
  }
  for (const auto &queue : metadata.queues) {
    plan.queues.push_back(*next++);
    MK_TRY(count("queue", queue.name, {plan.queues.back()}, elements));
  }
  return plan;
}
