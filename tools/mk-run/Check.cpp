//===- Check.cpp - Results against the kernel's reference -----------------===//

#include "Check.h"

#include "Tensors.h"
#include "mkernel/ABI/Package.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <random>

using namespace mk::run;
using namespace mk::rt;

// Outputs up to this size are compared completely.
static constexpr int64_t kCompareAll = 1 << 18;
static constexpr int64_t kRandomRows = 256;
static constexpr size_t kShownMismatches = 8;
/// Of fewer errors all may be about as large as roundings get, twice their rms.
static constexpr int64_t kEnoughForRms = 32;

namespace {

/// A tensor of the reference with its memref descriptor.
struct RefTensor {
  ElementType type;
  std::vector<int64_t> shape;
  std::vector<std::byte> data;
  std::vector<int64_t> descriptor;

  RefTensor(ElementType type, const std::vector<int64_t> &shape)
      : type(type), shape(shape) {
    int64_t elements = 1;
    for (int64_t extent : shape)
      elements *= extent;
    // NaN, which stays where the reference writes nothing.
    data.resize(std::max<int64_t>(elements, 1) * byteSize(type),
                std::byte{0xff});
    auto address = reinterpret_cast<intptr_t>(data.data());
    descriptor = {address, address, 0};
    descriptor.insert(descriptor.end(), shape.begin(), shape.end());
    std::vector<int64_t> strides(shape.size());
    int64_t stride = 1;
    for (size_t d = shape.size(); d-- > 0; stride *= shape[d])
      strides[d] = stride;
    descriptor.insert(descriptor.end(), strides.begin(), strides.end());
  }
};

struct Checker {
  const Options &options;
  const Metadata &metadata;
  const Payload &payload;
  const JobPlan &plan;
  const JobMemory &job;
  uint32_t world;
  double epsilonIn = 0, k = 1;
  double read = 1; // the product of the rms of all inputs of floats that are below 1

  /// Inputs as the kernel got them: rounded to the argument's type.
  RefTensor makeInput(size_t arg, ElementType type) {
    const Metadata::Arg &a = metadata.args[arg];
    const Shard &shard = plan.shard(arg, 0);
    RefTensor tensor(type, shard.global);
    int64_t elements = shard.globalElements();
    const std::byte *given = job.input(arg);
    RandomTensor random(a.type, options.launch.seed, options.launches - 1, arg,
                        findRange(options, a.name));
    if (!given)
      random.fillAs(type, uint64_t(std::max<int64_t>(elements, 0)), tensor.data.data());
    for (int64_t i = 0; given && i < elements; ++i)
      storeElement(type, tensor.data.data(), i, loadElement(a.type, given, i));
    if (isFloat(a.type)) {
      epsilonIn = std::max(epsilonIn, epsilon(a.type));
      double squares = 0;
      for (int64_t i = 0; i < elements; ++i) {
        double x = loadElement(type, tensor.data.data(), i);
        squares += std::isfinite(x) ? x * x : 0;
      }
      // One that is zero throughout tells nothing of how large others are.
      if (squares > 0)
        read *= std::min(1.0, std::sqrt(squares / elements));
    }
    for (int64_t extent : shard.global)
      k = std::max(k, static_cast<double>(extent));
    return tensor;
  }

  /// Integers that nobody has chosen may be no index that exists; empty if there are none.
  std::string describeUngiven(const std::vector<uint32_t> &inputs) const {
    std::string text;
    for (uint32_t arg : inputs) {
      const std::string &name = metadata.args[arg].name;
      if (!isFloat(metadata.args[arg].type) && !job.input(arg) && !findRange(options, name))
        text +=
            str("; input '", name, "' holds integers at random: give those that are meant, --in ",
                name, "=FILE.npy or --random ", name, "=A:B");
    }
    return text;
  }

  uint32_t owner(size_t arg, uint32_t copy, int64_t element) {
    for (uint32_t r = 0; r < world; ++r) {
      const Shard &shard = plan.shard(arg, r);
      if (plan.copy(arg, r) != copy)
        continue;
      int64_t rest = element;
      bool inside = true;
      for (size_t d = shard.global.size(); d-- > 0;) {
        int64_t at = rest % shard.global[d];
        rest /= shard.global[d];
        inside &= at >= shard.begin[d] && at < shard.begin[d] + shard.sizes[d];
      }
      if (inside)
        return r;
    }
    return 0;
  }

  std::string indexText(const std::vector<int64_t> &shape, int64_t element) {
    std::string text;
    for (size_t d = shape.size(); d-- > 0;) {
      text = str(element % shape[d], text.empty() ? "" : ", ", text);
      element /= shape[d];
    }
    return str("[", text, "]");
  }

  /// Counts an element that is wrong, and describes the first few.
  void addMismatch(OutputCheck &check, size_t arg, uint32_t copy, int64_t i,
                   const std::string &text) {
    uint32_t rank = owner(arg, copy, i);
    ++check.mismatches;
    ++check.mismatchesOfRank[rank];
    if (check.firstMismatches.size() < kShownMismatches)
      check.firstMismatches.push_back(
          str(check.name, indexText(plan.shard(arg, 0).global, i), " on rank ",
              rank, text));
  }

  /// Whether an element of floats holds what each held before the launch: all bits set.
  bool isPoison(size_t arg, const std::byte *got, int64_t i) const {
    const Metadata::Arg &a = metadata.args[arg];
    size_t size = byteSize(a.type);
    return isFloat(a.type) && a.kind != Metadata::ArgKind::InOut &&
           std::isnan(loadElement(a.type, got, i)) &&
           std::all_of(got + i * size, got + (i + 1) * size,
                       [](std::byte b) { return b == std::byte{0xff}; });
  }

  /// Elements that hold what they held before the launch, where the reference was
  /// not computed: NaN, or of integers something else in each run.
  void findUnwritten(OutputCheck &check, size_t arg, uint32_t copy,
                     const std::vector<Range> &rows, int64_t width) {
    ElementType type = metadata.args[arg].type;
    const std::byte *got = job.output(arg, copy);
    const std::byte *again = job.output(arg, copy, 1);
    if (!isFloat(type) && !again)
      return; // what was there is an input
    size_t size = byteSize(type);
    auto look = [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        if (isFloat(type)
                ? std::isnan(loadElement(type, got, i))
                : std::memcmp(got + i * size, again + i * size, size) != 0) {
          check.maxError = check.maxErrorOfRank[owner(arg, copy, i)] = INFINITY;
          addMismatch(check, arg, copy, i,
                      isFloat(type) ? ": is NaN, as it was before the launch"
                                    : ": differs between two runs, as it did "
                                      "before the launch: not written");
        }
    };
    int64_t next = 0;
    for (const Range &range : rows) {
      look(next, range.begin * width);
      next = range.end * width;
    }
    look(next, check.elements);
  }

  OutputCheck compare(size_t arg, const RefTensor &reference,
                      const std::vector<Range> &rows, double rounding) {
    const Metadata::Arg &a = metadata.args[arg];
    OutputCheck check;
    check.name = a.name;
    check.elements = plan.shard(arg, 0).globalElements();
    check.maxErrorOfRank.assign(world, 0);
    check.mismatchesOfRank.assign(world, 0);
    int64_t width =
        reference.shape.empty() || reference.shape[0] == 0
            ? 1
            : std::max<int64_t>(check.elements, 0) / reference.shape[0];
    double sum = 0, largest = 0;
    int64_t unwritten = 0;
    auto each = [&](auto fn) {
      for (const Range &range : rows)
        for (int64_t i = range.begin * width; i < range.end * width; ++i)
          fn(i, loadElement(reference.type, reference.data.data(), i));
    };
    each([&](int64_t, double want) {
      sum += std::isfinite(want) ? want * want : 0;
      largest = std::isfinite(want) ? std::max(largest, std::fabs(want)) : largest;
      unwritten += std::isnan(want);
      ++check.compared;
    });
    check.rms = check.compared ? std::sqrt(sum / check.compared) : 0;
    Tolerance tolerance =
        Tolerance::of(a.type, rounding, k, check.rms, toleranceOf(options, a.name), read);
    if (check.compared < kEnoughForRms)
      tolerance.rms *= 2;
    if (check.compared && unwritten == check.compared) {
      check.passed = false;
      check.firstMismatches.push_back(
          str(a.name, ": @reference gives NaN for all that is compared, or has written nothing "
                      "to it: nothing can be compared with that"));
      return check;
    }
    if (!std::isfinite(check.rms)) {
      // Every tolerance would be infinite.
      check.passed = false;
      check.firstMismatches.push_back(
          str(a.name, ": the squares of the reference's values overflow, so "
                      "nothing can be compared with them; does @reference "
                      "return it in the argument's global shape?"));
      return check;
    }
    check.relative = tolerance.relative;
    check.base = tolerance.base + tolerance.floor;
    if (check.compared && check.rms != 0 && check.rms <= tolerance.floor) {
      char text[200];
      std::snprintf(text, sizeof(text),
                    ": the reference's values are all within %.3g of zero, where it may be off "
                    "itself by as much: it says no more than that",
                    largest);
      check.note = a.name + text;
    }
    check.rmsTolerance = tolerance.rms;

    // What is rounded on the way to an element is as large as its row. Rows of dimension
    // 0 are compared whole, so the innermost ones are too, but of rank 1 it is all.
    int64_t length = reference.shape.size() > 1 ? reference.shape.back() : 0;
    int64_t row = -1;
    double larger = 1;
    auto enterRow = [&](int64_t i) {
      if (length == 0 || i / length == row)
        return;
      row = i / length;
      double squares = 0;
      for (int64_t j = row * length; j < (row + 1) * length; ++j) {
        double want = loadElement(reference.type, reference.data.data(), j);
        squares += std::isfinite(want) ? want * want : 0;
      }
      double rms = std::sqrt(squares / length);
      larger = rms > check.rms ? rms / check.rms : 1;
    };

    auto compareWith = [&](const std::byte *got, uint32_t copy) {
      double squares = 0;
      each([&](int64_t i, double want) {
        enterRow(i);
        double value = loadElement(a.type, got, i);
        double error = value == want ? 0 : std::fabs(value - want);
        double allowed = tolerance.of(want, larger);
        bool good = error <= allowed;
        if (std::isnan(error) || std::isnan(want))
          error = INFINITY, good = false;
        squares += error * error;
        check.maxError = std::max(check.maxError, error);
        if (error == 0 && good)
          return;
        uint32_t rank = owner(arg, copy, i);
        check.maxErrorOfRank[rank] =
            std::max(check.maxErrorOfRank[rank], error);
        if (good)
          return;
        char text[160];
        if (std::isnan(want))
          std::snprintf(text, sizeof(text),
                        ": got %.9g, and the reference is NaN there: nothing can be compared "
                        "with that",
                        value);
        else if (isPoison(arg, got, i))
          std::snprintf(text, sizeof(text),
                        ": is NaN, as it was before the launch, want %.9g: nobody wrote "
                        "it, or what it comes from",
                        want);
        else if (std::isnan(value))
          std::snprintf(text, sizeof(text),
                        ": got nan, want %.9g: it may come from what nobody wrote", want);
        else
          std::snprintf(text, sizeof(text), ": got %.9g, want %.9g (error %.3g, tolerance %.3g)",
                        value, want, error, allowed);
        addMismatch(check, arg, copy, i, text);
      });
      if (check.compared == 0)
        return;
      double rmsError = std::sqrt(squares / check.compared);
      check.rmsError = std::max(check.rmsError, rmsError);
      if (!(rmsError <= tolerance.rms) && check.mismatches == 0) {
        check.passed = false;
        char text[160];
        std::snprintf(text, sizeof(text),
                      ": each element is within its tolerance, but the rms of "
                      "all errors is %.3g, tolerance %.3g",
                      rmsError, tolerance.rms);
        check.firstMismatches.push_back(a.name + text);
      }
    };
    for (uint32_t copy = 0; copy < plan.copies(arg); ++copy) {
      compareWith(job.output(arg, copy), copy);
      // Of integers poison may be the right value, but not in both runs.
      if (const std::byte *again = job.output(arg, copy, 1))
        compareWith(again, copy);
      findUnwritten(check, arg, copy, rows, width);
    }
    check.passed &= check.mismatches == 0;
    return check;
  }
};

/// If a fault of the reference is a result of another shape than its argument's.
std::string describeShapeFault(const Metadata &metadata, const JobPlan &plan, int64_t fault) {
  int64_t code = -1 - fault, place = (code >> 36) - 1;
  if (fault >= 0 || (code >> 32 & 0xf) != MK_FAULT_SHAPE || place < 0 ||
      size_t(place >> 8) >= metadata.reference->outputs.size())
    return {};
  uint32_t arg = metadata.reference->outputs[place >> 8];
  return str("result ", place >> 8, " has ", code & 0xffffffff, " elements in dimension ",
             place & 255, ", and argument '", metadata.args[arg].name, "' is ",
             shapeText(plan.shard(arg, 0).global),
             " over all ranks: return a tensor of the argument's global shape");
}

} // namespace

Tolerance Tolerance::of(ElementType out, double rounding, double k, double rms, double factor,
                        double read) {
  Tolerance t;
  if (!isFloat(out))
    return t;
  double sums = std::sqrt(std::max(k, 1.0)) * 0x1p-23;
  // Its fraction is 0 and its exponent 1.
  auto bits = static_cast<uint64_t>(1 / epsilon(out));
  t.smallestNormal = loadElement(out, &bits, 0);
  t.relative = factor * epsilon(out);
  t.base = factor * 4 * (rounding + sums) * rms;
  double own = std::sqrt(std::max(k, 1.0)) * 0x1p-52 * read;
  t.floor = factor * 4 * own;
  t.rms = factor *
          (epsilon(out) / 2 * std::max(rms, t.smallestNormal) + (rounding / 2 + sums) * rms + own);
  return t;
}

double Tolerance::of(double reference, double larger) const {
  return base * larger + floor + relative * std::max(std::fabs(reference), smallestNormal);
}

std::vector<Range> mk::run::chooseRows(int64_t rows, int64_t elements,
                                       const std::vector<int64_t> &borders,
                                       uint64_t seed) {
  if (rows <= 0)
    return {};
  if (elements <= kCompareAll || rows <= kRandomRows)
    return {{0, rows}};
  std::vector<int64_t> chosen = {0, rows - 1};
  for (int64_t border : borders)
    for (int64_t row : {border - 1, border})
      if (row >= 0 && row < rows)
        chosen.push_back(row);
  std::mt19937_64 random(seed);
  for (int64_t i = 0; i < kRandomRows; ++i)
    chosen.push_back(static_cast<int64_t>(random() % uint64_t(rows)));
  std::sort(chosen.begin(), chosen.end());
  std::vector<Range> ranges;
  for (int64_t row : chosen) {
    if (!ranges.empty() && row <= ranges.back().end)
      ranges.back().end = std::max(ranges.back().end, row + 1);
    else
      ranges.push_back({row, row + 1});
  }
  return ranges;
}

Result<std::vector<OutputCheck>>
mk::run::checkOutputs(const Options &options, const Metadata &metadata,
                      const Payload &payload, const JobPlan &plan,
                      const JobMemory &job, uint32_t world) {
  if (!metadata.reference)
    return error(StatusCode::FailedPrecondition, "--check: kernel '",
                 metadata.kernel,
                 "' carries no reference to compare with: add "
                 "func.func @reference to its file");
  const Metadata::Reference &ref = *metadata.reference;
  Checker checker{options, metadata, payload, plan, job, world};
  std::vector<RefTensor> tensors;
  tensors.reserve(ref.types.size());
  for (size_t i = 0; i < ref.inputs.size(); ++i)
    tensors.push_back(checker.makeInput(ref.inputs[i], ref.types[i]));
  for (size_t i = 0; i < ref.outputs.size(); ++i)
    tensors.emplace_back(ref.types[ref.inputs.size() + i],
                         plan.shard(ref.outputs[i], 0).global);
  if (ref.contraction)
    checker.k = static_cast<double>(ref.contraction);

  // One set of rows for all outputs; what has other rows is computed whole.
  int64_t rows = -1, elements = 0;
  std::vector<int64_t> borders;
  bool whole = false;
  for (uint32_t arg : ref.outputs) {
    const Shard &shard = plan.shard(arg, 0);
    elements = std::max(elements, shard.globalElements());
    if (shard.global.empty() || (rows >= 0 && rows != shard.global[0])) {
      whole = true;
      continue;
    }
    rows = shard.global[0];
  }
  // Rows at which some argument of the same length changes hands: results
  // that all ranks hold depend on whole shards of the inputs.
  for (size_t arg = 0; arg < metadata.args.size(); ++arg)
    for (uint32_t r = 0; r < world; ++r) {
      const Shard &shard = plan.shard(arg, r);
      if (shard.global.empty() || shard.global[0] != rows)
        continue;
      borders.push_back(shard.begin[0]);
      borders.push_back(shard.begin[0] + shard.sizes[0]);
    }
  std::vector<Range> ranges;
  if (!whole)
    ranges = chooseRows(rows, elements, borders, options.launch.seed);
  whole |= ranges == std::vector<Range>{{0, rows}};

  // Dimensions that the reference asks for: one value, or one for each rank.
  std::vector<RefTensor> dims;
  dims.reserve(ref.dims.size());
  for (uint32_t dim : ref.dims) {
    uint32_t n = metadata.dims[dim].perRank ? world : 1;
    RefTensor &values = dims.emplace_back(ElementType::i64,
                                          std::vector<int64_t>{n});
    for (uint32_t r = 0; r < n; ++r)
      std::memcpy(values.data.data() + r * sizeof(int64_t), &plan.dims(r)[dim],
                  sizeof(int64_t));
  }
  std::vector<void *> descriptors;
  for (std::vector<RefTensor> *list : {&tensors, &dims})
    for (RefTensor &tensor : *list)
      descriptors.push_back(tensor.descriptor.data());
  if (whole)
    ranges = {{0, -1}}; // all there is
  for (const Range &range : ranges)
    if (int64_t failed =
            payload.reference(descriptors.data(), range.begin, whole ? -1 : range.size())) {
      std::string shape = describeShapeFault(metadata, plan, failed);
      return error(StatusCode::FailedPrecondition, "--check: the reference of kernel '",
                   metadata.kernel, "': ", shape.empty() ? faultText(metadata, failed) : shape,
                   shape.empty() ? checker.describeUngiven(ref.inputs) : std::string());
    }

  std::vector<OutputCheck> checks;
  for (size_t i = 0; i < ref.outputs.size(); ++i) {
    const RefTensor &tensor = tensors[ref.inputs.size() + i];
    std::vector<Range> all = {{0, tensor.shape.empty() ? 1 : tensor.shape[0]}};
    // A package that does not say is as coarse as its inputs.
    double rounding = ref.epsilons.empty()
                          ? checker.epsilonIn
                          : std::max(ref.epsilons[i], 0x1p-23);
    checks.push_back(
        checker.compare(ref.outputs[i], tensor, whole ? all : ranges, rounding));
  }
  return checks;
}

Status mk::run::corruptOutput(const Options &options, const Metadata &metadata,
                              const JobPlan &plan, const JobMemory &job) {
  if (options.corrupt.empty())
    return Status::success();
  int arg = metadata.argIndex(options.corrupt);
  if (arg < 0 || !job.output(arg, 0))
    return error(StatusCode::InvalidArgument, "--corrupt ", options.corrupt,
                 ": kernel '", metadata.kernel, "' has no output of this name");
  int64_t elements = plan.shard(arg, 0).globalElements();
  if (options.corruptIndex >= elements)
    return error(StatusCode::InvalidArgument, "--corrupt ", options.corrupt,
                 ":", options.corruptIndex, ": it has ", elements, " elements");
  // Beyond every tolerance: further off than any value of the output is large.
  ElementType type = metadata.args[arg].type;
  std::byte *data = job.output(arg, 0);
  double largest = 0;
  for (int64_t i = 0; i < elements; ++i)
    largest = std::max(largest, std::fabs(loadElement(type, data, i)));
  double old = loadElement(type, data, options.corruptIndex);
  storeElement(type, data, options.corruptIndex,
               type == ElementType::i1 ? !old
               : old > 0               ? old - largest - 1
                                       : old + largest + 1);
  return Status::success();
}
