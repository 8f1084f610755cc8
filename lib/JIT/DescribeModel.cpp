//===- DescribeModel.cpp - What --emit=params says of the model -----------===//
#include "Model.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace mlir::mk;

static llvm::json::Object describe(const Work &work) {
  llvm::json::Object object;
  auto add = [&](StringRef name, double amount) {
    if (amount > 0)
      object[name] = amount;
  };
  add("products", work.products);
  add("operands", work.operands);
  add("copies", work.copies);
  add("asked", work.asked);
  add("fresh", work.fresh);
  add("turns", work.turns);
  add("loads", work.loads);
  add("direct", work.direct);
  add("stores", work.stores);
  add("shared", work.shared);
  add("sent", work.sent);
  add("elements", work.elements);
  add("functions", work.functions);
  add("reductions", work.reductions);
  add("sums", work.sums);
  return object;
}

llvm::json::Value mk::describeModel(const ModelChoice &choice) {
  if (!choice.prediction)
    return llvm::json::Object{{"why", choice.why}};
  llvm::json::Array loops;
  for (const LoopWork &loop : choice.work.loops) {
    ItemWork mean;
    for (const ItemWork &item : loop.samples) {
      mean.inner.add(item.inner, 1.0 / loop.samples.size());
      mean.outer.add(item.outer, 1.0 / loop.samples.size());
    }
    llvm::json::Object object{{"role", loop.role.getValue()},
                              {"ctas", loop.ctas},
                              {"items", loop.items},
                              {"inner", describe(mean.inner)},
                              {"outer", describe(mean.outer)}};
    if (loop.arrivals.bytes > 0)
      object["arrivals"] = llvm::json::Object{{"bytes", loop.arrivals.bytes},
                                              {"step", loop.arrivals.step},
                                              {"copies", loop.arrivals.copies}};
    loops.push_back(std::move(object));
  }
  auto describeMs = [](const Prediction &prediction) {
    return llvm::json::Object{{"burst", prediction.burst}, {"steady", prediction.steady}};
  };
  llvm::json::Array candidates;
  for (const ModelChoice::Candidate &candidate : choice.candidates) {
    llvm::json::Object set;
    for (const auto &[name, value] : candidate.set)
      set[name] = value;
    candidates.push_back(
        llvm::json::Object{{"set", std::move(set)}, {"ms", describeMs(candidate.prediction)}});
  }
  llvm::json::Object about{
      {"ms", describeMs(*choice.prediction)}, {"bound", choice.prediction->bound},
      {"alone", choice.work.isAlone},         {"compared", choice.compared},
      {"memory", choice.work.memory},         {"written", choice.work.written},
      {"packed", choice.work.packed},         {"loops", std::move(loops)}};
  if (!candidates.empty())
    about["candidates"] = std::move(candidates);
  return about;
}
