mk.mesh @mesh (gpu = 1 via link)
mk.kernel @place on @mesh (in %a : memref<64xf32> [64]) {
  %c1 = arith.constant 1 : index
  %n = mk.counters(%c1) : !mk.counter<?>
  mk.role @first ctas(1) then @second {
    mk_sm.partition consumer warps(4) registers(168) {
    }
  }
  %i = mk_sm.ticket loop(0)
  mk.role @second ctas(1) {
    mk_sm.partition consumer warps(4) registers(168) {
      %old = mk.count %n[%i] add %c1 : !mk.counter<?>
    }
  }
}
