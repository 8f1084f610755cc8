// RUN: mk-opt %s -split-input-file -mk-sm-defer-reductions --remarks=defer-reductions -verify-diagnostics -o %t

// Which sums are exchanged behind their loop, and each reason why not.

mk.mesh @mesh (gpu = 1 via link)
#acc = #mk_sm.mma<warpgroups = 2>
#row = #mk_sm.slice<axis = 1, of = #acc>
!tile = tensor<128x64xf32, #acc>
!row = tensor<128xf32, #row>
mk.kernel @sums on @mesh dims(uniform N) (
    in %a : memref<?x64xf32> [N, 64], in %f : memref<?xf32> [N], out %s : memref<?xf32> [N]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @r ctas(1) {
    mk_sm.partition consumer warps(8) registers(232) {
      %zero = arith.constant dense<0.0> : !row
      %r:4 = scf.for %i = %c0 to %N step %c1
          iter_args(%p = %zero, %q = %zero, %t = %zero, %u = %zero) -> (!row, !row, !row, !row) {
        %x = mk.load %a[%i, %c0] : memref<?x64xf32> -> !tile
        // expected-remark @+1 {{mk-sm-defer-reductions: passed: is exchanged between lanes behind the loop (in role 'r')}}
        %sum = mk.reduce add %x axis 1 : !tile -> !row
        %pn = arith.addf %p, %sum : !row
        // expected-remark @+1 {{mk-sm-defer-reductions: missed: gives a sum that the iteration uses otherwise, too, so lanes exchange it in each iteration}}
        %sum2 = mk.reduce add %x axis 1 : !tile -> !row
        %qn = arith.addf %q, %sum2 : !row
        mk.store %sum2, %s[%i] : !row, memref<?xf32>
        // expected-remark @+1 {{mk-sm-defer-reductions: missed: adds to a sum that the loop uses before it is complete, so lanes exchange it in each iteration}}
        %sum3 = mk.reduce add %x axis 1 : !tile -> !row
        %tn = arith.addf %t, %sum3 : !row
        mk.store %t, %s[%i] : !row, memref<?xf32>
        // expected-remark @+1 {{mk-sm-defer-reductions: missed: adds to what is no product of the carried sum and a factor, so lanes exchange it in each iteration}}
        %sum4 = mk.reduce add %x axis 1 : !tile -> !row
        %root = math.exp2 %u : !row
        %un = arith.addf %root, %sum4 : !row
        scf.yield %pn, %qn, %tn, %un : !row, !row, !row, !row
      }
      mk.store %r#0, %s[%c0] : !row, memref<?xf32>
      mk.store %r#1, %s[%c0] : !row, memref<?xf32>
      mk.store %r#2, %s[%c0] : !row, memref<?xf32>
      mk.store %r#3, %s[%c0] : !row, memref<?xf32>
    }
  }
}

// -----

mk.mesh @mesh (gpu = 1 via link)
#dealt = #mk_sm.blocked<threads = 128, vector = 4>
!tile = tensor<16x64xf32, #dealt>
!row = tensor<16xf32, #mk_sm.blocked<threads = 128, vector = 1>>
mk.kernel @dealt on @mesh dims(uniform N) (in %a : memref<?x64xf32> [N, 64], out %s : memref<?xf32> [N]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  mk.role @r ctas(1) {
    mk_sm.partition consumer warps(4) registers(232) {
      %zero = arith.constant dense<0.0> : !row
      %r = scf.for %i = %c0 to %N step %c1 iter_args(%p = %zero) -> (!row) {
        %x = mk.load %a[%i, %c0] : memref<?x64xf32> -> !tile
        // expected-remark @+1 {{mk-sm-defer-reductions: passed: is exchanged between threads behind the loop}}
        %sum = mk.reduce add %x axis 1 : !tile -> !row
        %pn = arith.addf %p, %sum : !row
        scf.yield %pn : !row
      }
      mk.store %r, %s[%c0] : !row, memref<?xf32>
    }
  }
}
