// RUN: mk-opt %s | mk-opt | FileCheck %s
// RUN: mk-opt %s -mlir-print-op-generic | mk-opt | FileCheck %s
// RUN: mk-opt %s -emit-bytecode | mk-opt | FileCheck %s

// CHECK: @signals(!mk.signal<?, gpu, arrivals = 8>, !mk.signal<4x?x2, sys, arrivals = ?>, !mk.signal<?x?, sys, dynamic>)
func.func private @signals(!mk.signal<?, gpu, arrivals = 8>, !mk.signal<4x?x2, sys, arrivals = ?>, !mk.signal<?x?, sys, dynamic>)

// CHECK: @counters(!mk.counter<?>, !mk.counter<8x?>)
func.func private @counters(!mk.counter<?>, !mk.counter<8x?>)

// CHECK: @queues(!mk.queue<?x2xi32>, !mk.queue<64x1xi64>)
func.func private @queues(!mk.queue<?x2xi32>, !mk.queue<64x1xi64>)

// CHECK: @symmetric(memref<?x?xbf16, #mk.symmetric>)
func.func private @symmetric(memref<?x?xbf16, #mk.symmetric>)

// CHECK: @extents(tensor<?x8x?xf32, #mk.extents<TM, "a b">>)
func.func private @extents(tensor<?x8x?xf32, #mk.extents<TM, "a b">>)
