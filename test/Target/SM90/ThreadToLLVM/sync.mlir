// RUN: mk-opt %s -convert-mk-thread-to-llvm | FileCheck %s

// Barriers, fences and votes: an instruction each, which touches memory.

// CHECK-LABEL: llvm.func @sync
mk_thread.kernel @sync threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %b = mk_thread.shared_base 0
  %c = mk_thread.cta_id
  // CHECK: "mbarrier.init.shared::cta.b64 [$0], 8;", "r,~{memory}"
  mk_thread.mbarrier_init %b, 8
  // CHECK: "mbarrier.arrive.shared::cta.b64 _, [$0];", "r,~{memory}"
  mk_thread.mbarrier_arrive %b
  // CHECK: %[[THERE:.*]] = llvm.inline_asm has_side_effects {{.*}} "mapa.shared::cluster.u32 $0, $1, $2;", "=r,r,r"
  // CHECK-NEXT: {{.*}}"mbarrier.arrive.shared::cluster.b64 _, [$0];", "r,~{memory}" %[[THERE]]
  mk_thread.mbarrier_arrive %b in %c
  // CHECK: "mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], $1;", "r,r,~{memory}"
  mk_thread.mbarrier_arrive %b expect(%c)
  // CHECK: "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [$0], 32768;"
  mk_thread.mbarrier_expect %b, 32768
  // CHECK: %[[BYTES:.*]] = arith.muli %{{.*}}, %{{.*}} : i32
  // CHECK-NEXT: {{.*}}"mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [$0], $1;", "r,r,~{memory}" %{{.*}}, %[[BYTES]]
  mk_thread.mbarrier_expect %b, 4096 times %c
  // CHECK: "mapa.shared::cluster.u32 $0, $1, $2;", "=r,r,r"
  %remote = mk_thread.map_shared %b in %c
  // CHECK: "st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [$4+2048], {$0, $1, $2, $3}, [$5];"
  mk_thread.send_shared %c, %c, %c, %c to %remote + 2048 told %remote
  // CHECK: "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [$0], 3;"
  mk_thread.mbarrier_complete %b, 3
  // CHECK: "bar.sync $0, 256;", "r,~{memory}"
  mk_thread.sync %c, 256
  // CHECK: "bar.arrive $0, 256;", "r,~{memory}"
  mk_thread.arrive %c, 256
  // CHECK: %[[IN:.*]] = llvm.inline_asm {{.*}} "setp.ne.b32 $0, $1, 0;", "=b,r"
  // CHECK: %[[OUT:.*]] = llvm.inline_asm {{.*}} "barrier.cta.red.or.aligned.pred $0, $1, 256, $2;", "=b,r,b,~{memory}" %{{.*}}, %[[IN]] :
  // CHECK: "selp.b32 $0, 1, 0, $1;", "=r,b" %[[OUT]] :
  %any = mk_thread.sync_or %c, 256, %b
  // CHECK: %[[IN:.*]] = llvm.inline_asm {{.*}} "setp.ne.b32 $0, $1, 0;", "=b,r"
  // CHECK: %[[OUT:.*]] = llvm.inline_asm {{.*}} "vote.sync.any.pred $0, $1, 0xffffffff;", "=b,b,~{memory}" %[[IN]] :
  // CHECK: "selp.b32 $0, 1, 0, $1;", "=r,b" %[[OUT]] :
  %some = mk_thread.any %any
  // CHECK: nvvm.barrier0
  mk_thread.sync_cta
  // CHECK: "bar.warp.sync 0xffffffff;", "~{memory}"
  mk_thread.sync_warp
  // CHECK: "barrier.cluster.arrive.relaxed;", "~{memory}"
  // CHECK-NEXT: {{.*}}"barrier.cluster.wait.acquire;", "~{memory}"
  mk_thread.sync_cluster
  // CHECK: "griddepcontrol.wait;", "~{memory}"
  // CHECK-NEXT: {{.*}}"griddepcontrol.launch_dependents;", "~{memory}"
  mk_thread.sync_launches
  // CHECK: nvvm.setmaxregister increase 240
  mk_thread.set_registers 240 more
  // CHECK: nvvm.setmaxregister decrease 24
  mk_thread.set_registers 24
  // CHECK: "fence.acq_rel.cta;", "~{memory}"
  mk_thread.fence cta
  // CHECK: "fence.acq_rel.gpu;"
  mk_thread.fence gpu
  // CHECK: "fence.acq_rel.sys;"
  mk_thread.fence sys
  // CHECK: "fence.proxy.async;"
  mk_thread.fence_async
  // CHECK: "fence.proxy.async.shared::cta;"
  mk_thread.fence_async shared
  // CHECK: "fence.proxy.async.global;"
  mk_thread.fence_async global
  // CHECK: nvvm.fence.mbarrier.init
  mk_thread.fence_mbarriers
}
