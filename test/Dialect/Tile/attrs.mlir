// RUN: mk-opt %s | mk-opt | FileCheck %s
// RUN: mk-opt %s -mlir-print-op-generic | mk-opt | FileCheck %s
// RUN: mk-opt %s -emit-bytecode | mk-opt | FileCheck %s

// CHECK: @axes
// CHECK-SAME: #mk.axis<"node" = ? via net>, #mk.axis<"gpu" = 8 via link>, #mk.axis<"odd name" = 1 via link>
func.func private @axes() attributes {
  x = [#mk.axis<"node" = ? via net>, #mk.axis<gpu = 8 via link>, #mk.axis<"odd name" = 1 via link>]}

// CHECK: @ctas
// CHECK-SAME: #mk.ctas<8>, #mk.ctas<share = 6.000000e-02>, #mk.ctas<share = 1.000000e+00, min = 4>, #mk.ctas<rest>, #mk.ctas<rest, min = 4>, #mk.ctas<param P>, #mk.ctas<param P, share = 1.250000e-01>, #mk.ctas<beside @gemm>, #mk.ctas<4 beside @gemm>, #mk.ctas<engines>
func.func private @ctas() attributes {
  x = [#mk.ctas<8>, #mk.ctas<share = 0.06, min = 1>, #mk.ctas<share = 1.0, min = 4>, #mk.ctas<rest>, #mk.ctas<rest, min = 4>, #mk.ctas<param P>, #mk.ctas<param P, share = 0.125>, #mk.ctas<beside @gemm>, #mk.ctas<4 beside @gemm>, #mk.ctas<engines>]}

// CHECK: @schedules
// CHECK-SAME: #mk.schedule<static>, #mk.schedule<ticket>, #mk.schedule<stream_k, tail = 2>, #mk.schedule<stream_k, tail = T>, #mk.schedule<param S>, #mk.schedule<param "a b", tail = 1>, #mk.schedule<static, parts = 4>, #mk.schedule<param S, tail = T, parts = P>
func.func private @schedules() attributes {
  x = [#mk.schedule<static>, #mk.schedule<ticket>, #mk.schedule<stream_k, tail = 2>,
       #mk.schedule<stream_k, tail = T>, #mk.schedule<param S>, #mk.schedule<param "a b", tail = 1>,
       #mk.schedule<static, parts = 4>, #mk.schedule<param S, tail = T, parts = P>]}

// CHECK: @orders
// CHECK-SAME: #mk.order<raster = 8, own = first>, #mk.order<own = last, stagger>, #mk.order<own = spread(3)>, #mk.order<longest_first>, #mk.order<longest_first = 4>, #mk.order<raster = G, stagger>, #mk.order<alternate = 2>, #mk.order<raster = 8, alternate = T>
func.func private @orders() attributes {
  x = [#mk.order<own = first, raster = 8>, #mk.order<stagger, own = last>, #mk.order<own = spread(3)>,
       #mk.order<longest_first>, #mk.order<longest_first = 4>, #mk.order<raster = G, stagger>,
       #mk.order<alternate = 2>, #mk.order<raster = 8, alternate = T>]}

// CHECK: @others
// CHECK-SAME: #mk.reduction<max>, #mk.precision<tf32>, #mk.symmetric
func.func private @others() attributes {x = [#mk.reduction<max>, #mk.precision<tf32>, #mk.symmetric]}
