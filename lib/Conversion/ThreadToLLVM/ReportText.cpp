//===- ReportText.cpp - The launch's report as PTX ------------------------===//
#include "Texts.h"

using namespace mlir;
using namespace mlir::mk::thread;

void ReportText::loadLaunch(llvm::raw_ostream &os, StringRef to, int64_t offset) const {
  os << "ld.param.b64 " << to << ", [" << frame.params << "+" << frame.attr.getLaunch() + offset
     << "]; ";
}

void ReportText::write(llvm::raw_ostream &os) const {
  auto put = [&](int64_t offset, StringRef type, StringRef value) {
    os << "st.global." << type << " [report+" << offset << "], " << value << "; ";
  };
  auto param = [&](int64_t offset) { loadLaunch(os, "report", offset); };
  param(offsetof(mk_gpu_launch, control));
  os << "atom.acq_rel.gpu.global.exch.b32 word, [report+" << offsetof(mk_gpu_control, claimed)
     << "], 1; setp.ne.u32 some, word, 0; @some bra LOST; ";
  param(offsetof(mk_gpu_launch, report));
  put(offsetof(mk_gpu_report, kind), "b32", std::to_string(kind));
  os << "mov.u32 low, %ctaid.x; ";
  put(offsetof(mk_gpu_report, cta), "b32", "low");
  put(offsetof(mk_gpu_report, role), "b32", std::to_string(role));
  put(offsetof(mk_gpu_report, number), "b32", std::to_string(number));
  if (named != "0")
    put(offsetof(mk_gpu_report, named), "b32", named);
  os << element;
  put(offsetof(mk_gpu_report, element), "b64", "value");
  os << wanted;
  put(offsetof(mk_gpu_report, wanted), "b64", "value");
  os << seen;
  put(offsetof(mk_gpu_report, seen), "b64", "value");
  if (!rank.empty()) {
    os << rank;
    put(offsetof(mk_gpu_report, rank), "b64", "value");
  }
  os << "fence.acq_rel.sys; st.relaxed.sys.global.b32 [report], 1; "
     << "fence.acq_rel.sys; ";
  param(offsetof(mk_gpu_launch, control));
  os << "st.relaxed.sys.global.b32 [report+" << offsetof(mk_gpu_control, abort) << "], 1; "
     << "LOST: st.volatile.shared.b32 [" << frame.failed() << "], 1; ";
}
