// Kernels of one tile, for what the interpreter of PTX knows of each element type.

mk.mesh @mesh (gpu = 1 via link)

// Rows divided by their largest element, least elements of rows and of columns.
mk.kernel @rows on @mesh (in %a : memref<16x64xf32> [16, 64], out %y : memref<16x64xf32> [16, 64],
    out %u : memref<16xf32> [16], out %v : memref<64xf32> [64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %x = mk.load %a[%c0, %c0] : memref<16x64xf32> -> tensor<16x64xf32>
    %max = mk.reduce max %x axis 1 : tensor<16x64xf32> -> tensor<16xf32>
    %all = mk.broadcast %max dims [1] : tensor<16xf32> -> tensor<16x64xf32>
    %q = arith.divf %x, %all : tensor<16x64xf32>
    mk.store %q, %y[%c0, %c0] : tensor<16x64xf32>, memref<16x64xf32>
    %least = mk.reduce min %x axis 1 : tensor<16x64xf32> -> tensor<16xf32>
    mk.store %least, %u[%c0] : tensor<16xf32>, memref<16xf32>
    %low = mk.reduce min %x axis 0 : tensor<16x64xf32> -> tensor<64xf32>
    mk.store %low, %v[%c0] : tensor<64xf32>, memref<64xf32>
  }
}
func.func @rows_reference(%a: tensor<16x64xf64>) -> (tensor<16x64xf64>, tensor<16xf64>, tensor<64xf64>) {
  %most = arith.constant dense<-9.0> : tensor<16xf64>
  %least_row = arith.constant dense<9.0> : tensor<16xf64>
  %least_column = arith.constant dense<9.0> : tensor<64xf64>
  %max = linalg.reduce ins(%a : tensor<16x64xf64>) outs(%most : tensor<16xf64>) dimensions = [1] (%p: f64, %q: f64) {
    %r = arith.maximumf %p, %q : f64
    linalg.yield %r : f64
  }
  %e = tensor.empty() : tensor<16x64xf64>
  %all = linalg.broadcast ins(%max : tensor<16xf64>) outs(%e : tensor<16x64xf64>) dimensions = [1]
  %y = arith.divf %a, %all : tensor<16x64xf64>
  %u = linalg.reduce ins(%a : tensor<16x64xf64>) outs(%least_row : tensor<16xf64>) dimensions = [1] (%p: f64, %q: f64) {
    %r = arith.minimumf %p, %q : f64
    linalg.yield %r : f64
  }
  %v = linalg.reduce ins(%a : tensor<16x64xf64>) outs(%least_column : tensor<64xf64>) dimensions = [0] (%p: f64, %q: f64) {
    %r = arith.minimumf %p, %q : f64
    linalg.yield %r : f64
  }
  return %y, %u, %v : tensor<16x64xf64>, tensor<16xf64>, tensor<64xf64>
}

// Arithmetic in 16 bits.
mk.kernel @halves on @mesh (in %a : memref<16x64xbf16> [16, 64], in %b : memref<16x64xbf16> [16, 64],
    in %c : memref<16x64xf16> [16, 64], in %d : memref<16x64xf16> [16, 64],
    out %y : memref<16x64xbf16> [16, 64], out %z : memref<16x64xf16> [16, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %a0 = mk.load %a[%c0, %c0] : memref<16x64xbf16> -> tensor<16x64xbf16>
    %b0 = mk.load %b[%c0, %c0] : memref<16x64xbf16> -> tensor<16x64xbf16>
    %min = arith.minimumf %a0, %b0 : tensor<16x64xbf16>
    %size = math.absf %b0 : tensor<16x64xbf16>
    %less = arith.cmpf olt, %min, %size : tensor<16x64xbf16>
    %down = math.floor %a0 : tensor<16x64xbf16>
    %which = arith.select %less, %min, %down : tensor<16x64xi1>, tensor<16x64xbf16>
    %sum = math.fma %which, %b0, %a0 : tensor<16x64xbf16>
    mk.store %sum, %y[%c0, %c0] : tensor<16x64xbf16>, memref<16x64xbf16>
    %c1 = mk.load %c[%c0, %c0] : memref<16x64xf16> -> tensor<16x64xf16>
    %d1 = mk.load %d[%c0, %c0] : memref<16x64xf16> -> tensor<16x64xf16>
    %max = arith.maximumf %c1, %d1 : tensor<16x64xf16>
    %minus = arith.negf %max : tensor<16x64xf16>
    %product = arith.mulf %minus, %d1 : tensor<16x64xf16>
    mk.store %product, %z[%c0, %c0] : tensor<16x64xf16>, memref<16x64xf16>
  }
}
func.func @halves_reference(%a: tensor<16x64xf64>, %b: tensor<16x64xf64>, %c: tensor<16x64xf64>, %d: tensor<16x64xf64>)
    -> (tensor<16x64xf64>, tensor<16x64xf64>) {
  %min = arith.minimumf %a, %b : tensor<16x64xf64>
  %size = math.absf %b : tensor<16x64xf64>
  %less = arith.cmpf olt, %min, %size : tensor<16x64xf64>
  %down = math.floor %a : tensor<16x64xf64>
  %which = arith.select %less, %min, %down : tensor<16x64xi1>, tensor<16x64xf64>
  %times = arith.mulf %which, %b : tensor<16x64xf64>
  %y = arith.addf %times, %a : tensor<16x64xf64>
  %max = arith.maximumf %c, %d : tensor<16x64xf64>
  %minus = arith.negf %max : tensor<16x64xf64>
  %z = arith.mulf %minus, %d : tensor<16x64xf64>
  return %y, %z : tensor<16x64xf64>, tensor<16x64xf64>
}

// Arithmetic in 64 bits, from and to integers and f32.
mk.kernel @doubles on @mesh (in %a : memref<16x64xf64> [16, 64], in %b : memref<16x64xf32> [16, 64],
    in %i : memref<16x64xi32> [16, 64], out %y : memref<16x64xf64> [16, 64], out %s : memref<16xf64> [16],
    out %k : memref<16x64xi64> [16, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %x = mk.load %a[%c0, %c0] : memref<16x64xf64> -> tensor<16x64xf64>
    %narrow = mk.load %b[%c0, %c0] : memref<16x64xf32> -> tensor<16x64xf32>
    %wide = arith.extf %narrow : tensor<16x64xf32> to tensor<16x64xf64>
    %n = mk.load %i[%c0, %c0] : memref<16x64xi32> -> tensor<16x64xi32>
    %number = arith.sitofp %n : tensor<16x64xi32> to tensor<16x64xf64>
    %three = arith.constant dense<3.0> : tensor<16x64xf64>
    %third = arith.divf %number, %three : tensor<16x64xf64>
    %sum = arith.addf %x, %third : tensor<16x64xf64>
    %least = arith.minimumf %sum, %wide : tensor<16x64xf64>
    %y0 = math.fma %least, %x, %wide : tensor<16x64xf64>
    mk.store %y0, %y[%c0, %c0] : tensor<16x64xf64>, memref<16x64xf64>
    %max = mk.reduce max %x axis 1 : tensor<16x64xf64> -> tensor<16xf64>
    mk.store %max, %s[%c0] : tensor<16xf64>, memref<16xf64>
    %whole = arith.fptosi %third : tensor<16x64xf64> to tensor<16x64xi64>
    %seven = arith.constant dense<7> : tensor<16x64xi64>
    %rest = arith.remsi %whole, %seven : tensor<16x64xi64>
    mk.store %rest, %k[%c0, %c0] : tensor<16x64xi64>, memref<16x64xi64>
  }
}
func.func @doubles_reference(%x: tensor<16x64xf64>, %wide: tensor<16x64xf64>, %n: tensor<16x64xi32>)
    -> (tensor<16x64xf64>, tensor<16xf64>, tensor<16x64xi64>) {
  %number = arith.sitofp %n : tensor<16x64xi32> to tensor<16x64xf64>
  %three = arith.constant dense<3.0> : tensor<16x64xf64>
  %third = arith.divf %number, %three : tensor<16x64xf64>
  %sum = arith.addf %x, %third : tensor<16x64xf64>
  %least = arith.minimumf %sum, %wide : tensor<16x64xf64>
  %times = arith.mulf %least, %x : tensor<16x64xf64>
  %y = arith.addf %times, %wide : tensor<16x64xf64>
  %most = arith.constant dense<-9.0> : tensor<16xf64>
  %s = linalg.reduce ins(%x : tensor<16x64xf64>) outs(%most : tensor<16xf64>) dimensions = [1] (%p: f64, %q: f64) {
    %r = arith.maximumf %p, %q : f64
    linalg.yield %r : f64
  }
  %whole = arith.fptosi %third : tensor<16x64xf64> to tensor<16x64xi64>
  %seven = arith.constant dense<7> : tensor<16x64xi64>
  %k = arith.remsi %whole, %seven : tensor<16x64xi64>
  return %y, %s, %k : tensor<16x64xf64>, tensor<16xf64>, tensor<16x64xi64>
}

// fp8 from and to each other float.
mk.kernel @bytes on @mesh (in %a : memref<16x64xf32> [16, 64], in %b : memref<16x64xbf16> [16, 64],
    in %c : memref<16x64xf16> [16, 64], in %d : memref<16x64xf64> [16, 64],
    in %e : memref<16x64xf8E4M3FN> [16, 64], in %f : memref<16x64xf8E5M2> [16, 64],
    out %p : memref<16x64xf8E4M3FN> [16, 64], out %q : memref<16x64xf8E5M2> [16, 64],
    out %r : memref<16x64xf8E4M3FN> [16, 64], out %s : memref<16x64xf8E5M2> [16, 64],
    out %t : memref<16x64xf32> [16, 64], out %u : memref<16x64xbf16> [16, 64],
    out %v : memref<16x64xf16> [16, 64], out %w : memref<16x64xf64> [16, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %a0 = mk.load %a[%c0, %c0] : memref<16x64xf32> -> tensor<16x64xf32>
    %a1 = arith.truncf %a0 : tensor<16x64xf32> to tensor<16x64xf8E4M3FN>
    mk.store %a1, %p[%c0, %c0] : tensor<16x64xf8E4M3FN>, memref<16x64xf8E4M3FN>
    %b0 = mk.load %b[%c0, %c0] : memref<16x64xbf16> -> tensor<16x64xbf16>
    %b1 = arith.truncf %b0 : tensor<16x64xbf16> to tensor<16x64xf8E5M2>
    mk.store %b1, %q[%c0, %c0] : tensor<16x64xf8E5M2>, memref<16x64xf8E5M2>
    %c1 = mk.load %c[%c0, %c0] : memref<16x64xf16> -> tensor<16x64xf16>
    %c2 = arith.truncf %c1 : tensor<16x64xf16> to tensor<16x64xf8E4M3FN>
    mk.store %c2, %r[%c0, %c0] : tensor<16x64xf8E4M3FN>, memref<16x64xf8E4M3FN>
    %d0 = mk.load %d[%c0, %c0] : memref<16x64xf64> -> tensor<16x64xf64>
    %d1 = arith.truncf %d0 : tensor<16x64xf64> to tensor<16x64xf8E5M2>
    mk.store %d1, %s[%c0, %c0] : tensor<16x64xf8E5M2>, memref<16x64xf8E5M2>
    %e0 = mk.load %e[%c0, %c0] : memref<16x64xf8E4M3FN> -> tensor<16x64xf8E4M3FN>
    %e1 = arith.extf %e0 : tensor<16x64xf8E4M3FN> to tensor<16x64xf32>
    mk.store %e1, %t[%c0, %c0] : tensor<16x64xf32>, memref<16x64xf32>
    %e2 = arith.extf %e0 : tensor<16x64xf8E4M3FN> to tensor<16x64xbf16>
    mk.store %e2, %u[%c0, %c0] : tensor<16x64xbf16>, memref<16x64xbf16>
    %f0 = mk.load %f[%c0, %c0] : memref<16x64xf8E5M2> -> tensor<16x64xf8E5M2>
    %f1 = arith.extf %f0 : tensor<16x64xf8E5M2> to tensor<16x64xf16>
    mk.store %f1, %v[%c0, %c0] : tensor<16x64xf16>, memref<16x64xf16>
    %f2 = arith.extf %f0 : tensor<16x64xf8E5M2> to tensor<16x64xf64>
    mk.store %f2, %w[%c0, %c0] : tensor<16x64xf64>, memref<16x64xf64>
  }
}
func.func @bytes_reference(%a: tensor<16x64xf64>, %b: tensor<16x64xf64>, %c: tensor<16x64xf64>, %d: tensor<16x64xf64>,
    %e: tensor<16x64xf64>, %f: tensor<16x64xf64>) -> (tensor<16x64xf64>, tensor<16x64xf64>, tensor<16x64xf64>,
    tensor<16x64xf64>, tensor<16x64xf64>, tensor<16x64xf64>, tensor<16x64xf64>, tensor<16x64xf64>) {
  return %a, %b, %c, %d, %e, %e, %f, %f : tensor<16x64xf64>, tensor<16x64xf64>, tensor<16x64xf64>,
      tensor<16x64xf64>, tensor<16x64xf64>, tensor<16x64xf64>, tensor<16x64xf64>, tensor<16x64xf64>
}

// What is true is -1 where it has a sign.
mk.kernel @flags on @mesh (in %a : memref<16x64xi1> [16, 64], in %b : memref<16x64xi8> [16, 64],
    out %y : memref<16x64xbf16> [16, 64], out %z : memref<16x64xf16> [16, 64], out %q : memref<16x64xi8> [16, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %x = mk.load %a[%c0, %c0] : memref<16x64xi1> -> tensor<16x64xi1>
    %y0 = arith.sitofp %x : tensor<16x64xi1> to tensor<16x64xbf16>
    mk.store %y0, %y[%c0, %c0] : tensor<16x64xbf16>, memref<16x64xbf16>
    %z0 = arith.sitofp %x : tensor<16x64xi1> to tensor<16x64xf16>
    mk.store %z0, %z[%c0, %c0] : tensor<16x64xf16>, memref<16x64xf16>
    %n = mk.load %b[%c0, %c0] : memref<16x64xi8> -> tensor<16x64xi8>
    %one = arith.constant dense<1> : tensor<16x64xi8>
    %odd = arith.ori %n, %one : tensor<16x64xi8>
    %half = arith.floordivsi %n, %odd : tensor<16x64xi8>
    mk.store %half, %q[%c0, %c0] : tensor<16x64xi8>, memref<16x64xi8>
  }
}
func.func @flags_reference(%x: tensor<16x64xi1>, %n: tensor<16x64xi8>)
    -> (tensor<16x64xf64>, tensor<16x64xf64>, tensor<16x64xi8>) {
  %y = arith.sitofp %x : tensor<16x64xi1> to tensor<16x64xf64>
  %one = arith.constant dense<1> : tensor<16x64xi8>
  %odd = arith.ori %n, %one : tensor<16x64xi8>
  %q = arith.floordivsi %n, %odd : tensor<16x64xi8>
  return %y, %y, %q : tensor<16x64xf64>, tensor<16x64xf64>, tensor<16x64xi8>
}

// What is added in memory.
mk.kernel @sums on @mesh (in %a0 : memref<16x64xf64> [16, 64], in %a1 : memref<16x64xf16> [16, 64],
    in %a2 : memref<16x64xbf16> [16, 64], in %a3 : memref<16x64xi64> [16, 64],
    inout %b0 : memref<16x64xf64> [16, 64], inout %b1 : memref<16x64xf16> [16, 64],
    inout %b2 : memref<16x64xbf16> [16, 64], inout %b3 : memref<16x64xi64> [16, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %x0 = mk.load %a0[%c0, %c0] : memref<16x64xf64> -> tensor<16x64xf64>
    mk.store %x0, %b0[%c0, %c0] reduce(add) : tensor<16x64xf64>, memref<16x64xf64>
    %x1 = mk.load %a1[%c0, %c0] : memref<16x64xf16> -> tensor<16x64xf16>
    mk.store %x1, %b1[%c0, %c0] reduce(add) : tensor<16x64xf16>, memref<16x64xf16>
    %x2 = mk.load %a2[%c0, %c0] : memref<16x64xbf16> -> tensor<16x64xbf16>
    mk.store %x2, %b2[%c0, %c0] reduce(add) : tensor<16x64xbf16>, memref<16x64xbf16>
    %x3 = mk.load %a3[%c0, %c0] : memref<16x64xi64> -> tensor<16x64xi64>
    mk.store %x3, %b3[%c0, %c0] reduce(add) : tensor<16x64xi64>, memref<16x64xi64>
  }
}
func.func @sums_reference(%a0: tensor<16x64xf64>, %a1: tensor<16x64xf64>, %a2: tensor<16x64xf64>, %a3: tensor<16x64xi64>,
    %b0: tensor<16x64xf64>, %b1: tensor<16x64xf64>, %b2: tensor<16x64xf64>, %b3: tensor<16x64xi64>)
    -> (tensor<16x64xf64>, tensor<16x64xf64>, tensor<16x64xf64>, tensor<16x64xi64>) {
  %y0 = arith.addf %a0, %b0 : tensor<16x64xf64>
  %y1 = arith.addf %a1, %b1 : tensor<16x64xf64>
  %y2 = arith.addf %a2, %b2 : tensor<16x64xf64>
  %y3 = arith.addi %a3, %b3 : tensor<16x64xi64>
  return %y0, %y1, %y2, %y3 : tensor<16x64xf64>, tensor<16x64xf64>, tensor<16x64xf64>, tensor<16x64xi64>
}

// The same by puts, of whole rows.
!x = memref<4x1024xbf16, #mk.symmetric>
!there = !mk.signal<?, sys, arrivals = ?>
mk.kernel @puts on @mesh (in %a : !x [4, 1024], inout %b : !x [4, 1024]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c1024 = arith.constant 1024 : index
  %there = mk.signals(%c1) arrivals(%c1) : !there
  mk.role @put ctas(1) {
    mk.foreach (%p) in (%c1) {
      mk.put %a[%c0, %c0][%c4, %c1024] to %b[%c0, %c0] on %p signal %there[%c0] reduce(add) : !x to !x, !there
    }
  }
  mk.role @wait ctas(rest) {
    mk.wait %there[%c0] ge %c1 : !there
  }
}
func.func @puts_reference(%a: tensor<4x1024xf64>, %b: tensor<4x1024xf64>) -> tensor<4x1024xf64> {
  %y = arith.addf %a, %b : tensor<4x1024xf64>
  return %y : tensor<4x1024xf64>
}

// A put of one element: fewer bytes than the copy engine takes.
mk.kernel @one on @mesh (in %m : memref<4xi32, #mk.symmetric> [4], out %n : memref<1xi32, #mk.symmetric> [1]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @put ctas(1) {
    mk.foreach (%p) in (%c1) {
      mk.put %m[%c1][%c1] to %n[%c0] on %p : memref<4xi32, #mk.symmetric> to memref<1xi32, #mk.symmetric>
    }
  }
}
func.func @one_reference(%m: tensor<4xi32>) -> tensor<1xi32> {
  %n = tensor.extract_slice %m[1] [1] [1] : tensor<4xi32> to tensor<1xi32>
  return %n : tensor<1xi32>
}

// Bytes as floats, which hold them without an error, and back.
mk.kernel @numbers on @mesh (in %b : memref<16x64xi8> [16, 64], out %s : memref<16x64xi32> [16, 64],
    out %u : memref<16x64xi32> [16, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %x = mk.load %b[%c0, %c0] : memref<16x64xi8> -> tensor<16x64xi8>
    %1 = arith.sitofp %x : tensor<16x64xi8> to tensor<16x64xbf16>
    %2 = arith.sitofp %x : tensor<16x64xi8> to tensor<16x64xf16>
    %wide = arith.extsi %x : tensor<16x64xi8> to tensor<16x64xi32>
    %3 = arith.sitofp %wide : tensor<16x64xi32> to tensor<16x64xf32>
    %4 = arith.fptosi %1 : tensor<16x64xbf16> to tensor<16x64xi32>
    %5 = arith.fptosi %2 : tensor<16x64xf16> to tensor<16x64xi32>
    %6 = arith.fptosi %3 : tensor<16x64xf32> to tensor<16x64xi32>
    %7 = arith.addi %4, %5 : tensor<16x64xi32>
    %8 = arith.addi %7, %6 : tensor<16x64xi32>
    mk.store %8, %s[%c0, %c0] : tensor<16x64xi32>, memref<16x64xi32>
    %9 = arith.uitofp %x : tensor<16x64xi8> to tensor<16x64xbf16>
    %10 = arith.uitofp %x : tensor<16x64xi8> to tensor<16x64xf16>
    %11 = arith.uitofp %x : tensor<16x64xi8> to tensor<16x64xf32>
    %12 = arith.fptosi %9 : tensor<16x64xbf16> to tensor<16x64xi32>
    %13 = arith.fptosi %10 : tensor<16x64xf16> to tensor<16x64xi32>
    %14 = arith.fptosi %11 : tensor<16x64xf32> to tensor<16x64xi32>
    %15 = arith.addi %12, %13 : tensor<16x64xi32>
    %16 = arith.addi %15, %14 : tensor<16x64xi32>
    mk.store %16, %u[%c0, %c0] : tensor<16x64xi32>, memref<16x64xi32>
  }
}
func.func @numbers_reference(%b: tensor<16x64xi8>) -> (tensor<16x64xi32>, tensor<16x64xi32>) {
  %three = arith.constant dense<3> : tensor<16x64xi32>
  %1 = arith.extsi %b : tensor<16x64xi8> to tensor<16x64xi32>
  %s = arith.muli %1, %three : tensor<16x64xi32>
  %2 = arith.extui %b : tensor<16x64xi8> to tensor<16x64xi32>
  %u = arith.muli %2, %three : tensor<16x64xi32>
  return %s, %u : tensor<16x64xi32>, tensor<16x64xi32>
}

// Pieces of bytes and of words as floats: masked, shifted, with constants added.
mk.kernel @pieces on @mesh (in %bytes : memref<16x64xi8> [16, 64], in %words : memref<16x64xi32> [16, 64],
    out %sum : memref<16x64xi32> [16, 64]) {
  %c0 = arith.constant 0 : index
  %i8_15 = arith.constant dense<15> : tensor<16x64xi8>
  %i8_8 = arith.constant dense<8> : tensor<16x64xi8>
  %i8_4 = arith.constant dense<4> : tensor<16x64xi8>
  %i8_m8 = arith.constant dense<-8> : tensor<16x64xi8>
  %i32_31 = arith.constant dense<31> : tensor<16x64xi32>
  %i32_127 = arith.constant dense<127> : tensor<16x64xi32>
  %i8_m128 = arith.constant dense<-128> : tensor<16x64xi8>
  %i8_1 = arith.constant dense<1> : tensor<16x64xi8>
  %i8_3 = arith.constant dense<3> : tensor<16x64xi8>
  %i32_12 = arith.constant dense<12> : tensor<16x64xi32>
  %i32_15 = arith.constant dense<15> : tensor<16x64xi32>
  %i32_28 = arith.constant dense<28> : tensor<16x64xi32>
  %i32_8 = arith.constant dense<8> : tensor<16x64xi32>
  %i32_16 = arith.constant dense<16> : tensor<16x64xi32>
  %i32_0 = arith.constant dense<0> : tensor<16x64xi32>
  mk.role @r ctas(1) {
    %b = mk.load %bytes[%c0, %c0] : memref<16x64xi8> -> tensor<16x64xi8>
    %w = mk.load %words[%c0, %c0] : memref<16x64xi32> -> tensor<16x64xi32>
    %v0_0 = arith.andi %b, %i8_15 : tensor<16x64xi8>
    %v0_1 = arith.subi %v0_0, %i8_8 : tensor<16x64xi8>
    %f0 = arith.sitofp %v0_1 : tensor<16x64xi8> to tensor<16x64xbf16>
    %n0 = arith.fptosi %f0 : tensor<16x64xbf16> to tensor<16x64xi32>
    %v1_0 = arith.shrui %b, %i8_4 : tensor<16x64xi8>
    %v1_1 = arith.addi %v1_0, %i8_m8 : tensor<16x64xi8>
    %f1 = arith.sitofp %v1_1 : tensor<16x64xi8> to tensor<16x64xbf16>
    %n1 = arith.fptosi %f1 : tensor<16x64xbf16> to tensor<16x64xi32>
    %m1 = arith.muli %n0, %i32_31 : tensor<16x64xi32>
    %s1 = arith.addi %m1, %n1 : tensor<16x64xi32>
    %v2_0 = arith.shli %b, %i8_4 : tensor<16x64xi8>
    %v2_1 = arith.shrsi %v2_0, %i8_4 : tensor<16x64xi8>
    %f2 = arith.sitofp %v2_1 : tensor<16x64xi8> to tensor<16x64xf16>
    %n2 = arith.fptosi %f2 : tensor<16x64xf16> to tensor<16x64xi32>
    %m2 = arith.muli %s1, %i32_31 : tensor<16x64xi32>
    %s2 = arith.addi %m2, %n2 : tensor<16x64xi32>
    %v3_0 = arith.shrsi %b, %i8_4 : tensor<16x64xi8>
    %f3 = arith.sitofp %v3_0 : tensor<16x64xi8> to tensor<16x64xf32>
    %n3 = arith.fptosi %f3 : tensor<16x64xf32> to tensor<16x64xi32>
    %m3 = arith.muli %s2, %i32_31 : tensor<16x64xi32>
    %s3 = arith.addi %m3, %n3 : tensor<16x64xi32>
    %v4_0 = arith.extui %b : tensor<16x64xi8> to tensor<16x64xi32>
    %v4_1 = arith.subi %v4_0, %i32_127 : tensor<16x64xi32>
    %f4 = arith.sitofp %v4_1 : tensor<16x64xi32> to tensor<16x64xbf16>
    %n4 = arith.fptosi %f4 : tensor<16x64xbf16> to tensor<16x64xi32>
    %m4 = arith.muli %s3, %i32_31 : tensor<16x64xi32>
    %s4 = arith.addi %m4, %n4 : tensor<16x64xi32>
    %v5_0 = arith.xori %b, %i8_m128 : tensor<16x64xi8>
    %f5 = arith.sitofp %v5_0 : tensor<16x64xi8> to tensor<16x64xbf16>
    %n5 = arith.fptosi %f5 : tensor<16x64xbf16> to tensor<16x64xi32>
    %m5 = arith.muli %s4, %i32_31 : tensor<16x64xi32>
    %s5 = arith.addi %m5, %n5 : tensor<16x64xi32>
    %v6_0 = arith.shli %b, %i8_1 : tensor<16x64xi8>
    %v6_1 = arith.ori %v6_0, %i8_3 : tensor<16x64xi8>
    %f6 = arith.uitofp %v6_1 : tensor<16x64xi8> to tensor<16x64xf32>
    %n6 = arith.fptosi %f6 : tensor<16x64xf32> to tensor<16x64xi32>
    %m6 = arith.muli %s5, %i32_31 : tensor<16x64xi32>
    %s6 = arith.addi %m6, %n6 : tensor<16x64xi32>
    %v7_0 = arith.shrui %w, %i32_12 : tensor<16x64xi32>
    %v7_1 = arith.andi %v7_0, %i32_15 : tensor<16x64xi32>
    %f7 = arith.sitofp %v7_1 : tensor<16x64xi32> to tensor<16x64xbf16>
    %n7 = arith.fptosi %f7 : tensor<16x64xbf16> to tensor<16x64xi32>
    %m7 = arith.muli %s6, %i32_31 : tensor<16x64xi32>
    %s7 = arith.addi %m7, %n7 : tensor<16x64xi32>
    %v8_0 = arith.shrui %w, %i32_28 : tensor<16x64xi32>
    %f8 = arith.sitofp %v8_0 : tensor<16x64xi32> to tensor<16x64xf16>
    %n8 = arith.fptosi %f8 : tensor<16x64xf16> to tensor<16x64xi32>
    %m8 = arith.muli %s7, %i32_31 : tensor<16x64xi32>
    %s8 = arith.addi %m8, %n8 : tensor<16x64xi32>
    %v9_0 = arith.shrsi %w, %i32_28 : tensor<16x64xi32>
    %f9 = arith.sitofp %v9_0 : tensor<16x64xi32> to tensor<16x64xbf16>
    %n9 = arith.fptosi %f9 : tensor<16x64xbf16> to tensor<16x64xi32>
    %m9 = arith.muli %s8, %i32_31 : tensor<16x64xi32>
    %s9 = arith.addi %m9, %n9 : tensor<16x64xi32>
    %v10_0 = arith.shli %w, %i32_8 : tensor<16x64xi32>
    %v10_1 = arith.shrsi %v10_0, %i32_28 : tensor<16x64xi32>
    %f10 = arith.sitofp %v10_1 : tensor<16x64xi32> to tensor<16x64xbf16>
    %n10 = arith.fptosi %f10 : tensor<16x64xbf16> to tensor<16x64xi32>
    %m10 = arith.muli %s9, %i32_31 : tensor<16x64xi32>
    %s10 = arith.addi %m10, %n10 : tensor<16x64xi32>
    %v11_0 = arith.shrui %w, %i32_16 : tensor<16x64xi32>
    %v11_1 = arith.trunci %v11_0 : tensor<16x64xi32> to tensor<16x64xi8>
    %f11 = arith.sitofp %v11_1 : tensor<16x64xi8> to tensor<16x64xbf16>
    %n11 = arith.fptosi %f11 : tensor<16x64xbf16> to tensor<16x64xi32>
    %m11 = arith.muli %s10, %i32_31 : tensor<16x64xi32>
    %s11 = arith.addi %m11, %n11 : tensor<16x64xi32>
    %v12_0 = arith.extsi %b : tensor<16x64xi8> to tensor<16x64xi32>
    %v12_1 = arith.andi %v12_0, %i32_15 : tensor<16x64xi32>
    %v12_2 = arith.xori %v12_1, %i32_8 : tensor<16x64xi32>
    %v12_3 = arith.subi %v12_2, %i32_8 : tensor<16x64xi32>
    %f12 = arith.sitofp %v12_3 : tensor<16x64xi32> to tensor<16x64xf32>
    %n12 = arith.fptosi %f12 : tensor<16x64xf32> to tensor<16x64xi32>
    %m12 = arith.muli %s11, %i32_31 : tensor<16x64xi32>
    %s12 = arith.addi %m12, %n12 : tensor<16x64xi32>
    mk.store %s12, %sum[%c0, %c0] : tensor<16x64xi32>, memref<16x64xi32>
  }
}
func.func @pieces_reference(%b: tensor<16x64xi8>, %w: tensor<16x64xi32>) -> tensor<16x64xi32> {
  %i8_15 = arith.constant dense<15> : tensor<16x64xi8>
  %i8_8 = arith.constant dense<8> : tensor<16x64xi8>
  %i8_4 = arith.constant dense<4> : tensor<16x64xi8>
  %i8_m8 = arith.constant dense<-8> : tensor<16x64xi8>
  %i32_31 = arith.constant dense<31> : tensor<16x64xi32>
  %i32_127 = arith.constant dense<127> : tensor<16x64xi32>
  %i8_m128 = arith.constant dense<-128> : tensor<16x64xi8>
  %i8_1 = arith.constant dense<1> : tensor<16x64xi8>
  %i8_3 = arith.constant dense<3> : tensor<16x64xi8>
  %i32_12 = arith.constant dense<12> : tensor<16x64xi32>
  %i32_15 = arith.constant dense<15> : tensor<16x64xi32>
  %i32_28 = arith.constant dense<28> : tensor<16x64xi32>
  %i32_8 = arith.constant dense<8> : tensor<16x64xi32>
  %i32_16 = arith.constant dense<16> : tensor<16x64xi32>
  %i32_0 = arith.constant dense<0> : tensor<16x64xi32>
  %v0_0 = arith.andi %b, %i8_15 : tensor<16x64xi8>
  %v0_1 = arith.subi %v0_0, %i8_8 : tensor<16x64xi8>
  %n0 = arith.extsi %v0_1 : tensor<16x64xi8> to tensor<16x64xi32>
  %v1_0 = arith.shrui %b, %i8_4 : tensor<16x64xi8>
  %v1_1 = arith.addi %v1_0, %i8_m8 : tensor<16x64xi8>
  %n1 = arith.extsi %v1_1 : tensor<16x64xi8> to tensor<16x64xi32>
  %m1 = arith.muli %n0, %i32_31 : tensor<16x64xi32>
  %s1 = arith.addi %m1, %n1 : tensor<16x64xi32>
  %v2_0 = arith.shli %b, %i8_4 : tensor<16x64xi8>
  %v2_1 = arith.shrsi %v2_0, %i8_4 : tensor<16x64xi8>
  %n2 = arith.extsi %v2_1 : tensor<16x64xi8> to tensor<16x64xi32>
  %m2 = arith.muli %s1, %i32_31 : tensor<16x64xi32>
  %s2 = arith.addi %m2, %n2 : tensor<16x64xi32>
  %v3_0 = arith.shrsi %b, %i8_4 : tensor<16x64xi8>
  %n3 = arith.extsi %v3_0 : tensor<16x64xi8> to tensor<16x64xi32>
  %m3 = arith.muli %s2, %i32_31 : tensor<16x64xi32>
  %s3 = arith.addi %m3, %n3 : tensor<16x64xi32>
  %v4_0 = arith.extui %b : tensor<16x64xi8> to tensor<16x64xi32>
  %v4_1 = arith.subi %v4_0, %i32_127 : tensor<16x64xi32>
  %n4 = arith.addi %v4_1, %i32_0 : tensor<16x64xi32>
  %m4 = arith.muli %s3, %i32_31 : tensor<16x64xi32>
  %s4 = arith.addi %m4, %n4 : tensor<16x64xi32>
  %v5_0 = arith.xori %b, %i8_m128 : tensor<16x64xi8>
  %n5 = arith.extsi %v5_0 : tensor<16x64xi8> to tensor<16x64xi32>
  %m5 = arith.muli %s4, %i32_31 : tensor<16x64xi32>
  %s5 = arith.addi %m5, %n5 : tensor<16x64xi32>
  %v6_0 = arith.shli %b, %i8_1 : tensor<16x64xi8>
  %v6_1 = arith.ori %v6_0, %i8_3 : tensor<16x64xi8>
  %n6 = arith.extui %v6_1 : tensor<16x64xi8> to tensor<16x64xi32>
  %m6 = arith.muli %s5, %i32_31 : tensor<16x64xi32>
  %s6 = arith.addi %m6, %n6 : tensor<16x64xi32>
  %v7_0 = arith.shrui %w, %i32_12 : tensor<16x64xi32>
  %v7_1 = arith.andi %v7_0, %i32_15 : tensor<16x64xi32>
  %n7 = arith.addi %v7_1, %i32_0 : tensor<16x64xi32>
  %m7 = arith.muli %s6, %i32_31 : tensor<16x64xi32>
  %s7 = arith.addi %m7, %n7 : tensor<16x64xi32>
  %v8_0 = arith.shrui %w, %i32_28 : tensor<16x64xi32>
  %n8 = arith.addi %v8_0, %i32_0 : tensor<16x64xi32>
  %m8 = arith.muli %s7, %i32_31 : tensor<16x64xi32>
  %s8 = arith.addi %m8, %n8 : tensor<16x64xi32>
  %v9_0 = arith.shrsi %w, %i32_28 : tensor<16x64xi32>
  %n9 = arith.addi %v9_0, %i32_0 : tensor<16x64xi32>
  %m9 = arith.muli %s8, %i32_31 : tensor<16x64xi32>
  %s9 = arith.addi %m9, %n9 : tensor<16x64xi32>
  %v10_0 = arith.shli %w, %i32_8 : tensor<16x64xi32>
  %v10_1 = arith.shrsi %v10_0, %i32_28 : tensor<16x64xi32>
  %n10 = arith.addi %v10_1, %i32_0 : tensor<16x64xi32>
  %m10 = arith.muli %s9, %i32_31 : tensor<16x64xi32>
  %s10 = arith.addi %m10, %n10 : tensor<16x64xi32>
  %v11_0 = arith.shrui %w, %i32_16 : tensor<16x64xi32>
  %v11_1 = arith.trunci %v11_0 : tensor<16x64xi32> to tensor<16x64xi8>
  %n11 = arith.extsi %v11_1 : tensor<16x64xi8> to tensor<16x64xi32>
  %m11 = arith.muli %s10, %i32_31 : tensor<16x64xi32>
  %s11 = arith.addi %m11, %n11 : tensor<16x64xi32>
  %v12_0 = arith.extsi %b : tensor<16x64xi8> to tensor<16x64xi32>
  %v12_1 = arith.andi %v12_0, %i32_15 : tensor<16x64xi32>
  %v12_2 = arith.xori %v12_1, %i32_8 : tensor<16x64xi32>
  %v12_3 = arith.subi %v12_2, %i32_8 : tensor<16x64xi32>
  %n12 = arith.addi %v12_3, %i32_0 : tensor<16x64xi32>
  %m12 = arith.muli %s11, %i32_31 : tensor<16x64xi32>
  %s12 = arith.addi %m12, %n12 : tensor<16x64xi32>
  return %s12 : tensor<16x64xi32>
}

// Floats that integers do not reach, and what is no number, on all targets alike.
mk.kernel @far on @mesh (in %a : memref<16x64xf32> [16, 64], out %sum : memref<16x64xi64> [16, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %x = mk.load %a[%c0, %c0] : memref<16x64xf32> -> tensor<16x64xf32>
    %f31 = arith.constant dense<31> : tensor<16x64xi64>
    %k0 = arith.constant dense<1.0e2> : tensor<16x64xf32>
    %y0 = arith.mulf %x, %k0 : tensor<16x64xf32>
    %v0_sii8 = arith.fptosi %y0 : tensor<16x64xf32> to tensor<16x64xi8>
    %w0_sii8 = arith.extsi %v0_sii8 : tensor<16x64xi8> to tensor<16x64xi64>
    %v0_sii16 = arith.fptosi %y0 : tensor<16x64xf32> to tensor<16x64xi16>
    %w0_sii16 = arith.extsi %v0_sii16 : tensor<16x64xi16> to tensor<16x64xi64>
    %a0_sii16m = arith.muli %w0_sii8, %f31 : tensor<16x64xi64>
    %a0_sii16 = arith.addi %a0_sii16m, %w0_sii16 : tensor<16x64xi64>
    %v0_sii32 = arith.fptosi %y0 : tensor<16x64xf32> to tensor<16x64xi32>
    %w0_sii32 = arith.extsi %v0_sii32 : tensor<16x64xi32> to tensor<16x64xi64>
    %a0_sii32m = arith.muli %a0_sii16, %f31 : tensor<16x64xi64>
    %a0_sii32 = arith.addi %a0_sii32m, %w0_sii32 : tensor<16x64xi64>
    %v0_sii64 = arith.fptosi %y0 : tensor<16x64xf32> to tensor<16x64xi64>
    %a0_sii64m = arith.muli %a0_sii32, %f31 : tensor<16x64xi64>
    %a0_sii64 = arith.addi %a0_sii64m, %v0_sii64 : tensor<16x64xi64>
    %v0_uii8 = arith.fptoui %y0 : tensor<16x64xf32> to tensor<16x64xi8>
    %w0_uii8 = arith.extui %v0_uii8 : tensor<16x64xi8> to tensor<16x64xi64>
    %a0_uii8m = arith.muli %a0_sii64, %f31 : tensor<16x64xi64>
    %a0_uii8 = arith.addi %a0_uii8m, %w0_uii8 : tensor<16x64xi64>
    %v0_uii16 = arith.fptoui %y0 : tensor<16x64xf32> to tensor<16x64xi16>
    %w0_uii16 = arith.extui %v0_uii16 : tensor<16x64xi16> to tensor<16x64xi64>
    %a0_uii16m = arith.muli %a0_uii8, %f31 : tensor<16x64xi64>
    %a0_uii16 = arith.addi %a0_uii16m, %w0_uii16 : tensor<16x64xi64>
    %v0_uii32 = arith.fptoui %y0 : tensor<16x64xf32> to tensor<16x64xi32>
    %w0_uii32 = arith.extui %v0_uii32 : tensor<16x64xi32> to tensor<16x64xi64>
    %a0_uii32m = arith.muli %a0_uii16, %f31 : tensor<16x64xi64>
    %a0_uii32 = arith.addi %a0_uii32m, %w0_uii32 : tensor<16x64xi64>
    %v0_uii64 = arith.fptoui %y0 : tensor<16x64xf32> to tensor<16x64xi64>
    %a0_uii64m = arith.muli %a0_uii32, %f31 : tensor<16x64xi64>
    %a0_uii64 = arith.addi %a0_uii64m, %v0_uii64 : tensor<16x64xi64>
    %k1 = arith.constant dense<3.0e4> : tensor<16x64xf32>
    %y1 = arith.mulf %x, %k1 : tensor<16x64xf32>
    %v1_sii8 = arith.fptosi %y1 : tensor<16x64xf32> to tensor<16x64xi8>
    %w1_sii8 = arith.extsi %v1_sii8 : tensor<16x64xi8> to tensor<16x64xi64>
    %a1_sii8m = arith.muli %a0_uii64, %f31 : tensor<16x64xi64>
    %a1_sii8 = arith.addi %a1_sii8m, %w1_sii8 : tensor<16x64xi64>
    %v1_sii16 = arith.fptosi %y1 : tensor<16x64xf32> to tensor<16x64xi16>
    %w1_sii16 = arith.extsi %v1_sii16 : tensor<16x64xi16> to tensor<16x64xi64>
    %a1_sii16m = arith.muli %a1_sii8, %f31 : tensor<16x64xi64>
    %a1_sii16 = arith.addi %a1_sii16m, %w1_sii16 : tensor<16x64xi64>
    %v1_sii32 = arith.fptosi %y1 : tensor<16x64xf32> to tensor<16x64xi32>
    %w1_sii32 = arith.extsi %v1_sii32 : tensor<16x64xi32> to tensor<16x64xi64>
    %a1_sii32m = arith.muli %a1_sii16, %f31 : tensor<16x64xi64>
    %a1_sii32 = arith.addi %a1_sii32m, %w1_sii32 : tensor<16x64xi64>
    %v1_sii64 = arith.fptosi %y1 : tensor<16x64xf32> to tensor<16x64xi64>
    %a1_sii64m = arith.muli %a1_sii32, %f31 : tensor<16x64xi64>
    %a1_sii64 = arith.addi %a1_sii64m, %v1_sii64 : tensor<16x64xi64>
    %v1_uii8 = arith.fptoui %y1 : tensor<16x64xf32> to tensor<16x64xi8>
    %w1_uii8 = arith.extui %v1_uii8 : tensor<16x64xi8> to tensor<16x64xi64>
    %a1_uii8m = arith.muli %a1_sii64, %f31 : tensor<16x64xi64>
    %a1_uii8 = arith.addi %a1_uii8m, %w1_uii8 : tensor<16x64xi64>
    %v1_uii16 = arith.fptoui %y1 : tensor<16x64xf32> to tensor<16x64xi16>
    %w1_uii16 = arith.extui %v1_uii16 : tensor<16x64xi16> to tensor<16x64xi64>
    %a1_uii16m = arith.muli %a1_uii8, %f31 : tensor<16x64xi64>
    %a1_uii16 = arith.addi %a1_uii16m, %w1_uii16 : tensor<16x64xi64>
    %v1_uii32 = arith.fptoui %y1 : tensor<16x64xf32> to tensor<16x64xi32>
    %w1_uii32 = arith.extui %v1_uii32 : tensor<16x64xi32> to tensor<16x64xi64>
    %a1_uii32m = arith.muli %a1_uii16, %f31 : tensor<16x64xi64>
    %a1_uii32 = arith.addi %a1_uii32m, %w1_uii32 : tensor<16x64xi64>
    %v1_uii64 = arith.fptoui %y1 : tensor<16x64xf32> to tensor<16x64xi64>
    %a1_uii64m = arith.muli %a1_uii32, %f31 : tensor<16x64xi64>
    %a1_uii64 = arith.addi %a1_uii64m, %v1_uii64 : tensor<16x64xi64>
    %k2 = arith.constant dense<3.0e9> : tensor<16x64xf32>
    %y2 = arith.mulf %x, %k2 : tensor<16x64xf32>
    %v2_sii8 = arith.fptosi %y2 : tensor<16x64xf32> to tensor<16x64xi8>
    %w2_sii8 = arith.extsi %v2_sii8 : tensor<16x64xi8> to tensor<16x64xi64>
    %a2_sii8m = arith.muli %a1_uii64, %f31 : tensor<16x64xi64>
    %a2_sii8 = arith.addi %a2_sii8m, %w2_sii8 : tensor<16x64xi64>
    %v2_sii16 = arith.fptosi %y2 : tensor<16x64xf32> to tensor<16x64xi16>
    %w2_sii16 = arith.extsi %v2_sii16 : tensor<16x64xi16> to tensor<16x64xi64>
    %a2_sii16m = arith.muli %a2_sii8, %f31 : tensor<16x64xi64>
    %a2_sii16 = arith.addi %a2_sii16m, %w2_sii16 : tensor<16x64xi64>
    %v2_sii32 = arith.fptosi %y2 : tensor<16x64xf32> to tensor<16x64xi32>
    %w2_sii32 = arith.extsi %v2_sii32 : tensor<16x64xi32> to tensor<16x64xi64>
    %a2_sii32m = arith.muli %a2_sii16, %f31 : tensor<16x64xi64>
    %a2_sii32 = arith.addi %a2_sii32m, %w2_sii32 : tensor<16x64xi64>
    %v2_sii64 = arith.fptosi %y2 : tensor<16x64xf32> to tensor<16x64xi64>
    %a2_sii64m = arith.muli %a2_sii32, %f31 : tensor<16x64xi64>
    %a2_sii64 = arith.addi %a2_sii64m, %v2_sii64 : tensor<16x64xi64>
    %v2_uii8 = arith.fptoui %y2 : tensor<16x64xf32> to tensor<16x64xi8>
    %w2_uii8 = arith.extui %v2_uii8 : tensor<16x64xi8> to tensor<16x64xi64>
    %a2_uii8m = arith.muli %a2_sii64, %f31 : tensor<16x64xi64>
    %a2_uii8 = arith.addi %a2_uii8m, %w2_uii8 : tensor<16x64xi64>
    %v2_uii16 = arith.fptoui %y2 : tensor<16x64xf32> to tensor<16x64xi16>
    %w2_uii16 = arith.extui %v2_uii16 : tensor<16x64xi16> to tensor<16x64xi64>
    %a2_uii16m = arith.muli %a2_uii8, %f31 : tensor<16x64xi64>
    %a2_uii16 = arith.addi %a2_uii16m, %w2_uii16 : tensor<16x64xi64>
    %v2_uii32 = arith.fptoui %y2 : tensor<16x64xf32> to tensor<16x64xi32>
    %w2_uii32 = arith.extui %v2_uii32 : tensor<16x64xi32> to tensor<16x64xi64>
    %a2_uii32m = arith.muli %a2_uii16, %f31 : tensor<16x64xi64>
    %a2_uii32 = arith.addi %a2_uii32m, %w2_uii32 : tensor<16x64xi64>
    %v2_uii64 = arith.fptoui %y2 : tensor<16x64xf32> to tensor<16x64xi64>
    %a2_uii64m = arith.muli %a2_uii32, %f31 : tensor<16x64xi64>
    %a2_uii64 = arith.addi %a2_uii64m, %v2_uii64 : tensor<16x64xi64>
    %k3 = arith.constant dense<1.0e19> : tensor<16x64xf32>
    %y3 = arith.mulf %x, %k3 : tensor<16x64xf32>
    %v3_sii8 = arith.fptosi %y3 : tensor<16x64xf32> to tensor<16x64xi8>
    %w3_sii8 = arith.extsi %v3_sii8 : tensor<16x64xi8> to tensor<16x64xi64>
    %a3_sii8m = arith.muli %a2_uii64, %f31 : tensor<16x64xi64>
    %a3_sii8 = arith.addi %a3_sii8m, %w3_sii8 : tensor<16x64xi64>
    %v3_sii16 = arith.fptosi %y3 : tensor<16x64xf32> to tensor<16x64xi16>
    %w3_sii16 = arith.extsi %v3_sii16 : tensor<16x64xi16> to tensor<16x64xi64>
    %a3_sii16m = arith.muli %a3_sii8, %f31 : tensor<16x64xi64>
    %a3_sii16 = arith.addi %a3_sii16m, %w3_sii16 : tensor<16x64xi64>
    %v3_sii32 = arith.fptosi %y3 : tensor<16x64xf32> to tensor<16x64xi32>
    %w3_sii32 = arith.extsi %v3_sii32 : tensor<16x64xi32> to tensor<16x64xi64>
    %a3_sii32m = arith.muli %a3_sii16, %f31 : tensor<16x64xi64>
    %a3_sii32 = arith.addi %a3_sii32m, %w3_sii32 : tensor<16x64xi64>
    %v3_sii64 = arith.fptosi %y3 : tensor<16x64xf32> to tensor<16x64xi64>
    %a3_sii64m = arith.muli %a3_sii32, %f31 : tensor<16x64xi64>
    %a3_sii64 = arith.addi %a3_sii64m, %v3_sii64 : tensor<16x64xi64>
    %v3_uii8 = arith.fptoui %y3 : tensor<16x64xf32> to tensor<16x64xi8>
    %w3_uii8 = arith.extui %v3_uii8 : tensor<16x64xi8> to tensor<16x64xi64>
    %a3_uii8m = arith.muli %a3_sii64, %f31 : tensor<16x64xi64>
    %a3_uii8 = arith.addi %a3_uii8m, %w3_uii8 : tensor<16x64xi64>
    %v3_uii16 = arith.fptoui %y3 : tensor<16x64xf32> to tensor<16x64xi16>
    %w3_uii16 = arith.extui %v3_uii16 : tensor<16x64xi16> to tensor<16x64xi64>
    %a3_uii16m = arith.muli %a3_uii8, %f31 : tensor<16x64xi64>
    %a3_uii16 = arith.addi %a3_uii16m, %w3_uii16 : tensor<16x64xi64>
    %v3_uii32 = arith.fptoui %y3 : tensor<16x64xf32> to tensor<16x64xi32>
    %w3_uii32 = arith.extui %v3_uii32 : tensor<16x64xi32> to tensor<16x64xi64>
    %a3_uii32m = arith.muli %a3_uii16, %f31 : tensor<16x64xi64>
    %a3_uii32 = arith.addi %a3_uii32m, %w3_uii32 : tensor<16x64xi64>
    %v3_uii64 = arith.fptoui %y3 : tensor<16x64xf32> to tensor<16x64xi64>
    %a3_uii64m = arith.muli %a3_uii32, %f31 : tensor<16x64xi64>
    %a3_uii64 = arith.addi %a3_uii64m, %v3_uii64 : tensor<16x64xi64>
    %none = arith.constant dense<0.0> : tensor<16x64xf32>
    %nil = arith.mulf %x, %none : tensor<16x64xf32>
    %nan0 = arith.divf %nil, %nil : tensor<16x64xf32>
    %nsii8 = arith.fptosi %nan0 : tensor<16x64xf32> to tensor<16x64xi8>
    %nwsii8 = arith.extsi %nsii8 : tensor<16x64xi8> to tensor<16x64xi64>
    %nasii8m = arith.muli %a3_uii64, %f31 : tensor<16x64xi64>
    %nasii8 = arith.addi %nasii8m, %nwsii8 : tensor<16x64xi64>
    %nsii16 = arith.fptosi %nan0 : tensor<16x64xf32> to tensor<16x64xi16>
    %nwsii16 = arith.extsi %nsii16 : tensor<16x64xi16> to tensor<16x64xi64>
    %nasii16m = arith.muli %nasii8, %f31 : tensor<16x64xi64>
    %nasii16 = arith.addi %nasii16m, %nwsii16 : tensor<16x64xi64>
    %nsii32 = arith.fptosi %nan0 : tensor<16x64xf32> to tensor<16x64xi32>
    %nwsii32 = arith.extsi %nsii32 : tensor<16x64xi32> to tensor<16x64xi64>
    %nasii32m = arith.muli %nasii16, %f31 : tensor<16x64xi64>
    %nasii32 = arith.addi %nasii32m, %nwsii32 : tensor<16x64xi64>
    %nsii64 = arith.fptosi %nan0 : tensor<16x64xf32> to tensor<16x64xi64>
    %nasii64m = arith.muli %nasii32, %f31 : tensor<16x64xi64>
    %nasii64 = arith.addi %nasii64m, %nsii64 : tensor<16x64xi64>
    %nuii8 = arith.fptoui %nan0 : tensor<16x64xf32> to tensor<16x64xi8>
    %nwuii8 = arith.extui %nuii8 : tensor<16x64xi8> to tensor<16x64xi64>
    %nauii8m = arith.muli %nasii64, %f31 : tensor<16x64xi64>
    %nauii8 = arith.addi %nauii8m, %nwuii8 : tensor<16x64xi64>
    %nuii16 = arith.fptoui %nan0 : tensor<16x64xf32> to tensor<16x64xi16>
    %nwuii16 = arith.extui %nuii16 : tensor<16x64xi16> to tensor<16x64xi64>
    %nauii16m = arith.muli %nauii8, %f31 : tensor<16x64xi64>
    %nauii16 = arith.addi %nauii16m, %nwuii16 : tensor<16x64xi64>
    %nuii32 = arith.fptoui %nan0 : tensor<16x64xf32> to tensor<16x64xi32>
    %nwuii32 = arith.extui %nuii32 : tensor<16x64xi32> to tensor<16x64xi64>
    %nauii32m = arith.muli %nauii16, %f31 : tensor<16x64xi64>
    %nauii32 = arith.addi %nauii32m, %nwuii32 : tensor<16x64xi64>
    %nuii64 = arith.fptoui %nan0 : tensor<16x64xf32> to tensor<16x64xi64>
    %nauii64m = arith.muli %nauii32, %f31 : tensor<16x64xi64>
    %nauii64 = arith.addi %nauii64m, %nuii64 : tensor<16x64xi64>
    mk.store %nauii64, %sum[%c0, %c0] : tensor<16x64xi64>, memref<16x64xi64>
  }
}
func.func @far_reference(%exact: tensor<16x64xf64>) -> tensor<16x64xi64> {
  %x = arith.truncf %exact : tensor<16x64xf64> to tensor<16x64xf32>
  %f31 = arith.constant dense<31> : tensor<16x64xi64>
  %k0 = arith.constant dense<1.0e2> : tensor<16x64xf32>
  %y0 = arith.mulf %x, %k0 : tensor<16x64xf32>
  %v0_sii8 = arith.fptosi %y0 : tensor<16x64xf32> to tensor<16x64xi8>
  %w0_sii8 = arith.extsi %v0_sii8 : tensor<16x64xi8> to tensor<16x64xi64>
  %v0_sii16 = arith.fptosi %y0 : tensor<16x64xf32> to tensor<16x64xi16>
  %w0_sii16 = arith.extsi %v0_sii16 : tensor<16x64xi16> to tensor<16x64xi64>
  %a0_sii16m = arith.muli %w0_sii8, %f31 : tensor<16x64xi64>
  %a0_sii16 = arith.addi %a0_sii16m, %w0_sii16 : tensor<16x64xi64>
  %v0_sii32 = arith.fptosi %y0 : tensor<16x64xf32> to tensor<16x64xi32>
  %w0_sii32 = arith.extsi %v0_sii32 : tensor<16x64xi32> to tensor<16x64xi64>
  %a0_sii32m = arith.muli %a0_sii16, %f31 : tensor<16x64xi64>
  %a0_sii32 = arith.addi %a0_sii32m, %w0_sii32 : tensor<16x64xi64>
  %v0_sii64 = arith.fptosi %y0 : tensor<16x64xf32> to tensor<16x64xi64>
  %a0_sii64m = arith.muli %a0_sii32, %f31 : tensor<16x64xi64>
  %a0_sii64 = arith.addi %a0_sii64m, %v0_sii64 : tensor<16x64xi64>
  %v0_uii8 = arith.fptoui %y0 : tensor<16x64xf32> to tensor<16x64xi8>
  %w0_uii8 = arith.extui %v0_uii8 : tensor<16x64xi8> to tensor<16x64xi64>
  %a0_uii8m = arith.muli %a0_sii64, %f31 : tensor<16x64xi64>
  %a0_uii8 = arith.addi %a0_uii8m, %w0_uii8 : tensor<16x64xi64>
  %v0_uii16 = arith.fptoui %y0 : tensor<16x64xf32> to tensor<16x64xi16>
  %w0_uii16 = arith.extui %v0_uii16 : tensor<16x64xi16> to tensor<16x64xi64>
  %a0_uii16m = arith.muli %a0_uii8, %f31 : tensor<16x64xi64>
  %a0_uii16 = arith.addi %a0_uii16m, %w0_uii16 : tensor<16x64xi64>
  %v0_uii32 = arith.fptoui %y0 : tensor<16x64xf32> to tensor<16x64xi32>
  %w0_uii32 = arith.extui %v0_uii32 : tensor<16x64xi32> to tensor<16x64xi64>
  %a0_uii32m = arith.muli %a0_uii16, %f31 : tensor<16x64xi64>
  %a0_uii32 = arith.addi %a0_uii32m, %w0_uii32 : tensor<16x64xi64>
  %v0_uii64 = arith.fptoui %y0 : tensor<16x64xf32> to tensor<16x64xi64>
  %a0_uii64m = arith.muli %a0_uii32, %f31 : tensor<16x64xi64>
  %a0_uii64 = arith.addi %a0_uii64m, %v0_uii64 : tensor<16x64xi64>
  %k1 = arith.constant dense<3.0e4> : tensor<16x64xf32>
  %y1 = arith.mulf %x, %k1 : tensor<16x64xf32>
  %v1_sii8 = arith.fptosi %y1 : tensor<16x64xf32> to tensor<16x64xi8>
  %w1_sii8 = arith.extsi %v1_sii8 : tensor<16x64xi8> to tensor<16x64xi64>
  %a1_sii8m = arith.muli %a0_uii64, %f31 : tensor<16x64xi64>
  %a1_sii8 = arith.addi %a1_sii8m, %w1_sii8 : tensor<16x64xi64>
  %v1_sii16 = arith.fptosi %y1 : tensor<16x64xf32> to tensor<16x64xi16>
  %w1_sii16 = arith.extsi %v1_sii16 : tensor<16x64xi16> to tensor<16x64xi64>
  %a1_sii16m = arith.muli %a1_sii8, %f31 : tensor<16x64xi64>
  %a1_sii16 = arith.addi %a1_sii16m, %w1_sii16 : tensor<16x64xi64>
  %v1_sii32 = arith.fptosi %y1 : tensor<16x64xf32> to tensor<16x64xi32>
  %w1_sii32 = arith.extsi %v1_sii32 : tensor<16x64xi32> to tensor<16x64xi64>
  %a1_sii32m = arith.muli %a1_sii16, %f31 : tensor<16x64xi64>
  %a1_sii32 = arith.addi %a1_sii32m, %w1_sii32 : tensor<16x64xi64>
  %v1_sii64 = arith.fptosi %y1 : tensor<16x64xf32> to tensor<16x64xi64>
  %a1_sii64m = arith.muli %a1_sii32, %f31 : tensor<16x64xi64>
  %a1_sii64 = arith.addi %a1_sii64m, %v1_sii64 : tensor<16x64xi64>
  %v1_uii8 = arith.fptoui %y1 : tensor<16x64xf32> to tensor<16x64xi8>
  %w1_uii8 = arith.extui %v1_uii8 : tensor<16x64xi8> to tensor<16x64xi64>
  %a1_uii8m = arith.muli %a1_sii64, %f31 : tensor<16x64xi64>
  %a1_uii8 = arith.addi %a1_uii8m, %w1_uii8 : tensor<16x64xi64>
  %v1_uii16 = arith.fptoui %y1 : tensor<16x64xf32> to tensor<16x64xi16>
  %w1_uii16 = arith.extui %v1_uii16 : tensor<16x64xi16> to tensor<16x64xi64>
  %a1_uii16m = arith.muli %a1_uii8, %f31 : tensor<16x64xi64>
  %a1_uii16 = arith.addi %a1_uii16m, %w1_uii16 : tensor<16x64xi64>
  %v1_uii32 = arith.fptoui %y1 : tensor<16x64xf32> to tensor<16x64xi32>
  %w1_uii32 = arith.extui %v1_uii32 : tensor<16x64xi32> to tensor<16x64xi64>
  %a1_uii32m = arith.muli %a1_uii16, %f31 : tensor<16x64xi64>
  %a1_uii32 = arith.addi %a1_uii32m, %w1_uii32 : tensor<16x64xi64>
  %v1_uii64 = arith.fptoui %y1 : tensor<16x64xf32> to tensor<16x64xi64>
  %a1_uii64m = arith.muli %a1_uii32, %f31 : tensor<16x64xi64>
  %a1_uii64 = arith.addi %a1_uii64m, %v1_uii64 : tensor<16x64xi64>
  %k2 = arith.constant dense<3.0e9> : tensor<16x64xf32>
  %y2 = arith.mulf %x, %k2 : tensor<16x64xf32>
  %v2_sii8 = arith.fptosi %y2 : tensor<16x64xf32> to tensor<16x64xi8>
  %w2_sii8 = arith.extsi %v2_sii8 : tensor<16x64xi8> to tensor<16x64xi64>
  %a2_sii8m = arith.muli %a1_uii64, %f31 : tensor<16x64xi64>
  %a2_sii8 = arith.addi %a2_sii8m, %w2_sii8 : tensor<16x64xi64>
  %v2_sii16 = arith.fptosi %y2 : tensor<16x64xf32> to tensor<16x64xi16>
  %w2_sii16 = arith.extsi %v2_sii16 : tensor<16x64xi16> to tensor<16x64xi64>
  %a2_sii16m = arith.muli %a2_sii8, %f31 : tensor<16x64xi64>
  %a2_sii16 = arith.addi %a2_sii16m, %w2_sii16 : tensor<16x64xi64>
  %v2_sii32 = arith.fptosi %y2 : tensor<16x64xf32> to tensor<16x64xi32>
  %w2_sii32 = arith.extsi %v2_sii32 : tensor<16x64xi32> to tensor<16x64xi64>
  %a2_sii32m = arith.muli %a2_sii16, %f31 : tensor<16x64xi64>
  %a2_sii32 = arith.addi %a2_sii32m, %w2_sii32 : tensor<16x64xi64>
  %v2_sii64 = arith.fptosi %y2 : tensor<16x64xf32> to tensor<16x64xi64>
  %a2_sii64m = arith.muli %a2_sii32, %f31 : tensor<16x64xi64>
  %a2_sii64 = arith.addi %a2_sii64m, %v2_sii64 : tensor<16x64xi64>
  %v2_uii8 = arith.fptoui %y2 : tensor<16x64xf32> to tensor<16x64xi8>
  %w2_uii8 = arith.extui %v2_uii8 : tensor<16x64xi8> to tensor<16x64xi64>
  %a2_uii8m = arith.muli %a2_sii64, %f31 : tensor<16x64xi64>
  %a2_uii8 = arith.addi %a2_uii8m, %w2_uii8 : tensor<16x64xi64>
  %v2_uii16 = arith.fptoui %y2 : tensor<16x64xf32> to tensor<16x64xi16>
  %w2_uii16 = arith.extui %v2_uii16 : tensor<16x64xi16> to tensor<16x64xi64>
  %a2_uii16m = arith.muli %a2_uii8, %f31 : tensor<16x64xi64>
  %a2_uii16 = arith.addi %a2_uii16m, %w2_uii16 : tensor<16x64xi64>
  %v2_uii32 = arith.fptoui %y2 : tensor<16x64xf32> to tensor<16x64xi32>
  %w2_uii32 = arith.extui %v2_uii32 : tensor<16x64xi32> to tensor<16x64xi64>
  %a2_uii32m = arith.muli %a2_uii16, %f31 : tensor<16x64xi64>
  %a2_uii32 = arith.addi %a2_uii32m, %w2_uii32 : tensor<16x64xi64>
  %v2_uii64 = arith.fptoui %y2 : tensor<16x64xf32> to tensor<16x64xi64>
  %a2_uii64m = arith.muli %a2_uii32, %f31 : tensor<16x64xi64>
  %a2_uii64 = arith.addi %a2_uii64m, %v2_uii64 : tensor<16x64xi64>
  %k3 = arith.constant dense<1.0e19> : tensor<16x64xf32>
  %y3 = arith.mulf %x, %k3 : tensor<16x64xf32>
  %v3_sii8 = arith.fptosi %y3 : tensor<16x64xf32> to tensor<16x64xi8>
  %w3_sii8 = arith.extsi %v3_sii8 : tensor<16x64xi8> to tensor<16x64xi64>
  %a3_sii8m = arith.muli %a2_uii64, %f31 : tensor<16x64xi64>
  %a3_sii8 = arith.addi %a3_sii8m, %w3_sii8 : tensor<16x64xi64>
  %v3_sii16 = arith.fptosi %y3 : tensor<16x64xf32> to tensor<16x64xi16>
  %w3_sii16 = arith.extsi %v3_sii16 : tensor<16x64xi16> to tensor<16x64xi64>
  %a3_sii16m = arith.muli %a3_sii8, %f31 : tensor<16x64xi64>
  %a3_sii16 = arith.addi %a3_sii16m, %w3_sii16 : tensor<16x64xi64>
  %v3_sii32 = arith.fptosi %y3 : tensor<16x64xf32> to tensor<16x64xi32>
  %w3_sii32 = arith.extsi %v3_sii32 : tensor<16x64xi32> to tensor<16x64xi64>
  %a3_sii32m = arith.muli %a3_sii16, %f31 : tensor<16x64xi64>
  %a3_sii32 = arith.addi %a3_sii32m, %w3_sii32 : tensor<16x64xi64>
  %v3_sii64 = arith.fptosi %y3 : tensor<16x64xf32> to tensor<16x64xi64>
  %a3_sii64m = arith.muli %a3_sii32, %f31 : tensor<16x64xi64>
  %a3_sii64 = arith.addi %a3_sii64m, %v3_sii64 : tensor<16x64xi64>
  %v3_uii8 = arith.fptoui %y3 : tensor<16x64xf32> to tensor<16x64xi8>
  %w3_uii8 = arith.extui %v3_uii8 : tensor<16x64xi8> to tensor<16x64xi64>
  %a3_uii8m = arith.muli %a3_sii64, %f31 : tensor<16x64xi64>
  %a3_uii8 = arith.addi %a3_uii8m, %w3_uii8 : tensor<16x64xi64>
  %v3_uii16 = arith.fptoui %y3 : tensor<16x64xf32> to tensor<16x64xi16>
  %w3_uii16 = arith.extui %v3_uii16 : tensor<16x64xi16> to tensor<16x64xi64>
  %a3_uii16m = arith.muli %a3_uii8, %f31 : tensor<16x64xi64>
  %a3_uii16 = arith.addi %a3_uii16m, %w3_uii16 : tensor<16x64xi64>
  %v3_uii32 = arith.fptoui %y3 : tensor<16x64xf32> to tensor<16x64xi32>
  %w3_uii32 = arith.extui %v3_uii32 : tensor<16x64xi32> to tensor<16x64xi64>
  %a3_uii32m = arith.muli %a3_uii16, %f31 : tensor<16x64xi64>
  %a3_uii32 = arith.addi %a3_uii32m, %w3_uii32 : tensor<16x64xi64>
  %v3_uii64 = arith.fptoui %y3 : tensor<16x64xf32> to tensor<16x64xi64>
  %a3_uii64m = arith.muli %a3_uii32, %f31 : tensor<16x64xi64>
  %a3_uii64 = arith.addi %a3_uii64m, %v3_uii64 : tensor<16x64xi64>
  %none = arith.constant dense<0.0> : tensor<16x64xf32>
  %nil = arith.mulf %x, %none : tensor<16x64xf32>
  %nan0 = arith.divf %nil, %nil : tensor<16x64xf32>
  %nsii8 = arith.fptosi %nan0 : tensor<16x64xf32> to tensor<16x64xi8>
  %nwsii8 = arith.extsi %nsii8 : tensor<16x64xi8> to tensor<16x64xi64>
  %nasii8m = arith.muli %a3_uii64, %f31 : tensor<16x64xi64>
  %nasii8 = arith.addi %nasii8m, %nwsii8 : tensor<16x64xi64>
  %nsii16 = arith.fptosi %nan0 : tensor<16x64xf32> to tensor<16x64xi16>
  %nwsii16 = arith.extsi %nsii16 : tensor<16x64xi16> to tensor<16x64xi64>
  %nasii16m = arith.muli %nasii8, %f31 : tensor<16x64xi64>
  %nasii16 = arith.addi %nasii16m, %nwsii16 : tensor<16x64xi64>
  %nsii32 = arith.fptosi %nan0 : tensor<16x64xf32> to tensor<16x64xi32>
  %nwsii32 = arith.extsi %nsii32 : tensor<16x64xi32> to tensor<16x64xi64>
  %nasii32m = arith.muli %nasii16, %f31 : tensor<16x64xi64>
  %nasii32 = arith.addi %nasii32m, %nwsii32 : tensor<16x64xi64>
  %nsii64 = arith.fptosi %nan0 : tensor<16x64xf32> to tensor<16x64xi64>
  %nasii64m = arith.muli %nasii32, %f31 : tensor<16x64xi64>
  %nasii64 = arith.addi %nasii64m, %nsii64 : tensor<16x64xi64>
  %nuii8 = arith.fptoui %nan0 : tensor<16x64xf32> to tensor<16x64xi8>
  %nwuii8 = arith.extui %nuii8 : tensor<16x64xi8> to tensor<16x64xi64>
  %nauii8m = arith.muli %nasii64, %f31 : tensor<16x64xi64>
  %nauii8 = arith.addi %nauii8m, %nwuii8 : tensor<16x64xi64>
  %nuii16 = arith.fptoui %nan0 : tensor<16x64xf32> to tensor<16x64xi16>
  %nwuii16 = arith.extui %nuii16 : tensor<16x64xi16> to tensor<16x64xi64>
  %nauii16m = arith.muli %nauii8, %f31 : tensor<16x64xi64>
  %nauii16 = arith.addi %nauii16m, %nwuii16 : tensor<16x64xi64>
  %nuii32 = arith.fptoui %nan0 : tensor<16x64xf32> to tensor<16x64xi32>
  %nwuii32 = arith.extui %nuii32 : tensor<16x64xi32> to tensor<16x64xi64>
  %nauii32m = arith.muli %nauii16, %f31 : tensor<16x64xi64>
  %nauii32 = arith.addi %nauii32m, %nwuii32 : tensor<16x64xi64>
  %nuii64 = arith.fptoui %nan0 : tensor<16x64xf32> to tensor<16x64xi64>
  %nauii64m = arith.muli %nauii32, %f31 : tensor<16x64xi64>
  %nauii64 = arith.addi %nauii64m, %nuii64 : tensor<16x64xi64>
  return %nauii64 : tensor<16x64xi64>
}
