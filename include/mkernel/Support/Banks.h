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
constexpr int64_t spreadRow(int64_t bytes, int64_t unit = kBankBytes) {
  return ((bytes + unit - 1) / unit | 1) * unit;
}

/// Threads that read runs of `run` rows of a column begin at every so-manyth row: whatever its
/// length, these rows have the same few banks. So each `run` of rows begins two banks further, and
/// rows have an odd number of pairs of banks: threads still write two words at once.
constexpr int64_t kPairBytes = 2 * kBankBytes;

/// From the start of such rows, of so many bytes, to that of the next ones.
constexpr int64_t spreadRun(int64_t bytes, int64_t run) {
  return run * spreadRow(bytes, kPairBytes) + kPairBytes;
}

} // namespace mkernel

#endif // MKERNEL_SUPPORT_BANKS_H
