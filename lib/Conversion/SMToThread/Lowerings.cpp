//===- Lowerings.cpp - How each op of the SM level is lowered -------------===//
#include "Lowerings.h"

using namespace mlir;
using namespace mlir::mk::sm;

LoweringTable::LoweringTable() {
  populateAccessLowerings(*this);
  populateChannelLowerings(*this);
  populateControlFlowLowerings(*this);
  populateCopyLowerings(*this);
  populateExchangeLowerings(*this);
  populateFragmentLowerings(*this);
  populateItemLowerings(*this);
  populateMatrixLowerings(*this);
  populatePutLowerings(*this);
  populateScalarLowerings(*this);
  populateSignalLowerings(*this);
  populateStoreLowerings(*this);
}

LogicalResult LoweringTable::lower(Operation *op, PartitionBuilder &p) const {
  auto it = lowerings.find(op->getName().getTypeID());
  return it == lowerings.end() ? lowerElementwise(op, p) : it->second(op, p);
}
