//===- Ptxas.h - CUDA's assembler as a program ------------------*- C++ -*-===//
#ifndef MKERNEL_RUNTIME_DEVICE_CUDA_PTXAS_H
#define MKERNEL_RUNTIME_DEVICE_CUDA_PTXAS_H

#include "mkernel/Runtime/Status.h"

#include <cstddef>
#include <string>
#include <vector>

namespace mk::rt::cuda {

/// Path of a program of the CUDA toolkit: in CUDA_HOME, CUDA_PATH,
/// /usr/local/cuda or on PATH; empty if there is none.
std::string findTool(const std::string &name);

/// Path of ptxas: MK_PTXAS, else findTool's; empty if there is none or MK_PTXAS
/// is "off".
std::string findPtxas();

/// What tells the program at `path` from another version of it: path, size and time of
/// its last change; empty if it is not there.
std::string describeProgram(const std::string &path);

/// PTX text for sm_90a to a cubin, by ptxas. An error says why there is none: no
/// ptxas, one that does not know this PTX, or what it says of the text.
Result<std::vector<std::byte>> assemble(const std::string &ptx);

} // namespace mk::rt::cuda

#endif // MKERNEL_RUNTIME_DEVICE_CUDA_PTXAS_H
