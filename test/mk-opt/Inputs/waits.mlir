mk.mesh @mesh (gpu = 1 via link)
mk.kernel @waits on @mesh (out %c : memref<8xf32> [8]) {
  %c1 = arith.constant 1 : index
  %many = arith.constant 9223372036854775807 : index
  %s = mk.signals(%c1) : !mk.signal<?, sys, dynamic>
  %c0 = arith.constant 0 : index
  mk.role @a ctas(2) {
    mk.foreach (%i) in (%many) {
      mk.signal %s[%c0] : !mk.signal<?, sys, dynamic>
      %n = arith.addi %i, %c1 : index
      mk.wait %s[%c0] ge %n : !mk.signal<?, sys, dynamic>
    }
  }
}
