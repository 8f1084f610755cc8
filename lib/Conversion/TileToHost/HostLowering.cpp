//===- HostLowering.cpp - Building blocks of host code --------------------===//
#include "HostLowering.h"
#include "mkernel/ABI/HostCalls.h"
#include "mkernel/Analysis/Ctas.h"
#include "mkernel/Analysis/Edges.h"
#include "mkernel/Analysis/Resources.h"
#include "mkernel/Support/RowMajor.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/AttrTypeSubElements.h"

using namespace mlir;
using namespace mlir::mk;

HostLowering::HostLowering(KernelOp kernel, func::FuncOp function, bool pointerIsLaunch)
    : IndexMath{OpBuilder::atBlockBegin(&function.front()), function.getLoc()}, kernel_(kernel),
      mesh_(kernel.getMeshOp()), function_(function) {
  Value pointer = function.getArgument(0);
  if (pointerIsLaunch) {
    launch_ = pointer;
  } else {
    cta_ = pointer;
    launch_ = loadField(cta_, offsetof(mk_cta, launch), pointerType());
  }
  rank_ = toIndex(loadField(launch_, offsetof(mk_launch, rank), b.getI32Type()));
  Value coords = loadField(launch_, offsetof(mk_launch, coords), pointerType());
  for (unsigned i = 0, e = mesh_.getNumAxes(); i != e; ++i)
    coords_.push_back(getAxisSize(i) == 1 ? index(0) : loadElement(coords, i));
}

LLVM::LLVMPointerType HostLowering::pointerType() {
  return LLVM::LLVMPointerType::get(b.getContext());
}

Value HostLowering::i32(int64_t value) {
  return arith::ConstantIntOp::create(b, loc, b.getI32Type(), value);
}
Value HostLowering::i64(int64_t value) {
  return arith::ConstantIntOp::create(b, loc, b.getI64Type(), value);
}

Value HostLowering::toI64(Value value) {
  if (value.getType().isIndex())
    return arith::IndexCastOp::create(b, loc, b.getI64Type(), value);
  if (value.getType().isInteger(64))
    return value;
  return arith::ExtSIOp::create(b, loc, b.getI64Type(), value);
}

Value HostLowering::toIndex(Value value) {
  if (value.getType().isIndex())
    return value;
  return arith::IndexCastOp::create(b, loc, b.getIndexType(), value);
}

Value HostLowering::loadField(Value base, int64_t offset, Type type) {
  Value address = base;
  if (offset)
    address = LLVM::GEPOp::create(b, loc, pointerType(), b.getI8Type(), base,
                                  ArrayRef<LLVM::GEPArg>{int32_t(offset)});
  return LLVM::LoadOp::create(b, loc, type, address, /*alignment=*/0,
                              /*isVolatile=*/false, /*isNonTemporal=*/false,
                              /*isInvariant=*/true);
}

Value HostLowering::loadElement(Value array, int64_t i) {
  return toIndex(loadField(array, i * 8, b.getI64Type()));
}

Value HostLowering::getRank() { return rank_; }
Value HostLowering::getCoord(unsigned axis) { return coords_[axis]; }
int64_t HostLowering::getAxisSize(unsigned axis) { return mesh_.getAxis(axis).getSize(); }

Value HostLowering::stackArray(ArrayRef<Value> values, int64_t size) {
  if (size < 0)
    size = values.size();
  Value array;
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&function_.front());
    array =
        LLVM::AllocaOp::create(b, loc, pointerType(), b.getI64Type(), i64(size), /*alignment=*/16);
  }
  for (auto [i, value] : llvm::enumerate(values)) {
    Value address = LLVM::GEPOp::create(b, loc, pointerType(), b.getI64Type(), array,
                                        ArrayRef<LLVM::GEPArg>{int32_t(i)});
    LLVM::StoreOp::create(b, loc, toI64(value), address);
  }
  return array;
}

ValueRange HostLowering::call(StringRef name, ValueRange operands, TypeRange results) {
  auto module = function_->getParentOfType<ModuleOp>();
  auto callee = module.lookupSymbol<func::FuncOp>(name);
  if (!callee) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(module.getBody());
    callee = func::FuncOp::create(b, module.getLoc(), name,
                                  b.getFunctionType(operands.getTypes(), results));
    callee.setPrivate();
  }
  return func::CallOp::create(b, loc, callee, operands).getResults();
}

SmallVector<Value> HostLowering::strides(Value buffer) {
  auto metadata = memref::ExtractStridedMetadataOp::create(b, loc, buffer);
  SmallVector<Value> result(metadata.getStrides().begin(), metadata.getStrides().end());
  assert(static_cast<int64_t>(result.size()) == cast<MemRefType>(buffer.getType()).getRank());
  return result;
}

Value HostLowering::address(Value buffer, ValueRange offsets) {
  auto type = cast<MemRefType>(buffer.getType());
  auto metadata = memref::ExtractStridedMetadataOp::create(b, loc, buffer);
  Value element = metadata.getOffset();
  for (auto [offset, stride] : llvm::zip(offsets, metadata.getStrides()))
    element = add(element, mul(offset, stride));
  Value base = memref::ExtractAlignedPointerAsIndexOp::create(b, loc, buffer);
  int64_t bytes = (type.getElementTypeBitWidth() + 7) / 8;
  Value address = add(base, mul(element, index(bytes)));
  return LLVM::IntToPtrOp::create(b, loc, pointerType(), toI64(address));
}

FailureOr<Value> HostLowering::elementType(Operation *op, Type type) {
  if (auto integer = dyn_cast<IntegerType>(type))
    type = b.getIntegerType(integer.getWidth());
  const std::pair<Type, int64_t> codes[] = {{b.getF64Type(), MK_F64},
                                            {b.getF32Type(), MK_F32},
                                            {b.getF16Type(), MK_F16},
                                            {b.getBF16Type(), MK_BF16},
                                            {b.getType<Float8E4M3FNType>(), MK_F8E4M3},
                                            {b.getType<Float8E5M2Type>(), MK_F8E5M2},
                                            {b.getIndexType(), MK_I64},
                                            {b.getI64Type(), MK_I64},
                                            {b.getI32Type(), MK_I32},
                                            {b.getI16Type(), MK_I16},
                                            {b.getI8Type(), MK_I8},
                                            {b.getI1Type(), MK_I1}};
  const auto *code = llvm::find_if(codes, [&](auto &code) { return code.first == type; });
  if (code == std::end(codes))
    return op->emitOpError() << "moves elements of type " << type
                             << ", which the host target has no memory format for; use f64, f32, "
                                "f16, bf16, f8 or an integer of 8 to 64 bits";
  return i32(code->second);
}

Value HostLowering::number(Value declared) { return i32(numbers.lookup(declared.getDefiningOp())); }

Value HostLowering::linearElement(Operation *op, Value declared, ValueRange indices) {
  auto [shape, extents] = getDeclaredShape(declared);
  bool isSignal = isa<SignalType>(declared.getType());
  SmallVector<Value> sizes;
  unsigned dynamic = 0;
  for (int64_t extent : shape)
    sizes.push_back(ShapedType::isDynamic(extent) ? extents[dynamic++] : index(extent));
  Value linear = mkernel::numberRowMajor<Value>(
      static_cast<IndexMath &>(*this), sizes.size(), [&](unsigned d) { return sizes[d]; },
      [&](unsigned d) { return indices[d]; });
  checkIndices(op, isSignal ? MK_USED_SIGNAL : MK_USED_COUNTER, number(declared), indices, sizes);
  return toI64(linear);
}

Value HostLowering::argumentOf(Value buffer) {
  if (auto it = arguments.find(buffer); it != arguments.end())
    return i32(it->second);
  if (auto cast = buffer.getDefiningOp<memref::CastOp>())
    return argumentOf(cast.getSource());
  if (auto choice = buffer.getDefiningOp<arith::SelectOp>()) {
    Value x = argumentOf(choice.getTrueValue());
    Value y = argumentOf(choice.getFalseValue());
    return x && y ? select(choice.getCondition(), x, y) : Value();
  }
  return {};
}

HostLowering::TilePart HostLowering::existingPart(Value buffer, ValueRange offsets,
                                                  ArrayRef<int64_t> tile, ValueRange valid,
                                                  Value rows) {
  auto type = cast<MemRefType>(buffer.getType());
  auto extent = [&](int64_t d) -> Value {
    if (d == 0 && rows)
      return rows;
    return memref::DimOp::create(b, loc, buffer, index(d));
  };
  int64_t lead = type.getRank() - static_cast<int64_t>(tile.size());
  TilePart part;
  Value &inside = part.inside;
  // Leading dimensions have one index; outside of the buffer nothing exists.
  for (int64_t d = 0; d < lead; ++d) {
    part.offsets.push_back(offsets[d]);
    Value inBounds = cmp(arith::CmpIPredicate::ult, offsets[d], extent(d));
    inside = inside ? arith::AndIOp::create(b, loc, inside, inBounds) : inBounds;
  }
  for (auto [d, size] : llvm::enumerate(tile)) {
    Value end = valid.empty() ? Value() : valid[d];
    TileEdge<Value> edge = clipTile<Value>(static_cast<IndexMath &>(*this), offsets[lead + d], size,
                                           extent(lead + d), end ? &end : nullptr);
    part.offsets.push_back(edge.begin);
    part.skipped.push_back(edge.skipped);
    part.edges.push_back(edge.size);
    part.sizes.push_back(inside ? select(inside, edge.size, index(0)) : edge.size);
  }
  return part;
}

func::FuncOp mk::createHostFunction(KernelOp kernel, StringRef name, unsigned pointers,
                                    TypeRange results) {
  OpBuilder b(kernel);
  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  auto function = func::FuncOp::create(
      b, kernel.getLoc(), name, b.getFunctionType(SmallVector<Type>(pointers, pointer), results));
  function.addEntryBlock();
  return function;
}

LogicalResult mk::verifyHostKernel(ModuleOp module) {
  SmallVector<KernelOp> kernels(module.getOps<KernelOp>());
  if (kernels.size() > 1)
    return kernels[1].emitOpError()
           << "is the second kernel of the module; a package has one, choose it with --kernel";
  return failure(!kernels.empty() && failed(verifyMeshIsBound(kernels.front())));
}

FailureOr<llvm::StringMap<int64_t>> mk::countCtasOfRoles(KernelOp kernel) {
  FailureOr<SmallVector<int64_t>> ctas = getCtas(kernel);
  if (failed(ctas))
    return failure();
  llvm::StringMap<int64_t> ofRole;
  for (auto [role, count] : llvm::zip(kernel.getBody().getOps<RoleOp>(), *ctas))
    ofRole[role.getSymName()] = count;
  return ofRole;
}

void mk::dropMemorySpaces(Operation *op) {
  AttrTypeReplacer replacer;
  replacer.addReplacement([](MemRefType type) -> std::optional<Type> {
    if (!isSymmetric(type))
      return std::nullopt;
    return MemRefType::get(type.getShape(), type.getElementType(), type.getLayout());
  });
  replacer.recursivelyReplaceElementsIn(op, /*replaceAttrs=*/true,
                                        /*replaceLocs=*/false,
                                        /*replaceTypes=*/true);
}

void mk::cloneScalars(KernelOp kernel, OpBuilder &builder, IRMapping &mapping,
                      function_ref<void(Operation *, Operation *)> cloned) {
  for (Operation &op : kernel.getBody().front()) {
    if (isa<RoleOp, PrepareOp, RequireOp>(op))
      continue;
    cloned(&op, builder.clone(op, mapping));
  }
}
