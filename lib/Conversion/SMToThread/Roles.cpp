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
    fenceAsyncGlobal();
  } else if (consumer && hasPeers()) {
    ifThen(and_(eq(cta, 0), eq(thread, 128)), [&] { tellPeers(params.ready); });
  }
  for (StringRef name : warps.getOrder().getAsValueRange<FlatSymbolRefAttr>())
    if (failed(emitRole(*resources.roleIndex(name), kind)))
      return failure();
  return success();
}

LogicalResult Lowering::emitRole(unsigned number, PartitionKind kind) {
  RoleOp role = resources.roles[number];
  for (SyncWarpsOp sync : role.getBody().getOps<SyncWarpsOp>()) {
    SmallVector<unsigned> from;
    for (StringRef name : sync.getFrom().getAsValueRange<FlatSymbolRefAttr>())
      from.push_back(*resources.roleIndex(name));
    ifThen(isInRoles(from), [&] {
      fenceAsyncShared();
      barrier(c32(warps.getBarrier("cta")), 32 + 32 * warps.getConsumer());
    });
  }
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
  SmallVector<unsigned> members;
  for (auto [i, other] : llvm::enumerate(resources.roles))
    if (i == number || goesOnWith(other, role))
      members.push_back(i);
  if (members.size() == resources.roles.size())
    body();
  else
    ifThen(isInRoles(members), body);
  return result;
}
