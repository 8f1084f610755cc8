//===- VerifyProgress.cpp - Whether a kernel ends, without races ----------===//
#include "Verify.h"
#include "mkernel/Analysis/Ctas.h"
#include "mkernel/Transforms/Expansion.h"
#include "mkernel/Verify/Passes.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::mk {
#define GEN_PASS_DEF_VERIFYPROGRESSPASS
#include "mkernel/Verify/Passes.h.inc"
} // namespace mlir::mk

using namespace mlir;
using namespace mlir::mk;
using ::mk::check::Machine;

// Of a run that follows accesses: memory of all clocks, ops that are evaluated
// for each event that is allowed.
static constexpr uint64_t kClockBytes = 512u << 20;
static constexpr uint64_t kStepsForEvent = 20;
// A moment's work.
static constexpr uint64_t kMaxCompared = 10'000'000;
// CTAs of all ranks: each has its scalars.
static constexpr uint64_t kMaxCtas = 16384;
// Of kernels whose orders are searched for races, too, and at random.
static constexpr uint64_t kMaxEventsForOrders = 20'000;

KernelOp mlir::mk::cloneAlone(OpBuilder &b, KernelOp kernel) {
  llvm::SetVector<Operation *> ops;
  ops.insert(kernel);
  for (unsigned i = 0; i != ops.size(); ++i)
    ops[i]->walk([&](Operation *op) {
      op->getAttrDictionary().walk([&](FlatSymbolRefAttr name) {
        Operation *named = SymbolTable::lookupNearestSymbolFrom(op, name);
        if (named && named->getParentOp() == kernel->getParentOp())
          ops.insert(named);
      });
    });
  KernelOp copy;
  for (Operation *op : llvm::reverse(ops))
    if (auto clone = dyn_cast<KernelOp>(b.clone(*op)))
      copy = clone;
  return copy;
}

std::optional<StringRef> mlir::mk::readSizes(ArrayRef<std::string> list, DimTable &dims) {
  for (StringRef item : list) {
    auto [name, text] = item.split('=');
    SmallVector<StringRef> parts;
    text.split(parts, ':');
    for (StringRef part : parts) {
      int64_t value;
      if (name.empty() || part.getAsInteger(10, value))
        return item;
      dims[name].push_back(value);
    }
  }
  return std::nullopt;
}

namespace {
struct VerifyProgressPass : mlir::mk::impl::VerifyProgressPassBase<VerifyProgressPass> {
  using VerifyProgressPassBase::VerifyProgressPassBase;

  LogicalResult readAll(DimTable &dims) {
    for (ArrayRef<std::string> list :
         {ArrayRef<std::string>(sizes), ArrayRef<std::string>(rankSizes)})
      if (std::optional<StringRef> item = readSizes(list, dims))
        return getOperation().emitError()
               << "mk-verify-progress: '" << *item
               << "' is not of the form name=integer or name=integer:integer:...";
    return success();
  }

  /// Why the kernel's control cannot be evaluated, found out at no cost.
  std::string findOpen(KernelOp kernel, const DimTable &dims) {
    MeshOp mesh = kernel.getMeshOp();
    if (ShapedType::isDynamic(mesh.getNumRanks()))
      return "an axis of the mesh has no size: give it one (--nodes and --gpus, or in the file)";
    for (Attribute name : kernel.getDimNames())
      if (!dims.contains(cast<StringAttr>(name).getValue()))
        return ("dimension '" + cast<StringAttr>(name).getValue() +
                "' has no value: bind it (--bind, or sizes= where the pass runs alone)")
            .str();
    return {};
  }

  /// What is given, and what the kernel has been bound to.
  static DimTable addBound(KernelOp kernel, DimTable dims) {
    for (auto [i, name] : llvm::enumerate(kernel.getDimNames().getAsValueRange<StringAttr>()))
      if (std::optional<int64_t> size = kernel.getDimSize(i); size && !dims.contains(name))
        dims[name].push_back(*size);
    return dims;
  }

  void undecided(KernelOp kernel, Location loc, const Twine &why,
                 const KernelProgram *program = nullptr) {
    if (!report)
      return;
    InFlightDiagnostic remark = emitRemark(loc) << "progress of kernel '" << kernel.getSymName()
                                                << "' is not decided: " << why;
    if (program)
      noteUnsearched(*program, remark);
  }

  /// A copy with loops expanded, as the targets' is. Items that CTAs of a cluster share, and teams
  /// that take items in turn, stay whole and in order: who shares items raises nothing, so that
  /// nobody waits for it, and no load is ordered by standing behind a store of its CTA.
  FailureOr<ModuleOp> expand(KernelOp kernel) {
    OpBuilder b = OpBuilder::atBlockEnd(getOperation().getBody());
    // Nested, so that passes may run on it.
    auto copy = ModuleOp::create(b, kernel.getLoc());
    b.setInsertionPointToStart(copy.getBody());
    (void)cloneAlone(b, kernel);
    OpPassManager pm(ModuleOp::getOperationName());
    pm.addPass(createExpandRanksPass({.checked = true}));
    buildExpansion(pm);
    // What is said here is said again by the lowering.
    ScopedDiagnosticHandler quiet(&getContext(), [](Diagnostic &) { return success(); });
    if (succeeded(runPipeline(pm, copy)))
      return copy;
    copy.erase();
    return failure();
  }

  using Create = function_ref<std::unique_ptr<KernelProgram>(bool)>;

  /// Where waits counted some of an element's arrivals: whichever those are.
  LogicalResult searchAgain(const Machine &first, ::mk::check::MachineOptions options,
                            Create create, StringRef order) {
    options.guarantees = options.races ? first.guarantees() : nullptr;
    if (!options.guarantees)
      return success();
    std::unique_ptr<KernelProgram> program = create(true);
    Machine machine(program->numRanks(), program->ctasOfRank(), *program, options);
    (void)machine.run();
    return reportRaces(*program, machine, order);
  }

  /// CTAs that draw other items and counts that come in another order.
  LogicalResult followOtherOrders(const KernelProgram &program, const Machine &inTurn,
                                  ::mk::check::MachineOptions options, Create create) {
    using Order = ::mk::check::MachineOptions::Order;
    if (!program.hasDraws() && !program.hasCounts())
      return success();
    bool few = inTurn.events() <= kMaxEventsForOrders;
    options.races &= few || program.hasCounts();
    unsigned orders = few && program.hasCounts() ? 3 : 1;
    for (unsigned i = 0; i != orders; ++i) {
      options.order = i == 0 ? Order::LastFirst : Order::Random;
      options.seed = i;
      StringRef words = i == 0 ? "if the last CTAs come first to items and counts"
                               : "if CTAs come to items and counts in some order";
      std::unique_ptr<KernelProgram> other = create(options.races);
      Machine machine(other->numRanks(), other->ctasOfRank(), *other, options);
      Machine::End end = machine.run();
      if (other->failure().wrong)
        return other->failure().op->emitOpError() << other->failure().text << " (" << words << ")";
      if (failed(reportRaces(*other, machine, words)) ||
          failed(searchAgain(machine, options, create, words)))
        return failure();
      if (end == Machine::End::Stuck) {
        explainStuck(*other, machine, words);
        return failure();
      }
      if (end == Machine::End::Done && failed(verifyArrivals(*other, machine)))
        return failure();
    }
    return success();
  }

  LogicalResult run(KernelOp kernel, KernelOp expanded, ArrayRef<int64_t> ctasOfRole,
                    ArrayRef<SmallVector<unsigned>> then, const DimTable &dims) {
    uint64_t ctas = 0;
    for (int64_t count : ctasOfRole)
      ctas += count;
    ctas *= expanded.getMeshOp().getNumRanks();
    if (ctas > kMaxCtas) {
      undecided(kernel, kernel.getLoc(),
                "it runs on " + Twine(ctas) + " CTAs, at most " + Twine(kMaxCtas) +
                    " are followed");
      return success();
    }
    uint64_t withRaces = std::min<uint64_t>(maxEvents, kClockBytes / (ctas * 8 + 64));
    std::string noRaces;
    for (bool races : {true, false}) {
      uint64_t limit = races ? withRaces : 10 * maxEvents;
      KernelProgram program(expanded, ctasOfRole, then, dims, races, limit * kStepsForEvent);
      if (program.numEventOps() == 0)
        break;
      if (!program.requirementsHold()) {
        undecided(kernel, kernel.getLoc(), "a requirement does not hold: no launch is possible");
        return success();
      }
      ::mk::check::MachineOptions options;
      options.races = races;
      options.maxEvents = limit;
      options.maxCompared = kMaxCompared;
      Machine machine(program.numRanks(), program.ctasOfRank(), program, options);
      Machine::End end = machine.run();
      const KernelProgram::Failure &failed = program.failure();
      if (failed.wrong)
        return failed.op->emitOpError() << failed.text;
      auto create = [&](bool withAccesses) {
        return std::make_unique<KernelProgram>(expanded, ctasOfRole, then, dims, withAccesses,
                                               limit * kStepsForEvent);
      };
      if (mlir::failed(reportRaces(program, machine)) ||
          mlir::failed(searchAgain(machine, options, create, "")))
        return failure();
      bool tooLong = end == Machine::End::TooLong || failed.op == expanded;
      if (tooLong && races) {
        noRaces = "; too large to be searched for races";
        continue;
      }
      if (tooLong || end == Machine::End::Unknown) {
        // What is known of the others may race in another order.
        if (!tooLong && mlir::failed(followOtherOrders(program, machine, options, create)))
          return failure();
        undecided(kernel, tooLong ? kernel.getLoc() : failed.op->getLoc(),
                  tooLong ? Twine("the kernel is too large to be followed")
                          : "'" + failed.op->getName().getStringRef() + "' " + failed.text,
                  &program);
        return success();
      }
      if (end == Machine::End::Stuck) {
        explainStuck(program, machine);
        return failure();
      }
      if (mlir::failed(verifyArrivals(program, machine)) ||
          mlir::failed(followOtherOrders(program, machine, options, create)))
        return failure();
      if (report) {
        InFlightDiagnostic remark = emitRemark(kernel.getLoc())
                                    << "kernel '" << kernel.getSymName()
                                    << "' always ends: " << machine.events() << " events of "
                                    << ctas << " CTAs" << noRaces;
        noteUnsearched(program, remark);
      }
      return success();
    }
    if (report)
      emitRemark(kernel.getLoc()) << "kernel '" << kernel.getSymName()
                                  << "' has nothing to wait for" << noRaces;
    return success();
  }

  LogicalResult verify(KernelOp kernel, const DimTable &dims) {
    auto isOther = [](Operation *op) {
      return isa<func::CallOp>(op) || isa_and_nonnull<mk_sm::MkSMDialect>(op->getDialect());
    };
    if (holdsAny(kernel, isOther)) {
      undecided(kernel, kernel.getLoc(),
                "it is not at the tile level with calls inlined, as mk-opt --emit=tile prints it");
      return success();
    }
    if (failed(verifyStructure(kernel)))
      return failure();
    std::string open = findOpen(kernel, dims);
    if (!open.empty()) {
      undecided(kernel, kernel.getLoc(), open);
      if (ShapedType::isDynamic(kernel.getMeshOp().getNumRanks()))
        return success();
      FailureOr<ModuleOp> copy = expand(kernel);
      if (failed(copy))
        return success();
      LogicalResult result = verifyOpenPeers(*(*copy).getOps<KernelOp>().begin());
      (*copy).erase();
      return result;
    }
    FailureOr<ModuleOp> copy = expand(kernel);
    FailureOr<SmallVector<int64_t>> ctas = failure();
    {
      ScopedDiagnosticHandler quiet(&getContext(), [](Diagnostic &) { return success(); });
      ctas = getCtas(kernel);
    }
    if (failed(copy) || failed(ctas)) {
      undecided(kernel, kernel.getLoc(), "it cannot be lowered as it is");
      return success();
    }
    // The roles that each role's CTAs go on with.
    SmallVector<SmallVector<unsigned>> then = getChildAnalysis<KernelResources>(kernel).getChains();
    LogicalResult result = run(kernel, *copy->getOps<KernelOp>().begin(), *ctas, then, dims);
    copy->erase();
    return result;
  }

  void runOnOperation() override {
    DimTable dims;
    if (failed(readAll(dims)))
      return signalPassFailure();
    for (KernelOp kernel : llvm::to_vector(getOperation().getOps<KernelOp>()))
      if (failed(verify(kernel, addBound(kernel, dims))))
        return signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
