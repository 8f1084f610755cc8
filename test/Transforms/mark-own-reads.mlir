// RUN: mk-opt %s -mk-mark-own-reads --remarks=mark-own-reads -verify-diagnostics -o %t && FileCheck %s --input-file=%t

// Loads of arguments that the kernel writes, but no other item where they read.
mk.mesh @mesh (gpu = 1 via link)
!m = memref<?x?xf32>
!t = tensor<64x32xf32>

// CHECK-LABEL: mk.kernel @items
mk.kernel @items on @mesh dims(uniform M, uniform N) (
    in %in : !m [M, N], inout %a : !m [M, N], inout %b : !m [M, N], inout %c : !m [M, N],
    inout %d : memref<?x?xf32, #mk.symmetric> [M, N], inout %e : memref<?x?x?xf32> [M, M, N], inout %f : !m [M, N]) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  mk.role @r ctas(rest) {
    mk.foreach (%i, %j) in (%M, %N) {
      %row = arith.muli %i, %c64 : index
      %column = arith.muli %j, %c32 : index
      // What nobody writes is not looked at.
      // CHECK: mk.load %in[%{{.*}}] : memref
      %x = mk.load %in[%row, %column] : !m -> !t
      // CHECK: mk.load %a[%{{.*}}] own : memref
      // expected-remark @+1 {{mk-mark-own-reads: passed: reads what no other item writes (in role 'r')}}
      %y = mk.load %a[%row, %column] : !m -> !t
      // Tiles of 64 rows begin every 32.
      %close = arith.muli %i, %c32 : index
      // expected-remark @+1 {{mk-mark-own-reads: missed: may read what another item writes: tiles of two items may overlap: write their offsets as index times extent (in role 'r')}}
      %z = mk.load %b[%close, %column] : !m -> !t
      // It is stored elsewhere.
      // expected-remark @+1 {{mk-mark-own-reads: missed: may read what another item writes: an op takes the argument that does not store just this tile, behind the load (in role 'r')}}
      %w = mk.load %c[%row, %column] : !m -> !t
      // expected-remark @+1 {{mk-mark-own-reads: missed: may read what another item writes: peers may (in role 'r')}}
      %v = mk.load %d[%row, %column] : memref<?x?xf32, #mk.symmetric> -> !t
      // Only one index moves the tile.
      // expected-remark @+1 {{mk-mark-own-reads: missed: may read what another item writes: tiles of two items may overlap}}
      %u = mk.load %e[%i, %c0, %c0] : memref<?x?x?xf32> -> !t
      mk.store %y, %a[%row, %column] : !t, !m
      mk.store %z, %b[%close, %column] : !t, !m
      mk.store %w, %c[%row, %c0] : !t, !m
      mk.store %v, %d[%row, %column] : !t, memref<?x?xf32, #mk.symmetric>
      mk.store %u, %e[%i, %c0, %c0] : !t, memref<?x?x?xf32>
    }
    // expected-remark @+1 {{mk-mark-own-reads: missed: may read what another item writes: it is not in an mk.foreach of a role itself, and so may be done for an item again (in role 'r')}}
    %g = mk.load %f[%c0, %c0] : !m -> !t
    mk.store %g, %f[%c0, %c0] : !t, !m
  }
}
