//===- TileTarget.cpp - Verifiers of descriptions of targets --------------===//
#include "mkernel/Dialect/Tile/Target.h"
#include "mkernel/Support/Counted.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::mk;

using Emit = function_ref<InFlightDiagnostic()>;

/// Every number has to be at least 1.
static LogicalResult verifyPositive(Emit emit, StringRef what,
                                    std::initializer_list<std::pair<StringRef, int64_t>> numbers) {
  for (auto [name, number] : numbers)
    if (number < 1)
      return emit() << what << " with " << name << " = " << number << ": it is at least 1";
  return success();
}

LogicalResult RegisterSplitAttr::verify(Emit emit, int64_t warpgroups, int64_t producer,
                                        int64_t consumer, int64_t above) {
  if (above < 0)
    return emit() << "a split of registers above " << above
                  << ": it is a number of registers, or is left out";
  return verifyPositive(
      emit, "a split of registers",
      {{"warpgroups", warpgroups}, {"producer", producer}, {"consumer", consumer}});
}

LogicalResult RegisterReserveAttr::verify(Emit emit, int64_t scalars, int64_t idle, int64_t product,
                                          int64_t left, int64_t early, int64_t mover,
                                          int64_t gatherer, int64_t netMover) {
  if (std::min({scalars, idle, product, left, early, mover, gatherer, netMover}) < 0 ||
      idle > scalars)
    return emit()
           << "a reserve of " << scalars << " registers for scalars, " << idle << " of them idle, "
           << product << " for products and " << left
           << " for left operands: none is negative, and those that idle are some of the first";
  return success();
}

LogicalResult RegistersAttr::verify(Emit emit, int64_t ofSm, int64_t least, int64_t most,
                                    int64_t step, RegisterReserveAttr reserve, ArrayAttr splits) {
  if (failed(verifyPositive(emit, "registers",
                            {{"of_sm", ofSm}, {"least", least}, {"most", most}, {"step", step}})))
    return failure();
  if (least > most || least % step || most % step)
    return emit() << "registers of a thread from " << least << " to " << most
                  << ": both are multiples of the step, " << step << ", in this order";
  auto has = [&](int64_t n) { return n >= least && n <= most && n % step == 0; };
  if (!has(reserve.getMover()) || !has(reserve.getGatherer()) || !has(reserve.getNetMover()))
    return emit() << reserve << " gives movers other registers than a multiple of " << step
                  << " from " << least << " to " << most;
  llvm::SmallSet<int64_t, 8> plain;
  int64_t largest = 0;
  for (Attribute attr : splits) {
    auto split = dyn_cast<RegisterSplitAttr>(attr);
    if (!split)
      return emit() << "'splits' holds " << attr << ": each is a #mk.register_split";
    for (int64_t registers : {split.getProducer(), split.getConsumer()})
      if (!has(registers))
        return emit() << split << " gives a thread " << registers
                      << " registers: it is a multiple of " << step << " from " << least << " to "
                      << most;
    // A producer's warpgroup is counted whole.
    int64_t sum =
        kWarpgroupThreads * (split.getProducer() + split.getWarpgroups() * split.getConsumer());
    if (sum > ofSm)
      return emit() << split << " takes " << sum << " registers; an SM has " << ofSm;
    largest = std::max(largest, split.getWarpgroups());
    if (!split.getAbove())
      plain.insert(split.getWarpgroups());
  }
  if (!largest)
    return emit() << "'splits' is empty: give a #mk.register_split for each number of "
                     "warpgroups that a consumer may have";
  for (int64_t warpgroups = 1; warpgroups <= largest; ++warpgroups)
    if (!plain.contains(warpgroups))
      return emit() << "there is no split of registers without 'above' for "
                    << mkernel::counted(warpgroups, "warpgroup")
                    << ": give one for each number up to " << largest;
  return success();
}

SmallVector<int64_t> RegistersAttr::getWarpgroupCounts() const {
  llvm::SmallSetVector<int64_t, 8> counts;
  for (auto split : getSplits().getAsRange<RegisterSplitAttr>())
    counts.insert(split.getWarpgroups());
  return counts.takeVector();
}

static bool contains(ArrayAttr types, Type type) {
  return llvm::is_contained(types, TypeAttr::get(type));
}

bool MatrixUnitAttr::takes(Type type) const { return contains(getOperands(), type); }

bool MatrixUnitAttr::transposes(Type type) const { return contains(getTransposed(), type); }

LogicalResult MatrixUnitAttr::verify(Emit emit, int64_t rows, int64_t columns, int64_t columnStep,
                                     int64_t kBytes, int64_t kOf8Bits, int64_t pending,
                                     ArrayAttr operands, ArrayAttr transposed) {
  if (failed(verifyPositive(emit, "a matrix unit",
                            {{"rows", rows},
                             {"columns", columns},
                             {"column_step", columnStep},
                             {"k_bytes", kBytes},
                             {"k_of_8_bits", kOf8Bits},
                             {"pending", pending}})))
    return failure();
  if (kBytes % 4)
    return emit() << "a matrix unit that takes " << kBytes
                  << " bytes of a row: it takes whole words of 4 bytes";
  if (columns % columnStep)
    return emit() << "a matrix unit of up to " << columns << " columns in steps of " << columnStep
                  << ": the first is a multiple of the second";
  for (Attribute operand : operands)
    if (!isa<TypeAttr>(operand) || !cast<TypeAttr>(operand).getValue().isIntOrFloat())
      return emit() << "'operands' holds " << operand << ": each is a type of numbers";
  for (Attribute type : transposed)
    if (!llvm::is_contained(operands, type))
      return emit() << "'transposed' holds " << type << ", which is not one of 'operands'";
  return success();
}

LogicalResult TensorMapsAttr::verify(Emit emit, int64_t count, int64_t rank, int64_t box) {
  if (failed(verifyPositive(emit, "tensor maps", {{"count", count}, {"rank", rank}, {"box", box}})))
    return failure();
  // A box is cut into runs of 8 rows, the period of the swizzle.
  if (rank < 2 || box < 64 || box % 8)
    return emit() << "tensor maps of " << rank << " dimensions and boxes of " << box
                  << " elements: at least 2 dimensions, and boxes of a multiple of 8, "
                     "at least 64";
  return success();
}

LogicalResult RatesAttr::verify(Emit emit, int64_t products, int64_t operands, int64_t copies,
                                int64_t fetch, int64_t cache, int64_t elements, int64_t functions,
                                int64_t sustained, int64_t memory, int64_t written, int64_t latency,
                                int64_t launch, int64_t item, int64_t split, int64_t fewSms,
                                int64_t line, int64_t offLine, int64_t byThreads, int64_t beside,
                                int64_t apart, int64_t uneven, int64_t packing, int64_t join,
                                int64_t clock, int64_t overlap, int64_t memoryOverlap,
                                int64_t reduction) {
  if (std::min({latency, launch, item, split, packing, join, reduction}) < 0)
    return emit() << "rates with latency = " << latency << ", launch = " << launch
                  << ", item = " << item << ", split = " << split << ", packing = " << packing
                  << ", join = " << join << ", reduction = " << reduction
                  << ": times are not negative";
  if (clock < 100)
    return emit() << "rates with clock = " << clock
                  << ": it says in percent how fast products of few SMs are, at least 100";
  std::pair<StringRef, int64_t> percentages[] = {{"few_sms", fewSms},       {"off_line", offLine},
                                                 {"by_threads", byThreads}, {"beside", beside},
                                                 {"apart", apart},          {"uneven", uneven}};
  for (auto [name, percent] : percentages)
    if (percent < 100)
      return emit() << "rates with " << name << " = " << percent
                    << ": it says in percent how long things take that take longer, at least 100";
  for (auto [name, exponent] : {std::pair<StringRef, int64_t>{"overlap", overlap},
                                std::pair<StringRef, int64_t>{"memory_overlap", memoryOverlap}})
    if (exponent < 1 || exponent > 64)
      return emit() << "rates with " << name << " = " << exponent
                    << ": it is the exponent of a sum of powers, from 1 to 64";
  if (line < 1 || !llvm::isPowerOf2_64(line))
    return emit() << "rates with line = " << line << ": it is a power of two";
  return verifyPositive(emit, "rates",
                        {{"products", products},
                         {"operands", operands},
                         {"copies", copies},
                         {"fetch", fetch},
                         {"cache", cache},
                         {"elements", elements},
                         {"functions", functions},
                         {"sustained", sustained},
                         {"memory", memory},
                         {"written", written}});
}

LogicalResult LinksAttr::verify(Emit emit, int64_t byCtas, int64_t ctasBegin, int64_t byEngines,
                                int64_t enginesBegin, int64_t byStores, int64_t copy,
                                int64_t beside) {
  if (std::min({ctasBegin, enginesBegin, copy}) < 0)
    return emit() << "links with ctas_begin = " << ctasBegin << ", engines_begin = " << enginesBegin
                  << ", copy = " << copy << ": times are not negative";
  if (beside < 100)
    return emit() << "links with beside = " << beside
                  << ": it says in percent how long products take that take longer, at least 100";
  return verifyPositive(emit, "links",
                        {{"by_ctas", byCtas}, {"by_engines", byEngines}, {"by_stores", byStores}});
}

LogicalResult ThresholdsAttr::verify(
    Emit emit, int64_t ringDepth, int64_t smallRingDepth, int64_t smallSlot, int64_t putSlots,
    int64_t putSlot, int64_t unrolledParts, int64_t cheapOps, int64_t spilledElements,
    int64_t busySlots, int64_t pairedTurns, int64_t knownTurns, int64_t fewTurns,
    int64_t shortFolds, int64_t partsAhead, int64_t itemParts, int64_t slicedParts,
    int64_t guardedElements, int64_t reduceChains, int64_t loadedElements, int64_t groupedElements,
    int64_t reloadedElements, int64_t exchangedElements, int64_t postedRows, int64_t postedSpread,
    int64_t partsTogether, int64_t itemSlices, int64_t sliceRows, int64_t mailboxSlots,
    int64_t mergedSignals, int64_t notifiedPeers, int64_t postedNap, int64_t postedShare,
    int64_t movedUnits, int64_t multicastUnits, int64_t edgeBoxes, int64_t edgeTiles,
    int64_t edgeRows, int64_t markedElements, int64_t largePut, int64_t storedPieces) {
  if (failed(verifyPositive(emit, "thresholds",
                            {{"ring_depth", ringDepth},
                             {"small_ring_depth", smallRingDepth},
                             {"small_slot", smallSlot},
                             {"unrolled_parts", unrolledParts},
                             {"cheap_ops", cheapOps},
                             {"spilled_elements", spilledElements},
                             {"busy_slots", busySlots},
                             {"short_folds", shortFolds},
                             {"parts_ahead", partsAhead},
                             {"item_parts", itemParts},
                             {"sliced_parts", slicedParts},
                             {"guarded_elements", guardedElements},
                             {"reduce_chains", reduceChains},
                             {"reloaded_elements", reloadedElements},
                             {"exchanged_elements", exchangedElements},
                             {"slice_rows", sliceRows},
                             {"edge_tiles", edgeTiles},
                             {"marked_elements", markedElements},
                             {"large_put", largePut}})))
    return failure();
  // What is code for each, or held in registers, has an end; so has a pause (PTX ISA, "nanosleep").
  std::tuple<StringRef, int64_t, int64_t, int64_t> ranges[] = {
      {"parts_together", partsTogether, 1, 16}, {"mailbox_slots", mailboxSlots, 2, 64},
      {"known_turns", knownTurns, 2, 32},       {"few_turns", fewTurns, 2, 32},
      {"merged_signals", mergedSignals, 1, 64}, {"notified_peers", notifiedPeers, 0, 64},
      {"posted_nap", postedNap, 0, 1'000'000},  {"posted_share", postedShare, 1, 100},
      {"edge_boxes", edgeBoxes, 1, 16},         {"edge_rows", edgeRows, 0, 256},
      {"stored_pieces", storedPieces, 1, 16}};
  for (auto [name, number, least, most] : ranges)
    if (number < least || number > most)
      return emit() << "thresholds with " << name << " = " << number << ": it is a number from "
                    << least << " to " << most;
  std::tuple<StringRef, int64_t, int64_t> powers[] = {{"item_slices", itemSlices, 64},
                                                      {"moved_units", movedUnits, 32},
                                                      {"multicast_units", multicastUnits, 32}};
  for (auto [name, number, most] : powers)
    if (number < 1 || number > most || !llvm::isPowerOf2_64(number))
      return emit() << "thresholds with " << name << " = " << number
                    << ": it is a power of two up to " << most;
  // They divide the rows of an accumulator's block, and are whole periods of the swizzle.
  if (postedRows < 8 || postedRows > 64 || !llvm::isPowerOf2_64(postedRows))
    return emit() << "pieces of " << postedRows << " posted rows: it is 8, 16, 32 or 64";
  if (postedSpread < 0 || postedSpread > 1'000'000)
    return emit() << "posted tiles spread over " << postedSpread
                  << " nanoseconds: it is between 0 and 1000000";
  // The longest access of a thread holds 16 elements, of 8 bits.
  for (int64_t elements : {loadedElements, groupedElements})
    if (elements < 16 || elements % 16)
      return emit() << "groups of " << elements << " elements: it is a positive multiple of 16";
  if (pairedTurns < 2 || pairedTurns > 16 || pairedTurns % 2)
    return emit() << "turns of a loop with dots in pairs: " << pairedTurns
                  << ", but it is an even number from 2 to 16";
  for (int64_t depth : {ringDepth, smallRingDepth})
    if (depth < 2 || depth > 64)
      return emit() << "rings of up to " << depth << " slots: it is a number from 2 to 64";
  if (putSlots < 2 || putSlots > 64 || putSlot < 32 || putSlot % 32)
    return emit() << "puts through " << putSlots << " slots of " << putSlot
                  << " bytes: 2 to 64, of a multiple of 32";
  return success();
}

LogicalResult SmAttr::verify(Emit emit, int64_t threads, int64_t cluster, int64_t shared,
                             int64_t exchange, int64_t chunk, int64_t access, int64_t sector,
                             RegistersAttr registers, MatrixUnitAttr, TensorMapsAttr,
                             ThresholdsAttr, ArrayAttr clustered, int64_t clusterLimit) {
  if (failed(verifyPositive(emit, "an SM", {{"shared", shared}, {"exchange", exchange}})))
    return failure();
  for (auto [i, attr] : llvm::enumerate(clustered)) {
    auto number = dyn_cast<IntegerAttr>(attr);
    int64_t size = i + 1, ctas = number ? number.getInt() : 0;
    if (ctas < size || ctas % size || size > clusterLimit)
      return emit() << attr << " CTAs at once in clusters of " << size
                    << ": whole clusters, of up to " << clusterLimit
                    << " CTAs; leave clustered out where all of a grid run";
  }
  if (threads < 2 * kWarpgroupThreads || threads % kWarpgroupThreads)
    return emit() << "CTAs of up to " << threads << " threads: whole warpgroups of "
                  << kWarpgroupThreads << ", at least one of a producer and one of a consumer";
  int64_t most = threads / kWarpgroupThreads - 1;
  for (auto split : registers.getSplits().getAsRange<RegisterSplitAttr>())
    if (split.getWarpgroups() > most)
      return emit() << split << " is for more warpgroups than the " << most << " that CTAs of "
                    << threads << " threads have beside a producer";
  for (int64_t size : {cluster, clusterLimit})
    if (size < 1 || size > 16 || !llvm::isPowerOf2_64(size))
      return emit() << "clusters of up to " << size << " CTAs: it is 1, 2, 4, 8 or 16";
  if (cluster > clusterLimit)
    return emit() << "copies that " << cluster << " CTAs share in clusters of up to "
                  << clusterLimit << ": use a smaller cluster, or a larger cluster_limit";
  if (access < 1 || access > 16 || !llvm::isPowerOf2_64(access))
    return emit() << "accesses of " << access << " bytes: it is 1, 2, 4, 8 or 16";
  if (sector < 16 || sector > 1024 || !llvm::isPowerOf2_64(sector))
    return emit() << "sectors of " << sector << " bytes: a power of two from 16 to 1024";
  if (chunk < 16 || chunk > 128 || !llvm::isPowerOf2_64(chunk))
    return emit() << "columns of " << chunk << " bytes in shared memory: it is 16, 32, 64 or 128";
  if (exchange > shared || exchange % 512)
    return emit() << "an exchange of " << exchange << " bytes in " << shared
                  << " of shared memory: it is a part of it, and a multiple of 512";
  return success();
}

bool SmAttr::hasCluster(int64_t ctas) const { return ctas >= 1 && ctas <= getClusterLimit(); }

std::optional<int64_t> SmAttr::getAtOnce(int64_t ctas) const {
  if (ctas < 1 || size_t(ctas) > getClustered().size())
    return std::nullopt;
  return cast<IntegerAttr>(getClustered()[ctas - 1]).getInt();
}

LogicalResult TargetAttr::verify(Emit emit, StringRef name, StringRef backend, int64_t grid, SmAttr,
                                 RatesAttr, LinksAttr) {
  if (name.empty() || backend.empty())
    return emit() << "a target without a " << (name.empty() ? "name" : "backend")
                  << ": write name = \"what messages call it\", backend = \"who makes its code\"";
  // Package.h: the grid is a number of 16 bits, and one is kept for the host.
  if (grid < 1 || grid > 65534)
    return emit() << "target '" << name << "' with a grid of " << grid
                  << " CTAs: it is a number from 1 to 65534";
  return success();
}

LogicalResult MkDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  if (attribute.getName() != kTargetAttr)
    return success();
  if (!isa<ModuleOp>(op))
    return op->emitError() << "has the attribute 'mk.target', which says what a module is "
                              "compiled for: give it to the module";
  if (!isa<TargetAttr>(attribute.getValue()))
    return op->emitError() << "has " << attribute.getValue()
                           << " as 'mk.target': it is a #mk.target";
  return success();
}

TargetAttr mk::findTarget(Operation *op) {
  for (; op; op = op->getParentOp())
    if (auto target = op->getAttrOfType<TargetAttr>(kTargetAttr))
      return target;
  return {};
}

TargetAttr mk::getSmTarget(Operation *op) {
  TargetAttr target = findTarget(op);
  if (target && target.getSm())
    return target;
  auto *dialect = op->getContext()->getLoadedDialect<MkDialect>();
  return dialect ? dyn_cast_or_null<TargetAttr>(dialect->getDefaultTarget()) : TargetAttr();
}
