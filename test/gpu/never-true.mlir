// Half of the arrivals that a wait needs never come: the launch has to end with a
// report of that wait, not hang. See cases.json.
mk.mesh @mesh (gpu = ? via link)

mk.kernel @late on @mesh dims(uniform M) (out %a : memref<?x64xf32> [M, 64]) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c5 = arith.constant 5 : index
  %ready = mk.signals(%M) : !mk.signal<?, gpu, arrivals = 2>
  mk.role @writer ctas(1) {
    mk.foreach (%i) in (%M) {
      mk.signal %ready[%i] : !mk.signal<?, gpu, arrivals = 2>
      %late = arith.cmpi eq, %i, %c5 : index
      scf.if %late {
      } else {
        mk.signal %ready[%i] : !mk.signal<?, gpu, arrivals = 2>
      }
    }
  }
  mk.role @reader ctas(rest) {
    mk.foreach (%i) in (%M) {
      mk.wait %ready[%i] ge %c2 : !mk.signal<?, gpu, arrivals = 2>
    }
  }
}
