//===- Waits.cpp - Waiting with a deadline --------------------------------===//
//
// Every wait is bounded (mkernel/ABI/Gpu.h): one that has tried for a while
// looks at the abort words and the clock. Whoever passes its deadline first
// reports, raises the abort word and traps; the others trap when they see it.
//
//===----------------------------------------------------------------------===//
#include "Lowering.h"
#include "mkernel/ABI/Gpu.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::sm;
using Predicate = arith::CmpIPredicate;

/// Waits that are shorter look at nothing: the abort word of the job is in the
/// host's memory.
static constexpr int64_t kPatienceNs = 20000;

void Lowering::report(const Waiting &what, Value seen) {
  Value to = launchField(offsetof(mk_gpu_launch, report), i64);
  auto put = [&](int64_t offset, Value value) { store(value, to, offset); };
  put(offsetof(mk_gpu_report, kind), c32(what.kind));
  put(offsetof(mk_gpu_report, cta), cta);
  put(offsetof(mk_gpu_report, role), c32(roleNumber));
  put(offsetof(mk_gpu_report, number), c32(what.number));
  put(offsetof(mk_gpu_report, element), what.element);
  put(offsetof(mk_gpu_report, wanted), what.wanted);
  put(offsetof(mk_gpu_report, seen), seen);
  storeRelease(*this, c32(1), add(to, offsetof(mk_gpu_report, written)),
               MemScope::Sys);
  fenceAcqRel(*this, MemScope::Sys);
  storeRelease(*this, c32(1), add(control, offsetof(mk_gpu_control, abort)),
               MemScope::Sys);
}

void Lowering::spin(const Waiting &what,
                    function_ref<std::pair<Value, Value>()> poll, bool backOff) {
  Value start = globalTimer();
  auto loop = scf::WhileOp::create(b, loc, TypeRange(), ValueRange());
  OpBuilder::InsertionGuard guard(b);
  b.createBlock(&loop.getBefore());
  auto [ok, seen] = poll();
  Value again = not_(ok);
  ifThen(again, [&] {
    Value elapsed = sub(globalTimer(), start);
    ifThen(cmp(Predicate::ugt, elapsed, kPatienceNs), [&] {
      Value own = add(control, offsetof(mk_gpu_control, abort));
      Value job = launchField(offsetof(mk_gpu_launch, job_abort), i64);
      Value there = cmp(Predicate::ne, job, 0);
      Value aborted = or_(loadRelaxed(*this, i32, own, MemScope::Sys),
                          loadRelaxed(*this, i32, select(there, job, own),
                                      MemScope::Sys));
      ifThen(cmp(Predicate::ne, aborted, 0), [&] { ptx("trap;", {}, {}); });
      Value deadline = launchField(offsetof(mk_gpu_launch, deadline_ns), i64);
      ifThen(cmp(Predicate::ugt, elapsed, deadline), [&] {
        // One thread reports. The others go on until they see the abort word.
        Value before = atomicExchange(
            *this, add(control, offsetof(mk_gpu_control, claimed)), c32(1),
            "acq_rel", MemScope::Gpu);
        ifThen(eq(before, 0), [&] {
          report(what, seen);
          ptx("trap;", {}, {});
        });
      });
      ptx("nanosleep.u32 1000;", {}, {});
    });
    if (backOff)
      ptx("nanosleep.u32 32;", {}, {});
  });
  scf::ConditionOp::create(b, loc, again, ValueRange());
  b.createBlock(&loop.getAfter());
  scf::YieldOp::create(b, loc);
}

void Lowering::waitBarrier(Value address, Value parity, const Waiting &what) {
  auto attempt = [&]() -> Value {
    return NVVM::MBarrierTryWaitOp::create(b, loc, i1, pointer(address), parity,
                                           Value());
  };
  Value ok = attempt();
  // The slow path out of line.
  ok = LLVM::ExpectOp::create(b, loc, ok, cbool(true));
  ifThen(not_(ok), [&] {
    spin(what, [&] { return std::pair(attempt(), resize(xor_(parity, 1), i64)); },
         /*backOff=*/false);
  });
}
