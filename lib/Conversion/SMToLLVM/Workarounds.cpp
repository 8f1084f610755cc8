//===- Workarounds.cpp - What NVVM and LLVM cannot say yet ----------------===//
#include "Workarounds.h"

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::sm;

//===----------------------------------------------------------------------===//
// wgmma
//===----------------------------------------------------------------------===//

// nvvm.wgmma.mma_async has scale-d as an attribute only and takes both operands
// from shared memory only; kernels need a run-time scale-d and A in registers.
// The accumulators are tied operands, since the instruction reads and writes them.
SmallVector<Value> sm::issueWgmma(Emitter &e, const Wgmma &mma,
                                      ArrayRef<Value> acc) {
  int64_t numAcc = mma.n / 2;
  bool runTime = static_cast<bool>(mma.accumulate);
  bool ties = !mma.fresh || runTime;
  int64_t next = ties ? 2 * numAcc : numAcc;
  SmallVector<Value> others;
  auto operand = [&](Value value) {
    others.push_back(value);
    return "$" + std::to_string(next++);
  };
  auto list = [](int64_t from, int64_t to) {
    std::string text = "{";
    for (int64_t i = from; i != to; ++i)
      text += (i == from ? "$" : ", $") + std::to_string(i);
    return text + "}";
  };
  // Offsets are added here: LLVM would compute all descriptors of a loop before
  // it, and keep each in two registers.
  std::string before;
  auto descriptor = [&](Value value, int64_t offset, StringRef name) {
    std::string text = operand(value);
    if (!offset)
      return text;
    before += ".reg .b64 " + name.str() + "; add.u64 " + name.str() + ", " + text +
              ", " + std::to_string(offset) + "; ";
    return name.str();
  };
  std::string a;
  if (mma.a.size() == 1) {
    a = descriptor(mma.a[0], mma.aOffset, "da");
  } else {
    int64_t first = next;
    for (Value value : mma.a)
      (void)operand(value);
    a = list(first, next);
  }
  std::string rhs = descriptor(mma.b, mma.bOffset, "db");
  std::string scale = mma.fresh ? "0" : "1";
  if (runTime)
    scale = operand(e.resize(mma.accumulate, e.i32));
  bool half = mma.type == "bf16" || mma.type == "f16";
  std::string text = "{ " + before + ".reg .pred p; setp.ne.b32 p, " + scale +
                     ", 0; wgmma.mma_async.sync.aligned.m64n" +
                     std::to_string(mma.n) + "k" + std::to_string(mma.k) +
                     ".f32." + mma.type.str() + "." + mma.typeB.str() + " " +
                     list(0, numAcc) + ", " + a + ", " + rhs + ", p, 1, 1";
  if (half && mma.a.size() == 1)
    text += mma.transposeA ? ", 1" : ", 0";
  if (half)
    text += mma.transposeB ? ", 1" : ", 0";
  text += "; }";
  if (ties)
    return e.tied(text, acc, others);
  return e.ptx(text, SmallVector<Type>(numAcc, e.f32), others,
               /*touchesMemory=*/false);
}

// Reading or writing accumulators while a group is in flight serialises the
// pipeline (ptxas C7514). LLVM sees only data flow, so what a fence or a wait orders
// passes through it. ptxas may still hoist a wait: that is its right.
SmallVector<Value> sm::fenceWgmma(Emitter &e, ValueRange values) {
  return e.tied("wgmma.fence.sync.aligned;", values);
}
SmallVector<Value> sm::waitWgmma(Emitter &e, int64_t pending,
                                     ValueRange values) {
  return e.tied("wgmma.wait_group.sync.aligned " + std::to_string(pending) + ";",
                values);
}
void sm::commitWgmma(Emitter &e) {
  e.ptx("wgmma.commit_group.sync.aligned;", {}, {}, /*touchesMemory=*/false);
}

//===----------------------------------------------------------------------===//
// Division
//===----------------------------------------------------------------------===//

// ptxas divides 64-bit integers in a subroutine, whose registers a producer of 24 or
// 40 does not have. Items and tiles are counted below 2^32, as a rule: one
// 32-bit division. What is larger takes a bit at a time, in few registers.
std::pair<Value, Value> sm::divideU(Emitter &e, Value x, Value y) {
  // All lanes divide the same numbers; the votes tell ptxas that none goes astray, or
  // it would keep what follows out of uniform registers.
  std::string text =
      "{ .reg .pred p; .reg .b32 low, by, n; .reg .b64 bits, rest, top; "
      "or.b64 bits, $1, $2; shr.u64 bits, bits, 32; setp.ne.u64 p, bits, 0; "
      "vote.sync.any.pred p, p, 0xffffffff; @p bra LARGE; cvt.u32.u64 low, $1; cvt.u32.u64 by, $2; "
      "div.u32 low, low, by; cvt.u64.u32 $0, low; bra DONE; "
      // As many rounds as x has bits: ptxas would unroll a constant number.
      "LARGE: clz.b64 n, $1; shl.b64 bits, $1, n; sub.u32 n, 64, n; mov.b64 rest, 0; "
      ".pragma \"nounroll\"; NEXT: setp.eq.u32 p, n, 0; "
      "vote.sync.all.pred p, p, 0xffffffff; @p bra END; "
      "shr.u64 top, bits, 63; shl.b64 rest, rest, 1; or.b64 rest, rest, top; "
      "shl.b64 bits, bits, 1; setp.ge.u64 p, rest, $2; @p sub.u64 rest, rest, $2; "
      "@p or.b64 bits, bits, 1; sub.u32 n, n, 1; bra NEXT; "
      "END: mov.b64 $0, bits; DONE: }";
  Value quotient = e.ptx(text, e.i64, {x, y}, /*touchesMemory=*/false)[0];
  return {quotient, e.sub(x, e.mul(quotient, y))};
}

std::pair<Value, Value> sm::divideS(Emitter &e, Value x, Value y) {
  auto negative = [&](Value value) {
    return e.cmp(arith::CmpIPredicate::slt, value, int64_t(0));
  };
  auto magnitude = [&](Value value) {
    return e.select(negative(value), e.sub(e.c64(0), value), value);
  };
  auto [quotient, rest] = divideU(e, magnitude(x), magnitude(y));
  Value differ = e.xor_(negative(x), negative(y));
  return {e.select(differ, e.sub(e.c64(0), quotient), quotient),
          e.select(negative(x), e.sub(e.c64(0), rest), rest)};
}

//===----------------------------------------------------------------------===//
// Atomics
//===----------------------------------------------------------------------===//

// llvm.atomicrmw loses order and scope on the way through the NVPTX backend (it
// becomes relaxed at gpu scope), so none of these goes through LLVM.

static std::string suffix(MemScope scope) {
  switch (scope) {
  case MemScope::Cta:
    return ".cta";
  case MemScope::Gpu:
    return ".gpu";
  case MemScope::Sys:
    return ".sys";
  }
  llvm_unreachable("unknown scope");
}

static std::string width(Type type) {
  return std::to_string(type.getIntOrFloatBitWidth());
}

Value sm::atomicAdd(Emitter &e, Value address, Value amount, StringRef order,
                        MemScope scope) {
  return e.ptx("atom." + order.str() + suffix(scope) + ".global.add.u" +
                   width(amount.getType()) + " $0, [$1], $2;",
               amount.getType(), {address, amount})[0];
}

void sm::reduceAdd(Emitter &e, Value address, Value amount, StringRef order,
                       MemScope scope) {
  e.ptx("red." + order.str() + suffix(scope) + ".global.add.u" +
            width(amount.getType()) + " [$0], $1;",
        {}, {address, amount});
}

Value sm::atomicExchange(Emitter &e, Value address, Value value,
                             StringRef order, MemScope scope) {
  return e.ptx("atom." + order.str() + suffix(scope) + ".global.exch.b" +
                   width(value.getType()) + " $0, [$1], $2;",
               value.getType(), {address, value})[0];
}

void sm::fenceAcqRel(Emitter &e, MemScope scope) {
  e.ptx("fence.acq_rel" + suffix(scope) + ";", {}, {});
}

Value sm::loadAcquire(Emitter &e, Type type, Value address, MemScope scope) {
  return e.ptx("ld.acquire" + suffix(scope) + ".global.b" + width(type) +
                   " $0, [$1];",
               type, address)[0];
}

// A load that LLVM may neither drop nor move: it polls.
Value sm::loadRelaxed(Emitter &e, Type type, Value address, MemScope scope) {
  return e.ptx("ld.relaxed" + suffix(scope) + ".global.b" + width(type) +
                   " $0, [$1];",
               type, address)[0];
}

void sm::storeRelease(Emitter &e, Value value, Value address,
                          MemScope scope) {
  e.ptx("st.release" + suffix(scope) + ".global.b" + width(value.getType()) +
            " [$0], $1;",
        {}, {address, value});
}
