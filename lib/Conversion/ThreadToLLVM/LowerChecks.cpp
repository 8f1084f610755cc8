//===- LowerChecks.cpp - Reports of what a program does wrong -------------===//
//
// A check is one piece of PTX: a comparison and a jump over the report, as a wait is. Extents are
// read from the parameters where they are compared, so that they take no register before.
//
//===----------------------------------------------------------------------===//
#include "Texts.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::mk::thread;
using namespace mlir::mk_thread;

static std::optional<int64_t> constantOf(Value value) {
  APInt number;
  if (!value || !matchPattern(value, m_ConstantInt(&number)))
    return std::nullopt;
  return number.getSExtValue();
}

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
    std::optional<int64_t> constant = constantOf(value);
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

// Without a branch, since it stands in loops beside accumulators.
static SmallVector<Value> lowerFailUnless(const Frame &frame, FailUnlessOp op, Ptx &ptx) {
  ReportAttr report = op.getReport();
  return ptx.run("{ .reg .pred p; setp.eq.u32 p, $0, 0; @p st.volatile.shared.b32 [" +
                     frame.failed() + "], " +
                     std::to_string(report.getKind() | report.getRole() << 8) + "; }",
                 {}, op.getHolds());
}

// By whoever has found it, at least: a thread sees what it has stored.
// Not the line: code does not depend on where it stands in a file.
static SmallVector<Value> lowerReportFailure(const Frame &frame, Ptx &ptx) {
  std::string text;
  llvm::raw_string_ostream os(text);
  auto param = [&](int64_t offset) {
    os << "ld.param.b64 report, [" << frame.params << "+" << frame.attr.getLaunch() + offset
       << "]; ";
  };
  os << "{ .reg .pred some; .reg .b32 what, word; .reg .b64 report; "
     << "ld.volatile.shared.b32 what, [" << frame.failed() << "]; "
     << "setp.le.u32 some, what, 1; @some bra RIGHT; ";
  param(offsetof(mk_gpu_launch, control));
  os << "atom.acq_rel.gpu.global.exch.b32 word, [report+" << offsetof(mk_gpu_control, claimed)
     << "], 1; setp.ne.u32 some, word, 0; @some bra KNOWN; ";
  param(offsetof(mk_gpu_launch, report));
  os << "and.b32 word, what, 255; st.global.b32 [report+" << offsetof(mk_gpu_report, kind)
     << "], word; shr.s32 word, what, 8; st.global.b32 [report+" << offsetof(mk_gpu_report, role)
     << "], word; "
     << "fence.acq_rel.sys; st.relaxed.sys.global.b32 [report], 1; fence.acq_rel.sys; KNOWN: ";
  param(offsetof(mk_gpu_launch, control));
  os << "st.relaxed.sys.global.b32 [report+" << offsetof(mk_gpu_control, abort) << "], 1; RIGHT: }";
  return ptx.run(text, {}, {});
}

void mk::thread::addCheckPatterns(RewritePatternSet &patterns, const Frame &frame) {
  addPattern<CheckOp>(patterns,
                      [frame](CheckOp op, Ptx &ptx) { return lowerCheck(frame, op, ptx); });
  addPattern<FailUnlessOp>(
      patterns, [frame](FailUnlessOp op, Ptx &ptx) { return lowerFailUnless(frame, op, ptx); });
  addPattern<ReportFailureOp>(
      patterns, [frame](ReportFailureOp, Ptx &ptx) { return lowerReportFailure(frame, ptx); });
}
