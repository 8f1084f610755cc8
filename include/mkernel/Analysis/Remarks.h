//===- Remarks.h - What passes say of what they did -------------*- C++ -*-===//
//
// A pass that gives something up says so: `missed`, with the reason. What it did is `passed`,
// what it found out `analysis`. They cost nothing unless somebody listens (mk-opt --remarks).
//
//   missed(loop, "mk-sm-defer-waits") << "has control flow: move it out of the loop";
//   passed(loop, "mk-sm-defer-waits") << remark::add("keeps {0} dots in flight", dots);
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_ANALYSIS_REMARKS_H
#define MKERNEL_ANALYSIS_REMARKS_H

#include "mkernel/Dialect/Tile/Tile.h"
#include "mlir/IR/Remarks.h"

namespace mlir::mk_sm {

using InFlightRemark = remark::detail::InFlightRemark;

/// `pass` is a pass's name on the command line, `role` the name of a role; both outlive the remark.
inline remark::RemarkOpts describeRemark(StringRef pass, StringRef role) {
  return remark::RemarkOpts::name(pass).category(pass).function(role);
}

/// The role that an op is or stands in.
inline StringRef getRoleName(Operation *op) {
  auto role = dyn_cast<mk::RoleOp>(op);
  if (!role)
    role = op->getParentOfType<mk::RoleOp>();
  return role ? role.getSymName() : StringRef("prepare");
}

inline InFlightRemark passed(Operation *op, StringRef pass) {
  return remark::passed(op->getLoc(), describeRemark(pass, getRoleName(op)));
}
inline InFlightRemark missed(Operation *op, StringRef pass) {
  return remark::missed(op->getLoc(), describeRemark(pass, getRoleName(op)));
}
inline InFlightRemark analysis(Operation *op, StringRef pass) {
  return remark::analysis(op->getLoc(), describeRemark(pass, getRoleName(op)));
}

} // namespace mlir::mk_sm

#endif // MKERNEL_ANALYSIS_REMARKS_H
