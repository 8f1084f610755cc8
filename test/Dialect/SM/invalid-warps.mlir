// RUN: mk-opt %s -split-input-file -verify-diagnostics

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @twice on @mesh () {
  mk.role @r ctas(1) {}
  // expected-error @+1 {{stands in its kernel twice: delete one}}
  mk_sm.warps consumer(4) order [@r] barriers {consumer = 8, cta = 9, finish = 14, request = 12, turn = 10, warpgroup = 1}
  mk_sm.warps consumer(4) order [@r] barriers {consumer = 8, cta = 9, finish = 14, request = 12, turn = 10, warpgroup = 1}
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @warps on @mesh () {
  mk.role @r ctas(1) {}
  // expected-error @+1 {{has 6 warps of the consumer: it has 4 to 28, a multiple of 4}}
  mk_sm.warps consumer(6) order [@r] barriers {consumer = 8, cta = 9, finish = 14, request = 12, turn = 10, warpgroup = 1}
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @registers on @mesh () {
  mk.role @r ctas(1) {}
  // expected-error @+1 {{has registers 40, 233: give two numbers, each a multiple of 8 from 24 to 256}}
  mk_sm.warps consumer(8) registers [40, 233] order [@r] barriers {consumer = 8, cta = 9, finish = 14, request = 12, turn = 10, warpgroup = 1}
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @pool on @mesh () {
  mk.role @r ctas(1) {}
  // expected-error @+1 {{deals out 66560 registers, of which the CTA has 64512}}
  mk_sm.warps consumer(8) registers [40, 240] order [@r] barriers {consumer = 8, cta = 9, finish = 14, request = 12, turn = 10, warpgroup = 1}
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @unknown on @mesh () {
  mk.role @r ctas(1) {}
  // expected-error @+1 {{has 't' in its order, which is no role of the kernel with CTAs of its own, or stands there already}}
  mk_sm.warps consumer(4) order [@r, @t] barriers {consumer = 8, cta = 9, finish = 14, request = 12, turn = 10, warpgroup = 1}
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @before on @mesh () {
  mk.role @r ctas(1) then @s {}
  mk.role @s ctas(1) {}
  // expected-error @+1 {{comes to role 's' before role 'r', which goes on with it}}
  mk_sm.warps consumer(4) order [@s, @r] barriers {consumer = 8, cta = 9, finish = 14, request = 12, turn = 10, warpgroup = 1}
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @left on @mesh () {
  mk.role @r ctas(1) then @s {}
  mk.role @s ctas(1) {}
  // expected-error @+1 {{never comes to role 's'}}
  mk_sm.warps consumer(4) order [@r] barriers {consumer = 8, cta = 9, finish = 14, request = 12, turn = 10, warpgroup = 1}
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @barrier on @mesh () {
  mk.role @r ctas(1) {}
  // expected-error @+1 {{has no place for the 2 named barriers 'turn' from 1 to 15}}
  mk_sm.warps consumer(4) order [@r] barriers {consumer = 8, cta = 9, finish = 14, request = 12, turn = 15, warpgroup = 1}
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @taken on @mesh () {
  mk.role @r ctas(1) {}
  // expected-error @+1 {{uses named barrier 8 for 'cta', which is that of 'consumer'}}
  mk_sm.warps consumer(4) order [@r] barriers {consumer = 8, cta = 8, finish = 14, request = 12, turn = 10, warpgroup = 1}
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @partition on @mesh () {
  mk.role @r ctas(1) {
    // expected-error @+1 {{has 8 warps, mk_sm.warps only 4: delete that, and run mk-sm-assign-warps}}
    mk_sm.partition consumer warps(8) registers(168) {}
  }
  mk_sm.warps consumer(4) order [@r] barriers {consumer = 8, cta = 9, finish = 14, request = 12, turn = 10, warpgroup = 1}
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @copiers on @mesh () {
  mk.role @r ctas(1) {}
  mk_sm.warps consumer(4) copiers order [@r] barriers {consumer = 8, cta = 9, finish = 14, request = 12, turn = 10, warpgroup = 1}
  // expected-error @+1 {{has no room for the requests of copiers, which mk_sm.warps has: delete both, and run mk-sm-lay-out-shared and mk-sm-assign-warps}}
  mk_sm.shared_memory 544 offsets(failed = 8, result = 0)
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @late on @mesh () {
  mk.role @r ctas(1) then @s {}
  mk.role @s ctas(1) {
    mk_sm.partition consumer warps(4) registers(168) {}
    // expected-error @+1 {{stands behind other ops of its role: put it at the beginning}}
    mk_sm.sync_warps from [@r]
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @from on @mesh () {
  mk.role @r ctas(1) then @s {
    // expected-error @+1 {{waits for CTAs of 's', no role that goes on with 'r'}}
    mk_sm.sync_warps from [@s]
  }
  mk.role @s ctas(1) {}
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @both on @mesh () {
  mk.role @r ctas(1) {}
  // expected-error @+1 {{has the same warps as copiers and as sender: leave the sender out, and the consumer sends its tiles itself}}
  mk_sm.warps consumer(4) copiers sender order [@r] barriers {consumer = 8, cta = 9, finish = 14, request = 12, turn = 10, warpgroup = 1}
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @nothing on @mesh () {
  mk.role @r ctas(1) {}
  // expected-error @+1 {{has a sender, but no store is posted: leave it out}}
  mk_sm.warps consumer(4) sender order [@r] barriers {consumer = 8, cta = 9, finish = 14, request = 12, turn = 10, warpgroup = 1}
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @beside_in_order on @mesh () {
  mk.role @r ctas(1) {}
  mk.role @b ctas(1 beside @r) {}
  // expected-error @+1 {{has 'b' in its order, which is no role of the kernel with CTAs of its own, or stands there already}}
  mk_sm.warps consumer(4) movers [@b] order [@r, @b] barriers {consumer = 8, cta = 9, finish = 14, request = 12, turn = 10, warpgroup = 1}
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @no_mover on @mesh () {
  mk.role @r ctas(1) {}
  mk.role @b ctas(1 beside @r) {}
  // expected-error @+1 {{has no mover for role 'b'}}
  mk_sm.warps consumer(4) order [@r] barriers {consumer = 8, cta = 9, finish = 14, request = 12, turn = 10, warpgroup = 1}
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @no_role_beside on @mesh () {
  mk.role @r ctas(1) {}
  // expected-error @+1 {{has 'r' among its movers, which is no role beside another, or stands there already}}
  mk_sm.warps consumer(4) movers [@r] order [@r] barriers {consumer = 8, cta = 9, finish = 14, request = 12, turn = 10, warpgroup = 1}
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @many on @mesh () {
  mk.role @r ctas(1) {}
  mk.role @a ctas(1 beside @r) {}
  mk.role @b ctas(1 beside @r) {}
  mk.role @c ctas(1 beside @r) {}
  // expected-error @+1 {{has 3 movers: a CTA has warps for 2}}
  mk_sm.warps consumer(4) movers [@a, @b, @c] order [@r] barriers {consumer = 8, cta = 9, finish = 14, request = 12, turn = 10, warpgroup = 1}
}
