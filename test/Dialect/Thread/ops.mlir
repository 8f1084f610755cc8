// RUN: mk-opt %s | mk-opt | FileCheck %s
// RUN: mk-opt %s -mlir-print-op-generic | mk-opt | FileCheck %s

// Every op, with and without what is optional, in its own form and in the generic one.

// CHECK: mk_thread.kernel @launch threads(384) cluster(2) params(512) shared(4096) frame(<launch = 64, failed = 1032>) {
mk_thread.kernel @launch threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  // CHECK: %[[T:.*]] = mk_thread.thread_id{{$}}
  %t = mk_thread.thread_id
  // CHECK: mk_thread.thread_id pinned
  %u = mk_thread.thread_id pinned
  // CHECK: mk_thread.cta_id
  %c = mk_thread.cta_id
  // CHECK: mk_thread.param 16 : i64
  %n = mk_thread.param 16 : i64
  // CHECK: mk_thread.param 20 : i32
  %w = mk_thread.param 20 : i32
  // CHECK: mk_thread.param pinned 24 : i64
  %p = mk_thread.param pinned 24 : i64
  // CHECK: mk_thread.param_address 128{{$}}
  %a = mk_thread.param_address 128
  // CHECK: mk_thread.param_address 0, %[[T]]
  %b = mk_thread.param_address 0, %t
  // CHECK: mk_thread.shared_base 0
  %s = mk_thread.shared_base 0
  // CHECK: mk_thread.shared_base pinned 1032
  %x = mk_thread.shared_base pinned 1032
}

// CHECK: mk_thread.kernel @sync
// CHECK-SAME: attributes {mine}
mk_thread.kernel @sync threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) attributes {mine} {
  // CHECK: %[[B:.*]] = mk_thread.shared_base 0
  %b = mk_thread.shared_base 0
  // CHECK: %[[C:.*]] = mk_thread.cta_id
  %c = mk_thread.cta_id
  // CHECK: mk_thread.mbarrier_init %[[B]], 8
  mk_thread.mbarrier_init %b, 8
  // CHECK: mk_thread.mbarrier_arrive %[[B]]{{$}}
  mk_thread.mbarrier_arrive %b
  // CHECK: mk_thread.mbarrier_arrive %[[B]] in %[[C]]
  mk_thread.mbarrier_arrive %b in %c
  // CHECK: mk_thread.mbarrier_arrive %[[B]] expect(%[[C]])
  mk_thread.mbarrier_arrive %b expect(%c)
  // CHECK: %[[REMOTE:.*]] = mk_thread.map_shared %[[B]] in %[[C]]
  %remote = mk_thread.map_shared %b in %c
  // CHECK: mk_thread.send_shared %[[C]], %[[C]], %[[C]], %[[C]] to %[[REMOTE]] + 2048 told %[[REMOTE]]
  mk_thread.send_shared %c, %c, %c, %c to %remote + 2048 told %remote
  // CHECK: mk_thread.mbarrier_expect %[[B]], 32768
  mk_thread.mbarrier_expect %b, 32768
  // CHECK: mk_thread.mbarrier_expect %[[B]], 4096 times %[[C]]
  mk_thread.mbarrier_expect %b, 4096 times %c
  // CHECK: mk_thread.mbarrier_complete %[[B]], 1
  mk_thread.mbarrier_complete %b, 1
  // CHECK: mk_thread.mbarrier_wait %[[B]], %[[C]] stage(%[[C]]) report(<kind = 1, role = 0, number = 3>){{$}}
  mk_thread.mbarrier_wait %b, %c stage(%c) report(<kind = 1, role = 0, number = 3>)
  // CHECK: mk_thread.mbarrier_wait {{.*}} report(<kind = 1, role = -1, number = 3>) double_deadline
  mk_thread.mbarrier_wait %b, %c stage(%c) report(<kind = 1, role = -1, number = 3>) double_deadline
  // CHECK: mk_thread.sync %[[C]], 256
  mk_thread.sync %c, 256
  // CHECK: mk_thread.arrive %[[C]], 256
  mk_thread.arrive %c, 256
  // CHECK: %[[ANY:.*]] = mk_thread.sync_or %[[C]], 256, %[[B]]
  %any = mk_thread.sync_or %c, 256, %b
  // CHECK: mk_thread.any %[[ANY]]
  %some = mk_thread.any %any
  // CHECK: mk_thread.sync_cta
  mk_thread.sync_cta
  // CHECK: mk_thread.sync_warp
  mk_thread.sync_warp
  // CHECK: mk_thread.sync_cluster
  mk_thread.sync_cluster
  // CHECK: mk_thread.sync_launches
  mk_thread.sync_launches
  // CHECK: mk_thread.set_registers 240 more
  mk_thread.set_registers 240 more
  // CHECK: mk_thread.set_registers 24{{$}}
  mk_thread.set_registers 24
  // CHECK: mk_thread.fence cta
  mk_thread.fence cta
  // CHECK: mk_thread.fence gpu
  mk_thread.fence gpu
  // CHECK: mk_thread.fence sys
  mk_thread.fence sys
  // CHECK: mk_thread.fence_async{{$}}
  mk_thread.fence_async
  // CHECK: mk_thread.fence_async shared
  mk_thread.fence_async shared
  // CHECK: mk_thread.fence_async global
  mk_thread.fence_async global
  // CHECK: mk_thread.fence_mbarriers
  mk_thread.fence_mbarriers
}

// CHECK: mk_thread.kernel @memory
mk_thread.kernel @memory threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  // CHECK: %[[S:.*]] = mk_thread.shared_base 0
  %s = mk_thread.shared_base 0
  // CHECK: %[[G:.*]] = mk_thread.param 16 : i64
  %g = mk_thread.param 16 : i64
  // CHECK: %[[W:.*]] = mk_thread.load_shared %[[S]] + 8 : i32
  %w = mk_thread.load_shared %s + 8 : i32
  // CHECK: %[[H:.*]] = mk_thread.load_shared 1030 : i16
  %h = mk_thread.load_shared 1030 : i16
  // CHECK: mk_thread.load_shared %[[S]] + 0 : i64
  %l = mk_thread.load_shared %s + 0 : i64
  // CHECK: mk_thread.store_shared %[[W]], %[[S]] + 8 : i32
  mk_thread.store_shared %w, %s + 8 : i32
  // CHECK: mk_thread.store_shared %[[W]], 1032 : i32
  mk_thread.store_shared %w, 1032 : i32
  // CHECK: mk_thread.load %[[S]], 4 : i32 -> i32
  %0 = mk_thread.load %s, 4 : i32 -> i32
  // CHECK: mk_thread.load %[[G]], 1 : i64 -> i16
  %1 = mk_thread.load %g, 1 : i64 -> i16
  // CHECK: mk_thread.load %[[G]], 8 if %[[W]] else(%[[W]], %[[W]] : i32, i32) : i64 -> i32, i32
  %2:2 = mk_thread.load %g, 8 if %w else (%w, %w : i32, i32) : i64 -> i32, i32
  // CHECK: mk_thread.load %[[G]], 2 if not %[[W]] else(%[[H]] : i16) : i64 -> i16
  %3 = mk_thread.load %g, 2 if not %w else (%h : i16) : i64 -> i16
  // CHECK: mk_thread.load %[[S]], 16 : i32 -> i32, i32, i32, i32
  %4:4 = mk_thread.load %s, 16 : i32 -> i32, i32, i32, i32
  // CHECK: mk_thread.store %[[H]] : i16 to %[[S]] : i32 bytes(1){{$}}
  mk_thread.store %h : i16 to %s : i32 bytes(1)
  // CHECK: mk_thread.store %[[W]], %[[W]] : i32, i32 to %[[G]] : i64 bytes(8) if %[[W]]
  mk_thread.store %w, %w : i32, i32 to %g : i64 bytes(8) if %w
  // CHECK: mk_thread.store %[[G]] : i64 to %[[G]] : i64 bytes(8) if not %[[W]]
  mk_thread.store %g : i64 to %g : i64 bytes(8) if not %w
  // CHECK: mk_thread.store %[[W]] : i32 to %[[G]] : i64 bytes(4) if %[[W]] add(f32, gpu)
  mk_thread.store %w : i32 to %g : i64 bytes(4) if %w add(f32, gpu)
  // CHECK: mk_thread.atomic_add acq_rel gpu %[[G]], %[[W]] : i32
  %5 = mk_thread.atomic_add acq_rel gpu %g, %w : i32
  // CHECK: mk_thread.atomic_add relaxed cta %[[G]], %[[G]] : i64
  %6 = mk_thread.atomic_add relaxed cta %g, %g : i64
  // CHECK: mk_thread.reduce_add release sys %[[G]], %[[W]] : i32
  mk_thread.reduce_add release sys %g, %w : i32
  // CHECK: mk_thread.load_atomic acquire sys %[[G]] : i32
  %7 = mk_thread.load_atomic acquire sys %g : i32
  // CHECK: mk_thread.store_atomic release gpu %[[W]], %[[G]] : i32
  mk_thread.store_atomic release gpu %w, %g : i32
  // CHECK: mk_thread.store_command %[[G]], %[[G]] to %[[G]]
  mk_thread.store_command %g, %g to %g
}

// CHECK: mk_thread.kernel @copies
mk_thread.kernel @copies threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  // CHECK: %[[S:.*]] = mk_thread.shared_base 0
  %s = mk_thread.shared_base 0
  // CHECK: %[[G:.*]] = mk_thread.param 16 : i64
  %g = mk_thread.param 16 : i64
  // CHECK: %[[MAP:.*]] = mk_thread.param_address 128
  %map = mk_thread.param_address 128
  // CHECK: mk_thread.prefetch_map %[[MAP]] : !llvm.ptr
  mk_thread.prefetch_map %map : !llvm.ptr
  // CHECK: mk_thread.prefetch_map %[[G]] : i64
  mk_thread.prefetch_map %g : i64
  // CHECK: mk_thread.copy_tensor %[[MAP]][%[[S]], %[[S]]] to %[[S]] counted by %[[S]] : !llvm.ptr
  mk_thread.copy_tensor %map[%s, %s] to %s counted by %s : !llvm.ptr
  // CHECK: %[[CTAS:.*]] = arith.constant 3 : i16
  %ctas = arith.constant 3 : i16
  // CHECK: mk_thread.copy_tensor %[[G]][%[[S]]] to %[[S]] counted by %[[S]] ctas(%[[CTAS]]) : i64
  mk_thread.copy_tensor %g[%s] to %s counted by %s ctas(%ctas) : i64
  // CHECK: mk_thread.copy_tensor {{.*}} counted by %[[S]] once : i64
  mk_thread.copy_tensor %g[%s] to %s counted by %s once : i64
  // CHECK: mk_thread.store_tensor %[[S]] to %[[MAP]][%[[S]], %[[S]]] : !llvm.ptr
  mk_thread.store_tensor %s to %map[%s, %s] : !llvm.ptr
  // CHECK: mk_thread.store_tensor %[[S]] to %[[G]][%[[S]]] add : i64
  mk_thread.store_tensor %s to %g[%s] add : i64
  // CHECK: mk_thread.copy_bulk %[[G]] to %[[S]], %[[S]] counted by %[[S]]
  mk_thread.copy_bulk %g to %s, %s counted by %s
  // CHECK: mk_thread.store_bulk %[[S]] to %[[G]], %[[S]]{{$}}
  mk_thread.store_bulk %s to %g, %s
  // CHECK: mk_thread.store_bulk %[[S]] to %[[G]], %[[S]] add(bf16)
  mk_thread.store_bulk %s to %g, %s add(bf16)
  // CHECK: mk_thread.commit_group
  mk_thread.commit_group
  // CHECK: mk_thread.wait_group 0{{$}}
  mk_thread.wait_group 0
  // CHECK: mk_thread.wait_group 1 read
  mk_thread.wait_group 1 read
}

// CHECK: mk_thread.kernel @matrices
mk_thread.kernel @matrices threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  // CHECK: %[[S:.*]] = mk_thread.shared_base 0
  %s = mk_thread.shared_base 0
  // CHECK: %[[G:.*]] = mk_thread.param 16 : i64
  %g = mk_thread.param 16 : i64
  // CHECK: %[[F:.*]] = arith.constant
  %f = arith.constant 1.0 : f32
  // CHECK: %[[SOME:.*]] = arith.constant true
  %some = arith.constant true
  // CHECK: %[[X:.*]]:4 = mk_thread.wgmma n(8) k(16) "bf16" * "bf16" left(%[[G]] : i64) + 2 transposed right(%[[G]]) + 4 transposed -> f32, f32, f32, f32
  %x:4 = mk_thread.wgmma n(8) k(16) "bf16" * "bf16" left(%g : i64) + 2 transposed
      right(%g) + 4 transposed -> f32, f32, f32, f32
  // CHECK: mk_thread.wgmma n(8) k(32) "e4m3" * "e5m2" left(%[[S]], %[[S]], %[[S]], %[[S]] : i32, i32, i32, i32) + 0 right(%[[G]]) + 0 acc(%[[X]]#0, %[[X]]#1, %[[X]]#2, %[[X]]#3 : f32, f32, f32, f32) accumulate(%[[SOME]]) -> f32, f32, f32, f32
  %y:4 = mk_thread.wgmma n(8) k(32) "e4m3" * "e5m2" left(%s, %s, %s, %s : i32, i32, i32, i32) + 0
      right(%g) + 0 acc(%x#0, %x#1, %x#2, %x#3 : f32, f32, f32, f32) accumulate(%some)
      -> f32, f32, f32, f32
  // CHECK: mk_thread.wgmma_fence none
  mk_thread.wgmma_fence none
  // CHECK: mk_thread.wgmma_fence %[[F]], %[[S]] : f32, i32
  %z:2 = mk_thread.wgmma_fence %f, %s : f32, i32
  // CHECK: mk_thread.wgmma_commit
  mk_thread.wgmma_commit
  // CHECK: mk_thread.wgmma_wait 1{{$}}
  mk_thread.wgmma_wait 1
  // CHECK: mk_thread.wgmma_wait 0, %[[F]], %[[S]] : f32, i32
  %v:2 = mk_thread.wgmma_wait 0, %f, %s : f32, i32
  // CHECK: mk_thread.stmatrix %[[S]], %[[S]], %[[S]], %[[S]], %[[S]]
  mk_thread.stmatrix %s, %s, %s, %s, %s
  // CHECK: mk_thread.stmatrix %[[S]], %[[S]], %[[S]], %[[S]], %[[S]] transpose
  mk_thread.stmatrix %s, %s, %s, %s, %s transpose
  // CHECK: mk_thread.pin %[[F]], %[[G]] : f32, i64
  %u:2 = mk_thread.pin %f, %g : f32, i64
  // CHECK: mk_thread.divergent_zero %[[S]]
  %own = mk_thread.divergent_zero %s
  // CHECK: mk_thread.approximate rcp %[[F]]
  %0 = mk_thread.approximate rcp %f
  // CHECK: mk_thread.approximate sin
  %2 = mk_thread.approximate sin %f
  // CHECK: mk_thread.approximate cos
  %3 = mk_thread.approximate cos %f
  // CHECK: %[[BITS:.*]] = mk_thread.to_fp8 f8E5M2 %[[F]], %[[F]]
  %bits = mk_thread.to_fp8 f8E5M2 %f, %f
  // CHECK: %[[HALVES:.*]] = mk_thread.from_fp8 f8E4M3FN %[[BITS]]
  %halves = mk_thread.from_fp8 f8E4M3FN %bits
  // CHECK: mk_thread.masked_or %[[HALVES]], mask 15 bits -1
  %merged = mk_thread.masked_or %halves, mask 15 bits -1
  // CHECK: mk_thread.divide %[[G]], %[[G]]
  %q = mk_thread.divide %g, %g
}

// CHECK: mk_thread.kernel @reports
// CHECK-SAME: frame(<launch = 64, failed = 1032, timeline = 16, tracks = 3, words = 2048>)
mk_thread.kernel @reports threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032, timeline = 16, tracks = 3, words = 2048>) {
  // CHECK: %[[W:.*]] = mk_thread.cta_id
  %w = mk_thread.cta_id
  // CHECK: %[[G:.*]] = mk_thread.param 24 : i64
  %g = mk_thread.param 24 : i64
  // CHECK: mk_thread.wait_word gpu %[[G]], %[[W]] count(%[[W]]) array(72) report(<kind = 1, role = 0, number = 0>){{$}}
  mk_thread.wait_word gpu %g, %w count(%w) array(72) report(<kind = 1, role = 0, number = 0>)
  // CHECK: mk_thread.wait_word sys %[[G]] equal, %[[W]] count(%[[W]]) plus(%[[G]]) leader(%[[W]]) element(%[[G]]) report(<kind = 2, role = 1, number = 4>) span(<what = 4097, track = -1>)
  mk_thread.wait_word sys %g equal, %w count(%w) plus(%g) leader(%w) element(%g)
      report(<kind = 2, role = 1, number = 4>) span(<what = 4097, track = -1>)
  // CHECK: mk_thread.check %[[G]] param(24) least [] named(65539) report(<kind = 13, role = 0, number = 3>) redirect
  %i = mk_thread.check %g param(24) least [] named(65539) report(<kind = 13, role = 0, number = 3>) redirect
  // CHECK: mk_thread.check %[[G]] size(%[[G]]) extent(%[[G]]) chosen(%[[W]]) rank(%[[G]]) when(%[[G]], %[[W]] : i64, i32) least [1, 2] named(259) report(<kind = 13, role = 0, number = 4>){{$}}
  %j = mk_thread.check %g size(%g) extent(%g) chosen(%w) rank(%g) when(%g, %w : i64, i32) least [1, 2]
      named(259) report(<kind = 13, role = 0, number = 4>)
  // CHECK: mk_thread.clamp_end %[[G]] to %[[G]] step %[[G]]{{$}}
  %end = mk_thread.clamp_end %g to %g step %g
  // CHECK: mk_thread.clamp_end %[[G]] to %[[G]] step %[[G]] report(<kind = 11, role = 1, number = 0>)
  %told = mk_thread.clamp_end %g to %g step %g report(<kind = 11, role = 1, number = 0>)
  // CHECK: mk_thread.fail_unless %[[W]] report(<kind = 11, role = 1, number = 0>)
  mk_thread.fail_unless %w report(<kind = 11, role = 1, number = 0>)
  // CHECK: mk_thread.report_failure
  mk_thread.report_failure
  // CHECK: mk_thread.tracks_open
  mk_thread.tracks_open
  // CHECK: mk_thread.span_begin role <what = 0, track = 2>{{$}}
  mk_thread.span_begin role <what = 0, track = 2>
  // CHECK: mk_thread.span_begin item <what = 0, track = 1> value(%[[W]])
  mk_thread.span_begin item <what = 0, track = 1> value(%w)
  // CHECK: mk_thread.span_begin op <what = 0, track = 1>
  mk_thread.span_begin op <what = 0, track = 1>
  // CHECK: mk_thread.span_end wait <what = 4098, track = 1>
  mk_thread.span_end wait <what = 4098, track = 1>
  // CHECK: mk_thread.span_end item <what = 4097, track = 1> kept
  mk_thread.span_end item <what = 4097, track = 1> kept
  // CHECK: mk_thread.moment <what = 12289, track = 1>, %[[W]]
  mk_thread.moment <what = 12289, track = 1>, %w
  // CHECK: mk_thread.tracks_close
  mk_thread.tracks_close
}

// CHECK: mk_thread.kernel @transfers
mk_thread.kernel @transfers threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032, timeline = 16, tracks = 3, words = 2048>) {
  // CHECK: %[[W:.*]] = mk_thread.cta_id
  %w = mk_thread.cta_id
  // CHECK: %[[G:.*]] = mk_thread.param 24 : i64
  %g = mk_thread.param 24 : i64
  // CHECK: %[[COUNT:.*]], %[[BYTES:.*]], %[[ALIGNED:.*]], %[[PLACES:.*]]:2 = mk_thread.plan_runs %[[G]] to %[[G]] sizes(%[[G]], %[[G]]) from(%[[G]], %[[G]]) to(%[[G]], %[[G]]) of bf16 : i32, i32
  %count, %run, %aligned, %places:2 = mk_thread.plan_runs %g to %g sizes(%g, %g) from(%g, %g) to(%g, %g) of bf16 : i32, i32
  // CHECK: mk_thread.plan_runs {{.*}} of bf16 listed : i32
  %c, %r, %is, %p = mk_thread.plan_runs %g to %g sizes(%g) from(%g) to(%g) of bf16 listed : i32
  // CHECK: mk_thread.copy_runs %[[COUNT]] of %[[BYTES]] from %[[G]] to %[[G]] sizes(%[[W]]) from(%[[G]]) to(%[[G]]) of bf16 aligned(%[[ALIGNED]]) by(%[[W]] of 32){{$}}
  mk_thread.copy_runs %count of %run from %g to %g sizes(%w) from(%g) to(%g) of bf16 aligned(%aligned) by(%w of 32)
  // CHECK: mk_thread.copy_runs {{.*}} to(%[[G]]) also(%[[G]], %[[G]]) of bf16 aligned(%[[ALIGNED]]) by(%[[W]] of 32){{$}}
  mk_thread.copy_runs %count of %run from %g to %g sizes(%w) from(%g) to(%g) also(%g, %g) of bf16 aligned(%aligned) by(%w of 32)
  // CHECK: mk_thread.copy_runs {{.*}} sizes(%[[PLACES]]#0, %[[PLACES]]#1) from(%[[G]], %[[G]]) to(%[[G]], %[[G]]) rows(%[[W]]) of f32 add aligned(%[[ALIGNED]]) by(%[[W]] of 128) through(<at = 2048, barriers = 512, count = 3, bytes = 512>, %[[W]], %[[W]], %[[W]], %[[W]]) report(<kind = 9, role = 0, number = 0>) -> i32, i32, i32, i32
  %next:4 = mk_thread.copy_runs %count of %run from %g to %g sizes(%places#0, %places#1) from(%g, %g) to(%g, %g) rows(%w) of f32 add
      aligned(%aligned) by(%w of 128) through(<at = 2048, barriers = 512, count = 3, bytes = 512>, %w, %w, %w, %w)
      report(<kind = 9, role = 0, number = 0>) -> i32, i32, i32, i32
  // CHECK: mk_thread.send_runs %[[COUNT]] of %[[BYTES]] from %[[G]] to %[[G]] sizes(%[[W]]) from(%[[G]]) to(%[[G]]) on %[[G]] by %[[W]] report(<kind = 7, role = 0, number = 0>){{$}}
  mk_thread.send_runs %count of %run from %g to %g sizes(%w) from(%g) to(%g) on %g by %w report(<kind = 7, role = 0, number = 0>)
  // CHECK: mk_thread.send_runs {{.*}} rows(%[[W]]) on %[[G]] by %[[W]] signal(%[[G]]) strong team(%[[W]]) report(<kind = 7, role = 0, number = 0>) span(<what = 4097, track = 1>)
  mk_thread.send_runs %count of %run from %g to %g sizes(%w) from(%g) to(%g) rows(%w) on %g by %w signal(%g) strong team(%w)
      report(<kind = 7, role = 0, number = 0>) span(<what = 4097, track = 1>)
  // CHECK: mk_thread.command 1 flags(%[[W]]) on %[[G]] by %[[W]] from %[[G]] to %[[G]], %[[W]] slot(%[[G]]) add 1 report(<kind = 7, role = 0, number = 0>){{$}}
  mk_thread.command 1 flags(%w) on %g by %w from %g to %g, %w slot(%g) add 1 report(<kind = 7, role = 0, number = 0>)
  // CHECK: mk_thread.command 2 {{.*}} add 65535 report(<kind = 7, role = 0, number = 0>) span(<what = 4097, track = 1>)
  mk_thread.command 2 flags(%w) on %g by %w from %g to %g, %w slot(%g) add 65535
      report(<kind = 7, role = 0, number = 0>) span(<what = 4097, track = 1>)
  // CHECK: mk_thread.count_commands 2 by %[[W]]
  mk_thread.count_commands 2 by %w
  // CHECK: mk_thread.await_commands by %[[W]] report(<kind = 8, role = 0, number = 0>){{$}}
  mk_thread.await_commands by %w report(<kind = 8, role = 0, number = 0>)
  // CHECK: mk_thread.await_commands by %[[W]] report(<kind = 8, role = 0, number = 0>) span(<what = 4097, track = 1>)
  mk_thread.await_commands by %w report(<kind = 8, role = 0, number = 0>) span(<what = 4097, track = 1>)
  // CHECK: mk_thread.raise 72[%[[G]]] add 1 gpu{{$}}
  mk_thread.raise 72[%g] add 1 gpu
  // CHECK: mk_thread.raise 72[%[[G]]] add 1 sys relaxed on %[[G]]{{$}}
  mk_thread.raise 72[%g] add 1 sys relaxed on %g
  // CHECK: mk_thread.raise 72[%[[G]]] add 1 sys on %[[G]]{{$}}
  mk_thread.raise 72[%g] add 1 sys on %g
  // CHECK: mk_thread.raise 72[%[[G]]] add 2 sys on %[[G]] net(%[[W]]) strong team(%[[W]]) report(<kind = 7, role = 0, number = 0>) span(<what = 4097, track = 1>)
  mk_thread.raise 72[%g] add 2 sys on %g net(%w) strong team(%w) report(<kind = 7, role = 0, number = 0>)
      span(<what = 4097, track = 1>)
  // CHECK: mk_thread.await_signal gpu 72[%[[G]]], %[[W]] count(%[[W]]) report(<kind = 1, role = 0, number = 0>){{$}}
  mk_thread.await_signal gpu 72[%g], %w count(%w) report(<kind = 1, role = 0, number = 0>)
  // CHECK: mk_thread.await_signal sys 72[%[[G]]] net, %[[W]] count(%[[W]]) leader(%[[W]]) report(<kind = 1, role = 0, number = 0>) span(<what = 4097, track = 1>)
  mk_thread.await_signal sys 72[%g] net, %w count(%w) leader(%w) report(<kind = 1, role = 0, number = 0>)
      span(<what = 4097, track = 1>)
  // CHECK: mk_thread.await_peer %[[G]] of 8 in 72, %[[W]] seen(%[[W]]) report(<kind = 4, role = 0, number = 0>){{$}}
  %k = mk_thread.await_peer %g of 8 in 72, %w seen(%w) report(<kind = 4, role = 0, number = 0>)
  // CHECK: mk_thread.await_peer %[[G]] of 8 in 72 net sends, %[[W]] seen(%[[W]]) report(<kind = 4, role = 0, number = 0>) span(<what = 4097, track = 1>)
  %l = mk_thread.await_peer %g of 8 in 72 net sends, %w seen(%w) report(<kind = 4, role = 0, number = 0>)
      span(<what = 4097, track = 1>)
  // CHECK: mk_thread.notify_peers 8 in 72{{$}}
  mk_thread.notify_peers 8 in 72
  // CHECK: mk_thread.notify_peers 8 in 72 net(%[[W]]) team(%[[W]]) report(<kind = 7, role = 0, number = 0>) span(<what = 4097, track = 1>)
  mk_thread.notify_peers 8 in 72 net(%w) team(%w) report(<kind = 7, role = 0, number = 0>) span(<what = 4097, track = 1>)
  // CHECK: mk_thread.await_peers 8 in 72, %[[W]] by(%[[W]] of 256) report(<kind = 5, role = -1, number = 0>)
  mk_thread.await_peers 8 in 72, %w by(%w of 256) report(<kind = 5, role = -1, number = 0>)
  // CHECK: mk_thread.await_peers 8 in 72 net, %[[W]] by(%[[W]] of 256) report(<kind = 5, role = -1, number = 0>)
  mk_thread.await_peers 8 in 72 net, %w by(%w of 256) report(<kind = 5, role = -1, number = 0>)
}

// CHECK: mk_thread.kernel @tiles
mk_thread.kernel @tiles threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  // CHECK: %[[W:.*]] = mk_thread.cta_id
  %w = mk_thread.cta_id
  // CHECK: %[[G:.*]] = mk_thread.param 24 : i64
  %g = mk_thread.param 24 : i64
  // CHECK: mk_thread.request_copy %[[G]] in %[[G]] strides(%[[G]], %[[G]]) rows(%[[W]], %[[W]]) bytes(%[[W]], %[[W]]) of 64 x 2 size 2 to %[[W]] counted by %[[W]] lane(%[[W]]) copiers(<warps = 3, requests = 512, posted = 1024, barrier = 2>)
  mk_thread.request_copy %g in %g strides(%g, %g) rows(%w, %w) bytes(%w, %w) of 64 x 2 size 2 to %w
      counted by %w lane(%w) copiers(<warps = 3, requests = 512, posted = 1024, barrier = 2>)
  // CHECK: mk_thread.dismiss_copiers lane(%[[W]]) copiers(<warps = 3, requests = 512, posted = 1024, barrier = 2>)
  mk_thread.dismiss_copiers lane(%w) copiers(<warps = 3, requests = 512, posted = 1024, barrier = 2>)
  // CHECK: mk_thread.serve_copies sizes [2, 4] copiers(<warps = 3, requests = 512, posted = 1024, barrier = 2>)
  mk_thread.serve_copies sizes [2, 4] copiers(<warps = 3, requests = 512, posted = 1024, barrier = 2>)
  // CHECK: mk_thread.pad_tile %[[W]] rows(%[[W]], %[[W]]) columns(%[[W]], %[[W]]) of 64 x 2 size 2 pad(%[[W]]) lane(%[[W]])
  mk_thread.pad_tile %w rows(%w, %w) columns(%w, %w) of 64 x 2 size 2 pad(%w) lane(%w)
}

// CHECK: mk_thread.kernel @stores
mk_thread.kernel @stores threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  // CHECK: %[[W:.*]] = mk_thread.cta_id
  %w = mk_thread.cta_id
  // CHECK: %[[G:.*]] = mk_thread.param 24 : i64
  %g = mk_thread.param 24 : i64
  // CHECK: mk_thread.store_buffer %[[W]] to %[[G]] strides(%[[G]], %[[G]]) at(%[[W]], %[[W]]) rows(%[[W]], %[[W]]) columns(%[[W]], %[[W]]) of 64 bf16 thread(%[[W]])
  mk_thread.store_buffer %w to %g strides(%g, %g) at(%w, %w) rows(%w, %w) columns(%w, %w) of 64 bf16 thread(%w)
  // CHECK: mk_thread.store_buffer {{.*}} of 64 f32 add sys thread(%[[W]])
  mk_thread.store_buffer %w to %g strides(%g, %g) at(%w, %w) rows(%w, %w) columns(%w, %w) of 64 f32 add sys thread(%w)
  // CHECK: mk_thread.post_tile 1 in 512 called at 12 by(%[[W]]) sends(%[[W]]) element(%[[G]]) at(%[[G]], %[[G]]) on(%[[G]])
  mk_thread.post_tile 1 in 512 called at 12 by(%w) sends(%w) element(%g) at(%g, %g) on(%g)
  // CHECK: mk_thread.post_tile 0 in 512 called at 12 by(%[[W]]) sends(%[[W]]) element(%[[G]]) at() on()
  mk_thread.post_tile 0 in 512 called at 12 by(%w) sends(%w) element(%g) at() on()
  // CHECK: mk_thread.flush_sender in 512 by(%[[W]]){{$}}
  mk_thread.flush_sender in 512 by(%w)
  // CHECK: mk_thread.flush_sender in 512 by(%[[W]]) until(%[[W]]) sent(520) report(<kind = 9, role = 0, number = -1>)
  mk_thread.flush_sender in 512 by(%w) until(%w) sent(520) report(<kind = 9, role = 0, number = -1>)
  // CHECK: mk_thread.serve_posts [#mk_thread.posted<groups = 2, rows = 128, columns = 256, part_rows = 64, chunk = 64, piece_rows = 32, staging = 2048, buffers = 8, peers = 1, map = 0, coordinates = 2, add = false, signal = 72, sent = 512>] in 512 called at 12 spread 37500
  mk_thread.serve_posts [#mk_thread.posted<groups = 2, rows = 128, columns = 256, part_rows = 64, chunk = 64, piece_rows = 32, staging = 2048, buffers = 8, peers = 1, map = 0, coordinates = 2, add = false, signal = 72, sent = 512>] in 512 called at 12 spread 37500
}

// CHECK: mk_thread.kernel @channels
mk_thread.kernel @channels threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  // CHECK: %[[W:.*]] = mk_thread.cta_id
  %w = mk_thread.cta_id
  // CHECK: %[[G:.*]] = mk_thread.param 24 : i64
  %g = mk_thread.param 24 : i64
  // CHECK: mk_thread.init_slots <full = 0, empty = 32, slots = 1024, depth = 4, bytes = 256> readers(8)
  mk_thread.init_slots <full = 0, empty = 32, slots = 1024, depth = 4, bytes = 256> readers(8)
  // CHECK: %{{.*}}, %[[FULL:.*]] = mk_thread.take_slot empty of <full = 0, empty = 32, slots = 1024, depth = 4, bytes = 256> at(%[[W]], %[[W]]) report(<kind = 3, role = 0, number = 0>)
  %a, %b = mk_thread.take_slot empty of <full = 0, empty = 32, slots = 1024, depth = 4, bytes = 256> at(%w, %w) report(<kind = 3, role = 0, number = 0>)
  // CHECK: mk_thread.take_slot full of <full = 0, empty = 32, slots = 1024, depth = 4, bytes = 256> at(%[[W]], %[[W]]) report(<kind = 3, role = 0, number = 0>)
  %c, %d = mk_thread.take_slot full of <full = 0, empty = 32, slots = 1024, depth = 4, bytes = 256> at(%w, %w) report(<kind = 3, role = 0, number = 0>)
  // CHECK: mk_thread.commit_slot %[[FULL]]
  mk_thread.commit_slot %b
  // CHECK: mk_thread.release_slot <full = 0, empty = 32, slots = 1024, depth = 4, bytes = 256> at(%[[W]]) lane(%[[W]]){{$}}
  mk_thread.release_slot <full = 0, empty = 32, slots = 1024, depth = 4, bytes = 256> at(%w) lane(%w)
  // CHECK: mk_thread.release_slot <full = 0, empty = 32, slots = 1024, depth = 4, bytes = 256> at(%[[W]]) lane(%[[W]]) writers(%[[W]])
  mk_thread.release_slot <full = 0, empty = 32, slots = 1024, depth = 4, bytes = 256> at(%w) lane(%w) writers(%w)
  // CHECK: mk_thread.send_words %[[G]], %[[G]] to <full = 0, empty = 32, slots = 1024, depth = 4, bytes = 256> at(%[[W]], %[[W]]) lane(%[[W]]) report(<kind = 3, role = 0, number = 0>)
  mk_thread.send_words %g, %g to <full = 0, empty = 32, slots = 1024, depth = 4, bytes = 256> at(%w, %w) lane(%w) report(<kind = 3, role = 0, number = 0>)
  // CHECK: mk_thread.receive_words from <full = 0, empty = 32, slots = 1024, depth = 4, bytes = 256> at(%[[W]], %[[W]]) lane(%[[W]]) report(<kind = 3, role = 0, number = 0>) : i64, i64
  %m:2 = mk_thread.receive_words from <full = 0, empty = 32, slots = 1024, depth = 4, bytes = 256> at(%w, %w) lane(%w) report(<kind = 3, role = 0, number = 0>) : i64, i64
}

// CHECK: mk_thread.kernel @engine
mk_thread.kernel @engine threads(384) cluster(8) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  // CHECK: %[[W:.*]] = mk_thread.cta_id
  %w = mk_thread.cta_id
  // CHECK: %[[G:.*]] = mk_thread.param 24 : i64
  %g = mk_thread.param 24 : i64
  // CHECK: mk_thread.copy_tile %[[G]] at(%[[G]], %[[G]]) of 512 x 2 box 256 x 64 to %[[W]] counted by %[[W]] : i64
  mk_thread.copy_tile %g at(%g, %g) of 512 x 2 box 256 x 64 to %w counted by %w : i64
  // CHECK: mk_thread.copy_tile {{.*}} shared(%[[W]] of 2) : i64
  mk_thread.copy_tile %g at(%g, %g) of 512 x 2 box 256 x 64 to %w counted by %w shared(%w of 2) : i64
  // CHECK: mk_thread.copy_tile {{.*}} shared(%[[W]] of 2 stride 4) : i64
  mk_thread.copy_tile %g at(%g, %g) of 512 x 2 box 256 x 64 to %w counted by %w shared(%w of 2 stride 4) : i64
  // CHECK: mk_thread.copy_tile {{.*}} shared(%[[W]] of 2) once : i64
  mk_thread.copy_tile %g at(%g, %g) of 512 x 2 box 256 x 64 to %w counted by %w shared(%w of 2) once : i64
  // CHECK: mk_thread.copy_tile {{.*}} counted by %[[W]] rows_left(%[[W]]) columns_left(%[[W]]) : i64
  mk_thread.copy_tile %g at(%g, %g) of 512 x 2 box 256 x 64 to %w counted by %w rows_left(%w) columns_left(%w) : i64
  // CHECK: mk_thread.copy_tile {{.*}} of 512 x 2 box 100 x 64 {{.*}} rows_left(%[[W]]) one_box : i64
  mk_thread.copy_tile %g at(%g, %g) of 512 x 2 box 100 x 64 to %w counted by %w rows_left(%w) one_box : i64
  // CHECK: mk_thread.take_turn first(8) words []{{$}}
  mk_thread.take_turn first(8) words []
  // CHECK: %[[PLACES:.*]]:2 = mk_thread.take_turn first(8) words [512] : i32, i32
  %p:2 = mk_thread.take_turn first(8) words [512] : i32, i32
  // CHECK: mk_thread.pass_turn first(8) words [512] of(%[[PLACES]]#0, %[[PLACES]]#1) thread(%[[W]])
  mk_thread.pass_turn first(8) words [512] of (%p#0, %p#1) thread(%w)
  // CHECK: mk_thread.pass_turn first(8) words [] of() thread(%[[W]])
  mk_thread.pass_turn first(8) words [] of () thread(%w)
}

// CHECK: mk_thread.kernel @products
mk_thread.kernel @products threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  // CHECK: %[[W:.*]] = mk_thread.cta_id
  %w = mk_thread.cta_id
  // CHECK: %[[X:.*]] = arith.constant
  %x = arith.constant 0.0 : f32
  // CHECK: %[[YES:.*]] = arith.constant true
  %yes = arith.constant true
  // CHECK: mk_thread.product 64 x 8 x 16 width 8 "bf16" * "bf16" left(%[[W]] of 128) right(%[[W]] of 8) acc(%[[X]], %[[X]], %[[X]], %[[X]]) accumulate(%[[YES]]) -> f32, f32, f32, f32
  %s:4 = mk_thread.product 64 x 8 x 16 width 8 "bf16" * "bf16" left(%w of 128) right(%w of 8)
      acc(%x, %x, %x, %x) accumulate(%yes) -> f32, f32, f32, f32
  // CHECK: mk_thread.product 64 x 8 x 16 width 8 "f16" * "f16" left(%[[W]] of 64) transposed right(%[[W]] of 64) transposed -> f32
  %t:4 = mk_thread.product 64 x 8 x 16 width 8 "f16" * "f16" left(%w of 64) transposed right(%w of 64) transposed
      -> f32, f32, f32, f32
  // CHECK: mk_thread.product 64 x 8 x 16 width 8 "f16" * "f16" left(%[[W]], %[[W]], %[[W]], %[[W]] of 0) right(%[[W]] of 64) transposed -> f32
  %u:4 = mk_thread.product 64 x 8 x 16 width 8 "f16" * "f16" left(%w, %w, %w, %w of 0) right(%w of 64) transposed
      -> f32, f32, f32, f32
}

// CHECK: mk_thread.kernel @dispatch
mk_thread.kernel @dispatch threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  // CHECK: %[[C:.*]] = mk_thread.cta_id
  %c = mk_thread.cta_id
  // CHECK: %[[N:.*]] = mk_thread.param 24
  %n = mk_thread.param 24 : i64
  // CHECK: mk_thread.specialize %[[C]] {
  // CHECK-NEXT: mk_thread.sync_warp
  // CHECK-NEXT: } consumers {
  mk_thread.specialize %c {
    mk_thread.sync_warp
  } consumers {
  }
  // CHECK: mk_thread.specialize %[[C]] registers [24, 240] {
  mk_thread.specialize %c registers [24, 240] {
  } consumers {
  }
  // CHECK: mk_thread.by_warps %[[C]] in 0 to 0 {
  // CHECK-NEXT: mk_thread.sync_warp
  // CHECK-NEXT: }
  mk_thread.by_warps %c in 0 to 0 {
    mk_thread.sync_warp
  }
  // CHECK: mk_thread.by_warps %[[C]] in 1 to 2 {
  // CHECK-NEXT: mk_thread.sync_warp
  // CHECK-NEXT: } else {
  mk_thread.by_warps %c in 1 to 2 {
    mk_thread.sync_warp
  } else {
    mk_thread.sync_warp
  }
  // CHECK: mk_thread.by_ctas %[[C]] in [0, 16, 64, 8] {
  mk_thread.by_ctas %c in [0, 16, 64, 8] {
  }
  // CHECK: mk_thread.elect %[[C]] {
  mk_thread.elect %c {
    mk_thread.fence gpu
  }
  // CHECK: mk_thread.elect %[[C]] barrier(%[[C]], 256) {
  mk_thread.elect %c barrier(%c, 256) {
    mk_thread.fence gpu
  }
  // CHECK: mk_thread.begin_launch %[[C]] {
  mk_thread.begin_launch %c {
  }
  // CHECK: mk_thread.begin_launch %[[C]] waits {
  mk_thread.begin_launch %c waits {
  }
  // CHECK: %[[E:.*]] = mk_thread.epoch
  %e = mk_thread.epoch
  // CHECK: mk_thread.last_arrival prepared(%[[E]]) each 1 {
  mk_thread.last_arrival prepared(%e) each 1 {
  }
  // CHECK: mk_thread.last_arrival moved(%[[E]]) each 2 {
  // CHECK-NEXT: mk_thread.notify_peers 8 in 72 unless_aborted
  mk_thread.last_arrival moved(%e) each 2 {
    mk_thread.notify_peers 8 in 72 unless_aborted
  }
  // CHECK: mk_thread.await_prepared %[[E]] report(<kind = 6, role = -1, number = 0>)
  mk_thread.await_prepared %e report(<kind = 6, role = -1, number = 0>)
  // CHECK: mk_thread.await_copied %[[E]] report(<kind = 10, role = -1, number = 0>)
  mk_thread.await_copied %e report(<kind = 10, role = -1, number = 0>)
  // CHECK: mk_thread.opened %[[E]]
  %opened = mk_thread.opened %e
  // CHECK: mk_thread.end_launch finish(2) barrier(1) flag(512) {
  // CHECK: mk_thread.rebase_signals 72 count(%[[N]]) by(%{{.*}} of 256)
  // CHECK: mk_thread.rebase_signals 72 net count(%[[N]]) by(%{{.*}} of 256)
  mk_thread.end_launch finish(2) barrier(1) flag(512) {
  ^bb0(%me: i32):
    mk_thread.rebase_signals 72 count(%n) by(%me of 256)
    mk_thread.rebase_signals 72 net count(%n) by(%me of 256)
  }
}

// CHECK: mk_thread.kernel @queues
mk_thread.kernel @queues threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  // CHECK: %[[C:.*]] = mk_thread.cta_id
  %c = mk_thread.cta_id
  // CHECK: %[[N:.*]] = mk_thread.param 24
  %n = mk_thread.param 24 : i64
  // CHECK: mk_thread.elect_fetch_add relaxed %[[N]], %[[C]] else 7 by(%[[C]])
  %a = mk_thread.elect_fetch_add relaxed %n, %c else 7 by(%c)
  // CHECK: mk_thread.elect_fetch_add acq_rel %[[N]], %[[C]] else 0 by(%[[C]]) barrier(%[[C]], 256) through(512)
  %b = mk_thread.elect_fetch_add acq_rel %n, %c else 0 by(%c) barrier(%c, 256) through(512)
  // CHECK: mk_thread.push_record %[[N]], %[[N]] to 72 epoch(%[[C]]){{$}}
  mk_thread.push_record %n, %n to 72 epoch(%c)
  // CHECK: mk_thread.push_record %[[N]] to 72 epoch(%[[C]]) named(5) report(<kind = 13, role = 0, number = 3>)
  mk_thread.push_record %n to 72 epoch(%c) named(5) report(<kind = 13, role = 0, number = 3>)
  // CHECK: mk_thread.pop_record %[[N]] from 72 epoch(%[[C]]) report(<kind = 2, role = 0, number = 1>) : i64, i64
  %f, %k, %l = mk_thread.pop_record %n from 72 epoch(%c) report(<kind = 2, role = 0, number = 1>) : i64, i64
  // CHECK: mk_thread.pop_record %[[N]] from 72 epoch(%[[C]]) barrier(%[[C]], 256) report(<kind = 2, role = 0, number = 1>) : i64
  %g, %m = mk_thread.pop_record %n from 72 epoch(%c) barrier(%c, 256) report(<kind = 2, role = 0, number = 1>) : i64
  // CHECK: mk_thread.agree_on_failure{{$}}
  %h = mk_thread.agree_on_failure
  // CHECK: mk_thread.agree_on_failure barrier(%[[C]], 256)
  %i = mk_thread.agree_on_failure barrier(%c, 256)
}

#acc = #mk_sm.mma<warpgroups = 1>
#row = #mk_sm.slice<axis = 1, of = #acc>
#column = #mk_sm.slice<axis = 0, of = #acc>
#runs = #mk_sm.blocked<threads = 128, vector = 2>
#dealt = #mk_sm.blocked<threads = 128, vector = 1>
#warp = #mk_sm.blocked<threads = 32, vector = 1>

// CHECK: mk_thread.kernel @elements
mk_thread.kernel @elements threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  // CHECK: %[[W:.*]] = mk_thread.cta_id
  %w = mk_thread.cta_id
  // CHECK: %[[G:.*]] = mk_thread.param 24 : i64
  %g = mk_thread.param 24 : i64
  // CHECK: %[[X:.*]] = arith.constant
  %x = arith.constant 0.0 : f32
  // CHECK: %[[YES:.*]] = arith.constant true
  %yes = arith.constant true
  // CHECK: mk_thread.exchange_elements %[[X]], %[[X]] of tensor<8x32xf32, #{{.*}}> to tensor<8x32xf32, #{{.*}}> strides [32, 1] in <threads = 128, offset = 1024, bytes = 1024> thread(%[[W]]) barrier(%[[W]]) : (f32, f32) -> (f32, f32)
  %a:2 = mk_thread.exchange_elements %x, %x of tensor<8x32xf32, #runs> to tensor<8x32xf32, #dealt> strides [32, 1]
      in <threads = 128, offset = 1024, bytes = 1024> thread(%w) barrier(%w) : (f32, f32) -> (f32, f32)
  // CHECK: mk_thread.exchange_elements %[[X]] of {{.*}} strides [0, 1] in <threads = 32, offset = 1024, bytes = 128> thread(%[[W]]) : (f32) -> (f32, f32)
  %b:2 = mk_thread.exchange_elements %x of tensor<32xf32, #warp> to tensor<2x32xf32, #warp> strides [0, 1]
      in <threads = 32, offset = 1024, bytes = 128> thread(%w) : (f32) -> (f32, f32)
  // CHECK: mk_thread.reduce_elements add %[[X]], %[[X]], %[[X]], %[[X]] of tensor<64x8xf32, #{{.*}}> along 1 to tensor<64xf32, #{{.*}}> chains 2 : (f32, f32, f32, f32) -> (f32, f32)
  %c:2 = mk_thread.reduce_elements add %x, %x, %x, %x of tensor<64x8xf32, #acc> along 1
      to tensor<64xf32, #row> chains 2 : (f32, f32, f32, f32) -> (f32, f32)
  // CHECK: mk_thread.reduce_elements max {{.*}} along 0 to {{.*}} chains 1 in <threads = 128, offset = 1024, bytes = 128> thread(%[[W]]) barrier(%[[W]]) :
  %d:2 = mk_thread.reduce_elements max %x, %x, %x, %x of tensor<64x8xf32, #acc> along 0
      to tensor<8xf32, #column> chains 1 in <threads = 128, offset = 1024, bytes = 128> thread(%w) barrier(%w)
      : (f32, f32, f32, f32) -> (f32, f32)
  // CHECK: mk_thread.mask_elements %[[X]], %[[X]] of tensor<8x32xf32, #{{.*}}> where #{{.*}}[%[[G]]] else %[[X]] : f32 thread(%[[W]]) : f32, f32
  %e:2 = mk_thread.mask_elements %x, %x of tensor<8x32xf32, #runs>
      where affine_set<(r, c)[s] : (r - c + s >= 0)>[%g] else %x : f32 thread(%w) : f32, f32
  // CHECK: mk_thread.scale_elements %[[X]], %[[X]], %[[X]], %[[X]] of tensor<64x8xf32, #{{.*}}> by %[[X]], %[[X]] along 1 : f32, f32, f32, f32
  %f:4 = mk_thread.scale_elements %x, %x, %x, %x of tensor<64x8xf32, #acc> by %x, %x along 1 : f32, f32, f32, f32
  // CHECK: mk_thread.scale_elements in_flight %[[X]], %[[X]], %[[X]], %[[X]] of
  %fw:4 = mk_thread.scale_elements in_flight %x, %x, %x, %x of tensor<64x8xf32, #acc> by %x, %x along 1 : f32, f32, f32, f32
  // CHECK: mk_thread.load_elements [0, 1] of tensor<8x32xf32, #{{.*}}> at %[[G]] strides(%[[G]], %[[G]]) offsets(%[[G]], %[[G]]) limits(%[[G]], %[[G]]) pad(%[[X]] : f32) together(%[[YES]]) thread(%[[W]]) : f32, f32
  %h:2 = mk_thread.load_elements [0, 1] of tensor<8x32xf32, #runs> at %g strides(%g, %g) offsets(%g, %g)
      limits(%g, %g) pad(%x : f32) together(%yes) thread(%w) : f32, f32
  // CHECK: mk_thread.load_elements [0, 1] of tensor<8x32xf32, #{{.*}}> at %[[G]] {{.*}} together(%[[YES]]) list(%[[G]] stride %[[W]]) entries(%[[W]], %[[W]]) thread(%[[W]]) : f32, f32
  %gathered:2 = mk_thread.load_elements [0, 1] of tensor<8x32xf32, #runs> at %g strides(%g, %g) offsets(%g, %g)
      limits(%g, %g) together(%yes) list(%g stride %w) entries(%w, %w) thread(%w) : f32, f32
  // CHECK: %[[Q:.*]]:8 = mk_thread.load_elements [0, 1, 2, 3, 4, 5, 6, 7] quads 2 of tensor<64x16xbf16, #{{.*}}> at %[[G]] strides(%[[G]], %[[G]]) offsets(%[[G]], %[[G]]) limits(%[[G]], %[[G]]) together(%[[YES]]) wide(%[[YES]]) thread(%[[W]]) : bf16, bf16, bf16, bf16, bf16, bf16, bf16, bf16
  %q:8 = mk_thread.load_elements [0, 1, 2, 3, 4, 5, 6, 7] quads 2 of tensor<64x16xbf16, #acc> at %g strides(%g, %g)
      offsets(%g, %g) limits(%g, %g) together(%yes) wide(%yes) thread(%w) : bf16, bf16, bf16, bf16, bf16, bf16, bf16, bf16
  // CHECK: mk_thread.exchange_quads 2 %[[Q]]#0, %[[Q]]#1, %[[Q]]#2, %[[Q]]#3, %[[Q]]#4, %[[Q]]#5, %[[Q]]#6, %[[Q]]#7 : bf16, bf16, bf16, bf16, bf16, bf16, bf16, bf16
  %own:8 = mk_thread.exchange_quads 2 %q#0, %q#1, %q#2, %q#3, %q#4, %q#5, %q#6, %q#7
      : bf16, bf16, bf16, bf16, bf16, bf16, bf16, bf16
  // CHECK: mk_thread.copy_elements %[[G]] stride(%[[G]]) offset(%[[G]]) limit(%[[G]]) to %[[W]] counted by %[[W]] lane(%[[W]]) of tensor<128xf32>
  mk_thread.copy_elements %g stride(%g) offset(%g) limit(%g) to %w counted by %w lane(%w) of tensor<128xf32>
  // CHECK: mk_thread.read_elements [0, 1] of tensor<64xf32, #{{.*}}> at %[[W]] columns 64 thread(%[[W]]) : f32, f32
  %listed:2 = mk_thread.read_elements [0, 1] of tensor<64xf32, #mk_sm.slice<axis = 1, of = #mk_sm.mma<warpgroups = 1>>> at %w columns 64 thread(%w) : f32, f32
  // CHECK: mk_thread.read_elements [2, 3] of tensor<64x128xbf16, #{{.*}}> at %[[W]], %[[W]] columns 64 thread(%[[W]]) : bf16, bf16
  %parts:2 = mk_thread.read_elements [2, 3] of tensor<64x128xbf16, #mk_sm.mma<warpgroups = 1>> at %w, %w columns 64 thread(%w) : bf16, bf16
  // CHECK: mk_thread.load_elements [1] of {{.*}} limits(%[[G]], %[[G]]) thread(%[[W]]) : f32
  %i = mk_thread.load_elements [1] of tensor<8x32xf32, #runs> at %g strides(%g, %g) offsets(%g, %g)
      limits(%g, %g) thread(%w) : f32
  // CHECK: mk_thread.store_elements %[[X]], %[[X]] as [0, 1] of tensor<8x32xf32, #{{.*}}> to %[[G]] strides(%[[G]], %[[G]]) offsets(%[[G]], %[[G]]) limits(%[[G]], %[[G]]) runs thread(%[[W]]) : f32, f32
  mk_thread.store_elements %x, %x as [0, 1] of tensor<8x32xf32, #runs> to %g strides(%g, %g) offsets(%g, %g)
      limits(%g, %g) runs thread(%w) : f32, f32
  // CHECK: mk_thread.store_elements {{.*}} limits(%[[G]], %[[G]]) together(%[[YES]]) thread(%[[W]]) : f32, f32
  mk_thread.store_elements %x, %x as [0, 1] of tensor<8x32xf32, #runs> to %g strides(%g, %g) offsets(%g, %g)
      limits(%g, %g) together(%yes) thread(%w) : f32, f32
  // CHECK: mk_thread.store_elements %[[X]] as [1] of {{.*}} add sys thread(%[[W]]) : f32
  mk_thread.store_elements %x as [1] of tensor<8x32xf32, #runs> to %g strides(%g, %g) offsets(%g, %g)
      limits(%g, %g) add sys thread(%w) : f32
}
