//===- AssignLayouts.cpp - Which thread holds what of a tile --------------===//
#include "RolePlan.h"
#include "TiedExtents.h"
#include "mkernel/Analysis/Resources.h"

#include <numeric>

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk_sm;

namespace {
/// Spreads layouts over the tiles of a role. Tiles are joined by ops that keep the layout
/// (elementwise ones, masks, what loops carry) and by those that drop or add dimensions.
class LayoutSpreader {
public:
  explicit LayoutSpreader(RolePlan &plan) : plan(plan) {}

  void run() {
    SmallVector<Value> accumulators;
    plan.op->walk([&](Operation *op) {
      connect(op);
      if (auto dot = dyn_cast<DotOp>(op))
        for (Value tile : {dot.getResult(), dot.getAcc(), dot.getLhs()})
          accumulators.push_back(tile);
      if (auto swap = dyn_cast<SwapPartsOp>(op))
        accumulators.push_back(swap.getTile());
    });
    auto mma = MmaAttr::get(plan.op->getContext(), std::max<int64_t>(plan.warpgroups, 1));
    for (Value tile : accumulators)
      assign(tile, mma);
    spread();
    for (Value tile : tiles)
      if (isOperandToo(tile) && !plan.layouts.contains(tile) && fits(tile, mma) &&
          !isReducedByColumns(tile)) {
        assign(tile, mma);
        spread();
      }
    // Tiles of most dimensions first: what they are reduced to follows.
    for (int64_t rank = 8; rank >= 0; --rank)
      for (Value tile : tiles)
        if (cast<RankedTensorType>(tile.getType()).getRank() == rank &&
            !plan.layouts.contains(tile)) {
          assign(tile, getDefault(tile));
          spread();
        }
  }

private:
  /// `other` has the same layout, or its slice without `axes`, or (with
  /// `grows`) the one that this is the slice of, or the one of the transposed tile.
  struct Edge {
    Value other;
    SmallVector<int64_t> axes;
    bool grows = false;
    bool transposes = false;
  };

  bool takesPart(Value value) {
    return isTile(value) && !isLayoutFree(value) && !plan.staysShared(value);
  }

  void note(Value tile) {
    if (edges.try_emplace(tile).second)
      tiles.push_back(tile);
  }

  /// `b` has the layout of `a`, or its slice without `axes`, or that of the transposed tile.
  void join(Value a, Value b, ArrayRef<int64_t> axes = {}, bool transposes = false) {
    if (!takesPart(a) || !takesPart(b))
      return;
    note(a), note(b);
    edges[a].push_back({b, SmallVector<int64_t>(axes), /*grows=*/false, transposes});
    edges[b].push_back({a, SmallVector<int64_t>(axes), /*grows=*/!axes.empty(), transposes});
  }

  void connect(Operation *op);

  /// Whether the tile is loaded as one of a dot is, in the same iteration: then threads can read it
  /// out of that one's slot, in the layout of accumulators.
  bool isOperandToo(Value tile) {
    auto load = tile.getDefiningOp<LoadOp>();
    return load && load.getStaged() && llvm::any_of(plan.staged, [&](const auto &entry) {
             return entry.first != load && entry.first->getBlock() == load->getBlock() &&
                    isSame(cast<LoadOp>(entry.first), load);
           });
  }

  static bool isElementwise(Operation *op) {
    return op && OpTrait::hasElementwiseMappableTraits(op) && op->getNumResults() == 1;
  }

  bool followsFromOperands(Value tile) {
    if (auto known = fromOperands.find(tile); known != fromOperands.end())
      return known->second;
    Operation *def = tile.getDefiningOp();
    bool result = isOperandToo(tile) ||
                  (isElementwise(def) && llvm::all_of(def->getOperands(), [&](Value operand) {
                     return isLayoutFree(operand) || followsFromOperands(operand);
                   }));
    return fromOperands[tile] = result;
  }

  bool leadsToColumns(Value tile) {
    if (auto known = toColumns.find(tile); known != toColumns.end())
      return known->second;
    bool result = !tile.use_empty() && llvm::all_of(tile.getUsers(), [&](Operation *user) {
      auto reduce = dyn_cast<ReduceOp>(user);
      return reduce ? reduce.getAxis() == 0
                    : isElementwise(user) && leadsToColumns(user->getResult(0));
    });
    return toColumns[tile] = result;
  }

  /// Whether threads read the tile out of slots of dots, and all that follows is reduced along
  /// columns: of these each warp of accumulators has a part, of a tile that is dealt out few
  /// threads have.
  bool isReducedByColumns(Value tile) { return followsFromOperands(tile) && leadsToColumns(tile); }

  /// Whether the tile can have the layout: what a slice of accumulators is repeated to may
  /// have other extents, as a column of row statistics has.
  static bool fits(Value tile, Attribute layout) {
    auto type = cast<RankedTensorType>(tile.getType());
    return explainLayout(type.getShape(), layout).empty();
  }

  void assign(Value tile, Attribute layout) {
    if (!takesPart(tile) || !plan.layouts.try_emplace(tile, layout).second)
      return;
    worklist.push_back(tile);
  }

  void spread() {
    for (unsigned i = 0; i != worklist.size(); ++i) {
      Value tile = worklist[i];
      Attribute layout = plan.layouts.lookup(tile);
      for (const Edge &edge : edges.lookup(tile)) {
        if (edge.transposes) {
          // Runs of rows are none of columns: those are dealt out anew.
          if (Attribute transposed = getTransposedLayout(layout))
            assign(edge.other, transposed);
        } else if (edge.axes.empty())
          assign(edge.other, layout);
        else if (!edge.grows)
          assign(edge.other, getSliceLayout(layout, edge.axes));
        else if (auto slice = dyn_cast<SliceAttr>(layout);
                 slice && edge.axes.size() == 1 && slice.getAxis() == edge.axes[0] &&
                 fits(edge.other, slice.getOf()) && !isReducedByColumns(edge.other))
          assign(edge.other, slice.getOf());
      }
    }
    worklist.clear();
  }

  /// How many elements of a buffer's row always lie where an access of so many may begin, if the
  /// row's length is known and no multiple of it; else 0.
  int64_t getBrokenRun(Value buffer, int64_t elements) {
    auto kernel = plan.op->getParentOfType<KernelOp>();
    auto type = cast<MemRefType>(buffer.getType());
    int64_t run = elements;
    for (unsigned arg :
         type.getRank() < 2 ? SmallVector<unsigned>() : getPossibleArgs(kernel, buffer))
      if (std::optional<int64_t> length = kernel.getArgExtent(arg, type.getRank() - 1))
        run = std::gcd(run, *length);
    return run == elements ? 0 : run;
  }

  /// The widest access that a tile, or one of the same layout, is loaded or stored with. Where most
  /// of these have rows that begin anywhere, neighbours are other threads': what a warp moves then
  /// lies side by side all the same. Not of tiles that change rows and columns: what is written for
  /// that lies in runs.
  Attribute getDefault(Value start) {
    int64_t bits = 64, whole = 0, broken = 0, longest = 1;
    bool accessed = false, isTurned = false;
    auto count = [&](Value buffer, RankedTensorType tile) {
      int64_t width = std::max<int64_t>(tile.getElementTypeBitWidth(), 8);
      int64_t run = getBrokenRun(buffer, 8 * getSm(plan.op).getAccess() / width);
      (run ? broken : whole) += 1;
      longest = std::max(longest, run);
    };
    SmallVector<Value> reached{start};
    llvm::DenseSet<Value> seen{start};
    for (unsigned i = 0; i != reached.size(); ++i) {
      Value tile = reached[i];
      auto type = cast<RankedTensorType>(tile.getType());
      bool isAccess =
          tile.getDefiningOp<LoadOp>() || llvm::any_of(tile.getUsers(), llvm::IsaPred<mk::StoreOp>);
      if (isAccess) {
        accessed = true;
        bits = std::min<int64_t>(bits, type.getElementTypeBitWidth());
      }
      if (auto load = tile.getDefiningOp<LoadOp>())
        count(load.getSource(), type);
      for (Operation *user : tile.getUsers())
        if (auto store = dyn_cast<mk::StoreOp>(user))
          count(store.getDest(), type);
      for (const Edge &edge : edges.lookup(tile)) {
        isTurned |= edge.transposes;
        if (edge.axes.empty() && !edge.transposes && seen.insert(edge.other).second)
          reached.push_back(edge.other);
      }
    }
    auto type = cast<RankedTensorType>(start.getType());
    if (!accessed)
      bits = type.getElementTypeBitWidth();
    return getBlockedLayout(plan, type, bits, broken > whole && !isTurned ? longest : 0);
  }

  RolePlan &plan;
  llvm::DenseMap<Value, SmallVector<Edge>> edges;
  llvm::DenseMap<Value, bool> fromOperands, toColumns; // what is known
  SmallVector<Value> tiles;                            // in program order
  SmallVector<Value> worklist;
};
} // namespace

void LayoutSpreader::connect(Operation *op) {
  for (Value result : op->getResults())
    if (takesPart(result))
      note(result);
  if (forEachFlow(op, [&](Value from, Value to) { join(from, to); }))
    return;
  if (auto reduce = dyn_cast<ReduceOp>(op)) {
    join(reduce.getSource(), reduce.getResult(), {static_cast<int64_t>(reduce.getAxis())});
  } else if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
    join(broadcast.getResult(), broadcast.getSource(), broadcast.getDims());
  } else if (auto transpose = dyn_cast<TransposeOp>(op)) {
    join(transpose.getSource(), transpose.getResult(), {}, /*transposes=*/true);
  } else if (auto swap = dyn_cast<SwapPartsOp>(op)) {
    for (Value part : swap.getParts())
      join(swap.getTile(), part);
  } else if (auto mask = dyn_cast<MaskOp>(op)) {
    join(mask.getSource(), mask.getResult());
  } else if (OpTrait::hasElementwiseMappableTraits(op) && op->getNumResults()) {
    for (Value operand : op->getOperands())
      join(operand, op->getResult(0));
  }
}

void mk_sm::assignLayouts(RolePlan &plan) { LayoutSpreader(plan).run(); }
