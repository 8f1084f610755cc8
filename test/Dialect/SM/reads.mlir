// RUN: mk-opt %s | mk-opt | FileCheck %s

// A tile of one dimension in a slot, behind those of two.
mk.mesh @mesh (gpu = 1 via link)
!ring = !mk_sm.ring<2, tensor<64x64xbf16>, tensor<64xf32>>
!slot = !mk_sm.slot<tensor<64x64xbf16>, tensor<64xf32>>
!row = tensor<64xf32, #mk_sm.slice<axis = 1, of = #mk_sm.mma<warpgroups = 1>>>
mk.kernel @listed on @mesh (in %a : memref<64x64xbf16> [64, 64], in %s : memref<4x64xf32> [4, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !ring
    mk_sm.partition producer warps(1) registers(40) {
      %slot = mk_sm.acquire %ring : !ring -> !slot
      // CHECK: mk_sm.copy %s[%c0, %c0] to %{{.*}}[1] : memref<4x64xf32>, !mk_sm.slot<tensor<64x64xbf16>, tensor<64xf32>>
      mk_sm.copy %s[%c0, %c0] to %slot[1] : memref<4x64xf32>, !slot
      mk_sm.commit %ring, %slot : !ring, !slot
    }
    mk_sm.partition consumer warps(4) registers(168) {
      %slot = mk_sm.wait %ring : !ring -> !slot
      %t = mk_sm.tile %slot[1] : !slot -> !mk_sm.staged<tensor<64xf32>>
      // CHECK: mk_sm.read %{{.*}} : !mk_sm.staged<tensor<64xf32>> -> tensor<64xf32, #{{.*}}>
      %x = mk_sm.read %t : !mk_sm.staged<tensor<64xf32>> -> !row
      mk_sm.release %ring : !ring
    }
  }
}

// A tile that threads read, in two slots of a ring for products; its columns in their order.
// CHECK-LABEL: mk.kernel @parts
!products = !mk_sm.ring<2, tensor<128x64xbf16>, tensor<128x64xbf16>>
!part = !mk_sm.slot<tensor<128x128xbf16>>
!whole = tensor<128x256xbf16, #mk_sm.mma<warpgroups = 2>>
mk.kernel @parts on @mesh (in %r : memref<128x256xbf16> [128, 256], out %c : memref<128x256xbf16> [128, 256]) {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  mk.role @r ctas(1) {
    %ring = mk_sm.create_ring : !products
    mk_sm.partition producer warps(1) registers(40) {
      // CHECK: %[[SLOT:.*]] = mk_sm.acquire %{{.*}} : !mk_sm.ring<2, tensor<128x64xbf16>, tensor<128x64xbf16>> -> !mk_sm.slot<tensor<128x128xbf16>>
      %first = mk_sm.acquire %ring : !products -> !part
      mk_sm.copy %r[%c0, %c0] to %first[0] : memref<128x256xbf16>, !part
      mk_sm.commit %ring, %first : !products, !part
      %second = mk_sm.acquire %ring : !products -> !part
      mk_sm.copy %r[%c0, %c128] to %second[0] : memref<128x256xbf16>, !part
      mk_sm.commit %ring, %second : !products, !part
    }
    mk_sm.partition consumer warps(8) registers(168) {
      %first = mk_sm.wait %ring : !products -> !part
      %x = mk_sm.tile %first[0] : !part -> !mk_sm.staged<tensor<128x128xbf16>>
      %second = mk_sm.wait %ring : !products -> !part
      %y = mk_sm.tile %second[0] : !part -> !mk_sm.staged<tensor<128x128xbf16>>
      // CHECK: %[[READ:.*]] = mk_sm.read %{{.*}}, %{{.*}} : !mk_sm.staged<tensor<128x128xbf16>>, !mk_sm.staged<tensor<128x128xbf16>> -> tensor<128x256xbf16, #{{.*}}>
      %read = mk_sm.read %x, %y : !mk_sm.staged<tensor<128x128xbf16>>, !mk_sm.staged<tensor<128x128xbf16>> -> !whole
      // CHECK: mk_sm.defer %[[READ]]
      %taken = mk_sm.defer %read : !whole
      mk.store %taken, %c[%c0, %c0] : !whole, memref<128x256xbf16>
      // CHECK: mk_sm.release %{{.*}} read :
      mk_sm.release %ring read : !products
      mk_sm.release %ring : !products
    }
  }
}
