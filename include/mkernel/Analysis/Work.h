//===- Work.h - What a launch of a kernel has to do -------------*- C++ -*-===//
//
// Counted from a kernel at the tile level whose sizes are bound, for any values of its
// parameters: products, bytes and elements of each loop's items. The cost model turns them
// into time (CostModel.h).
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_ANALYSIS_WORK_H
#define MKERNEL_ANALYSIS_WORK_H

#include "mkernel/Dialect/Tile/Tile.h"

#include <map>
#include <optional>
#include <string>

namespace mlir::mk {

/// Amounts of work.
struct Work {
  double products = 0;  // FLOP of matrix products, of as many as with operands of 16 bits
  double operands = 0;  // bytes that matrix instructions read from shared memory
  double copies = 0;    // bytes of tiles that products read, from memory, whole ones
  double asked =
      0; // bytes of them that the L2 cache is asked for, more where rows begin inside its lines
  double fresh = 0;     // bytes of these that come from device memory: nobody has asked before
  double turns = 0;     // of loops that copy such tiles
  double loads = 0;     // bytes of other tiles
  double direct = 0;    // of these, of tiles that the copy engine does not take
  double stores = 0;    // bytes
  double shared = 0;    // bytes of sectors that are read and written again: rows begin in them
  double sent = 0;      // bytes of tiles that are stored at peers, by links
  double announced = 0; // of these, bytes that come with a signal
  double elements = 0;  // results of elementwise ops and conversions, operands of reductions
  double functions = 0; // of these, of exponentials, roots and their like
  double reductions = 0; // ops that reduce a tile, not those whose results are only added up
  double sums = 0;      // elements of products that are added up apart, as those of fp8

  void add(const Work &other, double times);
  bool operator==(const Work &) const = default;
};

/// What one item of a loop takes: in loops around products, whose parts overlap, and besides
/// (in front of such loops and behind them).
struct ItemWork {
  Work inner, outer;
  double waits = 0;   // for what peers send (`LoopWork::arrivals`)
  double gathers = 0; // waits for what they store in items of their own
  /// The most pieces, of an instruction's rows and a chunk of shared memory, in which a tile is
  /// stored.
  int64_t storeParts = 0;
  double loadTurns = 0; // of loops without products that load matrices

  bool operator==(const ItemWork &) const = default;
  double getSent() const { return inner.sent + outer.sent; }
  double getAnnounced() const { return inner.announced + outer.announced; }
  /// Whether it waits for peers, or sends them something.
  bool meetsPeers() const { return waits > 0 || gathers > 0 || getSent() > 0; }
  /// Whether both do the same of that.
  bool meetsPeersAs(const ItemWork &other) const {
    return waits == other.waits && gathers == other.gathers && getSent() == other.getSent();
  }
};

/// What peers send a rank by links while it works, in the order in which items wait for it.
struct Arrivals {
  double bytes = 0;  // from all peers
  double step = 0;   // of these, for which one signal stands
  double copies = 0; // by copy engines: how many; 0 where CTAs send
};

/// What an item needs room for, and how it is stored; of items that differ, what all of them do
/// with.
struct Footprint {
  /// Elements of the accumulators that live at once, and of left operands in
  /// registers; bytes of the tiles that one iteration copies, and of those that are copied once.
  int64_t accumulators = 0, slot = 0, once = 0;
  /// Of these what the loops around products carry: what parts of an item have to add up.
  int64_t carried = 0;
  /// Elements of the largest tile that threads compute; bytes of the matrices that an item loads
  /// outside of its loops, and not for products, and of the largest of these; and bytes of those
  /// that one turn of a loop without products loads.
  int64_t largest = 0, held = 0, heldAtOnce = 0, turn = 0;
  /// What the rows of all products of the item are multiples of, and the most columns of one.
  int64_t rows = 0, columns = 0;
  /// The most `ItemWork::storeParts`.
  int64_t storeParts = 0;
  /// Columns of the narrowest tile that is stored, in units of what a chunk of shared memory holds
  /// (0: none); whether threads hold some tile transposed.
  double storedChunks = 0;
  bool isTransposed = false;
  /// Whether tiles are stored in parts of which the last two overlap: of more rows than an
  /// instruction has, computed transposed.
  bool overlaps = false;

  /// Room for another item, too.
  void cover(const Footprint &other);
};

/// A loop whose items are dealt out to the CTAs of its role.
struct LoopWork : Footprint {
  StringAttr role;
  int64_t ctas = 0; // of the role, with those of `KernelWork::after`
  int64_t own = 0;  // of these, without
  double items = 0;
  ScheduleKind schedule = ScheduleKind::Static;
  /// Where stream-K divides items: all CTAs that have a part of one add up some rows each.
  bool isShared = false;
  int64_t teams = 1;   // that take items in turn
  int64_t tail = 1;    // waves that stream-K divides
  int64_t parts = 1;   // CTAs side by side that do an item together
  int64_t cluster = 1; // CTAs side by side that can share copies
  /// Of one item where all are alike, else of items spread evenly over the loop.
  SmallVector<ItemWork, 0> samples;
  Arrivals arrivals; // that items wait for; no bytes if they wait for none
};

struct KernelWork {
  SmallVector<LoopWork> loops;
  /// Roles that get more CTAs from others (`then`) than they have themselves, each with the one
  /// that most come from, when that is done.
  llvm::SmallDenseMap<StringAttr, StringAttr> after;
  double memory = 0;   // bytes of arguments that tiles are read from
  double packed = 0;   // of these, bytes that are copied in front of the launch
  double written = 0;  // bytes of arguments that tiles are written to
  bool isAlone = true; // false if it waits for something, or sends something
};

/// Values of dimensions and mesh axes, and of parameters.
using NamedNumbers = std::map<std::string, int64_t>;

/// The work of this rank in one launch with a grid of so many CTAs, parameters as `params` says,
/// else at their defaults. Nothing where a number that it follows from is not known before the
/// launch: `why` then has the reason. Helper functions have to be inlined, axes bound.
std::optional<KernelWork> countWork(KernelOp kernel, int64_t grid, const NamedNumbers &sizes,
                                    const NamedNumbers &params, std::string &why);

/// Whether the requirement holds with these sizes and parameters, as far as they say.
bool mayHold(RequireOp require, const NamedNumbers &sizes, const NamedNumbers &params);
/// Whether the matrix unit has instructions for the product's extents with these parameters, as far
/// as they say; it may be computed transposed.
bool mayMultiply(DotOp dot, const NamedNumbers &params);

} // namespace mlir::mk

#endif // MKERNEL_ANALYSIS_WORK_H
