//===- Explain.cpp - What is wrong with a kernel, in words ----------------===//
#include "Verify.h"

using namespace mlir;
using namespace mlir::mk;
using ::mk::check::Machine;

// Places that a message lists.
static constexpr unsigned kListed = 4;

static StringRef plural(int64_t n) { return n == 1 ? "" : "s"; }

static void noteRaisers(InFlightDiagnostic &error, Value signal) {
  for (Operation *user : signal.getUsers())
    if (!isa<WaitOp>(user))
      error.attachNote(user->getLoc())
          << "role '" << user->getParentOfType<RoleOp>().getSymName() << "' raises it here";
}

//===----------------------------------------------------------------------===//
// Waits
//===----------------------------------------------------------------------===//

namespace {
class StuckReport {
public:
  StuckReport(KernelProgram &program, Machine &machine, StringRef order)
      : program(program), machine(machine), order(order), blocked(machine.blocked()) {
    // The events stay where they are while the rest goes on.
    for (const Machine::Blocked &b : blocked)
      events.push_back(*b.event);
    for (unsigned i = 0; i < blocked.size(); ++i)
      byCta[blocked[i].cta] = i;
    raises = machine.force();
  }

  void emit() {
    bool pops = false;
    for (unsigned i = 0; i < blocked.size(); ++i)
      pops |= isPop(i);
    for (unsigned i = 0; i < blocked.size(); ++i)
      if (isPop(i) == pops && seenAtLast(i) < wanted(i))
        return explainMissing(i);
    explainCycle();
  }

private:
  bool isPop(unsigned i) { return events[i].kind == KernelProgram::Event::Pop; }
  bool isBarrier(unsigned i) { return events[i].kind == KernelProgram::Event::Barrier; }
  int64_t wanted(unsigned i) { return isPop(i) ? events[i].element + 1 : events[i].amount; }
  bool concerns(const Machine::Raise &raise, unsigned i) {
    if (raise.rank != program.rankOf(blocked[i].cta) || isBarrier(i) ||
        raise.object != events[i].object || raise.queue != isPop(i))
      return false;
    return raise.queue || raise.element == events[i].element;
  }
  /// With all that would come if nothing had to be waited for.
  int64_t seenAtLast(unsigned i) {
    int64_t seen = blocked[i].seen;
    for (const Machine::Raise &raise : raises)
      if (concerns(raise, i))
        seen += raise.amount;
    return isBarrier(i) ? INT64_MAX : seen;
  }
  Operation *op(unsigned i) { return events[i].site < 0 ? nullptr : program.opOf(events[i].site); }
  std::string object(unsigned i) {
    if (isPop(i))
      return ("queue '" + program.queue(events[i].object).getName() + "'").str();
    return program.describeSignal(program.rankOf(blocked[i].cta), events[i].object,
                                  events[i].element);
  }
  std::string state(unsigned i) {
    return ("needs " + Twine(wanted(i)) + (isPop(i) ? " record" : " arrival") + plural(wanted(i)) +
            ", saw " + Twine(blocked[i].seen))
        .str();
  }

  InFlightDiagnostic open(unsigned i) {
    // Loops over queues have been expanded.
    return emitError(op(i)->getLoc())
           << "'" << (isPop(i) ? "mk.foreach_item" : "mk.wait") << "' op never returns in "
           << program.describe(blocked[i].cta, op(i)) << (order.empty() ? "" : ", ") << order
           << ": " << object(i) << " " << state(i);
  }

  void explainMissing(unsigned i) {
    int64_t last = seenAtLast(i);
    InFlightDiagnostic error = open(i);
    if (isPop(i)) {
      error << ", and no more than " << last << " are pushed; push one for each that is counted";
      return;
    }
    if (last == 0)
      error << ", and nobody raises it";
    else
      error << ", and gets no more than " << last;
    error
        << "; raise it for what is waited for, on the rank that waits, or wait for what is raised";
    listRaisers(error, i);
  }

  /// Where the signal is raised, and which elements instead.
  void listRaisers(InFlightDiagnostic &error, unsigned i) {
    int32_t number = events[i].object;
    unsigned listed = 0;
    std::string elements;
    llvm::raw_string_ostream os(elements);
    for (const auto &[where, count] : machine.arrivals()) {
      if (where.signal != number || listed > kListed)
        continue;
      os << (listed ? ", " : "");
      if (listed++ == kListed)
        os << "...";
      else
        os << program.describeSignal(where.rank, number, where.element) << " of rank " << where.rank
           << " (" << count << ")";
    }
    if (listed)
      error.attachNote(program.signal(number).getLoc())
          << "what would be raised if no wait held anybody up: " << elements;
    noteRaisers(error, program.signal(number).getResult());
  }

  /// From a wait to what would release it, until it comes round.
  void explainCycle() {
    SmallVector<unsigned> chain;
    SmallVector<const Machine::Raise *> links;
    llvm::DenseSet<unsigned> visited;
    unsigned at = 0;
    while (at < blocked.size() && isBarrier(at))
      ++at;
    if (at == blocked.size())
      return;
    while (visited.insert(at).second) {
      chain.push_back(at);
      const Machine::Raise *link = nullptr;
      for (const Machine::Raise &raise : raises)
        if (concerns(raise, at) && byCta.contains(raise.cta)) {
          link = &raise;
          break;
        }
      links.push_back(link);
      if (!link)
        break;
      at = byCta[link->cta];
    }
    // What leads to the circle is not part of it.
    unsigned begin = 0;
    if (links.back())
      begin = llvm::find(chain, at) - chain.begin();
    unsigned first = chain[begin];
    InFlightDiagnostic error = open(first);
    error << ", and who would raise it waits as well; let each item wait only for what comes "
             "earlier in the order of roles and items, or give rings and roles more slots or CTAs";
    for (unsigned k = begin; k < chain.size() && k < begin + kListed; ++k) {
      if (!links[k])
        break;
      unsigned next = k + 1 < chain.size() ? chain[k + 1] : at;
      error.attachNote(program.opOf(links[k]->site)->getLoc())
          << object(chain[k]) << " would be raised here by "
          << program.describe(links[k]->cta, program.opOf(links[k]->site));
      error.attachNote(op(next)->getLoc())
          << "which waits before that for " << object(next) << ": " << state(next);
    }
  }

  KernelProgram &program;
  Machine &machine;
  StringRef order;
  std::vector<Machine::Blocked> blocked;
  std::vector<KernelProgram::Event> events;
  llvm::DenseMap<uint32_t, unsigned> byCta;
  std::vector<Machine::Raise> raises;
};
} // namespace

void mlir::mk::explainStuck(KernelProgram &program, Machine &machine, StringRef order) {
  StuckReport(program, machine, order).emit();
}

//===----------------------------------------------------------------------===//
// Arrivals
//===----------------------------------------------------------------------===//

LogicalResult mlir::mk::verifyArrivals(KernelProgram &program, const Machine &machine) {
  for (const auto &[where, count] : machine.arrivals()) {
    std::optional<int64_t> declared = program.declaredArrivals(where.rank, where.signal);
    if (!declared || *declared == count || count == 0)
      continue;
    SignalsOp signals = program.signal(where.signal);
    InFlightDiagnostic error =
        signals.emitOpError() << program.describeSignal(where.rank, where.signal, where.element)
                              << " of rank " << where.rank << " gets " << count << " arrival"
                              << plural(count) << " in a launch, and is declared with " << *declared
                              << ": the next launch would wait for the wrong value; correct the "
                                 "number, or declare it dynamic";
    noteRaisers(error, signals.getResult());
    return error;
  }
  // Of what gets nothing: launch e waits for the declared arrivals of those before it.
  for (const auto &[where, waiter] : machine.waited()) {
    std::optional<int64_t> declared = program.declaredArrivals(where.rank, where.signal);
    auto arrivals = machine.arrivals().find(where);
    if (!declared || *declared == 0 ||
        (arrivals != machine.arrivals().end() && arrivals->second != 0))
      continue;
    Operation *wait = program.opOf(waiter.site);
    InFlightDiagnostic error = wait->emitOpError()
                               << "never returns in later launches in "
                               << program.describe(waiter.cta, wait) << ": "
                               << program.describeSignal(where.rank, where.signal, where.element)
                               << " gets no arrival in a launch, and is declared with " << *declared
                               << ", so that a wait for " << waiter.amount
                               << " waits for those of the launches before; raise it, wait for it "
                                  "only where it is raised, or declare it dynamic";
    error.attachNote(program.signal(where.signal).getLoc()) << "the signal is declared here";
    return error;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// What was not searched
//===----------------------------------------------------------------------===//

void mlir::mk::noteUnsearched(const KernelProgram &program, InFlightDiagnostic &remark) {
  constexpr size_t kMostNotes = 16;
  const auto &places = program.unsearched();
  if (places.empty())
    return;
  remark << "; " << places.size() << (places.size() == 1 ? " place is" : " places are")
         << " not searched for races";
  if (places.size() > kMostNotes)
    remark << ", the first " << kMostNotes << " of them:";
  for (auto &[op, why] : ArrayRef(places.getArrayRef()).take_front(kMostNotes))
    remark.attachNote(op->getLoc())
        << (op->getNumRegions() ? "what '" : "'") << op->getName()
        << (op->getNumRegions() ? "' holds" : "'")
        << " is not searched for races: " << (op->getNumRegions() ? "it " : "") << why;
}
