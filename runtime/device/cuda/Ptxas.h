//===- Ptxas.h - CUDA's assembler as a program ------------------*- C++ -*-===//
#ifndef MKERNEL_RUNTIME_DEVICE_CUDA_PTXAS_H
#define MKERNEL_RUNTIME_DEVICE_CUDA_PTXAS_H

#include "mkernel/Runtime/Status.h"

#include <cstddef>
#include <string>
#include <vector>

namespace mk::rt::cuda {

/// Path of ptxas: MK_PTXAS, else that of CUDA_HOME, /usr/local/cuda or PATH;
/// empty if there is none or MK_PTXAS is "off".
std::string findPtxas();

/// PTX text for sm_90a to a cubin, by ptxas. An error says why there is none: no
/// ptxas, one that does not know this PTX, or what it says of the text.
Result<std::vector<std::byte>> assemble(const std::string &ptx);

} // namespace mk::rt::cuda

#endif // MKERNEL_RUNTIME_DEVICE_CUDA_PTXAS_H
