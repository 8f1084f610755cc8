//===- LowerChecks.cpp - Reports of what a program does wrong -------------===//
//
// A check is one piece of PTX: a comparison and a jump over the report, as a wait is. Extents are
// read from the parameters where they are compared, so that they take no register before.
//
//===----------------------------------------------------------------------===//
#include "Texts.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::mk::thread;
using namespace mlir::mk_thread;

static SmallVector<Value> lowerCheck(const Frame &frame, CheckOp op, Ptx &ptx) {
  std::string text;
  llvm::raw_string_ostream os(text);
  SmallVector<Value> operands;
  // An index is given back, in the same register: 0 where it does not exist.
  bool redirects = op.getRedirect();
  auto operand = [&](Value value) {
    operands.push_back(value);
    return "$" + std::to_string(operands.size() + (redirects ? 1 : -1));
  };
  auto word = [&](Value value) {
    std::optional<int64_t> constant = value ? getConstantIntValue(value) : std::nullopt;
    return constant ? std::to_string(*constant) : operand(value);
  };
  os << "{ .reg .pred some; .reg .b32 low, word, named; "
     << ".reg .b64 begin, size, extent, value, report; ";
  os << "mov.b64 begin, " << (redirects ? "$0" : word(op.getBegin())) << "; ";
  if (op.getExtent())
    os << "mov.b64 extent, " << word(op.getExtent()) << "; ";
  else
    os << "ld.param.b64 extent, [" << frame.params << "+" << *op.getParam() << "]; ";
  if (op.getSize())
    // Without sums, which might overflow.
    os << "mov.b64 size, " << word(op.getSize()) << "; sub.s64 value, extent, size; "
       << "setp.ge.s64 some, value, begin; setp.ge.and.s64 some, begin, 0, some; ";
  else
    os << "setp.lt.u64 some, begin, extent; ";
  os << "@some bra FINE; ";
  // Asked where it matters: what is not there may be anywhere.
  for (auto [value, least] : llvm::zip(op.getValues(), op.getLeast()))
    os << "setp.lt.s" << value.getType().getIntOrFloatBitWidth() << " some, " << operand(value)
       << ", " << least << "; @some bra FINE; ";
  ReportText report(frame, op.getReport());
  report.named = std::to_string(op.getNamed());
  if (op.getChosen()) {
    os << "shl.b32 named, " << operand(op.getChosen()) << ", 16; or.b32 named, named, "
       << op.getNamed() << "; ";
    report.named = "named";
  }
  report.element = "mov.b64 value, begin; ";
  report.wanted = "mov.b64 value, extent; ";
  report.seen = op.getSize() ? "mov.b64 value, size; " : "mov.b64 value, 1; ";
  if (op.getRank())
    report.rank = "mov.b64 value, " + operand(op.getRank()) + "; ";
  else
    report.rank = "ld.param.b32 word, [" + frame.params + "+" +
                  std::to_string(frame.attr.getLaunch() + offsetof(mk_gpu_launch, rank)) +
                  "]; cvt.u64.u32 value, word; ";
  report.write(os);
  if (redirects)
    return ptx.tied(text + "mov.b64 $0, 0; FINE: }", op.getBegin(), operands);
  ptx.run(text + "FINE: }", {}, operands);
  return {op.getBegin()};
}

void mk::thread::addCheckPatterns(RewritePatternSet &patterns, const Frame &frame) {
  addPattern<CheckOp>(patterns,
                      [frame](CheckOp op, Ptx &ptx) { return lowerCheck(frame, op, ptx); });
  // By whoever has found it, at least: a thread sees what it has stored.
  // Not the line: code does not depend on where it stands in a file.
  addPattern<ReportFailureOp>(patterns, [frame](ReportFailureOp, Ptx &ptx) {
    return ptx.run(reportFailure(frame), {}, {});
  });
}
