// RUN: mk-opt %s --mk-inline-calls --split-input-file --verify-diagnostics | FileCheck %s

mk.mesh @mesh (gpu = 1 via link)

// Nested helpers that communicate end up in the role.
// CHECK-LABEL: mk.kernel @k
// CHECK: mk.role @r
// CHECK-NOT: call
// CHECK: mk.wait %ready[%{{.*}}] ge
// CHECK: mk.count
mk.kernel @k on @mesh (in %a : memref<4xf32> [4]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %ready = mk.signals(%c1) : !mk.signal<?, gpu, arrivals = 1>
  %n = mk.counters(%c1) : !mk.counter<?>
  mk.role @r ctas(1) {
    func.call @outer(%ready, %n, %c0) : (!mk.signal<?, gpu, arrivals = 1>, !mk.counter<?>, index) -> ()
  }
}

func.func private @outer(%s: !mk.signal<?, gpu, arrivals = 1>, %n: !mk.counter<?>, %i: index) {
  %c1 = arith.constant 1 : index
  mk.wait %s[%i] ge %c1 : !mk.signal<?, gpu, arrivals = 1>
  %old = func.call @inner(%n, %i) : (!mk.counter<?>, index) -> index
  return
}

func.func private @inner(%n: !mk.counter<?>, %i: index) -> index {
  %c1 = arith.constant 1 : index
  %old = mk.count %n[%i] add %c1 : !mk.counter<?>
  return %old : index
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @k on @mesh (in %a : memref<4xf32> [4]) {
  mk.role @r ctas(1) {
    // expected-error @below {{calls @elsewhere, which has no body here; a kernel can only call functions of its own file}}
    func.call @elsewhere() : () -> ()
  }
}
func.func private @elsewhere()

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @k on @mesh (in %a : memref<4xf32> [4]) {
  mk.role @r ctas(1) {
    func.call @loop() : () -> ()
  }
}
func.func private @loop() {
  // expected-error @below {{calls @loop recursively; functions of a kernel are inlined and cannot recurse}}
  func.call @loop() : () -> ()
  return
}
