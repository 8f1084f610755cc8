//===- LowerMemory.cpp - Accesses to memory -------------------------------===//
//
// llvm.atomicrmw loses order and scope on the way through the NVPTX backend (it becomes
// relaxed at gpu scope), so no atomic access goes through LLVM. A load that is relaxed or
// volatile may neither be dropped nor moved: it polls.
//
//===----------------------------------------------------------------------===//
#include "Ptx.h"

using namespace mlir;
using namespace mlir::mk::thread;
using namespace mlir::mk_thread;

static std::string widthOf(Type type) { return std::to_string(type.getIntOrFloatBitWidth()); }

/// ".v4.b32", ".b16" or, of a byte, `byte`.
static std::string kindOf(int64_t bytes, int64_t words, StringRef byte) {
  if (words > 1)
    return ".v" + std::to_string(words) + ".b32";
  return bytes == 1 ? byte.str() : ".b" + std::to_string(8 * bytes);
}

static std::string spaceOf(Value address) {
  return address.getType().isInteger(32) ? ".shared" : ".global";
}

static SmallVector<Value> lowerLoad(LoadOp op, Ptx &ptx) {
  int64_t words = op.getResults().size();
  std::string instruction = "ld" + spaceOf(op.getAddress()) + kindOf(op.getBytes(), words, ".u8") +
                            " " + listOperands(0, words) + ", [$";
  if (!op.getCondition())
    return ptx.run(instruction + std::to_string(words) + "];", op.getResults().getTypes(),
                   op.getAddress());
  return ptx.tied(
      "@$" + std::to_string(2 * words + 1) + " " + instruction + std::to_string(2 * words) + "];",
      op.getOtherwise(), {op.getAddress(), ptx.testWord(op.getCondition(), op.getInverted())});
}

static SmallVector<Value> lowerStore(StoreOp op, Ptx &ptx) {
  int64_t words = op.getWords().size(), first = op.getCondition() ? 2 : 1;
  std::string instruction;
  if (op.getAdd())
    instruction = "red.relaxed." + stringifyMemScope(*op.getScope()).str() + ".global.add." +
                  getAddition(*op.getAdd()).str();
  else
    instruction = "st" + spaceOf(op.getAddress()) + kindOf(op.getBytes(), words, ".b8");
  instruction += " [$0], " + listOperands(first, words) + ";";
  SmallVector<Value> operands{op.getAddress()};
  if (op.getCondition()) {
    operands.push_back(ptx.testWord(op.getCondition(), op.getInverted()));
    instruction = "@$1 " + instruction;
  }
  llvm::append_range(operands, op.getWords());
  return ptx.run(instruction, {}, operands);
}

void mk::thread::addMemoryPatterns(RewritePatternSet &patterns, const Frame &frame) {
  auto addressOf = [frame](Value address, int64_t offset, StringRef name) {
    if (!address)
      return "[" + frame.at(offset) + "]";
    return "[" + name.str() + (offset ? "+" + std::to_string(offset) : std::string()) + "]";
  };
  addPattern<LoadSharedOp>(patterns, [addressOf](LoadSharedOp op, Ptx &ptx) {
    return ptx.run("ld.volatile.shared.b" + widthOf(op.getType()) + " $0, " +
                       addressOf(op.getAddress(), op.getOffset(), "$1") + ";",
                   op.getType(), op->getOperands());
  });
  addPattern<StoreSharedOp>(patterns, [addressOf](StoreSharedOp op, Ptx &ptx) {
    return ptx.run("st.volatile.shared.b32 " + addressOf(op.getAddress(), op.getOffset(), "$1") +
                       ", $0;",
                   {}, op->getOperands());
  });
  addPattern<LoadOp>(patterns, lowerLoad);
  addPattern<StoreOp>(patterns, lowerStore);
  auto nameOf = [](StringRef what, auto op) {
    return (what + "." + stringifyMemOrder(op.getOrder()) + "." + stringifyMemScope(op.getScope()) +
            ".global")
        .str();
  };
  addPattern<AtomicAddOp>(patterns, [nameOf](AtomicAddOp op, Ptx &ptx) {
    return ptx.run(nameOf("atom", op) + ".add.u" + widthOf(op.getType()) + " $0, [$1], $2;",
                   op.getType(), op->getOperands());
  });
  addPattern<ReduceAddOp>(patterns, [nameOf](ReduceAddOp op, Ptx &ptx) {
    return ptx.run(nameOf("red", op) + ".add.u" + widthOf(op.getAmount().getType()) + " [$0], $1;",
                   {}, op->getOperands());
  });
  addPattern<LoadAtomicOp>(patterns, [nameOf](LoadAtomicOp op, Ptx &ptx) {
    return ptx.run(nameOf("ld", op) + ".b" + widthOf(op.getType()) + " $0, [$1];", op.getType(),
                   op.getAddress());
  });
  addPattern<StoreAtomicOp>(patterns, [nameOf](StoreAtomicOp op, Ptx &ptx) {
    return ptx.run(nameOf("st", op) + ".b" + widthOf(op.getValue().getType()) + " [$0], $1;", {},
                   {op.getAddress(), op.getValue()});
  });
  addPattern<StoreCommandOp>(patterns, [](StoreCommandOp op, Ptx &ptx) {
    Type whole = ptx.b.getIntegerType(128);
    Value low = arith::ExtUIOp::create(ptx.b, ptx.loc, whole, op.getLow());
    Value high = arith::ExtUIOp::create(ptx.b, ptx.loc, whole, op.getHigh());
    Value half = arith::ConstantIntOp::create(ptx.b, ptx.loc, whole, 64);
    high = arith::ShLIOp::create(ptx.b, ptx.loc, high, half);
    Value command = arith::OrIOp::create(ptx.b, ptx.loc, low, high);
    return ptx.run("st.relaxed.sys.global.b128 [$0], $1;", {}, {op.getAddress(), command});
  });
}
