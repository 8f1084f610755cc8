// Folds whose parts begin with what is not neutral, but may be counted any number of times: the largest element of
// each row, or the smallest, within limits (stream-K), and the largest of the products of slabs of K (parts, too).
// REQUIRES: compiler
// DEFINE: %{kernel} = high
// DEFINE: %{run} = mk-run --no-optimize %s --kernel %{kernel} --check
// RUN: %{run} --grid 1 --bind M=100,N=300 | FileCheck %s
// RUN: %{run} --grid 5 --bind M=130,N=1000 --launches 3 --seed 4 | FileCheck %s
// RUN: %{run} --grid 16 --bind M=16,N=1000 --seed 5 | FileCheck %s
// RUN: %{run} --grid 16 --bind M=16,N=0 | FileCheck %s
// RUN: %ptx_run --replays 2 %{run} --target sm_90a --tuning none --grid 5 --bind M=130,N=1000
// REDEFINE: %{kernel} = low
// RUN: %ptx_run --replays 2 %{run} --target sm_90a --tuning none --grid 5 --bind M=130,N=1000
// RUN: %{run} --grid 5 --bind M=130,N=1000 --launches 3 --seed 4 | FileCheck %s
// RUN: %{run} --grid 16 --bind M=16,N=0 | FileCheck %s
// CHECK: check: PASS y

// As one CTA makes it, and as several do.
// DEFINE: %{with} = mk-run --no-optimize %s --kernel products --bind M=100,N=72,K=300 --seed 6 --grid 4
// RUN: %{with} --out c=%t.one.npy
// RUN: %{with} --set SCHEDULE=2 --out c=%t.stream.npy
// RUN: cmp %t.one.npy %t.stream.npy
// DEFINE: %{gpu} = %ptx_run --replays 1 %{with} --target sm_90a --tuning none
// RUN: %{gpu} --out c=%t.gpu.npy
// RUN: %{gpu} --set SCHEDULE=2 --out c=%t.stream.npy
// RUN: cmp %t.gpu.npy %t.stream.npy
// RUN: %{gpu} --set PARTS=2 --out c=%t.parts.npy
// RUN: cmp %t.gpu.npy %t.parts.npy

// Grids are whole groups of CTAs that do an item together.
// RUN: not mk-run --no-optimize %s --kernel products --bind M=100,N=72,K=300 --set PARTS=2 --grid 3 2>&1 | FileCheck %s --check-prefix=GRID
// GRID: mk-run: --grid 3: kernel 'products' takes 2 CTAs of that, as its roles and the parts of its items say: give --grid 2, or leave the option out

mk.mesh @mesh (gpu = ? via link)

mk.kernel @high on @mesh dims(uniform M, uniform N) (in %x : memref<?x?xf32> [M, N], out %y : memref<?xf32> [M]) {
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %rows = arith.ceildivui %M, %c16 : index
  %columns = arith.ceildivui %N, %c32 : index
  %none = arith.constant 0xFF800000 : f32
  %limit = arith.constant dense<0.995> : tensor<16xf32>
  mk.role @rows ctas(rest) {
    mk.foreach (%i) in (%rows) schedule(stream_k, tail = 1) {
      %row = arith.muli %i, %c16 : index
      %m = mk.fold (%j) in (%columns) iter(%m0 = %limit) combine(max) : tensor<16xf32> {
        %column = arith.muli %j, %c32 : index
        %t = mk.load %x[%row, %column] pad(%none : f32) : memref<?x?xf32> -> tensor<16x32xf32>
        %top = mk.reduce max %t axis 1 : tensor<16x32xf32> -> tensor<16xf32>
        %m1 = arith.maximumf %m0, %top : tensor<16xf32>
        mk.yield %m1 : tensor<16xf32>
      }
      mk.store %m, %y[%row] : tensor<16xf32>, memref<?xf32>
    }
  }
}

func.func @high_reference(%x: tensor<?x?xf64>) -> tensor<?xf64> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xf64>
  %e = tensor.empty(%m) : tensor<?xf64>
  %l32 = arith.constant 0.995 : f32
  %l = arith.extf %l32 : f32 to f64
  %i = linalg.fill ins(%l : f64) outs(%e : tensor<?xf64>) -> tensor<?xf64>
  %r = linalg.reduce { arith.maximumf } ins(%x : tensor<?x?xf64>) outs(%i : tensor<?xf64>) dimensions = [1]
  return %r : tensor<?xf64>
}

mk.kernel @low on @mesh dims(uniform M, uniform N) (in %x : memref<?x?xf32> [M, N], out %y : memref<?xf32> [M]) {
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %rows = arith.ceildivui %M, %c16 : index
  %columns = arith.ceildivui %N, %c32 : index
  %none = arith.constant 0x7F800000 : f32
  %limit = arith.constant dense<-0.995> : tensor<16xf32>
  mk.role @rows ctas(rest) {
    mk.foreach (%i) in (%rows) schedule(stream_k, tail = 1) {
      %row = arith.muli %i, %c16 : index
      %m = mk.fold (%j) in (%columns) iter(%m0 = %limit) combine(min) : tensor<16xf32> {
        %column = arith.muli %j, %c32 : index
        %t = mk.load %x[%row, %column] pad(%none : f32) : memref<?x?xf32> -> tensor<16x32xf32>
        %top = mk.reduce min %t axis 1 : tensor<16x32xf32> -> tensor<16xf32>
        %m1 = arith.minimumf %m0, %top : tensor<16xf32>
        mk.yield %m1 : tensor<16xf32>
      }
      mk.store %m, %y[%row] : tensor<16xf32>, memref<?xf32>
    }
  }
}

func.func @low_reference(%x: tensor<?x?xf64>) -> tensor<?xf64> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xf64>
  %e = tensor.empty(%m) : tensor<?xf64>
  %l32 = arith.constant -0.995 : f32
  %l = arith.extf %l32 : f32 to f64
  %i = linalg.fill ins(%l : f64) outs(%e : tensor<?xf64>) -> tensor<?xf64>
  %r = linalg.reduce { arith.minimumf } ins(%x : tensor<?x?xf64>) outs(%i : tensor<?xf64>) dimensions = [1]
  return %r : tensor<?xf64>
}

mk.kernel @products on @mesh dims(uniform M, uniform N, uniform K) (
    in %a : memref<?x?xbf16> [M, K], in %b : memref<?x?xbf16> [N, K], out %c : memref<?x?xf32> [M, N]) {
  mk.param "SCHEDULE" = 0
  mk.param "PARTS" = 1
  %t = arith.constant 64 : index
  %mt = arith.ceildivui %M, %t : index
  %nt = arith.ceildivui %N, %t : index
  %kt = arith.ceildivui %K, %t : index
  %0 = arith.constant 0.0 : f32
  %some = arith.constant 0.5 : f32
  %zero = tensor.splat %0 : tensor<64x64xf32>
  %least = tensor.splat %some : tensor<64x64xf32>
  mk.role @gemm ctas(rest) {
    mk.foreach (%i, %j) in (%mt, %nt) schedule(param SCHEDULE, tail = 1, parts = PARTS) {
      %row = arith.muli %i, %t : index
      %col = arith.muli %j, %t : index
      %top = mk.fold (%q) in (%kt) iter(%s = %least) combine(max) : tensor<64x64xf32> {
        %k = arith.muli %q, %t : index
        %x = mk.load %a[%row, %k] : memref<?x?xbf16> -> tensor<64x64xbf16>
        %y = mk.load %b[%col, %k] : memref<?x?xbf16> -> tensor<64x64xbf16>
        %d = mk.dot %x, %y, %zero transpose_b : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
        %n = arith.maximumf %s, %d : tensor<64x64xf32>
        mk.yield %n : tensor<64x64xf32>
      }
      mk.store %top, %c[%row, %col] : tensor<64x64xf32>, memref<?x?xf32>
    }
  }
}
