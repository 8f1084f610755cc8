//===- Roles.cpp - Which CTA does what, and in which order ----------------===//
//
// The code of a role is there once. CTAs that go on with it (`then`) come to it
// behind their own: roles stand behind those that name them.
//
//===----------------------------------------------------------------------===//
#include "Lowering.h"
#include "mkernel/ABI/Gpu.h"

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::sm;
using namespace mlir::mk_sm;
using Predicate = arith::CmpIPredicate;

/// The places of CTAs that help have no meaning in a role: its loops hand out items
/// (verified for mk.foreach).
static LogicalResult checkHelped(RoleOp role, RoleOp helper) {
  WalkResult result = role.walk([&](Operation *op) -> WalkResult {
    if (!isa<CtaIndexOp, ItemsOp>(op))
      return WalkResult::advance();
    InFlightDiagnostic diag =
        op->emitOpError() << "has no value where CTAs of role '"
                         << helper.getSymName() << "' help role '"
                         << role.getSymName()
                         << "': draw tickets, or drop 'then'";
    diag.attachNote(helper.getLoc()) << "helper declared here";
    return diag;
  });
  return failure(result.wasInterrupted());
}

LogicalResult Lowering::orderRoles() {
  unsigned n = resources.roles.size();
  helpers.resize(n);
  SmallVector<SmallVector<unsigned>> chains;
  for (unsigned i = 0; i != n; ++i) {
    chains.push_back(resources.getChain(i));
    for (unsigned next : chains.back()) {
      helpers[next].push_back(i);
      if (failed(checkHelped(resources.roles[next], resources.roles[i])))
        return failure();
    }
    roleOrder.push_back(i);
  }
  // Who goes on with a role has the longer chain.
  llvm::stable_sort(roleOrder, [&](unsigned a, unsigned b) {
    return chains[a].size() > chains[b].size();
  });
  return success();
}

Value Lowering::isInRoles(ArrayRef<unsigned> roles) {
  SmallVector<unsigned> sorted(roles);
  llvm::sort(sorted);
  Value any;
  for (size_t i = 0; i != sorted.size();) {
    int64_t first = 0, count = 0;
    for (unsigned before = 0; before != sorted[i]; ++before)
      first += ctas[before];
    // Roles that follow each other are one range.
    unsigned role = sorted[i];
    for (; i != sorted.size() && sorted[i] == role; ++i, ++role)
      count += ctas[role];
    Value inside = cmp(Predicate::ult, sub(cta, first), count);
    any = any ? or_(any, inside) : inside;
  }
  return any;
}

/// Whether the role has anything in the shared memory that roles have in common.
bool Lowering::usesTiles(RoleOp role) {
  ScopeMemory memory(role);
  return memory.putSlotBytes || memory.exchangeBytes ||
         llvm::any_of(role.getBody().front(), llvm::IsaPred<CreateRingOp, CreateStagingOp>);
}

// Producer and consumer of a CTA that helps meet in front of the role. The producer would draw
// items while the consumer still waits in the role before, maybe for just these items: nobody else
// does them any more. Tiles of two roles lie in the same shared memory, which the producer would fill
// while the consumer still reads; and consumers of two roles may have different warps.
void Lowering::syncBeforeRole(unsigned role) {
  auto warps = [&](unsigned i) {
    PartitionOp op = findPartition(resources.roles[i], PartitionKind::Consumer);
    return op ? int64_t(op.getWarps()) : numConsumerWarps;
  };
  bool tiles = usesTiles(resources.roles[role]);
  bool draws = bool(findPartition(resources.roles[role], PartitionKind::Producer));
  if (llvm::none_of(helpers[role], [&](unsigned helper) {
        return draws || warps(helper) != warps(role) ||
               (tiles && usesTiles(resources.roles[helper]));
      }))
    return;
  ifThen(isInRoles(helpers[role]), [&] {
    // What was written there comes before what the copy engine writes.
    fenceAsyncShared();
    barrier(c32(kEndBarrier), numThreads - 128 + 32);
  });
}

// What the kernel computes outside of roles, each side computes for itself: the
// producer has no registers for what only the consumer needs.
LogicalResult Lowering::emitSide(PartitionKind kind) {
  readThread();
  partitionThread = kind == PartitionKind::Producer ? lane : sub(thread, 128);
  loadParams();
  if (failed(emitKernelScalars()))
    return failure();
  bool consumer = kind == PartitionKind::Consumer;
  if (resources.prepare) {
    roleNumber = -1;
    ctaInRole = resize(cta, i64);
    if (PartitionOp op = findPartition(resources.prepare, kind);
        op && failed(emitPartition(op, resources.prepare)))
      return failure();
    readEpoch();
    if (consumer)
      emitPrepared();
    Value all = launchField(offsetof(mk_gpu_launch, num_ctas), i32);
    waitWord(add(control, offsetof(mk_gpu_control, prepared)),
             mul(add(epoch, 1), all), /*equal=*/false, MemScope::Gpu, MK_WAIT_GRID,
             0, Waited{-1, c64(0)}, all);
    fenceAsync();
  } else if (consumer && hasPeers()) {
    ifThen(and_(eq(cta, 0), eq(thread, 128)), [&] { tellPeers(params.ready); });
  }
  for (unsigned number : roleOrder)
    if (failed(emitRole(number, kind)))
      return failure();
  return success();
}

LogicalResult Lowering::emitRole(unsigned number, PartitionKind kind) {
  RoleOp role = resources.roles[number];
  syncBeforeRole(number);
  PartitionOp op = findPartition(role, kind);
  if (!op)
    return success();
  int64_t first = 0;
  for (unsigned before = 0; before != number; ++before)
    first += ctas[before];
  LogicalResult result = success();
  auto body = [&] {
    roleNumber = number;
    ctaInRole = resize(sub(cta, first), i64);
    result = emitPartition(op, role);
  };
  SmallVector<unsigned> members(helpers[number]);
  members.push_back(number);
  if (members.size() == resources.roles.size())
    body();
  else
    ifThen(isInRoles(members), body);
  return result;
}
