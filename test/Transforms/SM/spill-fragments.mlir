// RUN: mk-opt %s --mk-sm-spill-fragments -verify-diagnostics --remarks=spill-fragments | FileCheck %s
// RUN: mk-opt %s --mk-sm-spill-fragments --mk-sm-unroll-stores | FileCheck %s --check-prefix=UNROLL

mk.mesh @mesh (gpu = 1 via link)

// Scratch that fragments of one type alone pass through, each in a place of its own.
// CHECK-LABEL: mk.kernel @parts
// CHECK: mk_sm.spill %[[T:.*]], %parts[%[[W:.*]]] : tensor<64x64xf32, #mk_sm.mma<warpgroups = 1>>, memref<8x64x64xf32>
// CHECK: mk.signal
// CHECK: mk_sm.reload %parts[%[[W]]] : memref<8x64x64xf32> -> tensor<64x64xf32, #mk_sm.mma<warpgroups = 1>>
// The store of the result alone goes through shared memory, and so is unrolled.
// CHECK: mk_sm.store
// UNROLL-LABEL: mk.kernel @parts
// UNROLL: mk_sm.store {{.*}} unrolled :
mk.kernel @parts on @mesh dims(uniform M) (
    out %c : memref<?x?xf32> [M, M], scratch %parts : memref<8x64x64xf32> [8, 64, 64]) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<1.0> : tensor<64x64xf32, #mk_sm.mma<warpgroups = 1>>
  %ready = mk.signals() : !mk.signal<8, gpu, arrivals = 1>
  mk.role @r ctas(1) {
    %out = mk_sm.create_staging : !mk_sm.staging<2>
    mk_sm.partition consumer warps(4) registers(240) {
      // expected-remark @+1 {{mk-sm-spill-fragments: passed: stores to scratch in the order of registers}}
      mk_sm.store %zero, %parts[%M, %c0, %c0] through %out : tensor<64x64xf32, #mk_sm.mma<warpgroups = 1>>, memref<8x64x64xf32>, !mk_sm.staging<2>
      mk.signal %ready[%M] : !mk.signal<8, gpu, arrivals = 1>
      %x = mk.load %parts[%M, %c0, %c0] : memref<8x64x64xf32> -> tensor<64x64xf32, #mk_sm.mma<warpgroups = 1>>
      %y = arith.addf %x, %zero : tensor<64x64xf32, #mk_sm.mma<warpgroups = 1>>
      mk_sm.store %y, %c[%c0, %c0] through %out : tensor<64x64xf32, #mk_sm.mma<warpgroups = 1>>, memref<?x?xf32>, !mk_sm.staging<2>
    }
  }
}

// A staging area that nothing else goes through is none.
// CHECK-LABEL: mk.kernel @alone
// CHECK-NOT: mk_sm.create_staging
// CHECK: mk_sm.spill
// CHECK: %[[R:.*]] = mk_sm.reload
// CHECK-NEXT: %[[D:.*]] = mk_sm.defer %[[R]] :
// CHECK-NEXT: arith.addf %[[D]],
mk.kernel @alone on @mesh dims(uniform M) (
    out %c : memref<?x?xf32> [M, M], scratch %parts : memref<8x64x144xf32> [8, 64, 144]) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<1.0> : tensor<64x144xf32, #mk_sm.mma<warpgroups = 1>>
  mk.role @r ctas(1) {
    %out = mk_sm.create_staging : !mk_sm.staging<2>
    mk_sm.partition consumer warps(4) registers(240) {
      // expected-remark @+1 {{mk-sm-spill-fragments: passed: stores to scratch in the order of registers}}
      mk_sm.store %zero, %parts[%M, %c0, %c0] through %out : tensor<64x144xf32, #mk_sm.mma<warpgroups = 1>>, memref<8x64x144xf32>, !mk_sm.staging<2>
      %x = mk.load %parts[%M, %c0, %c0] : memref<8x64x144xf32> -> tensor<64x144xf32, #mk_sm.mma<warpgroups = 1>>
      %d = mk_sm.defer %x : tensor<64x144xf32, #mk_sm.mma<warpgroups = 1>>
      %y = arith.addf %d, %zero : tensor<64x144xf32, #mk_sm.mma<warpgroups = 1>>
      mk.store %y, %c[%c0, %c0] : tensor<64x144xf32, #mk_sm.mma<warpgroups = 1>>, memref<?x?xf32>
    }
  }
}

// Its elements are seen by others, lie in two tiles, are of 16 bits, or too many for a thread.
// CHECK-LABEL: mk.kernel @others
// CHECK-NOT: mk_sm.spill
// CHECK-NOT: mk_sm.reload
mk.kernel @others on @mesh dims(uniform M) (
    out %c : memref<8x64x64xf32> [8, 64, 64], scratch %shifted : memref<8x64x64xf32> [8, 64, 64],
    scratch %short : memref<8x64x64xbf16> [8, 64, 64], scratch %two : memref<8x64x64xf32> [8, 64, 64],
    scratch %partly : memref<8x64x64xf32> [8, 64, 64], scratch %wide : memref<8x64x256xf32> [8, 64, 256],
    scratch %mixed : memref<8x64x64xf32> [8, 64, 64]) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %x = arith.constant dense<1.0> : tensor<64x64xf32, #mk_sm.mma<warpgroups = 1>>
  %h = arith.constant dense<1.0> : tensor<64x64xbf16, #mk_sm.mma<warpgroups = 1>>
  mk.role @r ctas(1) {
    mk_sm.partition consumer warps(4) registers(240) {
      mk.store %x, %c[%M, %c0, %c0] : tensor<64x64xf32, #mk_sm.mma<warpgroups = 1>>, memref<8x64x64xf32>
      // expected-remark @+1 {{mk-sm-spill-fragments: missed: keeps scratch in the order of memory: tiles do not follow each other in it; give the buffer a dimension for them in front of those of the tile (in role 'r')}}
      mk.store %x, %shifted[%M, %c0, %c32] : tensor<64x64xf32, #mk_sm.mma<warpgroups = 1>>, memref<8x64x64xf32>
      // expected-remark @+1 {{mk-sm-spill-fragments: missed: keeps scratch in the order of memory: its tile is no accumulator, or too large; use smaller tiles, or more warpgroups (in role 'r')}}
      mk.store %h, %short[%M, %c0, %c0] : tensor<64x64xbf16, #mk_sm.mma<warpgroups = 1>>, memref<8x64x64xbf16>
      mk.store %x, %two[%M, %c0, %c0] : tensor<64x64xf32, #mk_sm.mma<warpgroups = 1>>, memref<8x64x64xf32>
      // expected-remark @+1 {{mk-sm-spill-fragments: missed: keeps scratch in the order of memory: its tile is no accumulator, or too large; use smaller tiles, or more warpgroups (in role 'r')}}
      %y = mk.load %two[%M, %c0, %c0] : memref<8x64x64xf32> -> tensor<64x64xf32, #mk_sm.blocked<threads = 128, vector = 4>>
      %w = arith.constant dense<1.0> : tensor<64x256xf32, #mk_sm.mma<warpgroups = 1>>
      // expected-remark @+1 {{mk-sm-spill-fragments: missed: keeps scratch in the order of memory: its tile is no accumulator, or too large; use smaller tiles, or more warpgroups (in role 'r')}}
      mk.store %w, %wide[%M, %c0, %c0] : tensor<64x256xf32, #mk_sm.mma<warpgroups = 1>>, memref<8x64x256xf32>
      %n = arith.constant dense<1.0> : tensor<64x32xf32, #mk_sm.mma<warpgroups = 1>>
      // expected-remark @+1 {{mk-sm-spill-fragments: missed: keeps scratch in the order of memory: others access it by tiles of another type; use one type, or another buffer (in role 'r')}}
      mk.store %n, %mixed[%M, %c0, %c0] : tensor<64x32xf32, #mk_sm.mma<warpgroups = 1>>, memref<8x64x64xf32>
      mk.store %x, %mixed[%M, %c0, %c0] : tensor<64x64xf32, #mk_sm.mma<warpgroups = 1>>, memref<8x64x64xf32>
      // expected-remark @+1 {{mk-sm-spill-fragments: missed: keeps scratch in the order of memory: it takes more or less of it than whole tiles; leave out valid, pad, peer, signal and reduction (in role 'r')}}
      mk.store %x, %partly[%M, %c0, %c0] valid(%M, %c32) : tensor<64x64xf32, #mk_sm.mma<warpgroups = 1>>, memref<8x64x64xf32>
    }
  }
}
