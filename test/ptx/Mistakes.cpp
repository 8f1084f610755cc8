//===- Mistakes.cpp - Kernels that lack what orders -----------------------===//

#include "Mistakes.h"

#include <cstdio>
#include <optional>
#include <set>
#include <sstream>

using namespace mk::ptx;

namespace {

/// Instructions that are left out together: those of a line, and all that one wait does.
struct Site {
  Orders kind = Orders::Nothing;
  uint32_t line = 0;
  std::vector<uint32_t> instrs;
};

/// As --mistakes spells it.
std::string optionOf(Orders kind) {
  switch (kind) {
  case Orders::Fence:
    return "fence";
  case Orders::ProxyFence:
    return "proxy-fence";
  case Orders::Barrier:
    return "barrier";
  case Orders::Phase:
    return "phase";
  case Orders::Signal:
    return "signal";
  case Orders::Acquire:
    return "acquire";
  case Orders::Release:
    return "release";
  case Orders::Group:
    return "group";
  case Orders::Lap:
    return "lap";
  case Orders::Nothing:
    break;
  }
  return "";
}

void add(std::vector<Site> &sites, Orders kind, uint32_t line, uint32_t instr) {
  for (Site &site : sites)
    if (site.kind == kind && site.line == line) {
      site.instrs.push_back(instr);
      return;
    }
  sites.push_back({kind, line, {instr}});
}

/// The release to which nothing leads but registers' arithmetic from fence `i`;
/// 0 if there is none.
uint32_t releaseBehind(const Program &program, uint32_t i) {
  if (program.instrs[i].orders != Orders::Fence)
    return 0;
  for (uint32_t j = i + 1; j < i + 6 && j < program.instrs.size(); ++j) {
    const Instr &instr = program.instrs[j];
    if (instr.orders == Orders::Release)
      return j;
    if (!instr.opcode.starts_with("mov.") && !instr.opcode.starts_with("add."))
      return 0;
  }
  return 0;
}

bool isAcquiringLoad(const Instr &instr) {
  return instr.orders == Orders::Acquire && instr.opcode[0] == 'l';
}

/// The branch behind the load of a wait's first try, which leads to the slow part or past it; 0 if
/// the load is none.
uint32_t branchBehind(const Program &program, uint32_t i) {
  if (!isAcquiringLoad(program.instrs[i]))
    return 0;
  for (uint32_t j = i + 1; j < i + 8 && j < program.instrs.size(); ++j) {
    const Instr &instr = program.instrs[j];
    if (instr.flow == Flow::Branch)
      return instr.guard >= 0 ? j : 0;
  }
  return 0;
}

/// A wait's slow part begins with the word that says that the CTA has failed.
bool beginsSlowPart(const Program &program, uint32_t i) {
  for (uint32_t j = i; j < i + 4 && j < program.instrs.size(); ++j)
    if (program.instrs[j].opcode == "ld.volatile.shared.b32")
      return true;
  return false;
}

/// Where a try of a wait reads, if the instruction is one.
std::optional<uint32_t> addressOfTry(const Instr &instr) {
  bool isBarrier = instr.orders == Orders::Phase;
  if (!isBarrier && !isAcquiringLoad(instr))
    return std::nullopt;
  const Operand &address = isBarrier ? instr.ops[1] : instr.ops.back();
  return address.kind == Operand::Reg ? std::optional(address.index) : std::nullopt;
}

/// The line of an instruction; that of a wait's first try for the others.
uint32_t lineOf(const Program &program, uint32_t i) {
  const Instr &instr = program.instrs[i];
  if (std::optional<uint32_t> address = addressOfTry(instr))
    for (const Instr &first : program.instrs)
      if (first.orders == instr.orders && addressOfTry(first) == address)
        return first.line;
  return instr.line;
}

std::vector<Site> sitesOf(const Program &program,
                          const std::vector<uint64_t> &executed) {
  std::vector<Site> sites;
  for (uint32_t i = 0; i < program.instrs.size(); ++i) {
    const Instr &instr = program.instrs[i];
    if (instr.orders == Orders::Nothing || !executed[i])
      continue;
    // Lanes of a warp go in step here: what is between them is not seen.
    if (instr.opcode == "bar.warp.sync")
      continue;
    // These two are there for one another: fence.mbarrier_init does as well.
    if (instr.orders == Orders::ProxyFence && i > 0 &&
        program.instrs[i - 1].opcode.starts_with("fence.mbarrier_init"))
      continue;
    // So are a fence and a release behind it, which are left out together.
    if (uint32_t release = releaseBehind(program, i)) {
      add(sites, Orders::Release, program.instrs[release].line, i);
      continue;
    }
    add(sites, instr.orders, lineOf(program, i), i);
    if (uint32_t branch = branchBehind(program, i))
      if (beginsSlowPart(program, branch + 1) ||
          beginsSlowPart(program, program.instrs[branch].target))
        add(sites, Orders::Signal, instr.line, branch);
  }
  return sites;
}

std::shared_ptr<const Program> without(const Program &program,
                                       const Site &site) {
  auto changed = std::make_shared<Program>(program);
  for (uint32_t i : site.instrs) {
    Instr &instr = changed->instrs[i];
    instr.removed = true;
    // A line may have more than what is left out.
    switch (site.kind == Orders::Signal ? site.kind : instr.orders) {
    case Orders::Signal:
      // It has come.
      if (beginsSlowPart(program, instr.target))
        instr.flow = Flow::Next, instr.exec = nullptr;
      else
        instr.guard = -1;
      break;
    case Orders::Fence:
    case Orders::ProxyFence:
    case Orders::Barrier:
    case Orders::Group:
      instr.exec = nullptr;
      break;
    default: // the instruction knows
      break;
    }
  }
  return changed;
}

} // namespace

void mk::ptx::tryMistakes(const Session &session, const MistakeOptions &options,
                          const Again &again) {
  const Recording &recording = session.recording();
  const Program &program = *session.subject();
  std::set<std::string> wanted;
  std::istringstream kinds(options.kinds);
  for (std::string kind; std::getline(kinds, kind, ',');)
    wanted.insert(kind);
  std::vector<Site> sites = sitesOf(program, recording.executed);
  for (int k = 1; k < kOrders; ++k) {
    Orders kind = Orders(k);
    if (!wanted.count("all") && !wanted.count(optionOf(kind)))
      continue;
    std::vector<Site> ofKind;
    for (const Site &site : sites)
      if (site.kind == kind)
        ofKind.push_back(site);
    size_t all = ofKind.size(), found = 0;
    if (options.sample && ofKind.size() > size_t(options.sample)) {
      std::vector<Site> some;
      for (int i = 0; i < options.sample; ++i)
        some.push_back(ofKind[size_t(i) * all / size_t(options.sample)]);
      ofKind = some;
    }
    for (const Site &site : ofKind) {
      auto changed = without(program, site);
      std::string why;
      int seed = 1;
      for (; seed <= options.tries && why.empty(); ++seed)
        why = again(uint64_t(seed), changed);
      std::printf("line %u, %s: %s: %s\n", site.line, nameOf(kind),
                  program.instrs[site.instrs[0]].opcode.c_str(),
                  why.empty()
                      ? "not found"
                      : ("found: " + why.substr(0, why.find('\n'))).c_str());
      found += !why.empty();
    }
    if (all)
      std::printf("%s: %zu of %zu found\n", nameOf(kind), found, ofKind.size());
  }
}
