// RUN: mk-opt %s --target=sm_90a --emit=ptx --gpus=1 | FileCheck %s

// What scf.for says of unrolling reaches ptxas.

#acc = #mk_sm.mma<warpgroups = 1>
mk.mesh @mesh (gpu = 1 via link)

// CHECK: .pragma "nounroll";
// CHECK: st.global.v4.b32
// CHECK: .pragma "nounroll";
// CHECK: st.global.b32
// CHECK: .pragma "nounroll";
// CHECK: st.global.b16
mk.kernel @rolled on @mesh (in %a : memref<64x64xbf16> [64, 64], out %b : memref<64x64xbf16> [64, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %staging = mk_sm.create_staging : !mk_sm.staging<2>
    mk_sm.partition consumer warps(4) registers(168) {
      %x = mk.load %a[%c0, %c0] : memref<64x64xbf16> -> tensor<64x64xbf16, #acc>
      mk_sm.store %x, %b[%c0, %c0] through %staging : tensor<64x64xbf16, #acc>, memref<64x64xbf16>, !mk_sm.staging<2>
    }
  }
}
