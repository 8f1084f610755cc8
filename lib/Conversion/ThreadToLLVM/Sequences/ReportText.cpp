//===- ReportText.cpp - The launch's report as PTX ------------------------===//
//
// All of the protocol (mkernel/ABI/Gpu.h). The first thread that claims the report fills it in,
// says that it is there and raises the abort word, which all waits look at; others find it claimed.
//
//===----------------------------------------------------------------------===//
#include "Texts.h"

using namespace mlir;
using namespace mlir::mk::thread;

void ReportText::loadLaunch(llvm::raw_ostream &os, StringRef to, int64_t offset) const {
  os << "ld.param.b64 " << to << ", [" << frame.params << "+" << frame.attr.getLaunch() + offset
     << "]; ";
}

namespace {
/// The steps, with the report's address in a register, under a predicate.
struct Protocol {
  const ReportText &text;
  llvm::raw_ostream &os;
  StringRef address, predicate = "";

  /// `word` is 0 in the thread that has claimed it. Then the address is that of the report.
  void claim(StringRef word, StringRef test) {
    text.loadLaunch(os, address, offsetof(mk_gpu_launch, control));
    os << "atom.acq_rel.gpu.global.exch.b32 " << word << ", [" << address << "+"
       << offsetof(mk_gpu_control, claimed) << "], 1; " << test;
    text.loadLaunch(os, address, offsetof(mk_gpu_launch, report));
  }
  void put(int64_t offset, StringRef type, StringRef value) {
    os << predicate << "st.global." << type << " [" << address << "+" << offset << "], " << value
       << "; ";
  }
  /// Who reports.
  void putSite() {
    put(offsetof(mk_gpu_report, kind), "b32", std::to_string(text.kind));
    os << "mov.u32 low, %ctaid.x; ";
    put(offsetof(mk_gpu_report, cta), "b32", "low");
    put(offsetof(mk_gpu_report, role), "b32", std::to_string(text.role));
    put(offsetof(mk_gpu_report, number), "b32", std::to_string(text.number));
  }
  void publish() {
    os << "fence.acq_rel.sys; " << predicate << "st.relaxed.sys.global.b32 [" << address
       << "], 1; fence.acq_rel.sys; ";
  }
  void raiseAbort() {
    text.loadLaunch(os, address, offsetof(mk_gpu_launch, control));
    os << "st.relaxed.sys.global.b32 [" << address << "+" << offsetof(mk_gpu_control, abort)
       << "], 1; ";
  }
  void fail() { os << "st.volatile.shared.b32 [" << text.frame.failed() << "], 1; "; }
};
} // namespace

void ReportText::write(llvm::raw_ostream &os) const {
  Protocol protocol{*this, os, "report"};
  protocol.claim("word", "setp.ne.u32 some, word, 0; @some bra LOST; ");
  protocol.putSite();
  if (named != "0")
    protocol.put(offsetof(mk_gpu_report, named), "b32", named);
  os << element;
  protocol.put(offsetof(mk_gpu_report, element), "b64", "value");
  os << wanted;
  protocol.put(offsetof(mk_gpu_report, wanted), "b64", "value");
  os << seen;
  protocol.put(offsetof(mk_gpu_report, seen), "b64", "value");
  if (!rank.empty()) {
    os << rank;
    protocol.put(offsetof(mk_gpu_report, rank), "b64", "value");
  }
  protocol.publish();
  protocol.raiseAbort();
  os << "LOST: ";
  protocol.fail();
}

void ReportText::writeStraight(llvm::raw_ostream &os) const {
  Protocol protocol{*this, os, "value", "@some "};
  protocol.claim("low", "setp.eq.u32 some, low, 0; ");
  protocol.putSite();
  // Upper words are 0.
  protocol.put(offsetof(mk_gpu_report, element), "b32", element);
  protocol.put(offsetof(mk_gpu_report, wanted), "b32", wanted);
  os << seen;
  protocol.put(offsetof(mk_gpu_report, seen), "b32", "low");
  protocol.publish();
  protocol.raiseAbort();
  protocol.fail();
}

void ReportText::stop(llvm::raw_ostream &os) const {
  Protocol protocol{*this, os, "value"};
  protocol.raiseAbort();
  protocol.fail();
  os << "st.relaxed.sys.global.b32 [value+" << offsetof(mk_gpu_control, claimed) << "], 1; ";
}

std::string mk::thread::reportFailure(const Frame &frame) {
  std::string text;
  llvm::raw_string_ostream os(text);
  ReportText report(frame);
  Protocol protocol{report, os, "report"};
  os << "{ .reg .pred some; .reg .b32 what, word; .reg .b64 report; "
     << "ld.volatile.shared.b32 what, [" << frame.failed() << "]; "
     << "setp.le.u32 some, what, 1; @some bra RIGHT; ";
  protocol.claim("word", "setp.ne.u32 some, word, 0; @some bra KNOWN; ");
  os << "and.b32 word, what, 255; ";
  protocol.put(offsetof(mk_gpu_report, kind), "b32", "word");
  os << "shr.s32 word, what, 8; ";
  protocol.put(offsetof(mk_gpu_report, role), "b32", "word");
  protocol.publish();
  os << "KNOWN: ";
  protocol.raiseAbort();
  os << "RIGHT: }";
  return text;
}
