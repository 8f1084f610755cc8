// RUN: mk-opt %s -split-input-file -verify-diagnostics

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @outside on @mesh dims(uniform M) (out %c : memref<?xf32> [M]) {
  // expected-error @+1 {{stands outside of a role and of mk.prepare, where a CTA has no items: move it into the role that does them}}
  mk_sm.items (%i) round(%n) of %M {
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @teams on @mesh dims(uniform M) (out %c : memref<?xf32> [M]) {
  mk.role @r ctas(rest) {
    // expected-error @+1 {{has teams(3): items are taken by one team or by two in turn}}
    mk_sm.items (%i) round(%n) of %M teams(3) {
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @every on @mesh dims(uniform M) (out %c : memref<?xf32> [M]) {
  mk.role @r ctas(rest) {
    // expected-error @+1 {{has every(0): items are taken by one team or by two in turn}}
    mk_sm.items (%i) round(%n) of %M every(0) {
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @arguments on @mesh dims(uniform M) (out %c : memref<?xf32> [M]) {
  mk.role @r ctas(rest) {
    // expected-error @+1 {{has a body whose arguments do not begin with the number of the item and that of the round, two values of type index}}
    "mk_sm.items"(%M) <{teams = 1 : i64, every = 1 : i64}> ({
    ^bb0(%i: index):
    }) : (index) -> ()
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @number on @mesh dims(uniform M) (out %c : memref<?xf32> [M]) {
  mk.role @r ctas(rest) {
    // expected-error @+1 {{attribute 'loop' failed to satisfy constraint}}
    mk_sm.at_item loop(512) [%M]
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @dim on @mesh dims(uniform M) (out %c : memref<?xf32> [M]) {
  %m = arith.addi %M, %M : index
  mk.role @r ctas(rest) {
    // expected-error @+1 {{reads what is no dimension of the kernel: use the value as it is}}
    %n = mk_sm.read_dim %m
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @forward on @mesh dims(uniform M) (out %c : memref<?xf32> [M]) {
  mk.role @r ctas(rest) {
    // expected-error @+1 {{forwards 17 scalars: 1 to 16 go together, as words of a mailbox}}
    %x:17 = mk_sm.forward %M, %M, %M, %M, %M, %M, %M, %M, %M, %M, %M, %M, %M, %M, %M, %M, %M
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @carries on @mesh dims(uniform M) (out %c : memref<?xf32> [M]) {
  %x = arith.constant dense<0.0> : tensor<8xf32>
  mk.role @r ctas(rest) {
    // expected-error @+1 {{begins with 1 values, carries 1 and is given 0 by mk_sm.carry: as many, of the same types, have to be all three}}
    mk_sm.items (%i) round(%n) of %M iter_args(%y = %x : tensor<8xf32>) {
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @orders on @mesh dims(uniform M) (out %c : memref<?xf32> [M]) {
  mk.role @r ctas(rest) {
    mk_sm.partition producer warps(1) registers(40) {
      // expected-error @+1 {{orders what a consumer or a mover loads and stores: put it there}}
      mk_sm.order
    }
  }
}
