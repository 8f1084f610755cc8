//===- Copier.h - Copies without the copy engine -----------------*- C++ -*-===//
//
// In the variant for any strides the warps of the producer's warpgroup that have nothing else to do
// copy what no tensor map describes, and gather rows. What the
// producer asks of them, and how a warp brings the rows that are its own (CopierRows.cpp,
// CopierLists.cpp).
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_LIB_TRANSFORMS_THREAD_COPIER_H
#define MKERNEL_LIB_TRANSFORMS_THREAD_COPIER_H

#include "Expand.h"

namespace mlir::mk_thread {

/// A tile to be copied, in registers: the same in all lanes.
struct CopyRequest {
  /// What is asked: to copy, to copy the rows of a list, to remember those of a list, or to copy
  /// those.
  enum Kind : int64_t { Plain, Listed, Select, Selected };

  Value base;                    // i64: address of the tile
  Value start;                   // i64: that of the argument, or of a list's entry for row 0
  Value rowStride, columnStride; // i64, in bytes
  // Of rows, and of the bytes of a row, [from, left) exist; from here on i32.
  Value rowsFrom, rowsLeft, bytesFrom, bytesLeft;
  Value rows, chunks; // of the tile; chunks of a row
  Value size;         // of an element; 0 ends the copiers' work
  Value dest, full;   // the tile in its slot, the barrier that waits for it
  // Where the kernel has lists; [from, below) are entries of rows that exist, `listStride` i32 from
  // each other.
  Value kind, entriesFrom, entriesBelow, listStride;

  /// Words that come before `kind` have 8 bytes each, the others 4.
  static constexpr int64_t kWords = 17, kLongWords = 4, kWide = 13;
  std::array<Value *, kWords> words() {
    return {&base,      &start,     &rowStride,   &columnStride, &rowsFrom,  &rowsLeft,
            &bytesFrom, &bytesLeft, &rows,        &chunks,       &size,      &dest,
            &full,      &kind,      &entriesFrom, &entriesBelow, &listStride};
  }
  static constexpr int64_t offsetOf(int64_t word) {
    return word <= kWide ? 8 * word : 8 * kWide + 4 * (word - kWide);
  }
};
static_assert(CopyRequest::offsetOf(CopyRequest::kWords) <= kRequestBytes);

/// A warp of the copiers at work on a request.
struct Copier {
  Emitter &e;
  CopyRequest request;
  ArrayRef<int64_t> sizes; // bytes of elements that there are in the kernel
  Value warp, lane;        // the warp among the copiers
  int64_t warps;           // of these
  int64_t chunkBytes = e.sm.getChunk();
  bool byList = false; // the request has a list

  /// Starts to bring the warp's rows into the slot, as one group of copies: as they are to lie
  /// there, but for those that do not begin at a multiple of 4 bytes. Those of a list are brought
  /// at the end.
  void start();
  /// `arrive` waits for what was started; moves or adds what could not be brought to its place, all
  /// rows of a list.
  void finish(function_ref<void()> arrive);

  /// Remembers where the warp's rows of a list lie, for tiles of so many rows, in variables of 16
  /// bytes from the first row that an entry may name.
  void selectRows(int64_t rows, ArrayRef<Value> places);
  /// Starts to bring a tile of so many rows and chunks from there.
  void startSelected(int64_t rows, int64_t chunks, ArrayRef<Value> places);
  /// How many rows of a tile a lane brings pieces of.
  static int64_t countRows(int64_t rows, int64_t warps) {
    return llvm::divideCeil(rows, kItemLines * warps);
  }

private:
  static constexpr int64_t kItemLines = 4; // of a warp's item
  static constexpr int64_t kRoundItems =
      mk::kWarpThreads / kItemLines; // whose lines' ends the lanes hold, one each
  int64_t getStepLines();
  Value addressOf(Value row, Value byte);
  Value isDense();
  Value exists(Value row);
  Value loadEntry(Value row);
  Value isRow(Value entry);
  Value hasMisalignedRows();
  void fetchPieces(int64_t unit, bool whole);
  Value loadEnd(Value chunk, Value first);
  void shiftRows(function_ref<void()> arrive);
  Value isIncomplete(Value row, Value byte);
  Value mayBeIncomplete();
  void copyPiece(int64_t size, Value row, Value byte, Value to);
  void completePieces();
};

} // namespace mlir::mk_thread

#endif // MKERNEL_LIB_TRANSFORMS_THREAD_COPIER_H
