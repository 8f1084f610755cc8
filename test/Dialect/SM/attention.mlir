// RUN: mk-opt %s | mk-opt | FileCheck %s
// RUN: mk-opt %s -mlir-print-op-generic | mk-opt | FileCheck %s
// RUN: mk-opt %s -canonicalize -cse | mk-opt | FileCheck %s

// A chain of two dots with a softmax between them, as the split of a role leaves
// it: three rings, state in registers, one thread block for 128 rows.

// CHECK: mk_sm.partition consumer
// CHECK: scf.for
// CHECK: mk_sm.mma {{.*}} transpose_b
// CHECK: mk.mask
// CHECK: mk.reduce max
// CHECK: mk.broadcast
// CHECK: mk_sm.mma

mk.mesh @mesh (gpu = 1 via link)

#acc = #mk_sm.mma<warpgroups = 2>
#row = #mk_sm.slice<axis = 1, of = #acc>

mk.kernel @attend on @mesh dims(uniform H, uniform S) (
    in %q : memref<?x?x128xbf16> [H, S, 128],
    in %k : memref<?x?x128xbf16> [H, S, 128],
    in %v : memref<?x?x128xbf16> [H, S, 128],
    out %o : memref<?x?x128xbf16> [H, S, 128],
    out %lse : memref<?x?xf32> [H, S]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  %row_tiles = arith.ceildivui %S, %c128 : index
  %total = arith.muli %row_tiles, %H : index

  mk.role @attend ctas(rest) {
    %qs = mk_sm.create_ring : !mk_sm.ring<1, tensor<128x128xbf16>>
    %ks = mk_sm.create_ring : !mk_sm.ring<2, tensor<128x128xbf16>>
    %vs = mk_sm.create_ring : !mk_sm.ring<2, tensor<128x128xbf16>>
    %out = mk_sm.create_staging : !mk_sm.staging<1>

    mk_sm.partition producer warps(1) registers(24) {
      mk_sm.items (%t) round(%round) of %total {
        %h = arith.divsi %t, %row_tiles : index
        %m = arith.remsi %t, %row_tiles : index
        %row = arith.muli %m, %c128 : index
        %qslot = mk_sm.acquire %qs : !mk_sm.ring<1, tensor<128x128xbf16>> -> !mk_sm.slot<tensor<128x128xbf16>>
        mk_sm.copy %q[%h, %row, %c0] to %qslot[0] : memref<?x?x128xbf16>, !mk_sm.slot<tensor<128x128xbf16>>
        mk_sm.commit %qs, %qslot : !mk_sm.ring<1, tensor<128x128xbf16>>, !mk_sm.slot<tensor<128x128xbf16>>
        scf.for %j = %c0 to %row_tiles step %c1 {
          %key = arith.muli %j, %c128 : index
          %kslot = mk_sm.acquire %ks : !mk_sm.ring<2, tensor<128x128xbf16>> -> !mk_sm.slot<tensor<128x128xbf16>>
          mk_sm.copy %k[%h, %key, %c0] to %kslot[0] : memref<?x?x128xbf16>, !mk_sm.slot<tensor<128x128xbf16>>
          mk_sm.commit %ks, %kslot : !mk_sm.ring<2, tensor<128x128xbf16>>, !mk_sm.slot<tensor<128x128xbf16>>
          %vslot = mk_sm.acquire %vs : !mk_sm.ring<2, tensor<128x128xbf16>> -> !mk_sm.slot<tensor<128x128xbf16>>
          mk_sm.copy %v[%h, %key, %c0] to %vslot[0] : memref<?x?x128xbf16>, !mk_sm.slot<tensor<128x128xbf16>>
          mk_sm.commit %vs, %vslot : !mk_sm.ring<2, tensor<128x128xbf16>>, !mk_sm.slot<tensor<128x128xbf16>>
        }
      }
    }

    mk_sm.partition consumer warps(8) registers(240) {
      %zero = arith.constant dense<0.0> : tensor<128x128xf32, #acc>
      %zero_l = arith.constant dense<0.0> : tensor<128xf32, #row>
      %ninf_m = arith.constant dense<0xFF800000> : tensor<128xf32, #row>
      %ninf = arith.constant 0xFF800000 : f32
      mk_sm.items (%t) round(%round) of %total {
        %h = arith.divsi %t, %row_tiles : index
        %m = arith.remsi %t, %row_tiles : index
        %row = arith.muli %m, %c128 : index
        %qslot = mk_sm.wait %qs : !mk_sm.ring<1, tensor<128x128xbf16>> -> !mk_sm.slot<tensor<128x128xbf16>>
        %Q = mk_sm.tile %qslot[0] : !mk_sm.slot<tensor<128x128xbf16>> -> !mk_sm.staged<tensor<128x128xbf16>>
        %O, %M, %L = scf.for %j = %c0 to %row_tiles step %c1
            iter_args(%Oj = %zero, %mj = %ninf_m, %lj = %zero_l)
            -> (tensor<128x128xf32, #acc>, tensor<128xf32, #row>, tensor<128xf32, #row>) {
          %key = arith.muli %j, %c128 : index
          %left = arith.subi %S, %key : index
          %kslot = mk_sm.wait %ks : !mk_sm.ring<2, tensor<128x128xbf16>> -> !mk_sm.slot<tensor<128x128xbf16>>
          %K = mk_sm.tile %kslot[0] : !mk_sm.slot<tensor<128x128xbf16>> -> !mk_sm.staged<tensor<128x128xbf16>>
          %f = mk_sm.mma_fence %zero : tensor<128x128xf32, #acc>
          %s0 = mk_sm.mma %Q, %K, %f transpose_b : !mk_sm.staged<tensor<128x128xbf16>>, !mk_sm.staged<tensor<128x128xbf16>>, tensor<128x128xf32, #acc>
          %s = mk_sm.mma_wait 0, %s0 : tensor<128x128xf32, #acc>
          mk_sm.release %ks : !mk_sm.ring<2, tensor<128x128xbf16>>
          %z = mk.mask %s where affine_set<(r, c)[n] : (n - c - 1 >= 0)>[%left] else %ninf : tensor<128x128xf32, #acc>
          %top = mk.reduce max %z axis 1 : tensor<128x128xf32, #acc> -> tensor<128xf32, #row>
          %mn = arith.maximumf %mj, %top : tensor<128xf32, #row>
          %dm = arith.subf %mj, %mn : tensor<128xf32, #row>
          %alpha = math.exp2 %dm : tensor<128xf32, #row>
          %mb = mk.broadcast %mn dims [1] : tensor<128xf32, #row> -> tensor<128x128xf32, #acc>
          %dz = arith.subf %z, %mb : tensor<128x128xf32, #acc>
          %p = math.exp2 %dz : tensor<128x128xf32, #acc>
          %ls = arith.mulf %lj, %alpha : tensor<128xf32, #row>
          %sum = mk.reduce add %p axis 1 : tensor<128x128xf32, #acc> -> tensor<128xf32, #row>
          %ln = arith.addf %ls, %sum : tensor<128xf32, #row>
          %ab = mk.broadcast %alpha dims [1] : tensor<128xf32, #row> -> tensor<128x128xf32, #acc>
          %Os = arith.mulf %Oj, %ab : tensor<128x128xf32, #acc>
          %pt = arith.truncf %p : tensor<128x128xf32, #acc> to tensor<128x128xbf16, #acc>
          %vslot = mk_sm.wait %vs : !mk_sm.ring<2, tensor<128x128xbf16>> -> !mk_sm.slot<tensor<128x128xbf16>>
          %V = mk_sm.tile %vslot[0] : !mk_sm.slot<tensor<128x128xbf16>> -> !mk_sm.staged<tensor<128x128xbf16>>
          %g:2 = mk_sm.mma_fence %pt, %Os : tensor<128x128xbf16, #acc>, tensor<128x128xf32, #acc>
          %On0 = mk_sm.mma %g#0, %V, %g#1 : tensor<128x128xbf16, #acc>, !mk_sm.staged<tensor<128x128xbf16>>, tensor<128x128xf32, #acc>
          %On = mk_sm.mma_wait 0, %On0 : tensor<128x128xf32, #acc>
          mk_sm.release %vs : !mk_sm.ring<2, tensor<128x128xbf16>>
          scf.yield %On, %mn, %ln : tensor<128x128xf32, #acc>, tensor<128xf32, #row>, tensor<128xf32, #row>
        }
        mk_sm.release %qs : !mk_sm.ring<1, tensor<128x128xbf16>>
        %lb = mk.broadcast %L dims [1] : tensor<128xf32, #row> -> tensor<128x128xf32, #acc>
        %On = arith.divf %O, %lb : tensor<128x128xf32, #acc>
        %Ot = arith.truncf %On : tensor<128x128xf32, #acc> to tensor<128x128xbf16, #acc>
        %log = math.log2 %L : tensor<128xf32, #row>
        %lse_t = arith.addf %M, %log : tensor<128xf32, #row>
        mk.store %lse_t, %lse[%h, %row] : tensor<128xf32, #row>, memref<?x?xf32>
        mk_sm.store %Ot, %o[%h, %row, %c0] through %out : tensor<128x128xbf16, #acc>, memref<?x?x128xbf16>, !mk_sm.staging<1>
      }
    }
  }
}
