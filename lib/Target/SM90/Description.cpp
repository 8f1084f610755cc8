//===- Description.cpp - An H100 or H200 as data --------------------------===//
#include "Description.h"
#include "mkernel/ABI/Gpu.h"
#include "mlir/AsmParser/AsmParser.h"

using namespace mlir;
using namespace mlir::mk;

/// Where the numbers are from:
/// - grid: the SMs of an H100 SXM or H200;
/// - threads, shared, of_sm: CUDA programming guide, compute capability 9.0 (227 KiB of shared
///   memory for a CTA);
/// - cluster: measured;
/// - clustered: cuOccupancyMaxActiveClusters of an H200. Of 132 CTAs in clusters of four some wait
///   for others to end: what took one round took two;
/// - cluster_limit: CUDA programming guide, portable cluster size;
/// - least, most, step: PTX ISA, setmaxnreg;
/// - reserve: what ptxas takes beside accumulators (it refuses products that have less: C7602),
///   and for movers without spilling;
/// - chunk: the swizzle of 128 bytes (PTX ISA, cp.async.bulk.tensor and wgmma's descriptors);
/// - matrix_unit: PTX ISA, wgmma.mma_async; sums of fp8 lose too much beyond k_of_8_bits
///   (DeepSeek-V3, arXiv:2412.19437, 3.3.2);
/// - tensor_maps: cuTensorMapEncodeTiled; count as the parameters of a launch have room;
/// - splits, thresholds: measured with the kernels of examples/; two warpgroups read an operand
/// half
///   as often as one, three leave each thread fewer registers;
/// - rates: of an H200, by scripts/fit-rates; links: of four H200 (docs/cost-model.md).
static constexpr llvm::StringLiteral kDescription = R"(#mk.target<
  name = "sm_90a", backend = "sm_90a", grid = 132, sm = <
    threads = 1024, cluster = 8, shared = 232448, exchange = 32768, chunk = 128, access = 16, sector = 32,
    registers = <of_sm = 65536, least = 24, most = 256, step = 8,
      reserve = <scalars = 32, idle = 16, product = 26, left = 4, early = 16, mover = 56, gatherer = 64, net_mover = 104>, splits = [
      #mk.register_split<warpgroups = 2, producer = 40, consumer = 232>,
      #mk.register_split<warpgroups = 2, producer = 24, consumer = 240, above = 128>,
      #mk.register_split<warpgroups = 3, producer = 32, consumer = 160>,
      #mk.register_split<warpgroups = 1, producer = 56, consumer = 240>]>,
    matrix_unit = <rows = 64, columns = 256, column_step = 8, k_bytes = 32, k_of_8_bits = 128,
      pending = 7, operands = [bf16, f16, f32, f8E4M3FN, f8E5M2], transposed = [bf16, f16]>,
    tensor_maps = <count = 64, rank = 5, box = 256>,
    thresholds = <ring_depth = 8, small_ring_depth = 12, small_slot = 16384, put_slots = 6,
      put_slot = 16384, unrolled_parts = 6, cheap_ops = 4, spilled_elements = 80,
      busy_slots = 3, paired_turns = 4, known_turns = 10, few_turns = 16, short_folds = 24, parts_ahead = 65536,
      item_parts = 8, sliced_parts = 16,
      guarded_elements = 32, reduce_chains = 4, loaded_elements = 16, grouped_elements = 32,
      reloaded_elements = 64, exchanged_elements = 128, posted_rows = 32, posted_spread = 37500,
      parts_together = 4, item_slices = 8, slice_rows = 8, mailbox_slots = 2, merged_signals = 8,
      notified_peers = 16, posted_nap = 200, posted_share = 75, moved_units = 8, multicast_units = 4, edge_boxes = 4, edge_tiles = 8, edge_rows = 16,
      marked_elements = 8, large_put = 4194304, stored_pieces = 4>,
    clustered = [132, 132, 117, 120, 110, 102, 105, 120]>,
  rates = <products = 6470, operands = 231, copies = 88, fetch = 35, cache = 104, elements = 200,
    functions = 40, sustained = 670890, memory = 4427, written = 3300, latency = 1300, launch = 1920,
    item = 183, split = 6450, few_sms = 135, line = 128, off_line = 120, by_threads = 1800, beside = 165,
    apart = 106, uneven = 127, packing = 2000, join = 110, clock = 130, overlap = 10, memory_overlap = 3,
    reduction = 150>,
  links = <by_ctas = 280, ctas_begin = 8000, by_engines = 340, engines_begin = 20000, by_stores = 330,
           copy = 5000, beside = 130>>)";

TargetAttr sm90::describe(MLIRContext *context) {
  return cast<TargetAttr>(parseAttribute(kDescription, context));
}

/// What instructions have fixed, whatever a description says.
LogicalResult sm90::verify(TargetAttr target, Location loc) {
  auto refuse = [&]() -> InFlightDiagnostic {
    return emitError(loc) << "target '" << target.getName() << "' of backend '" << kName << "' ";
  };
  SmAttr sm = target.getSm();
  if (!sm)
    return refuse() << "does not say what an SM is: give it 'sm', as in docs/targets.md";
  auto own = describe(target.getContext()).getSm();
  MatrixUnitAttr unit = sm.getMatrixUnit(), ownUnit = own.getMatrixUnit();
  if (unit.getRows() != ownUnit.getRows() || unit.getKBytes() != ownUnit.getKBytes() ||
      unit.getColumnStep() != ownUnit.getColumnStep() ||
      unit.getColumns() > ownUnit.getColumns() || unit.getPending() > ownUnit.getPending())
    return refuse() << "has a matrix unit whose instruction is not wgmma: it makes "
                    << ownUnit.getRows() << " rows of up to " << ownUnit.getColumns()
                    << " columns in steps of " << ownUnit.getColumnStep() << ", of "
                    << ownUnit.getKBytes() << " bytes of each operand's row, up to "
                    << ownUnit.getPending() << " behind one that is waited for";
  if (sm.getChunk() != own.getChunk())
    return refuse() << "has chunk = " << sm.getChunk() << "; it is " << own.getChunk();
  for (auto type : unit.getOperands().getAsValueRange<TypeAttr>())
    if (!ownUnit.takes(type))
      return refuse() << "multiplies " << type << ", which wgmma does not: leave it out";
  for (auto type : unit.getTransposed().getAsValueRange<TypeAttr>())
    if (!ownUnit.transposes(type))
      return refuse() << "transposes " << type << ", which wgmma does not: leave it out";
  // Numbers that instructions and the runtime have room for.
  std::tuple<StringRef, int64_t, int64_t> limits[] = {
      {"threads", sm.getThreads(), own.getThreads()},
      {"cluster_limit", sm.getClusterLimit(), own.getClusterLimit()},
      {"shared", sm.getShared(), own.getShared()},
      {"access", sm.getAccess(), own.getAccess()},
      {"of_sm", sm.getRegisters().getOfSm(), own.getRegisters().getOfSm()},
      {"most", sm.getRegisters().getMost(), own.getRegisters().getMost()},
      {"count", sm.getTensorMaps().getCount(), MK_GPU_MAX_TENSOR_MAPS},
      {"rank", sm.getTensorMaps().getRank(), own.getTensorMaps().getRank()},
      {"box", sm.getTensorMaps().getBox(), own.getTensorMaps().getBox()}};
  for (auto [name, number, most] : limits)
    if (number > most)
      return refuse() << "has " << name << " = " << number << "; it is at most " << most;
  if (sm.getRegisters().getStep() != own.getRegisters().getStep() ||
      sm.getRegisters().getLeast() < own.getRegisters().getLeast())
    return refuse() << "gives threads registers in steps of " << sm.getRegisters().getStep()
                    << " from " << sm.getRegisters().getLeast()
                    << " on, where setmaxnreg takes steps of " << own.getRegisters().getStep()
                    << " from " << own.getRegisters().getLeast() << " on";
  return success();
}
