//===- Report.cpp - The launch's report -----------------------------------===//
#include "Report.h"

using namespace mlir;
using namespace mlir::mk::thread;

Value Report::claim() {
  Value control = loadLaunch(offsetof(mk_gpu_launch, control));
  return ptx.get("atom.acq_rel.gpu.global.exch.b32 $0, [$1+" +
                     std::to_string(offsetof(mk_gpu_control, claimed)) + "], 1;",
                 ptx.b.getI32Type(), control, /*touchesMemory=*/true);
}

void Report::put(int64_t offset, OpFoldResult value) {
  auto word = dyn_cast<Value>(value);
  bool isLong = word && word.getType().isInteger(64);
  ptx.store(isLong ? "st.global.b64" : "st.global.b32", address, offset, value, predicate);
}

void Report::begin(const Site &site, ValueRange arguments) {
  begin();
  put(offsetof(mk_gpu_report, kind), arguments[site.kind]);
  // Read here: NVVM's op has no effects, and LLVM would keep what it gives.
  put(offsetof(mk_gpu_report, cta), ptx.get("mov.u32 $0, %ctaid.x;", ptx.b.getI32Type()));
  put(offsetof(mk_gpu_report, role), arguments[site.role]);
  put(offsetof(mk_gpu_report, number), arguments[site.number]);
}

void Report::publish() {
  ptx.run("fence.acq_rel.sys;", {}, {});
  ptx.store("st.relaxed.sys.global.b32", address, 0, ptx.b.getIndexAttr(1), predicate);
  ptx.run("fence.acq_rel.sys;", {}, {});
}

void Report::raiseAbort() {
  ptx.store("st.relaxed.sys.global.b32", loadLaunch(offsetof(mk_gpu_launch, control)),
            offsetof(mk_gpu_control, abort), ptx.b.getIndexAttr(1));
}

void Report::fail() { ptx.run("st.volatile.shared.b32 [" + frame.failed() + "], 1;", {}, {}); }

void Report::stop() {
  raiseAbort();
  fail();
  ptx.store("st.relaxed.sys.global.b32", loadLaunch(offsetof(mk_gpu_launch, control)),
            offsetof(mk_gpu_control, claimed), ptx.b.getIndexAttr(1));
}

SmallVector<Value> mk::thread::reportFailure(const Frame &frame, Ptx &ptx) {
  return callRoutine(ptx, frame, "report_failure", Arguments(), {}, [&](Ptx &ptx, ValueRange) {
    Blocks blocks(ptx);
    Block *abort = blocks.add();
    Report report(ptx, frame);
    Value what = ptx.get("ld.volatile.shared.b32 $0, [" + frame.failed() + "];", ptx.b.getI32Type(),
                         {}, /*touchesMemory=*/true);
    blocks.jumpIf(ptx.compare(arith::CmpIPredicate::ule, what, ptx.number(1)), blocks.end);
    blocks.jumpIf(ptx.isSet(report.claim()), abort);
    report.begin();
    report.put(offsetof(mk_gpu_report, kind), ptx.make<arith::AndIOp>(what, ptx.number(255)));
    report.put(offsetof(mk_gpu_report, role), ptx.make<arith::ShRSIOp>(what, ptx.number(8)));
    report.publish();
    blocks.jump(abort);
    blocks.enter(abort);
    report.raiseAbort();
    return blocks.finish();
  });
}
