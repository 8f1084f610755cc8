//===- Npy.h - NumPy's array files ------------------------------*- C++ -*-===//
#ifndef MKERNEL_TOOLS_MKRUN_NPY_H
#define MKERNEL_TOOLS_MKRUN_NPY_H

#include "mkernel/Runtime/ElementType.h"
#include "mkernel/Runtime/Status.h"

#include <vector>

namespace mk::run {

/// An array, row-major. `type` is what the file holds; NumPy has no bf16, which
/// is written as '<u2' and read back from it (or from any float).
struct NpyArray {
  std::vector<int64_t> shape;
  rt::ElementType type = rt::ElementType::f64;
  bool rawBits = false; // '<u2': 16-bit patterns of the argument's own type
  std::vector<std::byte> data;

  int64_t elements() const;
};

/// Reads versions 1 to 3 of the format: little-endian f2, f4, f8, i1, i2, i4,
/// i8, bool and u2, C or Fortran order.
rt::Result<NpyArray> readNpy(const std::string &path);

/// Writes `data` (row-major, of `type`) as version 1.0. f8 types are widened
/// to f32.
rt::Status writeNpy(const std::string &path, rt::ElementType type,
                    const std::vector<int64_t> &shape, const void *data);

/// Stores the array as elements of `type`; InvalidArgument when bits cannot be
/// read as that type.
rt::Status convertNpy(const NpyArray &array, rt::ElementType type, void *out);

} // namespace mk::run

#endif // MKERNEL_TOOLS_MKRUN_NPY_H
