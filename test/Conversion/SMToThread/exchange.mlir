// RUN: mk-opt %s -mk-assign-ctas=grid=132 -mk-sm-defer-elements -mk-sm-unroll-stores -mk-sm-assign-stages -mk-sm-lay-out-shared -mk-sm-assign-warps -convert-mk-sm-to-thread -mk-thread-expand -canonicalize | FileCheck %s

// Elements that change threads by way of shared memory.

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
#column = #mk_sm.slice<axis = 0, of = #acc>
#flat = #mk_sm.blocked<threads = 128, vector = 4>
#one = #mk_sm.blocked<threads = 128, vector = 1>

// CHECK-LABEL: mk_thread.kernel @mk_kernel
mk.kernel @exchange on @mesh (
    in %a : memref<64x32xf32> [64, 32], in %b : memref<64x256xf32> [64, 256],
    out %c : memref<64x32xf32> [64, 32], out %d : memref<32xf32> [32],
    out %e : memref<64xf32> [64], out %f : memref<64x256xf32> [64, 256]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    mk_sm.partition consumer warps(4) registers(168) {
      // All threads write, then all read; the one before is done with.
      %x = mk.load %a[%c0, %c0] : memref<64x32xf32> -> tensor<64x32xf32, #flat>
      // CHECK: mk_thread.sync %
      // CHECK-COUNT-16: mk_thread.store %{{.*}} : i32 to %{{.*}} : i32 bytes(4)
      // CHECK: mk_thread.sync %
      // CHECK-COUNT-16: mk_thread.load %{{.*}}, 4 {{.*}}: i32 -> i32
      %y = mk_sm.convert_layout %x : tensor<64x32xf32, #flat> -> tensor<64x32xf32, #acc>
      mk.store %y, %c[%c0, %c0] : tensor<64x32xf32, #acc>, memref<64x32xf32>

      // Rows of accumulators: of the thread, of the lanes, of the four warps.
      // CHECK-COUNT-24: shfl.sync.bfly
      // CHECK: mk_thread.sync %
      // CHECK-COUNT-8: mk_thread.store %{{.*}} : i32 to %{{.*}} : i32 bytes(4) if %
      // CHECK: mk_thread.sync %
      // CHECK-COUNT-32: mk_thread.load %{{.*}}, 4 {{.*}}: i32 -> i32
      %s = mk.reduce add %y axis 0 : tensor<64x32xf32, #acc> -> tensor<32xf32, #column>
      mk.store %s, %d[%c0] : tensor<32xf32, #column>, memref<32xf32>

      // What a thread has of a row it reduces: runs of four.
      // CHECK-COUNT-12: llvm.intr.maximum
      // CHECK: mk_thread.sync %
      // CHECK-COUNT-4: mk_thread.store %{{.*}} : i32 to %{{.*}} : i32 bytes(4)
      // CHECK: mk_thread.sync %
      // CHECK: scf.for
      // CHECK: mk_thread.load %{{.*}}, 4 {{.*}}: i32 -> i32
      // CHECK: shfl.sync.bfly
      // CHECK: mk_thread.store %{{.*}} : i32 to %{{.*}} : i32 bytes(4)
      // CHECK: mk_thread.sync %
      // CHECK: mk_thread.load %{{.*}}, 4 {{.*}}: i32 -> i32
      %m = mk.reduce max %x axis 1 : tensor<64x32xf32, #flat> -> tensor<64xf32, #one>
      mk.store %m, %e[%c0] : tensor<64xf32, #one>, memref<64xf32>

      // CHECK: mk_thread.store %{{.*}} : i32 to %{{.*}} : i32 bytes(4) if %
      // CHECK: mk_thread.sync %
      // A run has one row: it is read once for the four elements.
      // CHECK-COUNT-4: mk_thread.load %{{.*}}, 4 {{.*}}: i32 -> i32
      // CHECK-NOT: mk_thread.load %{{.*}} : i32 -> i32
      %back = mk.broadcast %m dims [1] : tensor<64xf32, #one> -> tensor<64x32xf32, #flat>
      mk.store %back, %c[%c0, %c0] : tensor<64x32xf32, #flat>, memref<64x32xf32>

      // A round of all threads is 16 whole rows, so that a thread's runs are in the same four columns.
      // CHECK: mk_thread.sync %
      // CHECK: mk_thread.store %{{.*}} : i32 to %{{.*}} : i32 bytes(4) if %
      // CHECK: mk_thread.sync %
      // CHECK-COUNT-4: mk_thread.load %{{.*}}, 4 {{.*}}: i32 -> i32
      // CHECK-NOT: mk_thread.load %{{.*}} : i32 -> i32
      %w = mk.load %d[%c0] : memref<32xf32> -> tensor<32xf32, #one>
      %down = mk.broadcast %w dims [0] : tensor<32xf32, #one> -> tensor<64x32xf32, #flat>
      mk.store %down, %c[%c0, %c0] : tensor<64x32xf32, #flat>, memref<64x32xf32>

      // 64 KiB go at once where no ring needs the room.
      // CHECK-COUNT-128: mk_thread.store %{{.*}} : i32 to %{{.*}} : i32 bytes(4){{$}}
      // CHECK: mk_thread.sync %
      // CHECK-COUNT-128: mk_thread.load %{{.*}}, 4 : i32 -> i32
      %large = mk.load %b[%c0, %c0] : memref<64x256xf32> -> tensor<64x256xf32, #flat>
      %l = mk_sm.convert_layout %large : tensor<64x256xf32, #flat> -> tensor<64x256xf32, #acc>
      mk.store %l, %f[%c0, %c0] : tensor<64x256xf32, #acc>, memref<64x256xf32>
    }
  }
}
