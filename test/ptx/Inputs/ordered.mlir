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
