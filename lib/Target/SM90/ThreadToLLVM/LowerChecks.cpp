//===- LowerChecks.cpp - Reports of what a program does wrong -------------===//
//
// A check is a comparison and a branch around the report. Extents are read from the parameters
// where they are compared, so that they take no register before.
//
//===----------------------------------------------------------------------===//
#include "Report.h"

using namespace mlir;
using namespace mlir::mk::thread;
using namespace mlir::mk_thread;

static SmallVector<Value> lowerCheck(const Frame &frame, CheckOp op, Ptx &ptx) {
  bool redirects = op.getRedirect();
  Arguments arguments;
  int64_t begin = arguments.add(op.getBegin());
  std::optional<int64_t> size = arguments.addIf(op.getSize());
  // An operand, or where it is in the parameters.
  bool isGiven = bool(op.getExtent());
  int64_t extent = arguments.add(isGiven ? op.getExtent() : ptx.number(*op.getParam(), 64));
  std::optional<int64_t> chosen = arguments.addIf(op.getChosen());
  std::optional<int64_t> rank = arguments.addIf(op.getRank());
  SmallVector<std::pair<int64_t, int64_t>> conditions;
  std::string name = "check";
  for (auto [value, least] : llvm::zip(op.getValues(), op.getLeast())) {
    unsigned bits = value.getType().getIntOrFloatBitWidth();
    int64_t number = arguments.add(value);
    conditions.emplace_back(number, arguments.add(ptx.number(least, bits)));
    name += "_when" + std::to_string(bits);
  }
  int64_t named = arguments.add(ptx.number(op.getNamed()));
  Site site(ptx, arguments, op.getReport());
  name += size ? "_size" : "";
  name += isGiven ? "_extent" : "_param";
  name += chosen ? "_chosen" : "";
  name += rank ? "_rank" : "";
  name += redirects ? "_redirect" : "";
  SmallVector<Type> results(redirects, ptx.b.getI64Type());
  SmallVector<Value> values = callRoutine(
      ptx, frame, name, arguments, results, [&](Ptx &ptx, ValueRange args) -> SmallVector<Value> {
        Blocks blocks(ptx, results);
        Block *lost = blocks.add();
        ValueRange same = args.slice(begin, results.size());
        Value limit = isGiven ? args[extent] : ptx.loadParam(frame, args[extent]);
        Value fine;
        if (size) {
          // Without sums, which might overflow.
          Value last = ptx.make<arith::SubIOp>(limit, args[*size]);
          fine = ptx.make<arith::AndIOp>(
              ptx.compare(arith::CmpIPredicate::sge, last, args[begin]),
              ptx.compare(arith::CmpIPredicate::sge, args[begin], ptx.number(0, 64)));
        } else {
          fine = ptx.compare(arith::CmpIPredicate::ult, args[begin], limit);
        }
        blocks.jumpIf(fine, blocks.end, same);
        // Asked where it matters: what is not there may be anywhere.
        for (auto [value, least] : conditions)
          blocks.jumpIf(ptx.compare(arith::CmpIPredicate::slt, args[value], args[least]),
                        blocks.end, same);
        Report report(ptx, frame);
        blocks.jumpIf(ptx.isSet(report.claim()), lost);
        report.begin(site, args);
        Value what = args[named];
        if (chosen)
          what =
              ptx.make<arith::OrIOp>(what, ptx.make<arith::ShLIOp>(args[*chosen], ptx.number(16)));
        report.put(offsetof(mk_gpu_report, named), what);
        report.put(offsetof(mk_gpu_report, element), args[begin]);
        report.put(offsetof(mk_gpu_report, wanted), limit);
        report.put(offsetof(mk_gpu_report, seen), size ? args[*size] : ptx.number(1, 64));
        report.put(offsetof(mk_gpu_report, rank),
                   rank ? args[*rank]
                        : ptx.loadParam(
                              frame, frame.attr.getLaunch() + offsetof(mk_gpu_launch, rank), 32));
        report.publish();
        report.raiseAbort();
        blocks.jump(lost);
        blocks.enter(lost);
        report.fail();
        // An index that does not exist is 0.
        return blocks.finish(redirects ? ValueRange(ptx.number(0, 64)) : ValueRange());
      });
  return redirects ? values : SmallVector<Value>{op.getBegin()};
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
