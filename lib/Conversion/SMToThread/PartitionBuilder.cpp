//===- PartitionBuilder.cpp - Builds the code of a partition --------------===//
#include "PartitionBuilder.h"
#include "Lowerings.h"
#include "Sender.h"

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::sm;
using namespace mlir::mk_sm;

PartitionBuilder::PartitionBuilder(const KernelInfo &info)
    : Emitter(info.getKernel().getContext(), info.getKernel().getLoc()), info(info) {}

PartitionBuilder::PartitionBuilder(const PartitionBuilder &outer, PartitionOp partition,
                                   Operation *scope, int64_t number, Value ctaInRole)
    : PartitionBuilder(outer) {
  this->partition = partition;
  this->ctaInRole = ctaInRole;
  roleNumber = number;
  memory = ScopeMemory(scope);
  if (partition.getTeams() > 1)
    partitionThread = and_(*this, thread, partition.getNumThreads() - 1);
  // In loops a store may come before what stands above it.
  partition.walk([&](mk_sm::StoreOp store) {
    storesPending = true;
    posting = store.getPosting();
  });
}

LogicalResult PartitionBuilder::emit(Operation *op) {
  static const LoweringTable table;
  setLoc(op->getLoc());
  currentOp = op;
  return table.lower(op, *this);
}

LogicalResult PartitionBuilder::emitOps(Block &block) {
  for (Operation &op : block) {
    if (op.hasTrait<OpTrait::IsTerminator>())
      break;
    if (failed(emit(&op)))
      return failure();
  }
  return success();
}

mk_thread::ReportAttr PartitionBuilder::makeReport(int64_t kind, int64_t number) {
  return mk_thread::ReportAttr::get(getContext(), kind, roleNumber, number);
}

void PartitionBuilder::addCursor(CursorOp op) {
  Value stage = variable(*this, i32, c32(0)); // first: the order in which they are made
  cursors[op.getResult()] = {stage, variable(*this, i32, c32(op.getParity()))};
}

void PartitionBuilder::advance(Value cursor) {
  auto [stage, phase] = cursors[cursor];
  mk_thread::advance(*this, stage, phase, cursor.getDefiningOp<CursorOp>().getDepth());
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

void PartitionBuilder::set(Value from, ValueRange to) {
  Value value =
      isa<RankedTensorType>(from.getType()) && !isa<RankedTensorType>(to.front().getType())
          ? mk_thread::HoldElementsOp::create(*this, from.getType(), to)
          : to.front();
  values[from] = {value};
  if (isa<SlotType>(from.getType()))
    values[from].push_back(to[1]);
}

SmallVector<Value> PartitionBuilder::scalars(ValueRange from) {
  return llvm::map_to_vector(from, [&](Value value) { return scalar(value); });
}

SmallVector<Value> PartitionBuilder::elements(Value from) {
  auto type = dyn_cast<RankedTensorType>(from.getType());
  if (!type)
    return SmallVector<Value>(ArrayRef(values[from]));
  return mk_thread::TakeElementsOp::create(*this, getElementTypes(type), DenseI32ArrayAttr(),
                                           scalar(from))
      .getResults();
}

void PartitionBuilder::setFragment(Operation *op, function_ref<Operation *()> emit) {
  Value tile = op->getResult(0);
  if (!isDeferred(op))
    return set(tile, emit()->getResults());
  auto demanded = mk_thread::OnDemandOp::create(*this, tile.getType());
  within(*this, demanded.getBody(), [&] { emit(); });
  set(tile, demanded.getFragment());
}

static SmallVector<Type> packedTypes(Type type) {
  auto tile = dyn_cast<RankedTensorType>(type);
  if (isa<SlotType, StagedType>(type))
    return SmallVector<Type>(isa<SlotType>(type) ? 2 : 1, IntegerType::get(type.getContext(), 32));
  int64_t n = tile ? getNumElements(tile) : 1;
  Type element = getRegisterType(getElementTypeOrSelf(type));
  return n == 1 ? SmallVector<Type>{element} : mk_thread::getPackedTypes(element, n);
}
SmallVector<Type> sm::packedTypes(TypeRange types) {
  SmallVector<Type> packed;
  for (Type type : types)
    llvm::append_range(packed, ::packedTypes(type));
  return packed;
}

SmallVector<Value> PartitionBuilder::packAll(ValueRange from) {
  SmallVector<Value> words;
  for (Value value : from)
    llvm::append_range(
        words, isa<RankedTensorType>(value.getType())
                   ? mk_thread::TakeElementsOp::create(*this, ::packedTypes(value.getType()),
                                                       DenseI32ArrayAttr(), scalar(value))
                         .getResults()
                   : ValueRange(values[value]));
  return words;
}

void PartitionBuilder::unpackAll(ValueRange to, ValueRange words) {
  for (Value value : to) {
    size_t count = ::packedTypes(value.getType()).size();
    set(value, words.take_front(count));
    words = words.drop_front(count);
  }
}

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

// Read again by each side, so that ptxas need not keep one value for both.
void PartitionBuilder::readThread() {
  thread = mk_thread::ThreadIdOp::create(*this);
  cta = mk_thread::CtaIdOp::create(*this);
  lane = laneOf(*this, thread);
  warp = uniform(*this, warpOf(*this, thread));
  group = sub(*this, shr(*this, warp, 2), 1);
}

void PartitionBuilder::readEpoch() {
  if (info.waitsForOthers)
    epoch = mk_thread::EpochOp::create(*this);
}

Value PartitionBuilder::readThreadInPartition() {
  Value number = mk_thread::ThreadIdOp::create(*this);
  if (isOneWarp())
    return laneOf(*this, number);
  return partition.getTeams() > 1 ? and_(*this, number, partition.getNumThreads() - 1)
                                  : sub(*this, number, kWarpgroupThreads);
}

void PartitionBuilder::barrierPartition() {
  if (isOneWarp())
    mk_thread::SyncWarpOp::create(*this);
  else
    mk_thread::SyncOp::create(*this, getBarrier(), partition.getNumThreads());
}

Value PartitionBuilder::getBarrier() {
  // A team is a warpgroup.
  return partition.getTeams() > 1 ? add(*this, group, info.getWarps().getBarrier("warpgroup"))
                                  : c32(info.getWarps().getBarrier("consumer"));
}

std::pair<Value, IntegerAttr> PartitionBuilder::getConsumerBarrier() {
  if (isOneWarp())
    return {};
  return {getBarrier(), getI64IntegerAttr(partition.getNumThreads())};
}

void PartitionBuilder::elect(function_ref<void()> body) {
  finishStores();
  auto [barrier, threads] = getConsumerBarrier();
  within(*this, mk_thread::ElectOp::create(*this, partitionThread, barrier, threads), body);
}

Value PartitionBuilder::electFetchAdd(MemOrder order, Value address, Value amount,
                                      int64_t otherwise) {
  finishStores();
  auto [barrier, threads] = getConsumerBarrier();
  return mk_thread::ElectFetchAddOp::create(
      *this, order, address, amount, otherwise, partitionThread, barrier, threads,
      barrier ? getI64IntegerAttr(info.offsetOf("result")) : IntegerAttr());
}

void PartitionBuilder::finishStores() {
  if (!storesPending)
    return;
  ifThen(*this, eq(*this, and_(*this, thread, kWarpgroupThreads - 1), 0),
         [&] { mk_thread::WaitGroupOp::create(*this, 0, /*read=*/false); });
  awaitSent(*this);
}
