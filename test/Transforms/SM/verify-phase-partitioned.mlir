// RUN: mk-opt %s -split-input-file -mk-assign-ctas=grid=8 -mk-sm-verify-phase=phase=partitioned -verify-diagnostics

// What the split of roles promises.

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !tile>
!slot = !mk_sm.slot<!tile>
mk.kernel @fine on @mesh dims(uniform M) (in %a : memref<64x64xbf16> [64, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(rest) {
    %ring = mk_sm.create_ring : !ring
    %mail = mk_sm.create_mailbox : !mk_sm.mailbox<2, words = 1>
    mk_sm.partition producer warps(1) registers(40) {
      %s = mk_sm.acquire %ring : !ring -> !slot
      mk_sm.copy %a[%c0, %c0] to %s[0] : memref<64x64xbf16>, !slot
      mk_sm.commit %ring, %s : !ring, !slot
      mk_sm.send %mail, %c0 : !mk_sm.mailbox<2, words = 1>
    }
    mk_sm.partition consumer warps(4) registers(168) {
      %i = mk_sm.receive %mail : !mk_sm.mailbox<2, words = 1>
      %s = mk_sm.wait %ring : !ring -> !slot
      %x = mk_sm.tile %s[0] : !slot -> !mk_sm.staged<!tile>
      %z = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
      %d = mk_sm.mma %x, %x, %z transpose_b : !mk_sm.staged<!tile>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
      %e = mk_sm.mma_wait 0, %d : tensor<64x64xf32, #acc>
      mk_sm.release %ring : !ring
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @beside on @mesh dims(uniform M) (in %a : memref<64x64xbf16> [64, 64]) {
  mk.role @r ctas(rest) {
    // expected-error @+1 {{stands in a role beside its partitions, where nobody does it: run mk-sm-split-roles, or move it into a partition}}
    %i = arith.addi %M, %M : index
    mk_sm.partition consumer warps(4) registers(168) {
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @tile_in_producer on @mesh dims(uniform M) (in %a : memref<64x64xbf16> [64, 64]) {
  mk.role @r ctas(rest) {
    mk_sm.partition producer warps(1) registers(40) {
      // expected-error @+1 {{has 'tensor<64x64xf32>' in a producer, a single warp that holds no tiles: stage it, or compute it in the consumer}}
      %t = arith.constant dense<0.0> : tensor<64x64xf32>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @no_layout on @mesh dims(uniform M) (in %a : memref<64x64xbf16> [64, 64]) {
  mk.role @r ctas(rest) {
    mk_sm.partition consumer warps(4) registers(168) {
      // expected-error @+1 {{has 'tensor<64x64xf32>' in a consumer, where tiles are fragments: give it a layout, such as #mk_sm.mma}}
      %t = arith.constant dense<0.0> : tensor<64x64xf32>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
mk.kernel @shape on @mesh dims(uniform M) (in %a : memref<64x64xbf16> [64, 64]) {
  mk.role @r ctas(rest) {
    mk_sm.partition consumer warps(4) registers(168) {
      // expected-error @+1 {{has 'tensor<60x64xf32, #mk_sm.mma<warpgroups = 1>>': 60 rows cannot be split over 1 warpgroup, each of which takes blocks of 64; the next is 64}}
      %t = arith.constant dense<0.0> : tensor<60x64xf32, #acc>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
mk.kernel @threads on @mesh dims(uniform M) (in %a : memref<64x64xbf16> [64, 64]) {
  mk.role @r ctas(rest) {
    mk_sm.partition consumer warps(8) registers(168) {
      // expected-error @+1 {{has 'tensor<64x64xf32, #mk_sm.mma<warpgroups = 1>>' over 128 threads, but its body is run by 256: use a layout over as many}}
      %z = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
    }
  }
}

// -----

// Also what a loop carries.
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @carried on @mesh dims(uniform M) (in %a : memref<64x64xbf16> [64, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %none = arith.constant dense<0.0> : tensor<64x64xf32>
  mk.role @r ctas(rest) {
    mk_sm.partition consumer warps(4) registers(168) {
      // expected-error @+1 {{has 'tensor<64x64xf32>' in a consumer, where tiles are fragments: give it a layout, such as #mk_sm.mma}}
      scf.for %i = %c0 to %M step %c1 iter_args(%t = %none) -> (tensor<64x64xf32>) {
        scf.yield %t : tensor<64x64xf32>
      }
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @acts on @mesh dims(uniform M) (in %a : memref<64x64xbf16> [64, 64]) {
  %c0 = arith.constant 0 : index
  %f = mk.signals() : !mk.signal<1, gpu, arrivals = 1>
  mk.role @r ctas(rest) {
    mk_sm.partition producer warps(1) registers(40) {
      // expected-error @+1 {{acts on what others see in a producer, which runs ahead of what is computed: move it into the consumer}}
      mk.signal %f[%c0] : !mk.signal<1, gpu, arrivals = 1>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @foreach on @mesh dims(uniform M) (in %a : memref<64x64xbf16> [64, 64]) {
  mk.role @r ctas(rest) {
    mk_sm.partition consumer warps(4) registers(168) {
      // expected-error @+1 {{is of the tile level in a partition: run mk-sm-split-roles on the whole role}}
      mk.foreach (%i) in (%M) {
      }
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !tile>
!slot = !mk_sm.slot<!tile>
mk.kernel @unread on @mesh dims(uniform M) (in %a : memref<64x64xbf16> [64, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(rest) {
    // expected-error @+1 {{has a ring that is filled but never read: the role would not end}}
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition producer warps(1) registers(40) {
      %s = mk_sm.acquire %ring : !ring -> !slot
      mk_sm.copy %a[%c0, %c0] to %s[0] : memref<64x64xbf16>, !slot
      mk_sm.commit %ring, %s : !ring, !slot
    }
    mk_sm.partition consumer warps(4) registers(168) {

    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !tile>
!slot = !mk_sm.slot<!tile>
mk.kernel @unfilled on @mesh dims(uniform M) (in %a : memref<64x64xbf16> [64, 64]) {
  mk.role @r ctas(rest) {
    // expected-error @+1 {{has a ring that is read but never filled: the role would not end}}
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition producer warps(1) registers(40) {

    }
    mk_sm.partition consumer warps(4) registers(168) {
      %s = mk_sm.wait %ring : !ring -> !slot
      %x = mk_sm.tile %s[0] : !slot -> !mk_sm.staged<!tile>
      %z = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
      %d = mk_sm.mma %x, %x, %z transpose_b : !mk_sm.staged<!tile>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
      %e = mk_sm.mma_wait 0, %d : tensor<64x64xf32, #acc>
      mk_sm.release %ring : !ring
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !tile>
!slot = !mk_sm.slot<!tile>
mk.kernel @kept on @mesh dims(uniform M) (in %a : memref<64x64xbf16> [64, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(rest) {
    // expected-error @+1 {{has a ring whose slots are read but never released: the producer would wait for ever, or fill what is in use}}
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition producer warps(1) registers(40) {
      %s = mk_sm.acquire %ring : !ring -> !slot
      mk_sm.copy %a[%c0, %c0] to %s[0] : memref<64x64xbf16>, !slot
      mk_sm.commit %ring, %s : !ring, !slot
    }
    mk_sm.partition consumer warps(4) registers(168) {
      %s = mk_sm.wait %ring : !ring -> !slot
      %x = mk_sm.tile %s[0] : !slot -> !mk_sm.staged<!tile>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !tile>
mk.kernel @given on @mesh dims(uniform M) (in %a : memref<64x64xbf16> [64, 64]) {
  mk.role @r ctas(rest) {
    // expected-error @+1 {{has a ring whose slots are released but never read: the producer would wait for ever, or fill what is in use}}
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition producer warps(1) registers(40) {

    }
    mk_sm.partition consumer warps(4) registers(168) {
      mk_sm.release %ring : !ring
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !tile>
!slot = !mk_sm.slot<!tile>
mk.kernel @uncommitted on @mesh dims(uniform M) (in %a : memref<64x64xbf16> [64, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(rest) {
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition producer warps(1) registers(40) {
      // expected-error @+1 {{gets a slot that nobody commits in the same block: the consumer would wait for ever}}
      %s = mk_sm.acquire %ring : !ring -> !slot
      mk_sm.copy %a[%c0, %c0] to %s[0] : memref<64x64xbf16>, !slot
    }
    mk_sm.partition consumer warps(4) registers(168) {
      %s = mk_sm.wait %ring : !ring -> !slot
      %x = mk_sm.tile %s[0] : !slot -> !mk_sm.staged<!tile>
      %z = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
      %d = mk_sm.mma %x, %x, %z transpose_b : !mk_sm.staged<!tile>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
      %e = mk_sm.mma_wait 0, %d : tensor<64x64xf32, #acc>
      mk_sm.release %ring : !ring
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !tile>
!slot = !mk_sm.slot<!tile>
mk.kernel @empty on @mesh dims(uniform M) (in %a : memref<64x64xbf16> [64, 64]) {
  mk.role @r ctas(rest) {
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition producer warps(1) registers(40) {
      // expected-error @+1 {{gets a slot whose tile 0 is filled by 0 copies: fill each tile once}}
      %s = mk_sm.acquire %ring : !ring -> !slot
      mk_sm.commit %ring, %s : !ring, !slot
    }
    mk_sm.partition consumer warps(4) registers(168) {
      %s = mk_sm.wait %ring : !ring -> !slot
      %x = mk_sm.tile %s[0] : !slot -> !mk_sm.staged<!tile>
      %z = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
      %d = mk_sm.mma %x, %x, %z transpose_b : !mk_sm.staged<!tile>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
      %e = mk_sm.mma_wait 0, %d : tensor<64x64xf32, #acc>
      mk_sm.release %ring : !ring
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @mailbox on @mesh dims(uniform M) (in %a : memref<64x64xbf16> [64, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(rest) {
    // expected-error @+1 {{has a mailbox that is sent to in 1 places and received from in 0: each number that is sent is received once}}
    %mail = mk_sm.create_mailbox : !mk_sm.mailbox<2, words = 1>
    mk_sm.partition producer warps(1) registers(40) {
      mk_sm.send %mail, %c0 : !mk_sm.mailbox<2, words = 1>
    }
    mk_sm.partition consumer warps(4) registers(168) {

    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !tile>
!slot = !mk_sm.slot<!tile>
mk.kernel @places on @mesh dims(uniform M) (in %a : memref<64x64xbf16> [64, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(rest) {
    // expected-error @+1 {{has a ring that is filled in 2 places and read in 1: behind the split these are the same}}
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition producer warps(1) registers(40) {
      %s = mk_sm.acquire %ring : !ring -> !slot
      mk_sm.copy %a[%c0, %c0] to %s[0] : memref<64x64xbf16>, !slot
      mk_sm.commit %ring, %s : !ring, !slot
      %t = mk_sm.acquire %ring : !ring -> !slot
      mk_sm.copy %a[%c0, %c0] to %t[0] : memref<64x64xbf16>, !slot
      mk_sm.commit %ring, %t : !ring, !slot
    }
    mk_sm.partition consumer warps(4) registers(168) {
      %s = mk_sm.wait %ring : !ring -> !slot
      %x = mk_sm.tile %s[0] : !slot -> !mk_sm.staged<!tile>
      %z = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
      %d = mk_sm.mma %x, %x, %z transpose_b : !mk_sm.staged<!tile>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
      %e = mk_sm.mma_wait 0, %d : tensor<64x64xf32, #acc>
      mk_sm.release %ring : !ring
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @sent_twice on @mesh dims(uniform M) (in %a : memref<64x64xbf16> [64, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(rest) {
    // expected-error @+1 {{has a mailbox that is sent to in 2 places and received from in 1: each number that is sent is received once}}
    %mail = mk_sm.create_mailbox : !mk_sm.mailbox<2, words = 1>
    mk_sm.partition producer warps(1) registers(40) {
      mk_sm.send %mail, %c0 : !mk_sm.mailbox<2, words = 1>
      mk_sm.send %mail, %c0 : !mk_sm.mailbox<2, words = 1>
    }
    mk_sm.partition consumer warps(4) registers(168) {
      %i = mk_sm.receive %mail : !mk_sm.mailbox<2, words = 1>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !tile>
!slot = !mk_sm.slot<!tile>
mk.kernel @two_slots on @mesh dims(uniform M) (in %a : memref<64x64xbf16> [64, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(rest) {
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition producer warps(1) registers(40) {
      %s = mk_sm.acquire %ring : !ring -> !slot
      mk_sm.copy %a[%c0, %c0] to %s[0] : memref<64x64xbf16>, !slot
      mk_sm.commit %ring, %s : !ring, !slot
      %t = mk_sm.acquire %ring : !ring -> !slot
      mk_sm.copy %a[%c0, %c0] to %t[0] : memref<64x64xbf16>, !slot
      mk_sm.commit %ring, %t : !ring, !slot
    }
    mk_sm.partition consumer warps(4) registers(168) {
      // expected-error @+1 {{takes a slot that is not released in the same block, as passes that move releases expect: put mk_sm.release behind its last use}}
      %s = mk_sm.wait %ring : !ring -> !slot
      %t = mk_sm.wait %ring : !ring -> !slot
      mk_sm.release %ring : !ring
      mk_sm.release %ring : !ring
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !tile>
!slot = !mk_sm.slot<!tile>
mk.kernel @in_flight on @mesh dims(uniform M) (in %a : memref<64x64xbf16> [64, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(rest) {
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition producer warps(1) registers(40) {
      %s = mk_sm.acquire %ring : !ring -> !slot
      mk_sm.copy %a[%c0, %c0] to %s[0] : memref<64x64xbf16>, !slot
      mk_sm.commit %ring, %s : !ring, !slot
    }
    mk_sm.partition consumer warps(4) registers(168) {
      %s = mk_sm.wait %ring : !ring -> !slot
      %x = mk_sm.tile %s[0] : !slot -> !mk_sm.staged<!tile>
      %z = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
      // expected-error @+1 {{is not waited for at once, as passes that overlap matrix ops expect: put mk_sm.mma_wait 0 behind it}}
      %d = mk_sm.mma %x, %x, %z transpose_b : !mk_sm.staged<!tile>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
      mk_sm.release %ring : !ring
      %e = mk_sm.mma_wait 0, %d : tensor<64x64xf32, #acc>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
!tile = tensor<64x64xbf16>
!ring = !mk_sm.ring<2, !tile>
!slot = !mk_sm.slot<!tile>
mk.kernel @one_left on @mesh dims(uniform M) (in %a : memref<64x64xbf16> [64, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(rest) {
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition producer warps(1) registers(40) {
      %s = mk_sm.acquire %ring : !ring -> !slot
      mk_sm.copy %a[%c0, %c0] to %s[0] : memref<64x64xbf16>, !slot
      mk_sm.commit %ring, %s : !ring, !slot
    }
    mk_sm.partition consumer warps(4) registers(168) {
      %s = mk_sm.wait %ring : !ring -> !slot
      %x = mk_sm.tile %s[0] : !slot -> !mk_sm.staged<!tile>
      %z = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
      // expected-error @+1 {{is not waited for at once, as passes that overlap matrix ops expect: put mk_sm.mma_wait 0 behind it}}
      %d = mk_sm.mma %x, %x, %z transpose_b : !mk_sm.staged<!tile>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
      %f = mk_sm.mma %x, %x, %z transpose_b : !mk_sm.staged<!tile>, !mk_sm.staged<!tile>, tensor<64x64xf32, #acc>
      mk_sm.mma_wait 1
      mk_sm.mma_wait 0, %d, %f : tensor<64x64xf32, #acc>, tensor<64x64xf32, #acc>
      mk_sm.release %ring : !ring
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @forwards on @mesh dims(uniform M) (in %a : memref<64x64xbf16> [64, 64]) {
  mk.role @r ctas(rest) {
    mk_sm.partition consumer warps(8) registers(168) {
      // expected-error @+1 {{is of a role that is not split: let the producer send what the consumer receives}}
      %m = mk_sm.forward %M
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @turns on @mesh dims(uniform M) (in %a : memref<64x64xbf16> [64, 64]) {
  mk.role @r ctas(rest) {
    mk_sm.partition consumer warps(8) registers(168) {
      // expected-error @+1 {{is about turns before passes have dealt them out: leave it to mk-sm-take-turns and mk-sm-alternate-items}}
      mk_sm.turn_wait
      mk_sm.turn_pass
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @carried on @mesh (in %n : memref<1xi1> [1]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %a = mk_sm.create_ring : !mk_sm.ring<1, tensor<64x64xbf16>>
    %b = mk_sm.create_ring : !mk_sm.ring<1, tensor<64x64xbf16>>
    mk_sm.partition consumer warps(4) registers(168) {
      %which = memref.load %n[%c0] : memref<1xi1>
      // expected-error @+1 {{carries '!mk_sm.ring<1, tensor<64x64xbf16>>', but channels and their cursors are no values: name the op that makes it where it is used}}
      %c = scf.if %which -> !mk_sm.ring<1, tensor<64x64xbf16>> {
        scf.yield %a : !mk_sm.ring<1, tensor<64x64xbf16>>
      } else {
        scf.yield %b : !mk_sm.ring<1, tensor<64x64xbf16>>
      }
    }
  }
}

// -----

// Slots hold what they are filled with.
mk.mesh @mesh (gpu = 1 via link)
!ring = !mk_sm.ring<2, tensor<64x64xbf16>, tensor<64x64xbf16>>
!half = !mk_sm.slot<tensor<64x64xbf16>>
!whole = !mk_sm.slot<tensor<64x128xbf16>>
mk.kernel @other_tiles on @mesh dims(uniform M) (in %a : memref<64x128xbf16> [64, 128]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(rest) {
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition producer warps(1) registers(40) {
      %s = mk_sm.acquire %ring : !ring -> !half
      mk_sm.copy %a[%c0, %c0] to %s[0] : memref<64x128xbf16>, !half
      mk_sm.commit %ring, %s : !ring, !half
    }
    mk_sm.partition consumer warps(4) registers(168) {
      // expected-error @+1 {{takes '!mk_sm.slot<tensor<64x128xbf16>>' of a ring in which nobody fills such slots: acquire as many of this type, in the same order}}
      %s = mk_sm.wait %ring : !ring -> !whole
      mk_sm.release %ring : !ring
    }
  }
}
