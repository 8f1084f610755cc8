//===- Remarks.cpp - Remarks of passes as diagnostics ---------------------===//
#include "mkernel/Compiler/Remarks.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/Regex.h"

using namespace mlir;

namespace {
class Printer : public remark::detail::MLIRRemarkStreamerBase {
public:
  explicit Printer(StringRef filter) : filter(filter) {}

  void streamOptimizationRemark(const remark::detail::Remark &remark) override {
    std::string head =
        (remark.getCategoryName() + ": " + StringRef(remark.getRemarkTypeString()).lower()).str();
    if (!filter.match(head))
      return;
    std::string text = head + ": ";
    for (const remark::detail::Remark::Arg &arg : remark.getArgs())
      text += arg.val;
    text += (" (in role '" + remark.getFunction() + "')").str();
    // Of loops that come from one in the file.
    if (said.insert(
                {remark.getLocation(), StringAttr::get(remark.getLocation()->getContext(), text)})
            .second)
      emitRemark(remark.getLocation()) << text;
  }

private:
  llvm::Regex filter;
  llvm::DenseSet<std::pair<Attribute, Attribute>> said;
};
} // namespace

std::string mk::enableRemarks(MLIRContext &context, StringRef filter) {
  if (filter.empty())
    filter = ".*";
  std::string problem;
  if (!llvm::Regex(filter).isValid(problem))
    return ("'" + filter + "' is not a regular expression: " + problem).str();
  // Of a kind that is not named the engine drops everything.
  const std::string any = ".*";
  remark::RemarkCategories all{any, any, any, any, any};
  if (failed(remark::enableOptimizationRemarks(context, std::make_unique<Printer>(filter),
                                               std::make_unique<remark::RemarkEmittingPolicyAll>(),
                                               all)))
    return "remarks cannot be enabled";
  return {};
}
