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
