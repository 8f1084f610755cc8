//===- MutantCases.cpp - What kernels are checked with --------------------===//
#include "MutantCases.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::fuzz;

std::string Mesh::toString() const {
  return std::to_string(nodes) + "x" + std::to_string(gpus);
}

std::vector<Mesh> MutantCase::meshes() const {
  std::vector<Mesh> list = {{2, 2}, {3, 1}, {1, 3}, {3, 2}, {2, 3}, {2, 1}, {2, 4},
                            {1, 1}, {1, 2}, {1, 4}, {4, 1}, {4, 2}, {1, 5}, {5, 1},
                            {1, 6}, {6, 1}, {3, 3}, {1, 7}, {7, 1}, {1, 8}};
  if (!net)
    for (size_t i = 0; i < list.size(); ++i)
      list[i] = {1, i == 0 ? 2 : i == 1 ? 1 : int64_t(i + 1)};
  return list;
}

CompileOptions MutantCase::options(const Mesh &mesh, const Sizes &sizes) const {
  CompileOptions options;
  options.kernel = kernel;
  options.tuning = "none";
  options.bind = sizes.bind;
  options.params = sizes.params;
  options.nodes = mesh.nodes;
  options.gpus = mesh.gpus;
  return options;
}

static bool readPairs(StringRef text,
                      std::vector<std::pair<std::string, std::string>> &pairs) {
  SmallVector<StringRef> items;
  text.split(items, ',');
  for (StringRef item : items) {
    auto [name, value] = item.split('=');
    if (name.empty() || value.empty())
      return false;
    pairs.emplace_back(name, value);
  }
  return true;
}

std::vector<MutantCase> fuzz::readCases(const Seeds &seeds, StringRef path,
                                        std::string &problem) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!buffer) {
    problem = path.str() + ": " + buffer.getError().message();
    return {};
  }
  llvm::StringMap<std::vector<Sizes>> known;
  SmallVector<StringRef> lines;
  (*buffer)->getBuffer().split(lines, '\n');
  for (auto [number, line] : llvm::enumerate(lines)) {
    SmallVector<StringRef> words;
    line.split('#').first.split(words, ' ', -1, /*KeepEmpty=*/false);
    if (words.empty())
      continue;
    Sizes sizes;
    bool good = words.size() % 2 == 1;
    for (size_t i = 1; good && i < words.size(); i += 2) {
      if (words[i] == "--bind")
        good = readPairs(words[i + 1], sizes.bind);
      else if (words[i] == "--set")
        good = readPairs(words[i + 1], sizes.params);
      else if (words[i] == "--random")
        sizes.random = words[i + 1].str();
      else if (words[i] == "--list")
        good = readPairs(words[i + 1], sizes.lists);
      else
        good = false;
    }
    if (!good) {
      problem = path.str() + ":" + std::to_string(number + 1) +
                ": is not of the form KERNEL [--bind|--set|--random|--list NAME=V,...]";
      return {};
    }
    known[words[0]].push_back(std::move(sizes));
  }
  std::vector<MutantCase> cases;
  for (size_t i = 0; i < seeds.size(); ++i) {
    ModuleOp module = *seeds[i].module;
    for (KernelOp kernel : module.getOps<KernelOp>()) {
      MutantCase &next = cases.emplace_back();
      next.file = seeds[i].name;
      next.kernel = kernel.getSymName();
      next.module = module;
      MeshOp mesh = kernel.getMeshOp();
      for (int64_t a = 0; a < mesh.getNumAxes(); ++a)
        next.net |= ShapedType::isDynamic(mesh.getAxis(a).getSize()) &&
                    mesh.getAxis(a).getLink() == LinkKind::Net;
      auto it = known.find(next.kernel);
      if (it == known.end()) {
        problem = path.str() + ": has no sizes for kernel '" + next.kernel + "' of " +
                  next.file + ": add a line " + next.kernel + " --bind NAME=V,...";
        return {};
      }
      next.sizes = it->second;
    }
  }
  return cases;
}
