// One op names what does not exist: argument `wrong` says which (0: none). The launch has to end with
// a report that says what is wrong, on every target. See cases.json and
// test/Integration/Host/bounds.test.
mk.mesh @mesh (gpu = ? via link)
!x = memref<?x?xf32, #mk.symmetric>
!sig = !mk.signal<2x3, sys, dynamic>

mk.kernel @bounds on @mesh dims(uniform M, uniform C) (
    in %wrong : memref<1xi32> [1], in %at : memref<?xi32> [M], in %a : !x [M, C], out %n : memref<?xi32> [M],
    out %y : !x [M, C], out %z : !x [M, C]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %minus = arith.constant -1 : index
  %s = mk.signals() : !sig
  %seen = mk.counters() : !mk.counter<2x3>
  %q = mk.queue(%c2) : !mk.queue<?x1xi32>
  mk.role @send ctas(1) {
    %me = mk.rank
    %number = memref.load %wrong[%c0] : memref<1xi32>
    %w = arith.index_cast %number : i32 to index
    %last = arith.subi %M, %c2 : index
    %half = arith.divui %C, %c2 : index

    // Rows and columns of both ends, a column of the signal.
    %w1 = arith.constant 1 : index
    %is1 = arith.cmpi eq, %w, %w1 : index
    %source = arith.select %is1, %last, %c0 : index
    %w2 = arith.constant 2 : index
    %is2 = arith.cmpi eq, %w, %w2 : index
    %before = arith.select %is2, %minus, %c0 : index
    %w3 = arith.constant 3 : index
    %is3 = arith.cmpi eq, %w, %w3 : index
    %dest = arith.select %is3, %last, %before : index
    %w4 = arith.constant 4 : index
    %is4 = arith.cmpi eq, %w, %w4 : index
    %wide = arith.addi %half, %c1 : index
    %column = arith.select %is4, %wide, %half : index
    %w5 = arith.constant 5 : index
    %is5 = arith.cmpi eq, %w, %w5 : index
    %raised = arith.select %is5, %c3, %c2 : index
    mk.put %a[%source, %c0][%c4, %half] to %y[%dest, %column] on %me signal %s[%c0, %raised]
        : !x to !x, !sig

    // The other dimension of the signal, in a wait; a column of a counter.
    %w6 = arith.constant 6 : index
    %is6 = arith.cmpi eq, %w, %w6 : index
    %waited = arith.select %is6, %c2, %c0 : index
    mk.wait %s[%waited, %c2] ge %c1 : !sig
    %w7 = arith.constant 7 : index
    %is7 = arith.cmpi eq, %w, %w7 : index
    %counted = arith.select %is7, %minus, %c0 : index
    %old = mk.count %seen[%c1, %counted] add %c1 : !mk.counter<2x3>

    // Scalars.
    %w8 = arith.constant 8 : index
    %is8 = arith.cmpi eq, %w, %w8 : index
    %read = arith.select %is8, %M, %c0 : index
    %value = memref.load %at[%read] : memref<?xi32>
    %w9 = arith.constant 9 : index
    %is9 = arith.cmpi eq, %w, %w9 : index
    %written = arith.select %is9, %minus, %c0 : index
    memref.store %value, %n[%written] : memref<?xi32>

    // Listed rows: of the source, of the destination. Negative ones are skipped.
    %w10 = arith.constant 10 : index
    %is10 = arith.cmpi eq, %w, %w10 : index
    %from = arith.select %is10, %M, %c0 : index
    %w11 = arith.constant 11 : index
    %is11 = arith.cmpi eq, %w, %w11 : index
    %to = arith.select %is11, %last, %c0 : index
    %skip = arith.constant -1 : i32
    %list = mk.load %at[%c0] valid(%c3) pad(%skip : i32) : memref<?xi32> -> tensor<4xi32>
    mk.put %a[%from, %c0][%c4, %C] rows(%list : tensor<4xi32>) to %z[%to, %c0] on %me : !x to !x

    // Of two arguments the one that is meant.
    %w12 = arith.constant 12 : index
    %is12 = arith.cmpi eq, %w, %w12 : index
    %behind = arith.select %is12, %M, %c0 : index
    %either = mk.select %is12, %z, %a : !x, !x -> memref<?x?xf32>
    mk.put %either[%behind, %c0][%c1, %C] to %z[%c4, %c0] on %me : memref<?x?xf32> to !x

    // More records than there is room for.
    %w13 = arith.constant 13 : index
    %is13 = arith.cmpi eq, %w, %w13 : index
    %records = arith.select %is13, %c3, %c2 : index
    scf.for %i = %c0 to %records step %c1 {
      mk.push %q, (%i) : !mk.queue<?x1xi32>
    }
  }
}
