//===- Banks.h - Where elements lie that change rows and columns -*- C++ -*-===//
#ifndef MKERNEL_SUPPORT_BANKS_H
#define MKERNEL_SUPPORT_BANKS_H

#include <cstdint>

namespace mkernel {

/// Shared memory has banks of four bytes, of which there are 32. What threads write along rows and
/// read along columns would be in one bank: rows of elements of up to four bytes have an odd number
/// of words, so that columns go from bank to bank.
constexpr int64_t kBankBytes = 4;

/// From the start of a row of so many bytes to that of the next one.
constexpr int64_t spreadRow(int64_t bytes) {
  return ((bytes + kBankBytes - 1) / kBankBytes | 1) * kBankBytes;
}

} // namespace mkernel

#endif // MKERNEL_SUPPORT_BANKS_H
