//===- SMTypes.td - Layouts and channels --------------------*- tablegen -*-===//
#ifndef MKERNEL_SM_TYPES
#define MKERNEL_SM_TYPES

include "SMBase.td"

//===----------------------------------------------------------------------===//
// Layouts: encodings of fragments
//===----------------------------------------------------------------------===//

class MkSM_Attr<string name, string mnemonic_> : AttrDef<MkSM_Dialect, name> {
  let mnemonic = mnemonic_;
}

def MkSM_MmaAttr : MkSM_Attr<"Mma", "mma"> {
  let summary = "accumulators of products";
  let description = [{
    A tile of M x N over `warpgroups` warpgroups: the rows are cut into that many equal
    parts of M / warpgroups rows, a multiple of 64, one for each warpgroup. Inside a block of 64
    rows thread t of a warpgroup (warp w = t / 32, lane l = t % 32) holds, as register
    i = 0 .. N/2 - 1, row 16 * w + l / 4 + 8 * ((i / 2) % 2) and column
    8 * (i / 4) + 2 * (l % 4) + i % 2; registers of further blocks follow. N is a
    multiple of 8. (PTX ISA, "Register fragments for wgmma.mma_async", matrix D.)

    ```mlir
    tensor<128x256xf32, #mk_sm.mma<warpgroups = 2>>
    ```
  }];
  let parameters = (ins "int64_t":$warpgroups);
  let assemblyFormat = "`<` `warpgroups` `=` $warpgroups `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Of a block of a warpgroup, and of those in which four registers follow each other. They
    /// define the layout: accumulators of another matrix unit have a layout of their own.
    static constexpr int64_t kRows = 64, kColumns = 8;
  }];
}

def MkSM_TransposedAttr : MkSM_Attr<"Transposed", "transposed"> {
  let summary = "accumulators with rows and columns exchanged";
  let description = [{
    A thread holds element (r, c) of the tile, in the same register, where it would hold
    element (c, r) of the transposed tile with layout `of`, which is `#mk_sm.mma`. So `mk.transpose`
    from one of the two layouts to the other moves nothing.

    ```mlir
    tensor<16x128xf32, #mk_sm.transposed<of = #mk_sm.mma<warpgroups = 2>>>
    ```
  }];
  let parameters = (ins "::mlir::Attribute":$of);
  let assemblyFormat = "`<` `of` `=` $of `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    int64_t getWarpgroups() const;
  }];
}

def MkSM_SliceAttr : MkSM_Attr<"Slice", "slice"> {
  let summary = "what is left of accumulators without one of their dimensions";
  let description = [{
    The layout of a tile that a reduction along `axis` of a tile with layout `of` gives, or
    that a broadcast along it takes: each thread holds the elements that it would meet
    in the parent, each once, in the order of the parent's registers. `of` is `#mk_sm.mma`;
    what is left of other layouts is dealt out anew.

    ```mlir
    tensor<128xf32, #mk_sm.slice<axis = 1, of = #mk_sm.mma<warpgroups = 2>>>
    ```
  }];
  let parameters = (ins "int64_t":$axis, "::mlir::Attribute":$of);
  let assemblyFormat = "`<` `axis` `=` $axis `,` `of` `=` $of `>`";
  let genVerifyDecl = 1;
}

def MkSM_BlockedAttr : MkSM_Attr<"Blocked", "blocked"> {
  let summary = "row-major runs dealt out to threads";
  let description = [{
    The tile in row-major order is cut into runs of `vector` elements; run r belongs to
    thread r % threads, as its (r / threads)-th. Where the runs do not go round, the last ones
    are missing in the threads that have none.

    ```mlir
    tensor<1x7168xbf16, #mk_sm.blocked<threads = 256, vector = 8>>
    ```
  }];
  let parameters = (ins "int64_t":$threads, "int64_t":$vector);
  let assemblyFormat = "`<` `threads` `=` $threads `,` `vector` `=` $vector `>`";
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// Channels
//===----------------------------------------------------------------------===//

class MkSM_Type<string name, string mnemonic_> : TypeDef<MkSM_Dialect, name> {
  let mnemonic = mnemonic_;
}

def MkSM_RingType : MkSM_Type<"Ring", "ring"> {
  let summary = "a ring of slots of staged tiles";
  let description = [{
    `depth` slots in shared memory, each with room for the tiles listed. One partition
    fills slots, another one reads them, both in order. The depth is `?` until
    mk-sm-size-rings has chosen it.

    A staged tile of R x C elements lies as columns of chunks of 128 bytes: chunk j holds
    elements [j * 128 / size, (j+1) * 128 / size) of all rows, R rows of 128 bytes with the 128-byte
    swizzle (PTX ISA, "Swizzling modes"), chunk after chunk. So C is a multiple of
    128 / size. Dimensions before the last two must be 1.

    A tile of one dimension lies as it is, element behind element, of 32 or 64 bits each. Such tiles
    come last in a slot, where the period of the swizzle does not matter.

    ```mlir
    !mk_sm.ring<4, tensor<128x64xbf16>, tensor<256x64xbf16>>
    ```
  }];
  let parameters = (ins "int64_t":$depth, ArrayRefParameter<"::mlir::Type">:$tiles);
  let extraClassDeclaration = [{
    bool hasDepth() const { return !::mlir::ShapedType::isDynamic(getDepth()); }
    /// Bytes of one slot.
    int64_t getSlotBytes(int64_t chunk) const;
    RingType withDepth(int64_t depth) const { return get(getContext(), depth, getTiles()); }
  }];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def MkSM_SlotType : MkSM_Type<"Slot", "slot"> {
  let summary = "one slot of a ring";
  let description = [{
    With the tiles that its ring lists, or with others that have room in their place.

    ```mlir
    !mk_sm.slot<tensor<128x64xbf16>, tensor<256x64xbf16>>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::Type">:$tiles);
  let assemblyFormat = "`<` $tiles `>`";
  let genVerifyDecl = 1;
}

def MkSM_StagedType : MkSM_Type<"Staged", "staged"> {
  let summary = "a tile in shared memory";
  let description = [{
    ```mlir
    !mk_sm.staged<tensor<128x64xbf16>>
    ```
  }];
  let parameters = (ins "::mlir::RankedTensorType":$tile);
  let assemblyFormat = "`<` $tile `>`";
  let genVerifyDecl = 1;
}

def MkSM_MailboxType : MkSM_Type<"Mailbox", "mailbox"> {
  let summary = "a ring of scalars";
  let description = [{
    `depth` slots of `words` index values, from one partition to another.

    ```mlir
    !mk_sm.mailbox<2, words = 1>
    ```
  }];
  let parameters = (ins "int64_t":$depth, "int64_t":$words);
  let assemblyFormat = "`<` $depth `,` `words` `=` $words `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    static constexpr int64_t kMostWords = 16;
  }];
}

def MkSM_StagingType : MkSM_Type<"Staging", "staging"> {
  let summary = "shared memory through which fragments leave";
  let description = [{
    For each warpgroup of the partition that uses it `buffers` buffers of 64 rows of 128
    bytes; a store fills one while the copy engine still empties another.

    ```mlir
    !mk_sm.staging<2>
    ```
  }];
  let parameters = (ins "int64_t":$buffers);
  let assemblyFormat = "`<` $buffers `>`";
  let genVerifyDecl = 1;
}

def MkSM_CursorType : MkSM_Type<"Cursor", "cursor"> {
  let summary = "where a partition is in a channel";
}

#endif // MKERNEL_SM_TYPES
