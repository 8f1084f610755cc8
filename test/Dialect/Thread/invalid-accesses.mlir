// RUN: mk-opt %s -split-input-file -allow-unregistered-dialect -verify-diagnostics

// Barriers, accesses to memory, copies.

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %s = mk_thread.shared_base 0
  // expected-error @+1 {{attribute 'arrivals' failed to satisfy constraint}}
  mk_thread.mbarrier_init %s, 0
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %s = mk_thread.shared_base 0
  // expected-error @+1 {{attribute 'bytes' failed to satisfy constraint}}
  mk_thread.mbarrier_expect %s, 1048576
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %s = mk_thread.shared_base 0
  // expected-error @+1 {{expects bytes at the barrier of another CTA; only its own CTA can: leave out `in` or `expect`}}
  mk_thread.mbarrier_arrive %s in %w expect(%w)
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  // expected-error @+1 {{counts 48 threads; a named barrier counts whole warps}}
  mk_thread.sync %w, 48
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  // expected-error @+1 {{counts 0 threads; a named barrier counts whole warps}}
  mk_thread.arrive %w, 0
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  // expected-error @+1 {{counts 416 threads of a CTA that has 384, so nobody would go on; count those that come}}
  %x = mk_thread.sync_or %w, 416, %w
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  // expected-error @+1 {{gives each thread 20 registers; there are 24 to 256, in steps of 8}}
  mk_thread.set_registers 20
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  // expected-error @+1 {{gives each thread 100 registers; there are 24 to 256, in steps of 8}}
  mk_thread.set_registers 100 more
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  // expected-error @+1 {{names 4 bytes at 1030 of shared memory; use an offset that is a multiple of 4}}
  %x = mk_thread.load_shared 1030 : i32
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  // expected-error @+1 {{names 4 bytes at 4096 of 4096 bytes of shared memory; use an offset in it}}
  mk_thread.store_shared %w, 4096 : i32
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %g = mk_thread.param 16 : i64
  // expected-error @+1 {{inverts a condition, and has none: leave out `inverted`}}
  %x = "mk_thread.load"(%g) <{bytes = 4, inverted, operandSegmentSizes = array<i32: 1, 0, 0>}> : (i64) -> i32
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 16 : i64
  %h = mk_thread.load_shared 1030 : i16
  // expected-error @+1 {{needs as many values for where the condition does not hold as it has results, and of their types}}
  %x = mk_thread.load %g, 4 if %w else (%h : i16) : i64 -> i32
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %g = mk_thread.param 16 : i64
  // expected-error @+1 {{of 16 bytes has 1 words; use 1, 2, 4 or 8 bytes as one word, or 8 or 16 as words of 4}}
  %x = mk_thread.load %g, 16 : i64 -> i64
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 16 : i64
  // expected-error @+1 {{of 3 bytes has 1 words; use 1, 2, 4 or 8 bytes as one word, or 8 or 16 as words of 4}}
  mk_thread.store %w : i32 to %g : i64 bytes(3)
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %g = mk_thread.param 16 : i64
  // expected-error @+1 {{of 8 bytes has a word of 4 bytes}}
  %x = mk_thread.load %g, 8 : i64 -> i32
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 16 : i64
  // expected-error @+1 {{of 1 bytes has a word of 4 bytes}}
  mk_thread.store %w : i32 to %g : i64 bytes(1)
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 16 : i64
  // expected-error @+1 {{inverts a condition, and has none: leave out `inverted`}}
  "mk_thread.store"(%w, %g) <{bytes = 4, inverted, operandSegmentSizes = array<i32: 1, 1, 0>}> : (i32, i64) -> ()
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 16 : i64
  // expected-error @+1 {{has only one of `add` and `scope`: an addition has a scope, a store has none}}
  "mk_thread.store"(%w, %g) <{bytes = 4, add = f32, operandSegmentSizes = array<i32: 1, 1, 0>}> : (i32, i64) -> ()
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %f = arith.constant 1.0 : f32
  %s = mk_thread.shared_base 0
  // expected-error @+1 {{adds to shared memory; elements are added in global memory}}
  mk_thread.store %f : f32 to %s : i32 bytes(4) add(f32, cta)
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %g = mk_thread.param 16 : i64
  %h = mk_thread.load_shared 1030 : i16
  // expected-error @+1 {{adds elements of 'i8', which memory does not; use f32, f64, bf16, f16, i32 or i64}}
  mk_thread.store %h : i16 to %g : i64 bytes(1) add(i8, gpu)
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 16 : i64
  // expected-error @+1 {{adds an element of 'bf16' with 1 words of 4 bytes in all; use one word of the element's size}}
  mk_thread.store %w : i32 to %g : i64 bytes(4) add(bf16, gpu)
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 16 : i64
  // expected-error @+1 {{adds an element of 'f32' with 2 words of 8 bytes in all; use one word of the element's size}}
  mk_thread.store %w, %w : i32, i32 to %g : i64 bytes(8) add(f32, gpu)
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 16 : i64
  // expected-error @+1 {{is acquire; what reads nothing is relaxed or releases (else: mk_thread.atomic_add)}}
  mk_thread.reduce_add acquire gpu %g, %w : i32
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %g = mk_thread.param 16 : i64
  // expected-error @+1 {{is release; a load is relaxed or acquires}}
  %x = mk_thread.load_atomic release gpu %g : i32
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 16 : i64
  // expected-error @+1 {{is acq_rel; a store is relaxed or releases}}
  mk_thread.store_atomic acq_rel gpu %w, %g : i32
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %s = mk_thread.shared_base 0
  %map = mk_thread.param_address 128
  // expected-error @+1 {{has 0 coordinates; a tensor map has 1 to 5 dimensions}}
  mk_thread.store_tensor %s to %map[] : !llvm.ptr
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %s = mk_thread.shared_base 0
  %map = mk_thread.param_address 128
  // expected-error @+1 {{has 6 coordinates; a tensor map has 1 to 5 dimensions}}
  mk_thread.copy_tensor %map[%w, %w, %w, %w, %w, %w] to %s counted by %s : !llvm.ptr
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %s = mk_thread.shared_base 0
  %map = mk_thread.param_address 128
  %mask = arith.constant 0 : i16
  // expected-error @+1 {{names CTAs by the mask 0 of a cluster that has 2; name some that exist}}
  mk_thread.copy_tensor %map[%w] to %s counted by %s ctas(%mask) : !llvm.ptr
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %s = mk_thread.shared_base 0
  %map = mk_thread.param_address 128
  %mask = arith.constant 4 : i16
  // expected-error @+1 {{names CTAs by the mask 4 of a cluster that has 2; name some that exist}}
  mk_thread.copy_tensor %map[%w] to %s counted by %s ctas(%mask) : !llvm.ptr
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %w = mk_thread.cta_id
  %g = mk_thread.param 16 : i64
  %s = mk_thread.shared_base 0
  // expected-error @+1 {{adds elements of 'i16', which memory does not; use f32, f64, bf16, f16, i32 or i64}}
  mk_thread.store_bulk %s to %g, %w add(i16)
}

// -----

mk_thread.kernel @k threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  // expected-error @+1 {{attribute 'pending' failed to satisfy constraint}}
  mk_thread.wait_group -1
}
