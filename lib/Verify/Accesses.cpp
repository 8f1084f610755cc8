//===- Accesses.cpp - Whether two kernels do the same ---------------------===//
#include "mkernel/Verify/Accesses.h"
#include "Verify.h"
#include "mkernel/Analysis/Ctas.h"
#include "mkernel/Check/Provenance.h"
#include "mkernel/Transforms/Expansion.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/PassManager.h"

#include <map>

using namespace mlir;
using namespace mlir::mk;
using ::mk::check::Event;
using ::mk::check::Machine;
using ::mk::check::Provenance;

static constexpr uint64_t kMaxEvents = 200'000, kStepsForEvent = 100;

namespace {
/// Tells a Provenance what a kernel's CTAs do.
class Traced : public ::mk::check::Program {
public:
  explicit Traced(KernelProgram &kernel)
      : kernel(kernel), provenance(kernel.numRanks() * kernel.ctasOfRank(), kernel.ctasOfRank()),
        draws(kernel.numRanks() * kernel.ctasOfRank(), -1) {}

  Next next(uint32_t cta, Event &event) override {
    Next result = kernel.next(cta, event);
    if (result != Next::Event)
      return result;
    bool another = event.draw != draws[cta];
    draws[cta] = event.draw;
    if (another || event.kind == Event::Turn || event.kind == Event::RoleEnd ||
        event.kind == Event::Barrier)
      provenance.nextItem(cta);
    if (event.site >= 0)
      provenance.add(cta, event, placeOf(event.site));
    return result;
  }
  void counted(uint32_t cta, int64_t before) override { kernel.counted(cta, before); }
  void popped(uint32_t cta, const std::vector<int64_t> &record) override {
    kernel.popped(cta, record);
  }

  std::vector<AccessTrace::Access> read(KernelOp op) const {
    std::vector<AccessTrace::Access> list;
    for (const Provenance::Access &access : provenance.accesses()) {
      std::string text;
      llvm::raw_string_ostream(text) << "'" << kernel.opOf(access.site)->getName() << "' of '"
                                     << kernel.bufferName(access.buffer) << "'"
                                     << access.box.toString() << " of rank " << access.rank;
      bool output = access.write && llvm::is_contained({ArgKind::Out, ArgKind::InOut},
                                                       op.getArgKind(access.buffer));
      list.push_back({access.number, output, text});
    }
    return list;
  }
  bool tooLarge() const { return provenance.tooLarge(); }

private:
  /// By line and role: who executes an item is chance.
  uint64_t placeOf(int32_t site) {
    Operation *op = kernel.opOf(site);
    auto role = op->getParentOfType<RoleOp>();
    auto at = op->getLoc()->findInstanceOf<FileLineColLoc>();
    return llvm::hash_combine(op->getName().getStringRef(), role ? role.getSymName() : StringRef(),
                              at ? at.getLine() : 0, at ? at.getColumn() : 0);
  }

  KernelProgram &kernel;
  Provenance provenance;
  std::vector<int64_t> draws; // of each CTA's last event
};
} // namespace

AccessTrace mlir::mk::traceAccesses(KernelOp kernel, ArrayRef<std::string> texts, int64_t grid,
                                    uint64_t seed) {
  AccessTrace trace;
  DimTable dims;
  if (readSizes(texts, dims)) {
    trace.problem = "a size is no number";
    return trace;
  }
  MLIRContext *context = kernel.getContext();
  ScopedDiagnosticHandler quiet(context, [](Diagnostic &) { return success(); });
  OwningOpRef<ModuleOp> copy = ModuleOp::create(kernel.getLoc());
  OpBuilder b = OpBuilder::atBlockEnd(copy->getBody());
  KernelOp clone = cloneAlone(b, kernel);
  SmallVector<SmallVector<unsigned>> then = getKernelResources(clone).getChains();
  PassManager pm(context, ModuleOp::getOperationName());
  AssignCtasPassOptions assign;
  assign.grid = grid;
  pm.addPass(createAssignCtasPass(assign));
  pm.addPass(createExpandRanksPass({.checked = true}));
  buildExpansion(pm);
  if (failed(pm.run(*copy))) {
    trace.problem = "it cannot be lowered";
    return trace;
  }
  clone = *copy->getOps<KernelOp>().begin();
  ::mk::check::MachineOptions options;
  options.order = ::mk::check::MachineOptions::Order::Random;
  options.seed = seed;
  options.maxEvents = kMaxEvents;
  // Once more where waits count some of an element's arrivals: whichever those are.
  for (bool again : {false, true}) {
    KernelProgram program(clone, *getCtas(clone), then, dims, /*accesses=*/true,
                          kMaxEvents * kStepsForEvent, /*reads=*/true);
    Traced traced(program);
    Machine machine(program.numRanks(), program.ctasOfRank(), traced, options);
    Machine::End end = machine.run();
    if (program.failure().op)
      trace.problem = program.failure().text;
    else if (end != Machine::End::Done)
      trace.problem =
          end == Machine::End::Stuck ? "a wait never returns" : "it is too large to be followed";
    else if (!machine.races().empty())
      trace.problem = "it races";
    else if (!program.unsearched().empty())
      trace.problem = "an access is not known: " + program.unsearched().begin()->second;
    else if (traced.tooLarge())
      trace.problem = "a tile is too large to be followed";
    bool all = true;
    options.guarantees = machine.guarantees(&all);
    if (!all)
      trace.problem = "it has too many waits for some arrivals";
    if (!trace.problem.empty())
      return trace;
    if (!again)
      trace.accesses = traced.read(clone);
    if (!options.guarantees)
      return trace;
  }
  return trace;
}

std::string AccessTrace::difference(const AccessTrace &other, bool outputs) const {
  auto missing = [&](const AccessTrace &from, const AccessTrace &in) -> std::string {
    std::map<uint64_t, int64_t> counts;
    for (const Access &access : in.accesses)
      ++counts[access.number];
    for (const Access &access : from.accesses)
      if ((access.output || !outputs) && --counts[access.number] < 0)
        return access.text;
    return {};
  };
  std::string text = missing(*this, other);
  return text.empty() ? missing(other, *this) : text;
}
