//===- Input.cpp - What a fuzzer's input is made of -----------------------===//
#include "Input.h"
#include "Mutate.h"
#include "mkernel/Dialect/Tile/Tile.h"
#include "mkernel/Target/Backend.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::fuzz;

Input fuzz::makeInput(uint64_t fuzzerSeed, uint64_t number, size_t seeds) {
  std::seed_seq sequence{uint32_t(fuzzerSeed), uint32_t(fuzzerSeed >> 32),
                         uint32_t(number), uint32_t(number >> 32)};
  std::mt19937_64 random(sequence);
  Input input{};
  input.number = number;
  input.seed = random() % seeds;
  input.mutations = 1;
  while (input.mutations < kMaxMutations && random() % 3 == 0)
    ++input.mutations;
  input.random = random();
  return input;
}

namespace {
struct Phase {
  StringRef name;
  unsigned weight;
};

/// What takes long is rare.
SmallVector<Phase> listPhases(const TargetBackend &backend) {
  if (!backend.hasDeviceModule())
    return {{"signature", 1}, {"params", 1}, {"tile", 4},
            {"llvm", 16},     {"llvmir", 1}, {"package", 1}};
  SmallVector<Phase> phases{{"signature", 1},
                            {"params", 1},
                            {"tile", 2},
                            {backend.getKernelPhase(), 8},
                            {backend.getCodePhase(), 2},
                            {"llvm", 7},
                            {"llvmir", 1},
                            {backend.getTextPhase(), 1},
                            {"package", 1}};
  llvm::erase_if(phases, [](const Phase &phase) { return phase.name.empty(); });
  return phases;
}

struct Chooser {
  std::mt19937_64 random;
  CompileOptions &options;

  template <typename T, size_t n> T one(const T (&of)[n]) {
    return of[random() % n];
  }

  StringRef weighted(ArrayRef<Phase> phases) {
    unsigned sum = 0;
    for (const Phase &phase : phases)
      sum += phase.weight;
    unsigned at = random() % sum;
    while (at >= phases.front().weight) {
      at -= phases.front().weight;
      phases = phases.drop_front();
    }
    return phases.front().name;
  }

  void mesh(MeshOp mesh) {
    const std::pair<int64_t, int64_t> shapes[] = {{1, 1}, {1, 2}, {2, 2}, {2, 4}};
    auto [nodes, gpus] = one(shapes);
    for (unsigned i = 0, e = mesh ? mesh.getNumAxes() : 0; i < e; ++i)
      if (ShapedType::isDynamic(mesh.getAxis(i).getSize()))
        (mesh.getAxis(i).getLink() == LinkKind::Net ? options.nodes
                                                    : options.gpus) =
            mesh.getAxis(i).getLink() == LinkKind::Net ? nodes : gpus;
  }

  void dims(KernelOp kernel) {
    const char *extents[] = {"0", "1", "2", "7", "64", "100", "128", "200"};
    bool all = random() % 4;
    for (Attribute name : kernel.getDimNames()) {
      const char *extent = one(extents);
      if (all || random() % 2)
        options.bind.emplace_back(cast<StringAttr>(name).getValue(), extent);
    }
  }

  void params(KernelOp kernel) {
    if (random() % 8 == 0)
      return;
    llvm::StringSet<> seen;
    int64_t most = options.target == "host" ? 32 : 64;
    kernel.walk([&](ParamOp param) {
      std::optional<int64_t> number = param.getNumber();
      if (!number || !seen.insert(param.getName()).second)
        return;
      int64_t value = random() % 8 ? *number : int64_t(random() % 9);
      if (value > most)
        value = most;
      if (value != *number)
        options.params.emplace_back(param.getName(), std::to_string(value));
    });
  }

  /// One or two versions by a dimension that is not bound.
  void versions(KernelOp kernel) {
    if (random() % 8)
      return;
    for (auto [i, attr] : llvm::enumerate(kernel.getDimNames())) {
      StringRef name = cast<StringAttr>(attr).getValue();
      if (kernel.getDimKind(i) == DimKind::Rank ||
          llvm::any_of(options.bind, [&](const auto &bound) { return bound.first == name; }))
        continue;
      options.variants = (name + "=7").str();
      if (random() % 2 && (options.emit == "package" || options.emit == "params"))
        options.variants += ("," + name + "=100").str();
      return;
    }
  }

  bool run(ModuleOp module) {
    SmallVector<KernelOp> kernels(module.getOps<KernelOp>());
    if (kernels.empty())
      return false;
    KernelOp kernel = kernels[random() % kernels.size()];
    options.kernel = kernel.getSymName();
    ArrayRef<const TargetBackend *> backends = getTargetBackends();
    const TargetBackend &backend = *backends[random() % backends.size()];
    options.target = backend.getName();
    options.emit = weighted(listPhases(backend)).str();
    options.tuning = "none";
    options.completeMesh = false; // as mk-opt
    if (random() % 2)
      options.grid = 1 + random() % 16;
    mesh(kernel.getMeshOp());
    dims(kernel);
    params(kernel);
    versions(kernel);
    return true;
  }
};
} // namespace

bool fuzz::chooseOptions(const Input &input, ModuleOp module,
                         CompileOptions &options) {
  return Chooser{std::mt19937_64(input.random), options}.run(module);
}

std::string fuzz::commandLine(const CompileOptions &options) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "mk-opt --target=" << options.target << " --emit=" << options.emit
     << " --kernel=" << options.kernel << " --tuning=" << options.tuning;
  if (options.grid)
    os << " --grid=" << options.grid;
  if (options.nodes)
    os << " --nodes=" << options.nodes;
  if (options.gpus)
    os << " --gpus=" << options.gpus;
  auto list = [&](StringRef name, const auto &pairs) {
    for (auto [i, pair] : llvm::enumerate(pairs))
      os << (i ? "," : name) << pair.first << "=" << pair.second;
  };
  list(" --bind=", options.bind);
  list(" --set=", options.params);
  if (!options.variants.empty())
    os << " --variants=" << options.variants;
  return text;
}
