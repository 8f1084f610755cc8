//===- Banks.h - Where elements lie that change rows and columns -*- C++ -*-===//
#ifndef MKERNEL_SUPPORT_BANKS_H
#define MKERNEL_SUPPORT_BANKS_H

#include <cstdint>

namespace mkernel {

/// Shared memory has banks of four bytes, which begin again after 128. What threads write along
/// rows and read along columns would be in one bank: each 128 bytes are followed by four of
/// padding, and each 1024 by four more, so that neither rows side by side nor groups of eight meet.
constexpr int64_t kBankBytes = 4, kBanksBytes = 128, kGroupBytes = 1024;

/// Where byte `at` of a tile lies.
constexpr int64_t spreadOverBanks(int64_t at) {
  return at + (at / kBanksBytes + at / kGroupBytes) * kBankBytes;
}

/// How many of the bytes have room in so many.
constexpr int64_t fitSpread(int64_t room) {
  return room * kGroupBytes / spreadOverBanks(kGroupBytes) / kBanksBytes * kBanksBytes;
}

/// Elements that can lie so: those that a bank holds.
constexpr bool isSpreadOverBanks(int64_t elementBytes) { return elementBytes <= kBankBytes; }

} // namespace mkernel

#endif // MKERNEL_SUPPORT_BANKS_H
