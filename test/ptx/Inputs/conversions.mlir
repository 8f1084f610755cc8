// Conversions of integers and floats where ranges matter: on a GPU they are computed for two elements at a time, or by instructions.
mk.mesh @mesh (gpu = 1 via link)
!d = tensor<16x64xf64>
!b = tensor<16x64xi8>
!h = tensor<16x64xi16>
!w = tensor<16x64xi32>
!l = tensor<16x64xi64>
!f = tensor<16x64xf32>

// Numbers of 128 to 255 in more than 8 bits have no sign in their lowest byte.
mk.kernel @wide on @mesh (in %words : memref<16x64xi32> [16, 64], in %bytes : memref<16x64xi8> [16, 64],
    out %x : memref<16x64xf32> [16, 64], out %y : memref<16x64xf32> [16, 64], out %z : memref<16x64xf32> [16, 64]) {
  %c0 = arith.constant 0 : index
  %c255 = arith.constant dense<255> : !w
  %c128 = arith.constant dense<128> : !w
  %c1 = arith.constant dense<1> : !h
  mk.role @r ctas(1) {
    %word = mk.load %words[%c0, %c0] : memref<16x64xi32> -> !w
    %byte = mk.load %bytes[%c0, %c0] : memref<16x64xi8> -> !b
    %masked = arith.andi %word, %c255 : !w
    %long = arith.extsi %masked : !w to !l
    %0 = arith.sitofp %long : !l to !f
    mk.store %0, %x[%c0, %c0] : !f, memref<16x64xf32>
    %short = arith.extui %byte : !b to !h
    %flipped = arith.xori %short, %c1 : !h
    %wide = arith.extsi %flipped : !h to !w
    %1 = arith.sitofp %wide : !w to !f
    mk.store %1, %y[%c0, %c0] : !f, memref<16x64xf32>
    %signed = arith.extsi %byte : !b to !w
    %lifted = arith.addi %signed, %c128 : !w
    %longer = arith.extsi %lifted : !w to !l
    %2 = arith.sitofp %longer : !l to !f
    mk.store %2, %z[%c0, %c0] : !f, memref<16x64xf32>
  }
}
func.func @wide_reference(%word: !w, %byte: !b) -> (!d, !d, !d) {
  %c255 = arith.constant dense<255> : !w
  %c128 = arith.constant dense<128> : !w
  %c1 = arith.constant dense<1> : !w
  %masked = arith.andi %word, %c255 : !w
  %unsigned = arith.extui %byte : !b to !w
  %flipped = arith.xori %unsigned, %c1 : !w
  %signed = arith.extsi %byte : !b to !w
  %lifted = arith.addi %signed, %c128 : !w
  %0 = arith.sitofp %masked : !w to !d
  %1 = arith.sitofp %flipped : !w to !d
  %2 = arith.sitofp %lifted : !w to !d
  return %0, %1, %2 : !d, !d, !d
}

// Constants beyond the range, and integers that go to floats and back: nothing that is folded gives something else.
mk.kernel @folded on @mesh (in %s : memref<16x64xi16> [16, 64], out %x : memref<16x64xi32> [16, 64], out %y : memref<16x64xi32> [16, 64],
    out %z : memref<16x64xi16> [16, 64]) {
  %c0 = arith.constant 0 : index
  %far = arith.constant dense<3.0e9> : !f
  mk.role @r ctas(1) {
    %short = mk.load %s[%c0, %c0] : memref<16x64xi16> -> !h
    %f = arith.sitofp %short : !h to !f
    %0 = arith.fptoui %f : !f to !w
    mk.store %0, %x[%c0, %c0] : !w, memref<16x64xi32>
    %1 = arith.fptosi %far : !f to !w
    mk.store %1, %y[%c0, %c0] : !w, memref<16x64xi32>
    %2 = arith.fptoui %f : !f to !h
    mk.store %2, %z[%c0, %c0] : !h, memref<16x64xi16>
  }
}
func.func @folded_reference(%s: !h) -> (!w, !w, !h) {
  %zero = arith.constant dense<0> : !h
  %most = arith.constant dense<2147483647> : !w
  %positive = arith.maxsi %s, %zero : !h
  %wide = arith.extsi %positive : !h to !w
  return %wide, %most, %positive : !w, !w, !h
}
