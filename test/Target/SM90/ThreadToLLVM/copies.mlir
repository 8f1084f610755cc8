// RUN: mk-opt %s -convert-mk-thread-to-llvm | FileCheck %s

// The copy engine: coordinates are given outermost first and taken innermost first.

// CHECK-LABEL: llvm.func @copies
mk_thread.kernel @copies threads(384) cluster(2) params(512) shared(4096)
    frame(<launch = 64, failed = 1032>) {
  %s = mk_thread.shared_base 0
  %g = mk_thread.param 16 : i64
  %row = mk_thread.thread_id
  %column = mk_thread.cta_id
  // CHECK: %[[MAP:.*]] = llvm.getelementptr %{{.*}}[128]
  %map = mk_thread.param_address 128
  // CHECK: "prefetch.tensormap [$0];", "l,~{memory}" %[[MAP]]
  mk_thread.prefetch_map %map : !llvm.ptr
  // CHECK: "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [$0], [$1, {$3, $4}], [$2];", "r,l,r,r,r,~{memory}" %[[S:.*]], %[[MAP]], %[[S]], %[[C:.*]], %[[R:.*]] :
  mk_thread.copy_tensor %map[%row, %column] to %s counted by %s : !llvm.ptr
  // CHECK: arith.constant 3 : i16
  // CHECK: "cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [$0], [$1, {$3}], [$2], $4;", "r,l,r,r,h,~{memory}"
  %ctas = arith.constant 3 : i16
  mk_thread.copy_tensor %g[%row] to %s counted by %s ctas(%ctas) : i64
  // CHECK: %[[FIRST:.*]] = llvm.inline_asm asm_dialect = att "createpolicy.fractional.L2::evict_first.b64 $0;", "=l"
  // CHECK: "cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [$0], [$1, {$3}], [$2], $4;", "r,l,r,r,l,~{memory}" %{{.*}}, %[[FIRST]] :
  mk_thread.copy_tensor %g[%row] to %s counted by %s once : i64
  // CHECK: "cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint [$0], [$1, {$3}], [$2], $4, $5;", "r,l,r,r,h,l,~{memory}"
  mk_thread.copy_tensor %g[%row] to %s counted by %s ctas(%ctas) once : i64
  // CHECK: "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [$0, {$2, $3}], [$1];", "l,r,r,r,~{memory}" %[[MAP]], %[[S]], %[[C]], %[[R]] :
  mk_thread.store_tensor %s to %map[%row, %column] : !llvm.ptr
  // CHECK: "cp.reduce.async.bulk.tensor.3d.global.shared::cta.add.tile.bulk_group [$0, {$2, $3, $4}], [$1];"
  mk_thread.store_tensor %s to %g[%row, %row, %column] add : i64
  // CHECK: "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [$0], [$1], $2, [$3];", "r,l,r,r,~{memory}"
  mk_thread.copy_bulk %g to %s, %row counted by %s
  // Zeros where the predicate holds.
  // CHECK: "cp.async.cg.shared.global [$0], [$1], 16, $2;", "r,l,b,~{memory}"
  mk_thread.copy_piece %g to %s unless %row
  // CHECK: "cp.async.bulk.global.shared::cta.bulk_group [$0], [$1], $2;", "l,r,r,~{memory}"
  mk_thread.store_bulk %s to %g, %row
  // CHECK: "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.bf16 [$0], [$1], $2;"
  mk_thread.store_bulk %s to %g, %row add(bf16)
  // CHECK: nvvm.cp.async.bulk.commit.group
  mk_thread.commit_group
  // CHECK: nvvm.cp.async.bulk.wait_group 0
  mk_thread.wait_group 0
  // CHECK: nvvm.cp.async.bulk.wait_group 1 {read}
  mk_thread.wait_group 1 read
}
