// RUN: mk-opt %s -mk-sm-alternate-items --remarks=alternate-items -verify-diagnostics -o %t

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
!ring = !mk_sm.ring<2, tensor<64x64xbf16>, tensor<128x64xbf16>>
!slot = !mk_sm.slot<tensor<64x64xbf16>, tensor<128x64xbf16>>

mk.kernel @gemm on @mesh dims(uniform M, uniform K) (out %c : memref<64x128xf32> [64, 128]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<64x128xf32, #acc>
  mk.role @r ctas(rest) {
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition consumer warps(8) registers(240) teams(2) {
      // expected-remark @+1 {{mk-sm-alternate-items: passed: has two teams take its items in turn (in role 'r')}}
      mk_sm.items (%t) round(%turn) of %M {
        %some = arith.cmpi sgt, %K, %c0 : index
        %sum = scf.if %some -> (tensor<64x128xf32, #acc>) {
          %acc = scf.for %k = %c0 to %K step %c1 iter_args(%old = %zero) -> (tensor<64x128xf32, #acc>) {
            %s = mk_sm.wait %ring : !ring -> !slot
            %x = mk_sm.tile %s[0] : !slot -> !mk_sm.staged<tensor<64x64xbf16>>
            %y = mk_sm.tile %s[1] : !slot -> !mk_sm.staged<tensor<128x64xbf16>>
            %d = mk_sm.mma %x, %y, %old transpose_b : !mk_sm.staged<tensor<64x64xbf16>>, !mk_sm.staged<tensor<128x64xbf16>>, tensor<64x128xf32, #acc>
            mk_sm.release %ring : !ring
            scf.yield %d : tensor<64x128xf32, #acc>
          }
          %done = mk_sm.mma_wait 0, %acc : tensor<64x128xf32, #acc>
          scf.yield %done : tensor<64x128xf32, #acc>
        } else {
          scf.yield %zero : tensor<64x128xf32, #acc>
        }
        mk.store %sum, %c[%c0, %c0] : tensor<64x128xf32, #acc>, memref<64x128xf32>
      }
    }
  }
}
