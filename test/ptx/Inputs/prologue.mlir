// Products of what threads have worked on before. two_passes: rows of X less their means, by two loops over them. gated: G * U.
// gathered: sums of rows that come from all ranks, and their product.
!x = tensor<64x64xbf16>
!wide = tensor<64x64xf32>
!row = tensor<64xf32>
!rows = memref<?x?xbf16, #mk.symmetric>
!ready = !mk.signal<?x?, sys, arrivals = ?>
mk.mesh @mesh (gpu = ? via link)

mk.kernel @two_passes on @mesh dims(uniform M, uniform N, uniform K) (
    in %x : memref<?x?xbf16> [M, K] split [(gpu), ()], in %w : memref<?x?xbf16> [N, K],
    out %c : memref<?x?xf32> [M, N] split [(gpu), ()]) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %rows = memref.dim %x, %c0 : memref<?x?xbf16>
  %row_tiles = arith.ceildivui %rows, %c64 : index
  %column_tiles = arith.ceildivui %N, %c64 : index
  %k_tiles = arith.ceildivui %K, %c64 : index
  %zero = arith.constant dense<0.0> : !wide
  %none = arith.constant dense<0.0> : !row
  %number = arith.index_cast %K : index to i32
  %length = arith.sitofp %number : i32 to f32
  %lengths = tensor.splat %length : !row
  mk.role @gemm ctas(rest) {
    mk.foreach (%m, %n) in (%row_tiles, %column_tiles) {
      %r = arith.muli %m, %c64 : index
      %column = arith.muli %n, %c64 : index
      %sum = mk.fold (%i) in (%k_tiles) iter(%s0 = %none) combine(add) : !row {
        %k = arith.muli %i, %c64 : index
        %t = mk.load %x[%r, %k] : memref<?x?xbf16> -> !x
        %v = arith.extf %t : !x to !wide
        %part = mk.reduce add %v axis 1 : !wide -> !row
        %s1 = arith.addf %s0, %part : !row
        mk.yield %s1 : !row
      }
      %mean = arith.divf %sum, %lengths : !row
      %means = mk.broadcast %mean dims [1] : !row -> !wide
      %acc = mk.fold (%i) in (%k_tiles) iter(%a0 = %zero) combine(add) : !wide {
        %k = arith.muli %i, %c64 : index
        %t = mk.load %x[%r, %k] : memref<?x?xbf16> -> !x
        %v = arith.extf %t : !x to !wide
        %less = arith.subf %v, %means : !wide
        %y = arith.truncf %less : !wide to !x
        %z = mk.load %w[%column, %k] : memref<?x?xbf16> -> !x
        %a1 = mk.dot %y, %z, %a0 transpose_b : !x, !x, !wide
        mk.yield %a1 : !wide
      }
      mk.store %acc, %c[%r, %column] : !wide, memref<?x?xf32>
    }
  }
}

mk.kernel @gated on @mesh dims(uniform M, uniform N, uniform K) (
    in %g : memref<?x?xbf16> [M, K] split [(gpu), ()], in %u : memref<?x?xbf16> [M, K] split [(gpu), ()],
    in %w : memref<?x?xbf16> [N, K], out %c : memref<?x?xf32> [M, N] split [(gpu), ()]) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %rows = memref.dim %g, %c0 : memref<?x?xbf16>
  %row_tiles = arith.ceildivui %rows, %c64 : index
  %column_tiles = arith.ceildivui %N, %c64 : index
  %k_tiles = arith.ceildivui %K, %c64 : index
  %zero = arith.constant dense<0.0> : !wide
  mk.role @gemm ctas(rest) {
    mk.foreach (%m, %n) in (%row_tiles, %column_tiles) {
      %r = arith.muli %m, %c64 : index
      %column = arith.muli %n, %c64 : index
      %acc = mk.fold (%i) in (%k_tiles) iter(%a0 = %zero) combine(add) : !wide {
        %k = arith.muli %i, %c64 : index
        %s = mk.load %g[%r, %k] : memref<?x?xbf16> -> !x
        %sw = arith.extf %s : !x to !wide
        %t = mk.load %u[%r, %k] : memref<?x?xbf16> -> !x
        %tw = arith.extf %t : !x to !wide
        %product = arith.mulf %sw, %tw : !wide
        %y = arith.truncf %product : !wide to !x
        %z = mk.load %w[%column, %k] : memref<?x?xbf16> -> !x
        %a1 = mk.dot %y, %z, %a0 transpose_b : !x, !x, !wide
        mk.yield %a1 : !wide
      }
      mk.store %acc, %c[%r, %column] : !wide, memref<?x?xf32>
    }
  }
}

mk.kernel @gathered on @mesh sizes(gpu) dims(uniform M, uniform N, uniform K) (
    in %x : memref<?x?xbf16> [M, K] split [(gpu), ()], in %w : memref<?x?xbf16> [N, K] split [(gpu), ()],
    scratch %full : !rows [M, K], out %c : memref<?x?xf32> [M, N] split [(), (gpu)]) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %me = mk.rank
  %world = mk.size
  %own = memref.dim %x, %c0 : memref<?x?xbf16>
  %columns = memref.dim %w, %c0 : memref<?x?xbf16>
  %each = arith.ceildivui %M, %world : index
  %row_tiles = arith.ceildivui %each, %c64 : index
  %own_tiles = arith.ceildivui %own, %c64 : index
  %column_tiles = arith.ceildivui %columns, %c64 : index
  %k_tiles = arith.ceildivui %K, %c64 : index
  %zero = arith.constant dense<0.0> : !wide
  %none = arith.constant dense<0.0> : !row
  %got = mk.signals(%world, %row_tiles) arrivals(%k_tiles) : !ready
  mk.role @push ctas(1) {
    mk.foreach (%i, %j) in (%own_tiles, %k_tiles) {
      %r = arith.muli %i, %c64 : index
      %k = arith.muli %j, %c64 : index
      %left = arith.subi %own, %r : index
      %t = mk.load %x[%r, %k] : memref<?x?xbf16> -> !x
      %first = arith.muli %me, %each : index
      %at = arith.addi %first, %r : index
      mk.store %t, %full[%at, %k] valid(%left, %c64) : !x, !rows
      mk.signal %got[%me, %i] : !ready
      mk.foreach_peer (%p) along gpu {
        mk.store %t, %full[%at, %k] valid(%left, %c64) on %p signal %got[%me, %i] : !x, !rows, !ready
      }
    }
  }
  mk.role @gemm ctas(rest) {
    mk.foreach (%s, %m, %n) in (%world, %row_tiles, %column_tiles) {
      %r0 = arith.muli %m, %c64 : index
      %first = arith.muli %s, %each : index
      %r = arith.addi %first, %r0 : index
      %left = arith.subi %each, %r0 : index
      %column = arith.muli %n, %c64 : index
      %next = arith.addi %first, %each : index
      %end = arith.minui %next, %M : index
      %has = arith.cmpi ult, %r, %end : index
      scf.if %has {
        mk.wait %got[%s, %m] ge %k_tiles : !ready
        %acc, %sum = mk.fold (%i) in (%k_tiles) iter(%a0 = %zero, %s0 = %none) : !wide, !row {
          %k = arith.muli %i, %c64 : index
          %t = mk.load %full[%r, %k] valid(%left, %c64) : !rows -> !x
          %z = mk.load %w[%column, %k] : memref<?x?xbf16> -> !x
          %a1 = mk.dot %t, %z, %a0 transpose_b : !x, !x, !wide
          %v = arith.extf %t : !x to !wide
          %part = mk.reduce add %v axis 1 : !wide -> !row
          %s1 = arith.addf %s0, %part : !row
          mk.yield %a1, %s1 : !wide, !row
        }
        %sums = mk.broadcast %sum dims [1] : !row -> !wide
        %total = arith.addf %acc, %sums : !wide
        mk.store %total, %c[%r, %column] valid(%left, %c64) : !wide, memref<?x?xf32>
      }
    }
  }
}

// Weights of 8 bits that other ranks put here, and that are converted in front of the product.
mk.kernel @converted on @mesh sizes(gpu) dims(uniform M, uniform N, uniform K) (
    in %q : memref<?x?xi8, #mk.symmetric> [N, K] split [(gpu), ()], in %x : memref<?x?xbf16> [M, K],
    scratch %all : memref<?x?xi8, #mk.symmetric> [N, K], out %c : memref<?x?xf32> [N, M]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %me = mk.rank
  %world = mk.size
  %own = memref.dim %q, %c0 : memref<?x?xi8, #mk.symmetric>
  %each = arith.ceildivui %N, %world : index
  %tiles = arith.ceildivui %N, %c64 : index
  %column_tiles = arith.ceildivui %M, %c64 : index
  %k_tiles = arith.ceildivui %K, %c128 : index
  %zero = arith.constant dense<0.0> : !wide
  %got = mk.signals(%world) arrivals(%c1) : !mk.signal<?, sys, arrivals = ?>
  mk.role @push ctas(1) {
    mk.foreach (%i) in (%c1) {
      %at = arith.muli %me, %each : index
      mk.foreach_peer (%p) along gpu including self {
        mk.put %q[%c0, %c0][%own, %K] to %all[%at, %c0] on %p signal %got[%me] : memref<?x?xi8, #mk.symmetric>
            to memref<?x?xi8, #mk.symmetric>, !mk.signal<?, sys, arrivals = ?>
      }
    }
  }
  mk.role @gemm ctas(rest) {
    mk.foreach (%m, %n) in (%tiles, %column_tiles) {
      %r = arith.muli %m, %c64 : index
      %column = arith.muli %n, %c64 : index
      scf.for %s = %c0 to %world step %c1 {
        mk.wait %got[%s] ge %c1 : !mk.signal<?, sys, arrivals = ?>
      }
      %acc = mk.fold (%i) in (%k_tiles) iter(%a0 = %zero) : !wide {
        %k = arith.muli %i, %c128 : index
        %t = mk.load %all[%r, %k] : memref<?x?xi8, #mk.symmetric> -> tensor<64x128xi8>
        %y = arith.sitofp %t : tensor<64x128xi8> to tensor<64x128xbf16>
        %z = mk.load %x[%column, %k] : memref<?x?xbf16> -> tensor<64x128xbf16>
        %a1 = mk.dot %y, %z, %a0 transpose_b : tensor<64x128xbf16>, tensor<64x128xbf16>, !wide
        mk.yield %a1 : !wide
      }
      mk.store %acc, %c[%r, %column] : !wide, memref<?x?xf32>
    }
  }
}

func.func private @product(%a: tensor<?x?xf64>, %b: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f64
  %m = tensor.dim %a, %c0 : tensor<?x?xf64>
  %n = tensor.dim %b, %c0 : tensor<?x?xf64>
  %empty = tensor.empty(%m, %n) : tensor<?x?xf64>
  %init = linalg.fill ins(%zero : f64) outs(%empty : tensor<?x?xf64>) -> tensor<?x?xf64>
  %c = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : tensor<?x?xf64>, tensor<?x?xf64>) outs(%init : tensor<?x?xf64>) -> tensor<?x?xf64>
  return %c : tensor<?x?xf64>
}

func.func private @sums(%a: tensor<?x?xf64>) -> tensor<?xf64> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f64
  %m = tensor.dim %a, %c0 : tensor<?x?xf64>
  %empty = tensor.empty(%m) : tensor<?xf64>
  %init = linalg.fill ins(%zero : f64) outs(%empty : tensor<?xf64>) -> tensor<?xf64>
  %sum = linalg.reduce ins(%a : tensor<?x?xf64>) outs(%init : tensor<?xf64>) dimensions = [1] (%x: f64, %old: f64) {
    %new = arith.addf %x, %old : f64
    linalg.yield %new : f64
  }
  return %sum : tensor<?xf64>
}

func.func @two_passes_reference(%x: tensor<?x?xf64>, %w: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %c1 = arith.constant 1 : index
  %k = tensor.dim %x, %c1 : tensor<?x?xf64>
  %number = arith.index_cast %k : index to i64
  %length = arith.sitofp %number : i64 to f64
  %sum = func.call @sums(%x) : (tensor<?x?xf64>) -> tensor<?xf64>
  %less = linalg.generic {indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m)>, affine_map<(m, k) -> (m, k)>],
                          iterator_types = ["parallel", "parallel"]}
      ins(%x, %sum : tensor<?x?xf64>, tensor<?xf64>) outs(%x : tensor<?x?xf64>) {
  ^bb0(%v: f64, %s: f64, %old: f64):
    %mean = arith.divf %s, %length : f64
    %y = arith.subf %v, %mean : f64
    linalg.yield %y : f64
  } -> tensor<?x?xf64>
  %c = func.call @product(%less, %w) : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  return %c : tensor<?x?xf64>
}

func.func @gated_reference(%g: tensor<?x?xf64>, %u: tensor<?x?xf64>, %w: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %a = arith.mulf %g, %u : tensor<?x?xf64>
  %c = func.call @product(%a, %w) : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  return %c : tensor<?x?xf64>
}

func.func @gathered_reference(%x: tensor<?x?xf64>, %w: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %sum = func.call @sums(%x) : (tensor<?x?xf64>) -> tensor<?xf64>
  %product = func.call @product(%x, %w) : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %c = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%sum : tensor<?xf64>) outs(%product : tensor<?x?xf64>) {
  ^bb0(%s: f64, %old: f64):
    %y = arith.addf %old, %s : f64
    linalg.yield %y : f64
  } -> tensor<?x?xf64>
  return %c : tensor<?x?xf64>
}

func.func @converted_reference(%q: tensor<?x?xi8>, %x: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %w = arith.sitofp %q : tensor<?x?xi8> to tensor<?x?xf64>
  %c = func.call @product(%w, %x) : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  return %c : tensor<?x?xf64>
}
