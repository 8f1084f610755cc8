// RUN: mk-opt %s -mk-sm-defer-elements -mk-sm-unroll-stores | FileCheck %s

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 1>
!f32 = tensor<64x64xf32, #acc>
!bf16 = tensor<64x64xbf16, #acc>
!bit = tensor<64x64xi1, #acc>
!of32 = memref<64x64xf32>
!obf16 = memref<64x64xbf16>

// What one store needs waits for it, with the load; a load of a tile is not done twice.
// CHECK-LABEL: mk.kernel @epilogue
// CHECK: %[[T1:.*]] = mk.load
// CHECK-NEXT: %[[D1:.*]] = mk_sm.defer %[[T1]] :
// CHECK: %[[T2:.*]] = arith.addf
// CHECK-NEXT: %[[D2:.*]] = mk_sm.defer %[[T2]] :
// CHECK: %[[T3:.*]] = arith.truncf
// CHECK-NEXT: %[[D3:.*]] = mk_sm.defer %[[T3]] :
// CHECK: %[[ONCE:.*]] = mk_sm.materialize %[[D3]] :
// CHECK-NEXT: mk.store %[[ONCE]],
mk.kernel @epilogue on @mesh (in %a : !of32 [64, 64], out %c : !obf16 [64, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    mk_sm.partition consumer warps(4) registers(168) {
      %x = arith.constant dense<1.0> : !f32
      %l = mk.load %a[%c0, %c0] : !of32 -> !f32
      %s = arith.addf %x, %l : !f32
      %t = arith.truncf %s : !f32 to !bf16
      mk.store %t, %c[%c0, %c0] : !bf16, !obf16
    }
  }
}

// A scaling and a conversion may be computed in each way of the store.
// CHECK-LABEL: mk.kernel @cheap
// CHECK: %[[T4:.*]] = arith.truncf
// CHECK-NEXT: %[[D4:.*]] = mk_sm.defer %[[T4]] :
// CHECK: mk.store
// CHECK-NOT: mk_sm.materialize
// CHECK-LABEL: mk.kernel @several
mk.kernel @cheap on @mesh (out %c : !obf16 [64, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    mk_sm.partition consumer warps(4) registers(168) {
      %x = arith.constant dense<1.0> : !f32
      %t = arith.truncf %x : !f32 to !bf16
      mk.store %t, %c[%c0, %c0] : !bf16, !obf16
    }
  }
}

// Of what two stores need nothing is deferred but the load that one op takes.
// CHECK: %[[T5:.*]] = mk.load
// CHECK-NEXT: %[[D5:.*]] = mk_sm.defer %[[T5]] :
// CHECK: %[[S:.*]] = arith.addf %{{.*}}, %{{.*}} : tensor
// CHECK: mk.store %[[S]]
mk.kernel @several on @mesh (in %a : !of32 [64, 64], out %c : !of32 [64, 64], out %d : !of32 [64, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    mk_sm.partition consumer warps(4) registers(168) {
      %x = arith.constant dense<1.0> : !f32
      %l = mk.load %a[%c0, %c0] : !of32 -> !f32
      %s = arith.addf %x, %l : !f32
      mk.store %s, %c[%c0, %c0] : !f32, !of32
      mk.store %s, %d[%c0, %c0] : !f32, !of32
    }
  }
}

// What is read must not be written before, nor by the store.
// CHECK-LABEL: mk.kernel @written
// CHECK: mk.load
// CHECK-NOT: mk_sm.defer
// CHECK: mk.load
// CHECK-NOT: mk_sm.defer
// CHECK: %[[T6:.*]] = arith.addf
// CHECK-NEXT: %[[D6:.*]] = mk_sm.defer %[[T6]] :
// CHECK: %[[T7:.*]] = arith.addf
// CHECK-NEXT: %[[D7:.*]] = mk_sm.defer %[[T7]] :
mk.kernel @written on @mesh (inout %a : !of32 [64, 64], inout %c : !of32 [64, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    mk_sm.partition consumer warps(4) registers(168) {
      %x = arith.constant dense<1.0> : !f32
      %l = mk.load %a[%c0, %c0] : !of32 -> !f32
      mk.store %x, %a[%c0, %c0] : !f32, !of32
      %m = mk.load %c[%c0, %c0] : !of32 -> !f32
      %s = arith.addf %x, %l : !f32
      %t = arith.addf %s, %m : !f32
      mk.store %t, %c[%c0, %c0] : !f32, !of32
    }
  }
}

// What cannot be loaded as late as at the store is added to a tile that is there anyway, one that
// the other branch needs as well; the load waits for that.
// CHECK-LABEL: mk.kernel @added_before
// CHECK: %[[T8:.*]] = mk.load
// CHECK-NEXT: %[[D8:.*]] = mk_sm.defer %[[T8]] :
// CHECK: %[[S:.*]] = arith.addf
// CHECK-NOT: mk_sm.defer
// CHECK: mk.wait
// CHECK: %[[T9:.*]] = mk.load
// CHECK-NEXT: %[[D9:.*]] = mk_sm.defer %[[T9]] :
// CHECK: %[[T10:.*]] = arith.addf %[[S]],
// CHECK-NEXT: %[[D10:.*]] = mk_sm.defer %[[T10]] :
// CHECK: mk.store
mk.kernel @added_before on @mesh dims(uniform M) (in %a : !of32 [64, 64], in %b : !of32 [64, 64], out %c : !of32 [64, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %there = mk.signals(%c1) : !mk.signal<?, gpu, arrivals = 1>
  mk.role @r ctas(1) {
    mk_sm.partition consumer warps(4) registers(168) {
      %one = arith.cmpi eq, %M, %c1 : index
      %zero = arith.constant dense<0.0> : !f32
      %x = scf.for %i = %c0 to %M step %c1 iter_args(%sum = %zero) -> (!f32) {
        %next = arith.addf %sum, %sum : !f32
        scf.yield %next : !f32
      }
      scf.if %one {
        %l = mk.load %a[%c0, %c0] : !of32 -> !f32
        %s = arith.addf %x, %l : !f32
        mk.wait %there[%c0] ge %c1 : !mk.signal<?, gpu, arrivals = 1>
        %m = mk.load %b[%c0, %c0] : !of32 -> !f32
        %t = arith.addf %s, %m : !f32
        mk.store %t, %c[%c0, %c0] : !f32, !of32
      } else {
        mk.store %x, %c[%c0, %c0] : !f32, !of32
      }
    }
  }
}

// Where that tile is needed behind the sum as well, none is made for the sum.
// CHECK-LABEL: mk.kernel @still_needed
// CHECK: mk.load
// CHECK-NOT: mk_sm.defer
// CHECK: %[[T11:.*]] = arith.addf
// CHECK-NEXT: %[[D11:.*]] = mk_sm.defer %[[T11]] :
// CHECK: mk.store
mk.kernel @still_needed on @mesh dims(uniform M) (in %a : !of32 [64, 64], out %c : !of32 [64, 64], out %d : !of32 [64, 64]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %there = mk.signals(%c1) : !mk.signal<?, gpu, arrivals = 1>
  mk.role @r ctas(1) {
    mk_sm.partition consumer warps(4) registers(168) {
      %zero = arith.constant dense<0.0> : !f32
      %x = scf.for %i = %c0 to %M step %c1 iter_args(%sum = %zero) -> (!f32) {
        %next = arith.addf %sum, %sum : !f32
        scf.yield %next : !f32
      }
      %l = mk.load %a[%c0, %c0] : !of32 -> !f32
      %s = arith.addf %x, %l : !f32
      mk.wait %there[%c0] ge %c1 : !mk.signal<?, gpu, arrivals = 1>
      mk.store %s, %c[%c0, %c0] : !f32, !of32
      mk.store %x, %d[%c0, %c0] : !f32, !of32
    }
  }
}

// Comparisons by which ops right behind select.
// CHECK-LABEL: mk.kernel @selects
// CHECK: %[[T12:.*]] = arith.cmpf
// CHECK-NEXT: %[[D12:.*]] = mk_sm.defer %[[T12]] :
// CHECK: arith.select
// CHECK-NOT: mk_sm.defer
mk.kernel @selects on @mesh (out %c : !of32 [64, 64], out %d : !of32 [64, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    mk_sm.partition consumer warps(4) registers(168) {
      %x = arith.constant dense<1.0> : !f32
      %y = arith.constant dense<2.0> : !f32
      %p = arith.cmpf olt, %x, %y : !f32
      %s = arith.select %p, %x, %y : !bit, !f32
      mk.store %s, %c[%c0, %c0] : !f32, !of32
      mk.store %s, %d[%c0, %c0] : !f32, !of32
    }
  }
}

// Not past a store that may write what is compared.
// CHECK-LABEL: mk.kernel @compares
// CHECK: mk.load
// CHECK: %[[T13:.*]] = arith.cmpf
// CHECK-NOT: mk_sm.defer %[[T13]]
// CHECK: mk.store
mk.kernel @compares on @mesh (inout %c : !of32 [64, 64], out %d : !of32 [64, 64], out %e : !of32 [64, 64]) {
  %c0 = arith.constant 0 : index
  mk.role @r ctas(1) {
    mk_sm.partition consumer warps(4) registers(168) {
      %x = arith.constant dense<1.0> : !f32
      %y = arith.constant dense<2.0> : !f32
      %l = mk.load %c[%c0, %c0] : !of32 -> !f32
      %p = arith.cmpf olt, %l, %y : !f32
      mk.store %x, %c[%c0, %c0] : !f32, !of32
      %s = arith.select %p, %x, %y : !bit, !f32
      mk.store %s, %d[%c0, %c0] : !f32, !of32
      mk.store %s, %e[%c0, %c0] : !f32, !of32
    }
  }
}
