//===- MutantPlaces.cpp - Mistakes about where something is ---------------===//
#include "Mutants.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::mk;
using namespace mlir::mk::fuzz;

namespace {
bool same(Value a, Value b) {
  APInt x, y;
  return a == b || (matchPattern(a, m_ConstantInt(&x)) &&
                    matchPattern(b, m_ConstantInt(&y)) && x == y);
}

struct PlaceCollector {
  MutantScope &scope;
  std::vector<Edit> edits;

  void add(Operation *site, const Twine &what, std::function<void()> apply) {
    edits.push_back({site, what.str(), std::move(apply)});
  }

  static Value plusOne(OpBuilder &b, Location loc, Value value) {
    return arith::AddIOp::create(b, loc, value,
                                 arith::ConstantIndexOp::create(b, loc, 1));
  }

  void swaps(Operation *op, const IndexList &list) {
    for (unsigned i = 0; i < list.size; ++i)
      for (unsigned j = i + 1; j < list.size; ++j) {
        unsigned a = list.first + i, b = list.first + j;
        if (same(op->getOperand(a), op->getOperand(b)))
          continue;
        add(op, Twine(list.name) + " " + Twine(i) + " and " + Twine(j) + " swapped",
            [op, a, b] {
              Value x = op->getOperand(a);
              op->setOperand(a, op->getOperand(b));
              op->setOperand(b, x);
            });
      }
  }

  void changes(Operation *op, unsigned at, const Twine &name) {
    std::string text = name.str();
    Value old = op->getOperand(at);
    add(op, text + " plus 1", [op, at] {
      OpBuilder b(op);
      op->setOperand(at, plusOne(b, op->getLoc(), op->getOperand(at)));
    });
    for (Value other : scope.indicesAt(op))
      if (!same(other, old))
        add(op, text + " is another value", [op, at, other] {
          op->setOperand(at, other);
        });
  }

  void peer(Operation *op, OperandRange range) {
    if (range.empty())
      return;
    unsigned at = range.getBeginOperandIndex();
    add(op, "to the own rank", [op, at] {
      OpBuilder b(op);
      op->setOperand(at, RankOp::create(b, op->getLoc(), b.getIndexType(),
                                        ValueRange(), ArrayAttr()));
    });
    add(op, "to the next rank", [op, at] {
      OpBuilder b(op);
      Location loc = op->getLoc();
      Value world = SizeOp::create(b, loc, b.getIndexType(), StringAttr());
      Value next = plusOne(b, loc, op->getOperand(at));
      op->setOperand(at, arith::RemUIOp::create(b, loc, next, world));
    });
  }

  SmallVector<StringAttr> axes() {
    SmallVector<StringAttr> names;
    MeshOp mesh = scope.getKernel().getMeshOp();
    for (int64_t i = 0; i < mesh.getNumAxes(); ++i)
      names.push_back(StringAttr::get(mesh.getContext(), mesh.getAxis(i).getName()));
    return names;
  }

  void peers(ForeachPeerOp loop) {
    add(loop, loop.getIncludingSelf() ? "without the own rank"
                                      : "including the own rank",
        [loop]() mutable { loop.setIncludingSelf(!loop.getIncludingSelf()); });
    for (StringAttr axis : axes()) {
      ArrayAttr only = ArrayAttr::get(axis.getContext(), {axis});
      if (only != loop.getAxes())
        add(loop, "along " + axis.getValue(),
            [loop, only]() mutable { loop.setAxesAttr(only); });
    }
  }

  void coordinate(Operation *op) {
    if (auto coord = dyn_cast<CoordOp>(op)) {
      for (StringAttr axis : axes())
        if (axis.getValue() != coord.getAxis())
          add(op, "along " + axis.getValue(),
              [coord, axis]() mutable { coord.setAxisAttr(axis); });
    } else if (auto rank = dyn_cast<RankOp>(op)) {
      for (unsigned i = 0; i < rank.getCoords().size(); ++i)
        for (StringAttr axis : axes()) {
          SmallVector<Attribute> names(rank.getAxesAttr().getValue());
          if (llvm::is_contained(names, axis))
            continue;
          names[i] = axis;
          add(op, "coordinate along " + axis.getValue(),
              [rank, names]() mutable {
                rank.setAxesAttr(ArrayAttr::get(rank.getContext(), names));
              });
        }
    }
  }

  /// Each dimension of each scratch buffer.
  void slots() {
    KernelOp kernel = scope.getKernel();
    for (unsigned i = 0; i < kernel.getNumKernelArgs(); ++i) {
      if (kernel.getArgKind(i) != ArgKind::Scratch)
        continue;
      Value buffer = kernel.getKernelArg(i);
      SmallVector<Value> aliases = scope.aliasesOf(buffer);
      int64_t rank = cast<MemRefType>(buffer.getType()).getRank();
      for (int64_t d = 0; d < rank; ++d) {
        SmallVector<std::pair<Operation *, unsigned>> places;
        for (Operation *op : scope.getOps())
          for (const IndexList &list : indexListsOf(op)) {
            if (!list.memory || !llvm::is_contained(aliases, bufferOf(op, list)))
              continue;
            APInt constant;
            if (!matchPattern(op->getOperand(list.first + d),
                              m_ConstantInt(&constant)) ||
                !constant.isZero())
              places.push_back({op, list.first + unsigned(d)});
          }
        if (places.empty())
          continue;
        StringRef name = cast<StringAttr>(kernel.getArgNames()[i]).getValue();
        add(kernel, "one place for all along dimension " + Twine(d) + " of '" + name + "'",
            [places] {
              for (auto [op, at] : places) {
                OpBuilder b(op);
                op->setOperand(at,
                               arith::ConstantIndexOp::create(b, op->getLoc(), 0));
              }
            });
      }
    }
  }

  /// Whose offsets a list holds.
  static Value bufferOf(Operation *op, const IndexList &list) {
    if (auto load = dyn_cast<LoadOp>(op))
      return load.getSource();
    if (auto store = dyn_cast<StoreOp>(op))
      return store.getDest();
    if (auto load = dyn_cast<memref::LoadOp>(op))
      return load.getMemRef();
    if (auto store = dyn_cast<memref::StoreOp>(op))
      return store.getMemRef();
    auto put = cast<PutOp>(op);
    return list.first == put.getSrcOffsets().getBeginOperandIndex()
               ? put.getSource()
               : put.getDest();
  }

  void run(MutantKind kind) {
    if (kind == MutantKind::SlotShared)
      return slots();
    for (Operation *op : scope.getOps()) {
      if (kind == MutantKind::PeerChanged) {
        if (auto put = dyn_cast<PutOp>(op))
          peer(op, put.getODSOperands(6));
        else if (auto store = dyn_cast<StoreOp>(op))
          peer(op, store.getODSOperands(4));
        else if (auto signal = dyn_cast<SignalOp>(op))
          peer(op, signal.getODSOperands(2));
        else if (auto loop = dyn_cast<ForeachPeerOp>(op))
          peers(loop);
        else
          coordinate(op);
        continue;
      }
      bool memory = kind == MutantKind::OffsetSwapped ||
                    kind == MutantKind::OffsetChanged;
      for (const IndexList &list : indexListsOf(op)) {
        if (list.memory != memory)
          continue;
        if (kind == MutantKind::OffsetSwapped || kind == MutantKind::IndexSwapped)
          swaps(op, list);
        else
          for (unsigned i = 0; i < list.size; ++i)
            changes(op, list.first + i, Twine(list.name) + " " + Twine(i));
      }
    }
  }
};
} // namespace

std::vector<Edit> fuzz::collectPlaceEdits(MutantScope &scope, MutantKind kind) {
  PlaceCollector collector{scope, {}};
  collector.run(kind);
  return std::move(collector.edits);
}
