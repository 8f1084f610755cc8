// RUN: mk-opt %s --mk-inline-calls --split-input-file --verify-diagnostics | FileCheck %s

mk.mesh @mesh (gpu = 1 via link)

// Nested helpers that communicate end up in the role.
// CHECK-LABEL: mk.kernel @k
// CHECK: mk.role @r
// CHECK-NOT: call
// CHECK: mk.wait %ready[%{{.*}}] ge
// CHECK: mk.count
// CHECK-NOT: func.func
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

// -----

mk.mesh @mesh (gpu = 1 via link)

// A helper may have a role's name; what else is called, or called by nothing, stays.
// CHECK-LABEL: mk.kernel @same_names
// CHECK: mk.role @send ctas(1) then @work
// CHECK-NOT: func.func private @send
// CHECK-NOT: func.func private @work
// CHECK: func.func private @shared
// CHECK: func.func private @reference
mk.kernel @same_names on @mesh (in %a : memref<4xf32> [4]) {
  mk.role @send ctas(1) then @work {
    %n = mk.ctas @send
    func.call @send(%n) : (index) -> ()
  }
  mk.role @work ctas(rest) {
    func.call @work() : () -> ()
  }
}
func.func private @send(%n: index) {
  mk.foreach (%i) in (%n) schedule(ticket) {
    %x = func.call @shared(%i) : (index) -> index
  }
  return
}
func.func private @work() {
  %c1 = arith.constant 1 : index
  mk.foreach (%i) in (%c1) schedule(ticket) {
  }
  return
}
func.func private @shared(%i: index) -> index {
  return %i : index
}
func.func private @reference(%i: index) -> index {
  %x = func.call @shared(%i) : (index) -> index
  return %x : index
}

// -----

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @k on @mesh (in %a : memref<4xf32> [4]) {
  mk.role @r ctas(1) {
    // expected-error @below {{calls @branches, which branches between blocks; use scf.if and scf.for}}
    func.call @branches() : () -> ()
  }
}
func.func private @branches() {
  cf.br ^end
^end:
  return
}
