// RUN: mk-opt %s -mk-expand-loops -mk-expand-folds -mk-expand-ranks -canonicalize -cse -mk-sm-split-roles -mk-sm-choose-stores -canonicalize -cse -mk-sm-size-rings | FileCheck %s

// Two dots in a chain with a softmax between: the query tile comes once an item, in
// a ring of its own, and is given back behind the loop; keys and values have a ring
// each, and a slot is waited for where it is used. State is carried in registers, rows
// as slices of the accumulators' layout.

// CHECK-LABEL: mk.role @attend
// CHECK-NEXT: %[[QS:.*]] = mk_sm.create_ring : !mk_sm.ring<2, tensor<128x128xbf16>>
// CHECK-NEXT: %[[KS:.*]] = mk_sm.create_ring : !mk_sm.ring<2, tensor<128x128xbf16>>
// CHECK-NEXT: %[[VS:.*]] = mk_sm.create_ring : !mk_sm.ring<2, tensor<128x128xbf16>>
// CHECK-NEXT: %[[OUT:.*]] = mk_sm.create_staging
// CHECK: mk_sm.partition producer warps(1) registers(24)
// CHECK: mk_sm.items
// CHECK: mk_sm.acquire %[[QS]]
// CHECK: mk_sm.copy %q
// CHECK: mk_sm.commit %[[QS]]
// CHECK: scf.for
// CHECK: mk_sm.acquire %[[KS]]
// CHECK: mk_sm.commit %[[KS]]
// CHECK: mk_sm.acquire %[[VS]]
// CHECK: mk_sm.commit %[[VS]]
// CHECK: mk_sm.partition consumer warps(8) registers(240)
// CHECK: mk_sm.items
// CHECK: mk_sm.wait %[[QS]]
// CHECK: %[[STATE:.*]]:3 = scf.for {{.*}} -> (tensor<128x128xf32, #mk_sm.mma<warpgroups = 2>>, tensor<128xf32, #mk_sm.slice<axis = 1, of = #mk_sm.mma<warpgroups = 2>>>, tensor<128xf32, #mk_sm.slice<axis = 1, of = #mk_sm.mma<warpgroups = 2>>>)
// CHECK: mk_sm.wait %[[KS]]
// CHECK: mk_sm.mma_fence none
// CHECK: %[[S0:.*]] = mk_sm.mma {{.*}} transpose_b
// CHECK: %[[S:.*]] = mk_sm.mma_wait 0, %[[S0]]
// CHECK-NEXT: mk_sm.release %[[KS]]
// CHECK: mk.mask %[[S]]
// CHECK: %[[TOP:.*]] = mk.reduce max {{.*}} -> tensor<128xf32, #mk_sm.slice<axis = 1, of = #mk_sm.mma<warpgroups = 2>>>
// CHECK: mk.broadcast
// CHECK: %[[P:.*]] = arith.truncf {{.*}} to tensor<128x128xbf16, #mk_sm.mma<warpgroups = 2>>
// CHECK-NEXT: mk_sm.wait %[[VS]]
// CHECK: %[[F:.*]]:2 = mk_sm.mma_fence %[[P]], %{{.*}}
// CHECK-NEXT: %[[O:.*]] = mk_sm.mma %[[F]]#0, %{{.*}}, %[[F]]#1 :
// CHECK-NEXT: mk_sm.mma_wait 0, %[[O]]
// CHECK-NEXT: mk_sm.release %[[VS]]
// CHECK-NEXT: scf.yield
// CHECK: mk_sm.release %[[QS]]
// CHECK: mk.store {{.*}}, %lse
// CHECK: mk_sm.store {{.*}} through %[[OUT]]
// CHECK-NOT: convert_layout

mk.mesh @mesh (gpu = 1 via link)

mk.kernel @attend on @mesh dims(uniform H, uniform S) (
    in %q : memref<?x?x128xbf16> [H, S, 128],
    in %k : memref<?x?x128xbf16> [H, S, 128],
    in %v : memref<?x?x128xbf16> [H, S, 128],
    out %o : memref<?x?x128xbf16> [H, S, 128],
    out %lse : memref<?x?xf32> [H, S]) {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %zero_l = arith.constant dense<0.0> : tensor<128xf32>
  %ninf_m = arith.constant dense<0xFF800000> : tensor<128xf32>
  %ninf = arith.constant 0xFF800000 : f32
  %tiles = arith.ceildivui %S, %c128 : index

  mk.role @attend ctas(rest) {
    mk.foreach (%h, %m) in (%H, %tiles) {
      %row = arith.muli %m, %c128 : index
      %Q = mk.load %q[%h, %row, %c0] : memref<?x?x128xbf16> -> tensor<128x128xbf16>
      %O, %M, %L = mk.fold (%j) in (%tiles) iter(%Oj = %zero, %mj = %ninf_m, %lj = %zero_l)
          : tensor<128x128xf32>, tensor<128xf32>, tensor<128xf32> {
        %key = arith.muli %j, %c128 : index
        %left = arith.subi %S, %key : index
        %K = mk.load %k[%h, %key, %c0] : memref<?x?x128xbf16> -> tensor<128x128xbf16>
        %V = mk.load %v[%h, %key, %c0] : memref<?x?x128xbf16> -> tensor<128x128xbf16>
        %s = mk.dot %Q, %K, %zero transpose_b : tensor<128x128xbf16>, tensor<128x128xbf16>, tensor<128x128xf32>
        %z = mk.mask %s where affine_set<(r, c)[n] : (n - c - 1 >= 0)>[%left] else %ninf : tensor<128x128xf32>
        %top = mk.reduce max %z axis 1 : tensor<128x128xf32> -> tensor<128xf32>
        %mn = arith.maximumf %mj, %top : tensor<128xf32>
        %dm = arith.subf %mj, %mn : tensor<128xf32>
        %alpha = math.exp2 %dm : tensor<128xf32>
        %mb = mk.broadcast %mn dims [1] : tensor<128xf32> -> tensor<128x128xf32>
        %dz = arith.subf %z, %mb : tensor<128x128xf32>
        %p = math.exp2 %dz : tensor<128x128xf32>
        %ls = arith.mulf %lj, %alpha : tensor<128xf32>
        %sum = mk.reduce add %p axis 1 : tensor<128x128xf32> -> tensor<128xf32>
        %ln = arith.addf %ls, %sum : tensor<128xf32>
        %ab = mk.broadcast %alpha dims [1] : tensor<128xf32> -> tensor<128x128xf32>
        %Os = arith.mulf %Oj, %ab : tensor<128x128xf32>
        %pt = arith.truncf %p : tensor<128x128xf32> to tensor<128x128xbf16>
        %On = mk.dot %pt, %V, %Os : tensor<128x128xbf16>, tensor<128x128xbf16>, tensor<128x128xf32>
        mk.yield %On, %mn, %ln : tensor<128x128xf32>, tensor<128xf32>, tensor<128xf32>
      }
      %lb = mk.broadcast %L dims [1] : tensor<128xf32> -> tensor<128x128xf32>
      %On = arith.divf %O, %lb : tensor<128x128xf32>
      %Ot = arith.truncf %On : tensor<128x128xf32> to tensor<128x128xbf16>
      %log = math.log2 %L : tensor<128xf32>
      %lse_t = arith.addf %M, %log : tensor<128xf32>
      mk.store %lse_t, %lse[%h, %row] : tensor<128xf32>, memref<?x?xf32>
      mk.store %Ot, %o[%h, %row, %c0] : tensor<128x128xbf16>, memref<?x?x128xbf16>
    }
  }
}
