//===- Sites.cpp - Numbers of ops that are checked when they run ----------===//
#include "mkernel/Analysis/Sites.h"
#include "mlir/IR/Location.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace mlir::mk;

int64_t SiteTable::numberOf(Operation *op) {
  auto [it, inserted] = numbers.try_emplace(op, int64_t(sites.size()));
  if (inserted)
    sites.push_back({op->getLoc(), op->getName()});
  return it->second;
}

std::string mk::describePlace(Location where) {
  std::string text;
  llvm::raw_string_ostream os(text);
  auto visit = [&](auto &visit, Location loc) -> void {
    if (auto call = dyn_cast<CallSiteLoc>(loc)) {
      visit(visit, call.getCallee());
      os << " called at ";
      visit(visit, call.getCaller());
    } else if (auto named = dyn_cast<NameLoc>(loc)) {
      visit(visit, named.getChildLoc());
    } else if (auto fused = dyn_cast<FusedLoc>(loc); fused && !fused.getLocations().empty()) {
      visit(visit, fused.getLocations().front());
    } else if (auto file = dyn_cast<FileLineColLoc>(loc)) {
      // Not the folder: a package is the same wherever its file lies.
      os << llvm::sys::path::filename(file.getFilename().getValue()) << ":" << file.getLine() << ":"
         << file.getColumn();
    } else {
      os << "an unknown place";
    }
  };
  visit(visit, where);
  return text;
}

llvm::json::Array SiteTable::describe() const {
  llvm::json::Array array;
  for (auto [where, name] : sites)
    array.push_back(llvm::json::Object{{"op", name.getStringRef()}, {"at", describePlace(where)}});
  return array;
}
