// RUN: mk-opt %s -split-input-file -verify-diagnostics

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @before on @mesh () {
  // expected-error @+1 {{stands in front of ops that it counts: put it at the kernel's end}}
  mk_sm.shared_memory 544 offsets(failed = 8, requests = 16, result = 0)
  mk.role @r ctas(1) {}
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @large on @mesh () {
  mk.role @r ctas(1) {}
  // expected-error @+1 {{has 300000 bytes; sm_90a has 232448: use fewer slots or smaller tiles}}
  mk_sm.shared_memory 300000 offsets(failed = 8, requests = 16, result = 0)
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @missing on @mesh () {
  mk.role @r ctas(1) {
    // expected-error @+1 {{has no offset of 'full' in shared memory, which others have: delete mk_sm.shared_memory and run mk-sm-lay-out-shared}}
    %m = mk_sm.create_mailbox offsets(empty = 8, slots = 16) : !mk_sm.mailbox<1, words = 1>
  }
  mk_sm.shared_memory 600 offsets(failed = 40, requests = 48, result = 32)
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @unknown on @mesh () {
  mk.role @r ctas(1) {
    // expected-error @+1 {{has offsets {empty = 8 : i64, full = 0 : i64, handover = 24 : i64, slots = 16 : i64}, but owns 3 pieces of shared memory}}
    %m = mk_sm.create_mailbox offsets(empty = 8, full = 0, handover = 24, slots = 16) : !mk_sm.mailbox<1, words = 1>
  }
  mk_sm.shared_memory 600 offsets(failed = 40, requests = 48, result = 32)
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @misaligned on @mesh () {
  mk.role @r ctas(1) {
    // expected-error @+1 {{has 'slots' at 512, which is no multiple of 1024}}
    %r = mk_sm.create_ring offsets(empty = 8, full = 0, slots = 512) : !mk_sm.ring<1, tensor<64x64xbf16>>
  }
  mk_sm.shared_memory 9216 offsets(failed = 40, requests = 48, result = 32)
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @outside on @mesh () {
  mk.role @r ctas(1) {
    // expected-error @+1 {{has 'slots' from 1024 to 9216 in 9000 bytes of shared memory}}
    %r = mk_sm.create_ring offsets(empty = 8, full = 0, slots = 1024) : !mk_sm.ring<1, tensor<64x64xbf16>>
  }
  mk_sm.shared_memory 9000 offsets(failed = 40, requests = 48, result = 32)
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @overlap on @mesh () {
  mk.role @r ctas(1) {
    // expected-note @+1 {{of this op}}
    %r = mk_sm.create_ring offsets(empty = 9224, full = 9216, slots = 0) : !mk_sm.ring<1, tensor<64x64xbf16>>
    // expected-error @+1 {{has 'buffers' from 7168 to 15360, where there is 'slots' from 0 on}}
    %s = mk_sm.create_staging offsets(buffers = 7168) : !mk_sm.staging<1>
  }
  mk_sm.shared_memory 20000 offsets(failed = 16008, requests = 16016, result = 16000)
}

// -----

// Tiles of two roles may lie in one place, the barrier of one and a tile of the other may not.
mk.mesh @mesh (gpu = 1 via link)
mk.kernel @roles on @mesh () {
  mk.role @r ctas(1) {
    // expected-note @+1 {{of this op}}
    %r = mk_sm.create_ring offsets(empty = 9224, full = 8184, slots = 0) : !mk_sm.ring<1, tensor<8x64xbf16>>
  }
  mk.role @s ctas(1) {
    // expected-error @+1 {{has 'buffers' from 0 to 8192, where there is 'full' from 8184 on}}
    %s = mk_sm.create_staging offsets(buffers = 0) : !mk_sm.staging<1>
  }
  mk_sm.shared_memory 20000 offsets(failed = 16008, requests = 16016, result = 16000)
}

// -----

// What is a role's itself its scratch owns.
mk.mesh @mesh (gpu = 2 via link)
mk.kernel @scratch on @mesh (inout %a : memref<128x64xbf16, #mk.symmetric> [128, 64]) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  // expected-error @+1 {{has no offset of 'put_slots' in shared memory, which others have: delete mk_sm.shared_memory and run mk-sm-lay-out-shared}}
  mk.role @r ctas(1) {
    mk_sm.partition consumer warps(4) registers(168) {
      mk.put %a[%c0, %c0][%c64, %c64] to %a[%c0, %c0] on %c0
          : memref<128x64xbf16, #mk.symmetric> to memref<128x64xbf16, #mk.symmetric>
    }
  }
  mk_sm.shared_memory 600 offsets(failed = 40, requests = 48, result = 32)
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @form on @mesh () {
  mk.role @r ctas(1) {
    // expected-error @+1 {{attribute 'offsets' failed to satisfy constraint: dictionary of named attribute values with the offset of each piece by its name}}
    %s = "mk_sm.create_staging"() <{offsets = {buffers = []}}> : () -> !mk_sm.staging<1>
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @twice on @mesh () {
  mk.role @r ctas(1) {
    // expected-error @+1 {{'full' has an offset already}}
    %m = mk_sm.create_mailbox offsets(full = 0, full = 8) : !mk_sm.mailbox<1, words = 1>
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @name on @mesh () {
  mk.role @r ctas(1) {
    // expected-error @+1 {{has attribute "mk_sm.share", but mk_sm has none for ops of its own or others: leave it out, or write what the op's syntax has for it}}
    %s = mk_sm.create_staging {mk_sm.share = 1} : !mk_sm.staging<1>
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @old on @mesh () {
  mk.role @r ctas(1) {
    // expected-error @+1 {{has attribute "mk_sm.shared", which is no longer read: write 'offsets(piece = N, ...)' of the op that owns the piece}}
    %s = mk_sm.create_staging {mk_sm.shared = {buffers = 0}} : !mk_sm.staging<1>
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @scratches on @mesh () {
  mk.role @r ctas(1) {
    mk_sm.create_scratch offsets(padding = 0)
    // expected-error @+1 {{is the second one of its role, which has one place for what its ops need: delete it}}
    mk_sm.create_scratch offsets(padding = 8)
  }
}
