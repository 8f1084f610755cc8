// Stores that have to wait for other threads of their CTA: each kernel needs an order, which is easily missed.
mk.mesh @mesh (gpu = ? via link)
!b = memref<64x64xbf16>

// A loop of no iterations between a load and a store of rows further down: the meeting in it does not take place.
mk.kernel @zero on @mesh (inout %x : memref<72x64xf32> [72, 64], in %n : memref<1xi32> [1]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %s = mk.signals() : !mk.signal<8, gpu, arrivals = 1>
  mk.role @r ctas(1) {
    %t = mk.load %x[%c0, %c0] : memref<72x64xf32> -> tensor<64x64xf32>
    %m = memref.load %n[%c0] : memref<1xi32>
    %k = arith.index_cast %m : i32 to index
    scf.for %i = %c0 to %k step %c1 {
      mk.signal %s[%i] : !mk.signal<8, gpu, arrivals = 1>
    }
    mk.store %t, %x[%c8, %c0] : tensor<64x64xf32>, memref<72x64xf32>
  }
}

// A row is loaded, taken by all threads (spread), and stored where it was, by those that own its elements.
mk.kernel @spread on @mesh (inout %v : memref<64xf32> [64], in %a : memref<64x64xf32> [64, 64], out %y : memref<64x64xf32> [64, 64]) {
  %c0 = arith.constant 0 : index
  %one = arith.constant dense<1.0> : tensor<64xf32>
  mk.role @r ctas(1) {
    %r = mk.load %v[%c0] : memref<64xf32> -> tensor<64xf32>
    %b = mk.broadcast %r dims [0] : tensor<64xf32> -> tensor<64x64xf32>
    %r2 = arith.addf %r, %one : tensor<64xf32>
    mk.store %r2, %v[%c0] : tensor<64xf32>, memref<64xf32>
    %t = mk.load %a[%c0, %c0] : memref<64x64xf32> -> tensor<64x64xf32>
    %s = arith.addf %t, %b : tensor<64x64xf32>
    mk.store %s, %y[%c0, %c0] : tensor<64x64xf32>, memref<64x64xf32>
  }
}

// The same place is loaded in a loop and stored behind it, by other threads: layouts differ (one goes with bf16).
mk.kernel @behind on @mesh (inout %x : memref<64x64xf32> [64, 64], in %n : memref<1xi32> [1], in %w : memref<64x64xf32> [64, 64], out %y : memref<64x64xbf16> [64, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  mk.role @r ctas(1) {
    %m = memref.load %n[%c0] : memref<1xi32>
    %k = arith.index_cast %m : i32 to index
    %new = mk.load %w[%c0, %c0] : memref<64x64xf32> -> tensor<64x64xf32>
    %sum = scf.for %i = %c0 to %k step %c1 iter_args(%s = %zero) -> (tensor<64x64xf32>) {
      %t = mk.load %x[%c0, %c0] : memref<64x64xf32> -> tensor<64x64xf32>
      %a = arith.addf %s, %t : tensor<64x64xf32>
      scf.yield %a : tensor<64x64xf32>
    }
    %tr = arith.truncf %sum : tensor<64x64xf32> to tensor<64x64xbf16>
    mk.store %new, %x[%c0, %c0] : tensor<64x64xf32>, memref<64x64xf32>
    mk.store %tr, %y[%c0, %c0] : tensor<64x64xbf16>, memref<64x64xbf16>
  }
}

// A loop over items inside of another one runs in order, by one CTA: rows that overlap from one iteration to the next.
mk.kernel @inner on @mesh (out %y : memref<2x64x64xf32> [2, 64, 64]) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c6 = arith.constant 6 : index
  %c4 = arith.constant 4 : index
  %one = arith.constant dense<-1.0> : tensor<64x64xf32>
  %sig = mk.signals() : !mk.signal<2, gpu, arrivals = 1>
  mk.role @r ctas(2) {
    mk.foreach (%g) in (%c2) schedule(static) {
      mk.store %one, %y[%g, %c0, %c0] : tensor<64x64xf32>, memref<2x64x64xf32>
      mk.signal %sig[%g] : !mk.signal<2, gpu, arrivals = 1>
      mk.foreach (%i) in (%c6) {
        %n = arith.index_cast %i : index to i32
        %f = arith.sitofp %n : i32 to f32
        %t = tensor.splat %f : tensor<8x64xf32>
        %row = arith.muli %i, %c4 : index
        mk.store %t, %y[%g, %row, %c0] : tensor<8x64xf32>, memref<2x64x64xf32>
      }
    }
  }
}

// One CTA, items from the last one to the first: each moves its rows down, behind the load of the item before.
mk.kernel @descend on @mesh (inout %x : memref<72x260xf32> [72, 260]) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  mk.role @r ctas(1) {
    mk.foreach (%i) in (%c8) schedule(static) order(longest_first = 1) {
      %row = arith.muli %i, %c8 : index
      %to = arith.addi %row, %c8 : index
      %t = mk.load %x[%row, %c0] : memref<72x260xf32> -> tensor<8x256xf32>
      mk.store %t, %x[%to, %c4] : tensor<8x256xf32>, memref<72x260xf32>
    }
  }
}

// A row beside accumulators: several threads have each of its elements, so that one stores while others have not loaded.
mk.kernel @columns on @mesh (in %a : !b [64, 64], in %b : !b [64, 64], inout %v : memref<64xf32> [64], out %y : memref<64x64xf32> [64, 64]) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %one = arith.constant dense<1.0> : tensor<64xf32>
  mk.role @r ctas(1) {
    %row = mk.load %v[%c0] : memref<64xf32> -> tensor<64xf32>
    %rows = mk.broadcast %row dims [0] : tensor<64xf32> -> tensor<64x64xf32>
    %row2 = arith.addf %row, %one : tensor<64xf32>
    mk.store %row2, %v[%c0] : tensor<64xf32>, memref<64xf32>
    %l = mk.load %a[%c0, %c0] : !b -> tensor<64x64xbf16>
    %r = mk.load %b[%c0, %c0] : !b -> tensor<64x64xbf16>
    %d = mk.dot %l, %r, %zero transpose_b : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    %sum = arith.addf %d, %rows : tensor<64x64xf32>
    mk.store %sum, %y[%c0, %c0] : tensor<64x64xf32>, memref<64x64xf32>
  }
}

// A tile that only its item takes, behind products, as other elements: it is loaded ahead of them.
mk.kernel @own on @mesh (in %a : !b [64, 64], in %b : !b [64, 64], out %x : memref<4x64x64xf32> [4, 64, 64], inout %y : memref<4x64x64xf32> [4, 64, 64], out %h : memref<4x64x64xbf16> [4, 64, 64]) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  mk.role @r ctas(2) {
    mk.foreach (%i) in (%c4) schedule(ticket) {
      %acc = mk.fold (%t) in (%c4) iter(%s = %zero) : tensor<64x64xf32> {
        %l = mk.load %a[%c0, %c0] : !b -> tensor<64x64xbf16>
        %r = mk.load %b[%c0, %c0] : !b -> tensor<64x64xbf16>
        %d = mk.dot %l, %r, %s transpose_b : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
        mk.yield %d : tensor<64x64xf32>
      }
      mk.store %acc, %x[%i, %c0, %c0] : tensor<64x64xf32>, memref<4x64x64xf32>
      %v = mk.load %y[%i, %c0, %c0] : memref<4x64x64xf32> -> tensor<64x64xf32>
      %g = arith.truncf %v : tensor<64x64xf32> to tensor<64x64xbf16>
      mk.store %g, %h[%i, %c0, %c0] : tensor<64x64xbf16>, memref<4x64x64xbf16>
    }
  }
}

// Two CTAs: items 0, 2, 4, 6 are the first one's, and rows of two that follow each other overlap.
mk.kernel @items on @mesh (out %y : memref<2x64x260xf32> [2, 64, 260]) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  mk.role @r ctas(2) {
    mk.foreach (%i) in (%c8) schedule(static) {
      %half = arith.remui %i, %c2 : index
      %n = arith.divui %i, %c2 : index
      %k = arith.index_cast %i : index to i32
      %f = arith.sitofp %k : i32 to f32
      %t = tensor.splat %f : tensor<8x256xf32>
      %row = arith.muli %n, %c4 : index
      mk.store %t, %y[%half, %row, %n] : tensor<8x256xf32>, memref<2x64x260xf32>
    }
  }
}

// A rank that data names may be the own one: what is stored there comes behind the load of rows further up.
mk.kernel @self on @mesh (inout %x : memref<72x64xf32, #mk.symmetric> [72, 64], in %n : memref<1xi32> [1]) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  mk.role @r ctas(1) {
    %t = mk.load %x[%c0, %c0] : memref<72x64xf32, #mk.symmetric> -> tensor<64x64xf32>
    %m = memref.load %n[%c0] : memref<1xi32>
    %p = arith.index_cast %m : i32 to index
    mk.store %t, %x[%c8, %c0] on %p : tensor<64x64xf32>, memref<72x64xf32, #mk.symmetric>
  }
}

// A loop ends behind its condition, which loads once more what its body has ordered.
mk.kernel @while on @mesh (inout %x : memref<72x64xf32> [72, 64], out %y : memref<64x64xf32> [64, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c8 = arith.constant 8 : index
  mk.role @r ctas(1) {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %end:2 = scf.while (%i = %c0, %s = %zero) : (index, tensor<64x64xf32>) -> (index, tensor<64x64xf32>) {
      %t = mk.load %x[%c0, %c0] : memref<72x64xf32> -> tensor<64x64xf32>
      %sum = arith.addf %s, %t : tensor<64x64xf32>
      %more = arith.cmpi ult, %i, %c3 : index
      scf.condition(%more) %i, %sum : index, tensor<64x64xf32>
    } do {
    ^bb0(%i: index, %s: tensor<64x64xf32>):
      mk.fence
      %next = arith.addi %i, %c1 : index
      scf.yield %next, %s : index, tensor<64x64xf32>
    }
    mk.store %end#1, %x[%c8, %c0] : tensor<64x64xf32>, memref<72x64xf32>
    mk.store %end#1, %y[%c0, %c0] : tensor<64x64xf32>, memref<64x64xf32>
  }
}

// No order: items that differ lie apart, by their quotient and their rest, in groups, and under a condition.
mk.kernel @apart on @mesh dims(uniform M, uniform N) (out %y : memref<?x?xf32> [M, N], out %z : memref<?x?xf32> [M, N], out %b : memref<?xf32> [M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %mt = arith.ceildivui %M, %c64 : index
  %nt = arith.ceildivui %N, %c64 : index
  %m2 = arith.ceildivui %M, %c128 : index
  %all = arith.muli %mt, %nt : index
  %one = arith.constant dense<1.0> : tensor<64x64xf32>
  %few = arith.constant dense<1.0> : tensor<64xf32>
  mk.role @r ctas(rest) {
    mk.foreach (%i) in (%all) schedule(static) {
      %group = arith.muli %nt, %c8 : index
      %g = arith.divui %i, %group : index
      %in = arith.remui %i, %group : index
      %first = arith.muli %g, %c8 : index
      %left = arith.subi %mt, %first : index
      %size = arith.minui %left, %c8 : index
      %r = arith.remui %in, %size : index
      %m = arith.addi %first, %r : index
      %n = arith.divui %in, %size : index
      %row = arith.muli %m, %c64 : index
      %column = arith.muli %n, %c64 : index
      mk.store %one, %y[%row, %column] : tensor<64x64xf32>, memref<?x?xf32>
    }
    mk.foreach (%m, %n, %half) in (%m2, %nt, %c2) schedule(static) order(raster = 4) {
      %two = arith.muli %m, %c2 : index
      %at = arith.addi %two, %half : index
      %row = arith.muli %at, %c64 : index
      %column = arith.muli %n, %c64 : index
      mk.store %one, %z[%row, %column] : tensor<64x64xf32>, memref<?x?xf32>
      %isFirst = arith.cmpi eq, %column, %c0 : index
      scf.if %isFirst {
        mk.store %few, %b[%row] : tensor<64xf32>, memref<?xf32>
      }
    }
  }
}

// A signed rest may be negative: items 0 and 1 have the rests 1 and -1, and the same rows.
mk.kernel @negative on @mesh dims(uniform M) (out %y : memref<?x64xf32> [M, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %one = arith.constant dense<1.0> : tensor<4x64xf32>
  mk.role @r ctas(1) {
    mk.foreach (%i) in (%M) schedule(static) order(longest_first = 1) {
      %twice = arith.muli %i, %c2 : index
      %less = arith.subi %c1, %twice : index
      %rest = arith.remsi %less, %c2 : index
      %by4 = arith.muli %rest, %c4 : index
      %by8 = arith.muli %i, %c8 : index
      %row = arith.addi %by4, %by8 : index
      mk.store %one, %y[%row, %c0] : tensor<4x64xf32>, memref<?x64xf32>
    }
  }
}

// By a negative number there are no fewer rests: items (0, 1) and (1, 0) have the same rows and columns.
mk.kernel @divisor on @mesh (out %y : memref<128x128xf32> [128, 128]) {
  %c0 = arith.constant 0 : index
  %cm4 = arith.constant -4 : index
  %c8 = arith.constant 8 : index
  %one = arith.constant dense<1.0> : tensor<8x8xf32>
  mk.role @r ctas(1) {
    mk.foreach (%i, %j) in (%c8, %c8) schedule(static) {
      %rest = arith.remsi %i, %cm4 : index
      %r8 = arith.muli %rest, %c8 : index
      %i8 = arith.muli %i, %c8 : index
      %j8 = arith.muli %j, %c8 : index
      %row = arith.addi %r8, %j8 : index
      %column = arith.addi %i8, %j8 : index
      mk.store %one, %y[%row, %column] : tensor<8x8xf32>, memref<128x128xf32>
    }
  }
}
