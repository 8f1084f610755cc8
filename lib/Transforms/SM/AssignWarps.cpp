//===- AssignWarps.cpp - Which warps do what ------------------------------===//
#include "Functions.h"
#include "mkernel/Dialect/SM/SM.h"

using namespace mlir;
using namespace mlir::mk_sm;

/// Items in static order are divided among a role's own CTAs (verified for mk.foreach).
static LogicalResult verifyNotStatic(mk::RoleOp role, mk::RoleOp helper) {
  WalkResult result = role.walk([&](ItemsOp op) -> WalkResult {
    InFlightDiagnostic diag = op->emitOpError()
                              << "has no value where CTAs of role '" << helper.getSymName()
                              << "' help role '" << role.getSymName()
                              << "': draw tickets, or drop 'then'";
    diag.attachNote(helper.getLoc()) << "helper declared here";
    return diag;
  });
  return failure(result.wasInterrupted());
}

/// Whether the role has anything in the shared memory that roles have in common.
static bool usesTiles(mk::RoleOp role) {
  auto isOfRole = [](const SharedPiece &piece) { return piece.ofRole; };
  auto owns = [&](Operation &owner) { return llvm::any_of(getSharedPieces(&owner), isOfRole); };
  return owns(*role) || llvm::any_of(role.getBody().front(), owns);
}

namespace {
/// What the partitions of a kernel need of a CTA.
struct Needs {
  int64_t consumer = 4, producerRegisters, consumerRegisters;

  explicit Needs(mk::KernelOp kernel) {
    producerRegisters = consumerRegisters = mk::getSm(kernel).getRegisters().getLeast();
    kernel.walk([&](PartitionOp op) {
      bool produces = op.getKind() != PartitionKind::Consumer;
      int64_t &registers = produces ? producerRegisters : consumerRegisters;
      registers = std::max<int64_t>(registers, op.getRegisters());
      if (!produces)
        consumer = std::max<int64_t>(consumer, op.getWarps());
    });
  }
};

/// Of a thread of both sides; none if there are enough for each to have the most.
FailureOr<SmallVector<int64_t>> dealOut(mk::KernelOp kernel, const Needs &needs, bool copiers) {
  mk::RegistersAttr file = mk::getSm(kernel).getRegisters();
  int64_t consumers = mk::kWarpThreads * needs.consumer,
          threads = mk::kWarpgroupThreads + consumers, atStart = file.getAtStart(threads);
  if (atStart == file.getMost())
    return SmallVector<int64_t>();
  int64_t pool = atStart * threads, step = file.getStep();
  int64_t producer = needs.producerRegisters, consumer = needs.consumerRegisters;
  if (copiers)
    producer = std::max(producer, file.getReserve().getMover()); // they work with addresses
  if (copiers && mk::holds<SelectRowsOp>(kernel))
    producer = std::max(producer, file.getReserve().getGatherer());
  int64_t left = (pool - mk::kWarpgroupThreads * producer) / consumers / step * step;
  if (copiers)
    consumer = std::min(consumer, left);
  if (int64_t wanted = mk::kWarpgroupThreads * producer + consumers * consumer; wanted > pool)
    return kernel.emitOpError() << "needs " << wanted << " registers (" << mk::kWarpgroupThreads
                                << " threads of " << producer << ", " << consumers << " of "
                                << consumer << "); " << threads << " threads have " << pool
                                << ": give the consumer " << left;
  return SmallVector<int64_t>{producer, consumer};
}

// Producer and consumer of a CTA that helps meet in front of the role. The producer would draw
// items while the consumer still waits in the role before, maybe for just these items: nobody else
// does them any more. Tiles of two roles lie in the same shared memory, which the producer would
// fill while the consumer still reads; and consumers of two roles may have different warps.
void syncWarps(mk::RoleOp role, ArrayRef<mk::RoleOp> helpers, const Needs &needs) {
  auto warps = [&](mk::RoleOp of) -> int64_t {
    PartitionOp op = findPartition(of, PartitionKind::Consumer);
    return op ? op.getWarps() : needs.consumer;
  };
  bool tiles = usesTiles(role), draws = bool(findPartition(role, PartitionKind::Producer));
  if (llvm::none_of(helpers, [&](mk::RoleOp helper) {
        return draws || warps(helper) != warps(role) || (tiles && usesTiles(helper));
      }))
    return;
  auto b = OpBuilder::atBlockBegin(&role.getBody().front());
  SmallVector<Attribute> from;
  for (mk::RoleOp helper : helpers)
    from.push_back(FlatSymbolRefAttr::get(helper.getSymNameAttr()));
  SyncWarpsOp::create(b, role.getLoc(), b.getArrayAttr(from));
}
} // namespace

LogicalResult mk_sm::assignWarps(mk::KernelOp kernel) {
  auto memories = kernel.getBody().getOps<SharedMemoryOp>();
  if (!kernel.getBody().getOps<WarpsOp>().empty())
    return success();
  if (memories.empty())
    return kernel.emitOpError() << "has no offsets in shared memory, which say what is copied how: "
                                   "run mk-sm-lay-out-shared first";
  SharedMemoryOp shared = *memories.begin();
  Needs needs(kernel);
  bool copiers = shared.getCopiers() && holds<CopyOp>(kernel);
  SmallVector<Attribute> movers;
  for (auto role : kernel.getBody().getOps<mk::RoleOp>())
    if (role.getBeside()) {
      movers.push_back(FlatSymbolRefAttr::get(role.getSymNameAttr()));
      if (movers.size() > WarpsOp::kMostMovers)
        return role.emitOpError() << "'" << role.getSymName() << "' is role " << movers.size()
                                  << " that is run beside others; a CTA has warps for "
                                  << WarpsOp::kMostMovers
                                  << ": put two of them into one, or give it CTAs of its own";
    }
  FailureOr<SmallVector<int64_t>> registers = dealOut(kernel, needs, copiers);
  if (failed(registers))
    return failure();

  SmallVector<std::pair<int64_t, Attribute>> order; // by how many roles follow
  for (auto role : kernel.getBody().getOps<mk::RoleOp>()) {
    if (!role.isInGrid())
      continue;
    SmallVector<mk::RoleOp> helpers;
    int64_t later = 0;
    for (auto other : kernel.getBody().getOps<mk::RoleOp>()) {
      later += isFollowedBy(role, other);
      if (!isFollowedBy(other, role))
        continue;
      helpers.push_back(other);
      if (failed(verifyNotStatic(role, other)))
        return failure();
    }
    syncWarps(role, helpers, needs);
    order.emplace_back(later, FlatSymbolRefAttr::get(role.getSymNameAttr()));
  }
  llvm::stable_sort(order, [](auto &a, auto &b) { return a.first > b.first; });

  OpBuilder b(shared);
  NamedAttrList barriers;
  for (auto [name, number] : {std::pair<StringRef, int64_t>("warpgroup", 1),
                              {"consumer", 8},
                              {"cta", 9},
                              {"turn", 10},
                              {"request", 12},
                              {"finish", 14}})
    barriers.set(name, b.getI64IntegerAttr(number));
  // Copiers have the sender's warp: then the consumer sends its tiles itself.
  bool sender = !copiers && postsTiles(kernel);
  WarpsOp::create(b, kernel.getLoc(), needs.consumer, copiers, sender,
                  movers.empty() ? ArrayAttr() : b.getArrayAttr(movers),
                  registers->empty() ? DenseI64ArrayAttr() : b.getDenseI64ArrayAttr(*registers),
                  b.getArrayAttr(llvm::to_vector(llvm::make_second_range(order))),
                  barriers.getDictionary(b.getContext()));
  return success();
}
