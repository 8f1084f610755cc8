//===- ThreadSyncOps.td - Barriers, fences and votes --------*- tablegen -*-===//
#ifndef MKERNEL_THREAD_SYNC_OPS
#define MKERNEL_THREAD_SYNC_OPS

include "ThreadBase.td"

//===----------------------------------------------------------------------===//
// Barriers in shared memory
//===----------------------------------------------------------------------===//

def MkThread_BarrierInitOp : MkThread_EffectOp<"mbarrier_init"> {
  let summary = "makes a barrier whose phases end with so many arrivals";
  let description = [{
    ```mlir
    mk_thread.mbarrier_init %full, 1
    ```
  }];
  let arguments = (ins MkThread_Shared:$barrier,
                       ConfinedAttr<I64Attr, [IntPositive, IntMaxValue<1048575>]>:$arrivals);
  let assemblyFormat = "$barrier `,` $arrivals attr-dict";
}
def MkThread_BarrierArriveOp : MkThread_EffectOp<"mbarrier_arrive", [AttrSizedOperandSegments]> {
  let summary = "arrives at a barrier, of this CTA or of another one of the cluster";
  let description = [{
    ```mlir
    mk_thread.mbarrier_arrive %empty
    mk_thread.mbarrier_arrive %empty in %cta
    mk_thread.mbarrier_arrive %full expect(%bytes)
    ```

    With `expect` the phase ends only when the copy engine has brought so many bytes more.
  }];
  let arguments = (ins MkThread_Shared:$barrier, Optional<I32>:$cta, Optional<I32>:$bytes);
  let assemblyFormat = "$barrier (`in` $cta^)? (`expect` `(` $bytes^ `)`)? attr-dict";
  let hasVerifier = 1;
}
def MkThread_BarrierExpectOp : MkThread_EffectOp<"mbarrier_expect"> {
  let summary = "the phase ends only when so many bytes more have come";
  let description = [{
    ```mlir
    mk_thread.mbarrier_expect %full, 32768
    mk_thread.mbarrier_expect %full, 4096 times %boxes // 0 to 1048575 bytes together
    ```
  }];
  let arguments = (ins MkThread_Shared:$barrier,
                       ConfinedAttr<I64Attr, [IntPositive, IntMaxValue<1048575>]>:$bytes, Optional<I32>:$times);
  let assemblyFormat = "$barrier `,` $bytes (`times` $times^)? attr-dict";
}
def MkThread_BarrierCompleteOp : MkThread_EffectOp<"mbarrier_complete"> {
  let summary = "counts bytes that a thread has brought itself";
  let description = [{
    ```mlir
    mk_thread.mbarrier_complete %full, 1
    ```
  }];
  let arguments = (ins MkThread_Shared:$barrier,
                       ConfinedAttr<I64Attr, [IntPositive, IntMaxValue<1048575>]>:$bytes);
  let assemblyFormat = "$barrier `,` $bytes attr-dict";
}
def MkThread_BarrierWaitOp : MkThread_EffectOp<"mbarrier_wait"> {
  let summary = "waits until the phase with this parity is over, reports if that takes too long";
  let description = [{
    By whole warps. The parity is 0 or 1, `stage` is for the report. Past the deadline the launch has failed, and the wait goes
    on, since the other side comes; only after several deadlines more it returns. A
    `double_deadline` one waits for two deadlines before it reports, since what it waits for waits itself.

    ```mlir
    mk_thread.mbarrier_wait %full, %parity stage(%stage) report(<kind = 1, role = 0, number = 0>) double_deadline
    ```
  }];
  let arguments = (ins MkThread_Shared:$barrier, I32:$parity, I32:$stage,
                       MkThread_ReportAttr:$report, UnitAttr:$double_deadline);
  let assemblyFormat = [{
    $barrier `,` $parity `stage` `(` $stage `)` `report` `(` $report `)` (`double_deadline` $double_deadline^)? attr-dict
  }];
}

def MkThread_MapSharedOp : MkThread_Op<"map_shared", [Pure]> {
  let summary = "where in the cluster's shared memory lies what a CTA of it has at an address";
  let description = [{
    ```mlir
    %remote = mk_thread.map_shared %slot in %cta
    ```
  }];
  let arguments = (ins MkThread_Shared:$address, I32:$cta);
  let results = (outs I32:$result);
  let assemblyFormat = "$address `in` $cta attr-dict";
}
def MkThread_SendSharedOp : MkThread_EffectOp<"send_shared"> {
  let summary = "stores four words in the shared memory of a CTA of the cluster, which its barrier counts";
  let description = [{
    Both addresses are results of `map_shared` for the same CTA. The thread does not wait; whoever
    waits for the barrier's phase sees the words.

    ```mlir
    mk_thread.send_shared %w0, %w1, %w2, %w3 to %remote + 2048 told %full
    ```
  }];
  let arguments = (ins I32:$first, I32:$second, I32:$third, I32:$fourth, I32:$address, MkThread_Offset:$offset, I32:$barrier);
  let assemblyFormat = [{
    $first `,` $second `,` $third `,` $fourth `to` $address `+` $offset `told` $barrier attr-dict
  }];
}

//===----------------------------------------------------------------------===//
// Named barriers, warps and clusters
//===----------------------------------------------------------------------===//

def MkThread_SyncOp : MkThread_EffectOp<"sync"> {
  let summary = "waits at a named barrier until so many threads have come";
  let description = [{
    Barriers have numbers from 0 to 15; all threads are at 0 with `sync_cta`.

    ```mlir
    mk_thread.sync %id, 256
    ```
  }];
  let arguments = (ins I32:$id, I64Attr:$threads);
  let assemblyFormat = "$id `,` $threads attr-dict";
  let hasVerifier = 1;
}
def MkThread_ArriveOp : MkThread_EffectOp<"arrive"> {
  let summary = "arrives at a named barrier and goes on";
  let description = [{
    ```mlir
    mk_thread.arrive %id, 256
    ```
  }];
  let arguments = (ins I32:$id, I64Attr:$threads);
  let assemblyFormat = "$id `,` $threads attr-dict";
  let hasVerifier = 1;
}
def MkThread_SyncOrOp : MkThread_EffectOp<"sync_or"> {
  let summary = "waits at a named barrier and says whether any thread brought other than 0";
  let description = [{
    The result is 0 or 1, the same in all threads.

    ```mlir
    %any = mk_thread.sync_or %id, 256, %w0
    ```
  }];
  let arguments = (ins I32:$id, I64Attr:$threads, I32:$word);
  let results = (outs I32:$result);
  let assemblyFormat = "$id `,` $threads `,` $word attr-dict";
  let hasVerifier = 1;
}
def MkThread_AnyOp : MkThread_EffectOp<"any"> {
  let summary = "whether any thread of the warp has other than 0: 1, or 0";
  let description = [{
    ```mlir
    %any = mk_thread.any %w0
    ```
  }];
  let arguments = (ins I32:$word);
  let results = (outs I32:$result);
  let assemblyFormat = "$word attr-dict";
}
def MkThread_SyncCtaOp : MkThread_EffectOp<"sync_cta"> {
  let summary = "waits until all threads of the CTA have come";
  let description = [{
    ```mlir
    mk_thread.sync_cta
    ```
  }];
  let assemblyFormat = "attr-dict";
}
def MkThread_SyncWarpOp : MkThread_EffectOp<"sync_warp"> {
  let summary = "waits until all threads of the warp have come";
  let description = [{
    ```mlir
    mk_thread.sync_warp
    ```
  }];
  let assemblyFormat = "attr-dict";
}
def MkThread_SyncClusterOp : MkThread_EffectOp<"sync_cluster"> {
  let summary = "waits until all threads of the cluster have come";
  let description = [{
    Nothing is released: what was written before is published by a fence of its own. Arrivals at
    barriers of other CTAs may come later: a CTA waits for those at its own before it ends.

    ```mlir
    mk_thread.sync_cluster
    ```
  }];
  let assemblyFormat = "attr-dict";
}
def MkThread_SyncLaunchesOp : MkThread_EffectOp<"sync_launches"> {
  let summary = "waits for the launch before, and lets the next one begin where there is room";
  let description = [{
    ```mlir
    mk_thread.sync_launches
    ```
  }];
  let assemblyFormat = "attr-dict";
}
def MkThread_SetRegistersOp : MkThread_EffectOp<"set_registers"> {
  let summary = "changes how many registers the threads of the warpgroup have";
  let description = [{
    ```mlir
    mk_thread.set_registers 240 more
    mk_thread.set_registers 24
    ```
  }];
  let arguments = (ins I64Attr:$count, UnitAttr:$more);
  let assemblyFormat = "$count (`more` $more^)? attr-dict";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Fences
//===----------------------------------------------------------------------===//

def MkThread_FenceOp : MkThread_EffectOp<"fence"> {
  let summary = "orders accesses before it against those behind it (acquire and release)";
  let description = [{
    ```mlir
    mk_thread.fence gpu
    ```
  }];
  let arguments = (ins MkThread_Scope:$scope);
  let assemblyFormat = "$scope attr-dict";
}
def MkThread_FenceAsyncOp : MkThread_EffectOp<"fence_async"> {
  let summary = "orders accesses of threads before those of the copy and matrix engines";
  let description = [{
    With `shared` those to shared memory only, with `global` those to global memory: behind an
    acquire that is enough, and does not wait for what this thread has stored.

    ```mlir
    mk_thread.fence_async
    mk_thread.fence_async shared
    mk_thread.fence_async global
    ```
  }];
  let arguments = (ins UnitAttr:$shared, UnitAttr:$global);
  let assemblyFormat = "(`shared` $shared^)? (`global` $global^)? attr-dict";
}
def MkThread_FenceBarriersOp : MkThread_EffectOp<"fence_mbarriers"> {
  let summary = "publishes barriers that were made to the cluster";
  let description = [{
    ```mlir
    mk_thread.fence_mbarriers
    ```
  }];
  let assemblyFormat = "attr-dict";
}

#endif // MKERNEL_THREAD_SYNC_OPS
