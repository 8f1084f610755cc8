//===- Waits.cpp - Waiting with a deadline --------------------------------===//
//
// Every wait is bounded (mkernel/ABI/Gpu.h): one that has tried for a millisecond
// looks at the abort words and the clock, and again each millisecond: the job's abort word is in
// the host's memory, and loads of an SM return in order, so that those of everybody else
// would wait for it. Whoever passes its deadline first
// reports, raises the abort word and traps; the others trap when they see it.
//
// A wait is one piece of PTX. As branches in LLVM IR the slow part costs registers
// that a producer of 24 does not have, and ptxas, which has to keep products in
// flight across it, serialises them (C7518). Parameters are read where they are needed
// and by their address, so that they take no register before.
//
//===----------------------------------------------------------------------===//
#include "Lowering.h"
#include "mkernel/ABI/Gpu.h"

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::sm;

/// The clock counts in units of 2^20 ns, so that it fits a register.
static constexpr int kClockShift = 20;

namespace mlir::mk::sm {
/// Text of a wait. Operands are named $0 on, as in inline assembly.
struct WaitText {
  std::string poll;    // sets `done`, may set `seen`
  std::string pause;   // between two tries
  std::string element, wanted, seen; // leave 64-bit values in `value`
  int64_t kind, role, number;
  std::string params;  // name of the parameter
  int64_t launch;      // offset of mk_gpu_launch in it
  bool wholeWarp = false; // all lanes decide alike
  bool isPatient = false; // reports at twice the deadline

  std::string build() const;
};
} // namespace mlir::mk::sm

std::string WaitText::build() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  auto param = [&](StringRef to, int64_t offset) {
    os << "ld.param.b64 " << to << ", [" << params << "+" << launch + offset << "]; ";
  };
  auto clock = [&](StringRef to) {
    os << "mov.u64 value, %globaltimer; mov.b64 {low, high}, value; "
       << "shf.r.wrap.b32 " << to << ", low, high, " << kClockShift << "; ";
  };
  os << "{ .reg .pred done, some; "
     << ".reg .b32 start, last, now, low, high, word, seen; "
     << ".reg .b64 value, control, report; ";
  // With a vote ptxas knows that the warp stays together, and keeps what the loop
  // around computes in uniform registers, where descriptors have to be.
  auto agree = [&](StringRef kind, StringRef predicate) {
    if (wholeWarp)
      os << "vote.sync." << kind << ".pred " << predicate << ", " << predicate
         << ", 0xffffffff; ";
  };
  os << poll << "@done bra DONE; ";
  clock("start");
  os << "mov.b32 last, start; AGAIN: " << pause << poll << "@done bra DONE; ";
  clock("now");
  os << "setp.eq.u32 some, now, last; ";
  agree("all", "some");
  os << "@some bra AGAIN; mov.b32 last, now; ";
  param("control", offsetof(mk_gpu_launch, control));
  os << "ld.relaxed.sys.global.b32 word, [control+"
     << offsetof(mk_gpu_control, abort) << "]; ";
  param("value", offsetof(mk_gpu_launch, job_abort));
  os << "setp.ne.u64 some, value, 0; mov.b32 low, 0; "
     << "@some ld.relaxed.sys.global.b32 low, [value]; or.b32 word, word, low; "
     << "setp.ne.u32 some, word, 0; ";
  agree("any", "some");
  os << "@some bra STOP; ";
  param("value", offsetof(mk_gpu_launch, deadline_ns));
  os << "mov.b64 {low, high}, value; shf.r.wrap.b32 low, low, high, "
     << (isPatient ? kClockShift - 1 : kClockShift)
     << "; sub.u32 now, now, start; setp.le.u32 some, now, low; ";
  agree("all", "some");
  os << "@some bra AGAIN; ";
  ReportText report{kind,   role, number, "0",    element,
                    wanted, seen, "",     params, launch};
  report.write(os);
  os << "DONE: }";
  return text;
}

void ReportText::write(llvm::raw_ostream &os) const {
  auto put = [&](int64_t offset, StringRef type, StringRef value) {
    os << "st.global." << type << " [report+" << offset << "], " << value
       << "; ";
  };
  // There is no way back from here. Whoever is not the first waits for the trap.
  os << "atom.acq_rel.gpu.global.exch.b32 word, [control+"
     << offsetof(mk_gpu_control, claimed)
     << "], 1; setp.ne.u32 some, word, 0; @some bra LOST; "
     << "ld.param.b64 report, [" << params << "+"
     << launch + offsetof(mk_gpu_launch, report) << "]; ";
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
     << "fence.acq_rel.sys; st.relaxed.sys.global.b32 [control+"
     << offsetof(mk_gpu_control, abort) << "], 1; STOP: trap; "
     << "LOST: nanosleep.u32 1000; bra LOST; ";
}

// NVPTX names parameters after their function.
std::string sm::getParamName(LLVM::LLVMFuncOp function) {
  return (function.getName() + "_param_0").str();
}

// Without a branch: one would cost what those of waits do, and stands in more places. All
// threads that come here write the same, so that nobody has to claim the report; the
// trap ends the others. Not the line: code does not depend on where it stands in a file.
void Lowering::failUnless(Value condition, int64_t kind) {
  std::string text;
  llvm::raw_string_ostream os(text);
  auto put = [&](int64_t offset, int64_t value) {
    os << "@p st.global.b32 [report+" << offset << "], " << value << "; ";
  };
  os << "{ .reg .pred p; .reg .b64 report; setp.eq.u32 p, $0, 0; "
     << "@p ld.param.b64 report, [" << getParamName(function) << "+"
     << params.launch + offsetof(mk_gpu_launch, report) << "]; ";
  put(offsetof(mk_gpu_report, kind), kind);
  put(offsetof(mk_gpu_report, role), roleNumber);
  os << "@p fence.acq_rel.sys; @p st.relaxed.sys.global.b32 [report], 1; "
     << "@p trap; }";
  ptx(text, {}, resize(condition, i32));
}

void Lowering::emitWait(WaitText &text, int64_t kind, int64_t number,
                        ValueRange operands) {
  text.kind = kind;
  text.role = roleNumber;
  text.number = number;
  text.params = getParamName(function);
  text.launch = params.launch;
  ptx(text.build(), {}, operands);
}

void Lowering::waitBarrier(Value address, Value parity, Value stage,
                           int64_t number, bool ofPut) {
  WaitText text;
  text.poll = "mbarrier.try_wait.parity.shared::cta.b64 done, [$0], $1; "
              "vote.sync.all.pred done, done, 0xffffffff; ";
  text.wholeWarp = true;
  // Who waits for the other partition is kept by what that one waits for, as a rule since
  // the same moment: that is what has to be reported.
  text.isPatient = !ofPut;
  text.element = "cvt.u64.u32 value, $2; ";
  text.wanted = "cvt.u64.u32 value, $1; ";
  text.seen = "xor.b64 value, value, 1; ";
  emitWait(text, ofPut ? MK_WAIT_COPY : MK_WAIT_RING, number,
           {address, parity, stage});
}

void Lowering::waitWord(Value address, Value wanted, bool equal, MemScope scope,
                        int64_t kind, int64_t number, Value element,
                        Value count, Value second) {
  WaitText text;
  text.poll = "ld.acquire" + std::string(scope == MemScope::Sys ? ".sys" : ".gpu") +
              ".global.b32 seen, [$0]; ";
  if (second)
    text.poll += "ld.acquire.sys.global.b32 low, [$4]; add.u32 seen, seen, low; ";
  // Counts go round: what matters is how far apart they are.
  text.poll += equal ? "setp.eq.u32 done, seen, $1; "
                     : "sub.u32 low, seen, $1; setp.ge.s32 done, low, 0; ";
  text.pause = "nanosleep.u32 32; ";
  text.element = "mov.b64 value, $2; ";
  text.wanted = "mov.b64 value, $3; ";
  // In the caller's terms.
  text.seen = "sub.u32 low, seen, $1; cvt.s64.s32 value, low; add.s64 value, value, $3; ";
  SmallVector<Value> operands{address, wanted, element, count};
  if (second)
    operands.push_back(second);
  emitWait(text, kind, number, operands);
}
