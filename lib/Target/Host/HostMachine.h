//===- HostMachine.h - LLVM's view of the CPU ------------------*- C++ -*-===//
#ifndef MKERNEL_LIB_TARGET_HOST_HOSTMACHINE_H
#define MKERNEL_LIB_TARGET_HOST_HOSTMACHINE_H

#include "mkernel/Target/Host/Emit.h"
#include "llvm/Target/TargetMachine.h"

namespace mlir::mk {

std::unique_ptr<llvm::TargetMachine> makeHostMachine(const HostCpu &cpu);

/// See Bf16Bits.cpp.
void keepBf16AsBits(llvm::Module &module);

/// Functions that code for floats of 16 bits may call; see HalfFloats.cpp.
void addHalfConversions(llvm::Module &module, const HostCpu &cpu);

} // namespace mlir::mk

#endif // MKERNEL_LIB_TARGET_HOST_HOSTMACHINE_H
