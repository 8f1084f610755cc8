//===- LowerChecks.cpp - Reports of what a program does wrong -------------===//
//
// A check is a comparison and a branch around the report. Extents are read from the parameters
// where they are compared, so that they take no register before.
//
//===----------------------------------------------------------------------===//
#include "Report.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::mk::thread;
using namespace mlir::mk_thread;

static SmallVector<Value> lowerCheck(const Frame &frame, CheckOp op, Ptx &ptx) {
  bool redirects = op.getRedirect();
  Type i64 = ptx.b.getI64Type();
  Blocks blocks(ptx, op.getType());
  Block *lost = blocks.add();
  Value begin = op.getBegin(), size = op.getSize(), extent = op.getExtent();
  if (!extent)
    extent = ptx.loadParam(frame, *op.getParam());
  Value fine;
  if (size) {
    // Without sums, which might overflow.
    std::optional<int64_t> constant = getConstantIntValue(size);
    Value last = constant
                     ? ptx.get("sub.s64 $0, $1, " + std::to_string(*constant) + ";", i64, extent)
                     : ptx.get("sub.s64 $0, $1, $2;", i64, {extent, size});
    fine = ptx.test("setp.ge.s64 $0, $1, $2;", {last, begin});
    fine = ptx.test("setp.ge.and.s64 $0, $1, 0, $2;", {begin, fine});
  } else {
    fine = ptx.test("setp.lt.u64 $0, $1, $2;", {begin, extent});
  }
  blocks.jumpIf(fine, blocks.end, begin);
  // Asked where it matters: what is not there may be anywhere.
  for (auto [value, least] : llvm::zip(op.getValues(), op.getLeast()))
    blocks.jumpIf(ptx.test("setp.lt.s" + std::to_string(value.getType().getIntOrFloatBitWidth()) +
                               " $0, $1, " + std::to_string(least) + ";",
                           value),
                  blocks.end, begin);
  Report report(ptx, frame);
  blocks.jumpIf(ptx.testWord(report.claim()), lost);
  report.begin(op.getReport());
  OpFoldResult named = ptx.b.getIndexAttr(op.getNamed());
  if (Value chosen = op.getChosen())
    named = ptx.get("mad.lo.u32 $0, $1, 65536, " + std::to_string(op.getNamed()) + ";",
                    ptx.b.getI32Type(), chosen);
  report.put(offsetof(mk_gpu_report, named), named);
  report.put(offsetof(mk_gpu_report, element), begin);
  report.put(offsetof(mk_gpu_report, wanted), extent);
  report.put(offsetof(mk_gpu_report, seen), size ? size : ptx.number(1, 64));
  Value rank = op.getRank();
  if (!rank)
    rank = ptx.loadParam(frame, frame.attr.getLaunch() + offsetof(mk_gpu_launch, rank), 32);
  report.put(offsetof(mk_gpu_report, rank), rank);
  report.publish();
  report.raiseAbort();
  blocks.jump(lost);
  blocks.enter(lost);
  report.fail();
  // An index that does not exist is 0.
  return blocks.finish(redirects ? ptx.number(0, 64) : begin);
}

void mk::thread::addCheckPatterns(RewritePatternSet &patterns, const Frame &frame) {
  addPattern<CheckOp>(patterns,
                      [frame](CheckOp op, Ptx &ptx) { return lowerCheck(frame, op, ptx); });
  // By whoever has found it, at least: a thread sees what it has stored.
  // Not the line: code does not depend on where it stands in a file.
  addPattern<ReportFailureOp>(
      patterns, [frame](ReportFailureOp, Ptx &ptx) { return reportFailure(frame, ptx); });
  // At once, and without a branch: a report beside accumulators would take registers from them.
  addPattern<FailUnlessOp>(patterns, [frame](FailUnlessOp op, Ptx &ptx) {
    ReportAttr report = op.getReport();
    return ptx.run("@$0 st.volatile.shared.b32 [" + frame.failed() + "], " +
                       std::to_string(report.getKind() | report.getRole() << 8) + ";",
                   {}, ptx.testWord(op.getHolds(), /*isInverted=*/true));
  });
}
