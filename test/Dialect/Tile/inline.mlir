// RUN: mk-opt %s -inline | FileCheck %s

// Any op may be inlined, also into the regions of this dialect's loops.

// CHECK-LABEL: func.func @caller
func.func @caller(%n: index, %s: !mk.signal<?, gpu, arrivals = 1>) {
  // CHECK: mk.foreach (%[[I:.*]]) in
  // CHECK-NEXT: mk.rank
  // CHECK-NEXT: mk.wait %{{.*}}[%[[I]]]
  // CHECK-NOT: call
  mk.foreach (%i) in (%n) {
    func.call @helper(%i, %s) : (index, !mk.signal<?, gpu, arrivals = 1>) -> ()
  }
  // CHECK: return
  return
}

func.func private @helper(%i: index, %s: !mk.signal<?, gpu, arrivals = 1>) {
  %me = mk.rank
  mk.wait %s[%i] ge %me : !mk.signal<?, gpu, arrivals = 1>
  return
}
