//===- ReferenceEntry.cpp - The reference as a function on buffers --------===//
#include "mkernel/ABI/Package.h"
#include "mkernel/Analysis/ReferenceDims.h"
#include "mkernel/Transforms/IndexMath.h"
#include "mkernel/Transforms/Reference.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::mk;

//===----------------------------------------------------------------------===//
// Extraction
//===----------------------------------------------------------------------===//

/// What a reference may know of the mesh.
static LogicalResult resolveSizes(ModuleOp module, MeshOp mesh) {
  SmallVector<SizeOp> sizes;
  module.walk([&](SizeOp size) { sizes.push_back(size); });
  for (SizeOp size : sizes) {
    int64_t ranks = mesh.getNumRanks();
    if (std::optional<StringRef> name = size.getAxis()) {
      int64_t axis = mesh.findAxis(*name);
      if (axis < 0)
        return size.emitOpError() << "in the reference names axis '" << *name << "', but mesh @"
                                  << mesh.getSymName() << " has " << mesh.describeAxes();
      ranks = mesh.getAxis(axis).getSize();
    }
    OpBuilder builder(size);
    size.replaceAllUsesWith(
        arith::ConstantIndexOp::create(builder, size.getLoc(), ranks).getResult());
    size.erase();
  }
  return success();
}

FailureOr<OwningOpRef<ModuleOp>> mk::extractReference(func::FuncOp reference, MeshOp mesh) {
  auto parent = reference->getParentOfType<ModuleOp>();
  OwningOpRef<ModuleOp> module = ModuleOp::create(reference.getLoc());
  SmallVector<Operation *> worklist{reference};
  llvm::SmallPtrSet<Operation *, 8> seen{reference};
  while (!worklist.empty()) {
    Operation *op = worklist.pop_back_val();
    module->push_back(op->clone());
    std::optional<SymbolTable::UseRange> uses = SymbolTable::getSymbolUses(op);
    if (!uses)
      continue;
    for (const SymbolTable::SymbolUse &use : *uses) {
      Operation *symbol = SymbolTable::lookupSymbolIn(parent, use.getSymbolRef());
      if (!symbol) {
        use.getUser()->emitError()
            << "the reference uses " << use.getSymbolRef() << ", which the file does not define";
        return failure();
      }
      if (seen.insert(symbol).second)
        worklist.push_back(symbol);
    }
  }
  if (failed(resolveSizes(*module, mesh)))
    return failure();
  // Callees are private, so that they vanish when they are inlined.
  for (auto function : module->getOps<func::FuncOp>())
    if (function.getSymName() != reference.getSymName())
      function.setPrivate();
  return module;
}

//===----------------------------------------------------------------------===//
// Entry
//===----------------------------------------------------------------------===//

/// The buffer behind a tensor: rows may be padded, elements of a row are
/// contiguous (otherwise nothing could be vectorised).
static FailureOr<MemRefType> getBufferType(func::FuncOp reference, Type type, const Twine &what) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.getElementType().isIntOrFloat()) {
    reference.emitError() << "the reference's " << what << " is of type " << type
                          << "; it must be a ranked tensor of f64 or integers";
    return failure();
  }
  SmallVector<int64_t> strides(tensor.getRank(), ShapedType::kDynamic);
  if (!strides.empty())
    strides.back() = 1;
  return MemRefType::get(
      tensor.getShape(), tensor.getElementType(),
      StridedLayoutAttr::get(reference.getContext(), ShapedType::kDynamic, strides));
}

namespace {
/// Writes the requested rows of results to their buffers.
struct EntryBuilder : IndexMath {
  Value row, rows;
  Value status = {}; // the fault that was met first, an i64; null: none was looked for

  Value i64(int64_t number) { return arith::ConstantIntOp::create(b, loc, number, 64); }
  Value getStatus() { return status ? status : i64(0); }

  /// Whether result `number` has the shape of its buffer; if not, that is a fault.
  Value sameShape(Value result, Value out, int64_t number) {
    Value same = arith::ConstantIntOp::create(b, loc, 1, 1);
    auto type = cast<RankedTensorType>(result.getType());
    for (int64_t d = 0; d < type.getRank(); ++d) {
      Value extent = tensor::DimOp::create(b, loc, result, d);
      Value isWanted = equal(extent, memref::DimOp::create(b, loc, out, d));
      same = arith::AndIOp::create(b, loc, same, isWanted);
      int64_t place = 1 + 256 * number + d;
      Value shown = min(extent, index(UINT32_MAX));
      Value fault =
          arith::SubIOp::create(b, loc, i64(-1 - (int64_t(MK_FAULT_SHAPE) << 32) - (place << 36)),
                                arith::IndexCastOp::create(b, loc, b.getI64Type(), shown));
      Value before = getStatus();
      Value isFirst = equal(before, i64(0));
      Value code = select(isFirst, fault, before);
      status = select(isWanted, before, code);
    }
    return same;
  }

  void write(Value result, Value out, int64_t number) {
    auto type = cast<RankedTensorType>(result.getType());
    SmallVector<OpFoldResult> offsets(type.getRank(), b.getIndexAttr(0));
    SmallVector<OpFoldResult> strides(type.getRank(), b.getIndexAttr(1));
    SmallVector<OpFoldResult> sizes;
    for (int64_t d = 0; d < type.getRank(); ++d)
      sizes.push_back(memref::getMixedSize(b, loc, out, d));
    if (type.getRank() > 0) {
      // The rows asked for, cut to those that there are.
      Value extent = getValueOrCreateConstantIndexOp(b, loc, sizes[0]);
      Value zero = index(0);
      Value all = less(rows, zero);
      Value from = select(all, zero, row);
      from = min(from, extent);
      Value left = sub(extent, from);
      Value wanted = select(all, left, rows);
      Value count = min(wanted, left);
      // A result of another shape is not written at all.
      sizes[0] = select(sameShape(result, out, number), count, zero);
      offsets[0] = from;
      result = tensor::ExtractSliceOp::create(b, loc, result, offsets, sizes, strides);
      out = memref::SubViewOp::create(b, loc, out, offsets, sizes, strides);
    }
    auto written = bufferization::MaterializeInDestinationOp::create(b, loc, Type(), result, out);
    written.setRestrict(true);
    written.setWritable(true);
  }
};
} // namespace

namespace {
/// The arguments of a reference, in their order: inputs, maybe a destination for each result,
/// numbers that are dimensions. Its entry has buffers of inputs and results, and of dimensions, in
/// this order.
struct EntryArguments {
  explicit EntryArguments(func::FuncOp reference)
      : reference(reference), signature(reference.getFunctionType()),
        numDims(countReferenceDims(reference)), numTensors(signature.getNumInputs() - numDims),
        numInputs(numTensors) {}

  /// Says how many are destinations, all that is left of which are their extents.
  LogicalResult findDestinations();
  /// Of buffers, and of the first row and the number of rows.
  FailureOr<SmallVector<Type>> getTypes();
  /// What the reference's arguments are in the entry.
  IRMapping map(OpBuilder &builder, Block *entry);

  func::FuncOp reference;
  FunctionType signature;
  unsigned numDims, numTensors, numInputs;
};
} // namespace

LogicalResult EntryArguments::findDestinations() {
  unsigned numResults = signature.getNumResults();
  if (numInputs < numResults ||
      signature.getInputs().slice(numInputs - numResults, numResults) != signature.getResults())
    return reference.emitError()
           << "the reference's last arguments must be of its results' types (a number is a "
              "dimension of the kernel: say which, as in '%m: index {mk.dim = \"M\"}')";
  numInputs -= numResults;
  return success();
}

FailureOr<SmallVector<Type>> EntryArguments::getTypes() {
  SmallVector<Type> types;
  for (auto [i, type] : llvm::enumerate(signature.getInputs().take_front(numInputs))) {
    FailureOr<MemRefType> buffer = getBufferType(reference, type, "argument " + Twine(i));
    if (failed(buffer))
      return failure();
    types.push_back(*buffer);
  }
  for (auto [i, type] : llvm::enumerate(signature.getResults())) {
    FailureOr<MemRefType> buffer = getBufferType(reference, type, "result " + Twine(i));
    if (failed(buffer))
      return failure();
    // Its extents are the argument's, whatever the result's type says.
    SmallVector<int64_t> open(buffer->getRank(), ShapedType::kDynamic);
    types.push_back(MemRefType::Builder(*buffer).setShape(open));
  }
  Builder builder(reference.getContext());
  types.append(numDims, MemRefType::get({ShapedType::kDynamic}, builder.getI64Type()));
  types.append(2, builder.getIndexType());
  return types;
}

IRMapping EntryArguments::map(OpBuilder &builder, Block *block) {
  Location loc = reference.getLoc();
  IRMapping mapping;
  for (unsigned i = 0; i != numInputs; ++i) {
    auto tensor = bufferization::ToTensorOp::create(builder, loc, signature.getInput(i),
                                                    block->getArgument(i));
    tensor.setRestrict(true);
    mapping.map(reference.getArgument(i), tensor.getResult());
  }
  // All that a destination says is its extents.
  for (unsigned i = numInputs; i != numTensors; ++i) {
    auto type = cast<RankedTensorType>(signature.getInput(i));
    SmallVector<Value> extents;
    for (int64_t d = 0; d < type.getRank(); ++d)
      if (type.isDynamicDim(d))
        extents.push_back(memref::DimOp::create(builder, loc, block->getArgument(i), d));
    mapping.map(reference.getArgument(i),
                tensor::EmptyOp::create(builder, loc, type, extents).getResult());
  }
  // Behind buffers of inputs and results.
  unsigned firstDim = numInputs + signature.getNumResults();
  for (unsigned i = 0; i != numDims; ++i) {
    Value list = block->getArgument(firstDim + i), value;
    Type type = signature.getInput(numTensors + i);
    if (type.isIndex()) {
      Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
      value = memref::LoadOp::create(builder, loc, list, zero);
      value = arith::IndexCastOp::create(builder, loc, type, value);
    } else {
      auto tensor = bufferization::ToTensorOp::create(builder, loc, type, list);
      tensor.setRestrict(true);
      value = tensor;
    }
    mapping.map(reference.getArgument(numTensors + i), value);
  }
  return mapping;
}

LogicalResult mk::buildReferenceEntry(func::FuncOp reference, bool destinations) {
  if (!reference.getBody().hasOneBlock())
    return reference.emitError()
           << "the reference must be one block of ops; use scf ops for control flow";
  EntryArguments arguments(reference);
  if (destinations && failed(arguments.findDestinations()))
    return failure();
  FailureOr<SmallVector<Type>> types = arguments.getTypes();
  if (failed(types))
    return failure();
  OpBuilder builder(reference);
  Location loc = reference.getLoc();
  auto entry = func::FuncOp::create(builder, loc, "mk_reference_rows",
                                    builder.getFunctionType(*types, builder.getI64Type()));
  // Makes upstream add a function that takes descriptors by pointer.
  entry->setAttr("llvm.emit_c_interface", builder.getUnitAttr());
  Block *block = entry.addEntryBlock();
  builder.setInsertionPointToStart(block);
  IRMapping mapping = arguments.map(builder, block);
  for (Operation &op : reference.getBody().front().without_terminator())
    builder.clone(op, mapping);
  unsigned row = types->size() - 2;
  EntryBuilder writer{{builder, loc}, block->getArgument(row), block->getArgument(row + 1)};
  Operation *terminator = reference.getBody().front().getTerminator();
  for (auto [i, result] : llvm::enumerate(terminator->getOperands()))
    writer.write(mapping.lookup(result), block->getArgument(arguments.numInputs + i), i);
  // Its status. mk-guard-divisions may find something, too.
  func::ReturnOp::create(writer.b, loc, writer.getStatus());
  reference.erase();
  return success();
}

//===----------------------------------------------------------------------===//
// Loop order
//===----------------------------------------------------------------------===//

/// How many operands are contiguous along loop `dim`.
static int64_t countContiguous(linalg::GenericOp op, unsigned dim) {
  int64_t count = 0;
  for (AffineMap map : op.getIndexingMapsArray())
    if (map.getNumResults() > 0)
      if (auto last = dyn_cast<AffineDimExpr>(map.getResult(map.getNumResults() - 1)))
        count += last.getPosition() == dim;
  return count;
}

void mk::orderReferenceLoops(func::FuncOp function) {
  IRRewriter rewriter(function.getContext());
  SmallVector<linalg::GenericOp> ops;
  function.walk([&](linalg::GenericOp op) { ops.push_back(op); });
  for (linalg::GenericOp op : ops) {
    if (op.getNumReductionLoops() == 0)
      continue;
    // A sum in f64 may be added up in any order: without this the innermost
    // loop of a dot product is one long chain of additions.
    op->walk([&](arith::AddFOp add) {
      add.setFastmath(add.getFastmath() | arith::FastMathFlags::reassoc |
                      arith::FastMathFlags::contract);
    });
    op->walk([&](arith::MulFOp mul) {
      mul.setFastmath(mul.getFastmath() | arith::FastMathFlags::contract);
    });
    unsigned best = op.getNumLoops() - 1;
    for (unsigned dim = 0; dim != op.getNumLoops(); ++dim)
      if (countContiguous(op, dim) > countContiguous(op, best))
        best = dim;
    SmallVector<unsigned> order;
    for (unsigned dim = 0; dim != op.getNumLoops(); ++dim)
      if (dim != best)
        order.push_back(dim);
    order.push_back(best);
    if (best + 1 == op.getNumLoops())
      continue;
    rewriter.setInsertionPoint(op);
    (void)linalg::interchangeGenericOp(rewriter, op, order);
  }
}
