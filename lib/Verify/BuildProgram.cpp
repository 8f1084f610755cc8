//===- BuildProgram.cpp - What of a kernel its events need ----------------===//
#include "ProgramState.h"
#include "mkernel/Analysis/Ctas.h"

using namespace mlir;
using namespace mlir::mk;

KernelProgram::KernelProgram(KernelOp kernel, ArrayRef<int64_t> ctasOfRole,
                             ArrayRef<SmallVector<unsigned>> then, const DimTable &dims,
                             bool accesses, uint64_t maxSteps, bool reads)
    : kernel(kernel), mesh(kernel.getMeshOp()), resources(getKernelResources(kernel)), dims(dims),
      ctasOfRole(ctasOfRole), then(then), accesses(accesses), ranks(mesh.getNumRanks()), ctas(0),
      stepsLeft(maxSteps) {
  for (int64_t count : ctasOfRole)
    ctas += count;
  findWritten(reads);
  kernel.walk([&](Operation *op) {
    if (isScalarAccess(op))
      keep(op);
    if (!isEvent(op))
      return;
    keep(op);
    ++eventOps;
  });
  for (RequireOp require : resources.requirements)
    keep(require.getCondition());
  for (SignalsOp signals : resources.signals)
    for (Value operand : signals->getOperands())
      keep(operand);
  for (CountersOp counters : resources.counters)
    for (Value operand : counters->getOperands())
      keep(operand);

  scope = build(kernel.getBody().front());
  if (resources.prepare)
    prepare = build(resources.prepare.getBody().front());
  for (RoleOp role : resources.roles)
    roles.push_back(build(role.getBody().front()));
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    auto &state = scopes.emplace_back(std::make_unique<CtaState>());
    state->rank = rank;
    state->values.resize(slots.size());
    for (auto [i, name] : llvm::enumerate(kernel.getDimNames())) {
      auto it = dims.find(cast<StringAttr>(name).getValue());
      if (it == dims.end() || it->second.empty())
        continue;
      const SmallVector<int64_t> &values = it->second;
      set(*state, kernel.getDim(i), {rank < values.size() ? values[rank] : values.front(), true});
    }
    evaluateScope(*state);
  }
  states.resize(size_t(ranks) * ctas);
}

KernelProgram::~KernelProgram() = default;

static bool isTileOrNone(Value value) { return !value || isa<TensorType>(value.getType()); }

void KernelProgram::findWritten(bool reads) {
  for (int32_t arg = 0; reads && arg < kernel.getNumKernelArgs(); ++arg)
    written.insert(arg);
  kernel.walk([&](Operation *op) {
    if (Value buffer = getWritten(op))
      for (unsigned arg : getPossibleArgs(kernel, buffer))
        written.insert(arg);
  });
}

bool KernelProgram::mayBeWritten(Value buffer) const {
  return llvm::any_of(getPossibleArgs(kernel, buffer),
                      [&](unsigned arg) { return written.contains(arg); });
}

bool KernelProgram::isEvent(Operation *op) const {
  if (isa<PutOp, SignalOp, WaitOp, FenceOp, SettleOp, CountOp, PushOp, mk_sm::PopOp,
          mk_sm::TicketOp>(op))
    return true;
  // Whether a peer may be stored to is asked in any case.
  if (auto store = dyn_cast<StoreOp>(op))
    return accesses || store.getSignal() || store.getPeer();
  if (auto load = dyn_cast<LoadOp>(op))
    return accesses &&
           (mayBeWritten(load.getSource()) || (load.getRows() && mayBeWritten(load.getRows())));
  if (auto load = dyn_cast<memref::LoadOp>(op))
    return accesses && mayBeWritten(load.getMemRef());
  return accesses && isa<memref::StoreOp>(op);
}

bool KernelProgram::isAccess(Operation *op) {
  if (auto store = dyn_cast<StoreOp>(op))
    return !store.getSignal();
  return isa<LoadOp, memref::LoadOp, memref::StoreOp>(op);
}

void KernelProgram::keep(Value value) {
  if (isTileOrNone(value))
    return;
  if (Operation *op = value.getDefiningOp())
    keep(op);
  else if (Operation *owner = cast<BlockArgument>(value).getOwner()->getParentOp();
           !isa<KernelOp>(owner))
    keep(owner);
}

void KernelProgram::keep(Operation *op) {
  if (isa<KernelOp, RoleOp, PrepareOp>(op) || !kept.insert(op).second)
    return;
  for (Value operand : op->getOperands())
    keep(operand);
  for (Region &region : op->getRegions())
    for (Block &block : region)
      if (block.mightHaveTerminator())
        for (Value operand : block.getTerminator()->getOperands())
          keep(operand);
  keep(op->getParentOp());
}

unsigned KernelProgram::slotOf(Value value) {
  if (isTileOrNone(value))
    return kNoSlot;
  return slots.try_emplace(value, slots.size()).first->second;
}

/// Whether more than one CTA may draw the items of a loop.
bool KernelProgram::isShared(Operation *ticket) const {
  std::optional<unsigned> own = resources.roleIndex(ticket->getParentOfType<RoleOp>().getSymName());
  int64_t count = 0;
  for (unsigned role = 0; role < ctasOfRole.size(); ++role)
    if (role == own || llvm::is_contained(then[role], *own))
      count += ctasOfRole[role];
  return count > 1;
}

std::unique_ptr<KernelProgram::Body> KernelProgram::build(Block &block) {
  auto body = std::make_unique<Body>();
  for (BlockArgument arg : block.getArguments())
    body->args.push_back(slotOf(arg));
  for (Operation &op : block) {
    if (op.hasTrait<OpTrait::IsTerminator>()) {
      for (Value operand : op.getOperands())
        body->results.push_back(slotOf(operand));
      continue;
    }
    if (!kept.contains(&op))
      continue;
    Node &node = body->nodes.emplace_back();
    node.op = &op;
    node.event = isEvent(&op);
    op.walk([&](Operation *inner) {
      if (inner == &op || !isEvent(inner))
        return;
      node.hasEvents = true;
      node.hasSync |= !isAccess(inner);
    });
    if (node.event) {
      node.site = sites.size();
      sites.push_back(&op);
    }
    for (Value operand : op.getOperands())
      node.in.push_back(slotOf(operand));
    for (Value result : op.getResults())
      node.out.push_back(slotOf(result));
    Operation *ticket = isa<mk_sm::TicketOp>(op) ? &op : nullptr;
    if (auto loop = dyn_cast<scf::WhileOp>(op))
      for (auto inner : loop.getBefore().getOps<mk_sm::TicketOp>())
        ticket = inner;
    node.draws = ticket && isShared(ticket);
    draws |= node.draws;
    counts |= isa<CountOp>(op) && !op.use_empty();
    node.turn = isa<mk_sm::ItemsOp>(op);
    // Ops whose regions are no control flow are folded, or unknown.
    if (isa<mk_sm::ItemsOp, scf::ForOp, scf::IfOp, scf::WhileOp>(op))
      for (Region &region : op.getRegions())
        node.bodies.push_back(region.empty() ? std::make_unique<Body>() : build(region.front()));
  }
  return body;
}

bool KernelProgram::requirementsHold() {
  for (auto &state : scopes)
    for (RequireOp require : resources.requirements)
      if (Scalar holds = get(*state, require.getCondition()); holds.known && !holds.value)
        return false;
  return true;
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

uint32_t KernelProgram::roleOf(uint32_t cta) const {
  int64_t index = cta % ctas;
  uint32_t role = 0;
  while (index >= ctasOfRole[role])
    index -= ctasOfRole[role++];
  return role;
}

std::string KernelProgram::describe(uint32_t cta, Operation *op) const {
  RoleOp own = resources.roles[roleOf(cta)];
  RoleOp role = op ? op->getParentOfType<RoleOp>() : own;
  std::string text;
  llvm::raw_string_ostream os(text);
  if (role)
    os << "role '" << role.getSymName() << "'";
  else
    os << "mk.prepare";
  os << " (rank " << rankOf(cta) << ", CTA " << cta % ctas;
  if (role && role != own)
    os << " of role '" << own.getSymName() << "'";
  os << ")";
  return text;
}

std::string KernelProgram::describeSignal(uint32_t rank, int32_t number, int64_t element) {
  SignalsOp op = resources.signals[number];
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "signal '" << op.getName() << "'";
  auto shape = shapeOf(*scopes[rank], op.getResult());
  if (!shape)
    return text;
  SmallVector<int64_t> index(shape->size());
  for (size_t d = shape->size(); d-- > 0;) {
    int64_t extent = std::max<int64_t>((*shape)[d], 1);
    index[d] = element % extent;
    element /= extent;
  }
  os << "[";
  llvm::interleaveComma(index, os);
  os << "]";
  return text;
}

std::optional<int64_t> KernelProgram::declaredArrivals(uint32_t rank, int32_t number) {
  SignalsOp op = resources.signals[number];
  auto type = cast<SignalType>(op.getResult().getType());
  if (type.isDynamic())
    return std::nullopt;
  if (!type.hasRuntimeArrivals())
    return type.getArrivals();
  Scalar arrivals = get(*scopes[rank], op.getArrivals());
  return arrivals.known ? std::optional(arrivals.value) : std::nullopt;
}

StringRef KernelProgram::bufferName(int32_t buffer) const {
  return cast<StringAttr>(KernelOp(kernel).getArgNames()[buffer]).getValue();
}
