//===- Integers.h - Integer arithmetic that folds ----------------*- C++ -*-===//
#ifndef MKERNEL_DIALECT_THREAD_INTEGERS_H
#define MKERNEL_DIALECT_THREAD_INTEGERS_H

#include "mkernel/Dialect/Thread/Emitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::mk_thread {

/// The second operand: a value, or a constant of the first one's type.
class IntOperand {
public:
  IntOperand(Value value) : value(value) {}
  template <typename T, std::enable_if_t<std::is_integral_v<T> || std::is_enum_v<T>, int> = 0>
  IntOperand(T number) : number(number) {}
  template <typename OpT, typename = typename OpT::Adaptor> IntOperand(OpT op) : value(op) {}
  Value get(Emitter &e, Type type) const { return value ? value : e.cint(type, number); }

private:
  Value value;
  int64_t number = 0;
};

/// An op of up to two operands, and `detail`, emitted once.
template <typename OpT>
Value foldOnce(Emitter &e, const void *detail, Value x, Value y, function_ref<Value()> make) {
  return e.once(
      {TypeID::get<OpT>(), detail, x.getAsOpaquePointer(), y ? y.getAsOpaquePointer() : nullptr},
      make);
}

template <typename OpT> Value fold(Emitter &e, Value x, IntOperand operand) {
  Value y = operand.get(e, x.getType());
  return foldOnce<OpT>(e, nullptr, x, y, [&] { return e.createOrFold<OpT>(x, y); });
}
inline Value add(Emitter &e, Value x, IntOperand y) { return fold<arith::AddIOp>(e, x, y); }
inline Value sub(Emitter &e, Value x, IntOperand y) { return fold<arith::SubIOp>(e, x, y); }
inline Value mul(Emitter &e, Value x, IntOperand y) { return fold<arith::MulIOp>(e, x, y); }
inline Value divU(Emitter &e, Value x, IntOperand y) { return fold<arith::DivUIOp>(e, x, y); }
inline Value remU(Emitter &e, Value x, IntOperand y) { return fold<arith::RemUIOp>(e, x, y); }
inline Value shl(Emitter &e, Value x, IntOperand y) { return fold<arith::ShLIOp>(e, x, y); }
inline Value shr(Emitter &e, Value x, IntOperand y) { return fold<arith::ShRUIOp>(e, x, y); }
inline Value and_(Emitter &e, Value x, IntOperand y) { return fold<arith::AndIOp>(e, x, y); }
inline Value or_(Emitter &e, Value x, IntOperand y) { return fold<arith::OrIOp>(e, x, y); }
inline Value xor_(Emitter &e, Value x, IntOperand y) { return fold<arith::XOrIOp>(e, x, y); }
inline Value minS(Emitter &e, Value x, IntOperand y) { return fold<arith::MinSIOp>(e, x, y); }
inline Value maxS(Emitter &e, Value x, IntOperand y) { return fold<arith::MaxSIOp>(e, x, y); }

/// Of a thread's number: its place in its warp, and the numbers of that and of its warpgroup.
inline Value laneOf(Emitter &e, Value thread) { return and_(e, thread, mk::kWarpThreads - 1); }
inline Value warpOf(Emitter &e, Value thread) {
  return shr(e, thread, llvm::Log2_64(mk::kWarpThreads));
}
inline Value warpgroupOf(Emitter &e, Value thread) {
  return shr(e, thread, llvm::Log2_64(mk::kWarpgroupThreads));
}

inline Value cmp(Emitter &e, arith::CmpIPredicate p, Value x, IntOperand operand) {
  Value y = operand.get(e, x.getType());
  auto predicate = reinterpret_cast<const void *>(static_cast<uintptr_t>(p));
  return foldOnce<arith::CmpIOp>(e, predicate, x, y,
                                 [&] { return e.createOrFold<arith::CmpIOp>(p, x, y); });
}
inline Value eq(Emitter &e, Value x, IntOperand y) {
  return cmp(e, arith::CmpIPredicate::eq, x, y);
}
inline Value ne(Emitter &e, Value x, IntOperand y) {
  return cmp(e, arith::CmpIPredicate::ne, x, y);
}
inline Value slt(Emitter &e, Value x, IntOperand y) {
  return cmp(e, arith::CmpIPredicate::slt, x, y);
}
inline Value sle(Emitter &e, Value x, IntOperand y) {
  return cmp(e, arith::CmpIPredicate::sle, x, y);
}
inline Value sgt(Emitter &e, Value x, IntOperand y) {
  return cmp(e, arith::CmpIPredicate::sgt, x, y);
}
inline Value sge(Emitter &e, Value x, IntOperand y) {
  return cmp(e, arith::CmpIPredicate::sge, x, y);
}
inline Value ult(Emitter &e, Value x, IntOperand y) {
  return cmp(e, arith::CmpIPredicate::ult, x, y);
}
inline Value uge(Emitter &e, Value x, IntOperand y) {
  return cmp(e, arith::CmpIPredicate::uge, x, y);
}

inline Value select(Emitter &e, Value c, Value x, IntOperand y) {
  return e.createOrFold<arith::SelectOp>(c, x, y.get(e, x.getType()));
}
/// Between integer types; widening adds zeros (or the sign).
inline Value resize(Emitter &e, Value x, Type type, bool isSigned = false) {
  unsigned from = x.getType().getIntOrFloatBitWidth(), to = type.getIntOrFloatBitWidth();
  if (from == to)
    return x;
  auto convert = [&](auto op) {
    using OpT = decltype(op);
    return foldOnce<OpT>(e, type.getAsOpaquePointer(), x, {},
                         [&] { return e.createOrFold<OpT>(type, x); });
  };
  if (from > to)
    return convert(arith::TruncIOp());
  return isSigned ? convert(arith::ExtSIOp()) : convert(arith::ExtUIOp());
}

} // namespace mlir::mk_thread

#endif // MKERNEL_DIALECT_THREAD_INTEGERS_H
