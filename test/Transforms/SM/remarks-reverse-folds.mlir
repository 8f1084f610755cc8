// RUN: mk-opt %s -mk-expand-loops -mk-sm-reverse-folds --remarks=reverse-folds -verify-diagnostics -o %t

// Which folds are turned round, and each reason why not.

mk.mesh @mesh (gpu = 1 via link)
mk.kernel @folds on @mesh dims(uniform N, uniform K) (
    in %a : memref<?x?xf32> [N, K], out %c : memref<?xf32> [N]) {
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<64xf32>
  %done = mk.counters(%N) : !mk.counter<?>
  mk.role @r ctas(rest) {
    mk.foreach (%n) in (%N) {
      // expected-remark @+1 {{mk-sm-reverse-folds: passed: is walked from its end in every second item (in role 'r')}}
      %s = mk.fold (%k) in (%K) iter(%t = %zero) combine(add) : tensor<64xf32> {
        %x = mk.load %a[%n, %k] : memref<?x?xf32> -> tensor<64xf32>
        %u = arith.addf %t, %x : tensor<64xf32>
        mk.yield %u : tensor<64xf32>
      }
      // expected-remark @+1 {{mk-sm-reverse-folds: missed: has parts in a fixed order: say by which reduction they combine (combine)}}
      %v = mk.fold (%k) in (%K) iter(%t = %s) : tensor<64xf32> {
        %x = mk.load %a[%n, %k] : memref<?x?xf32> -> tensor<64xf32>
        %u = arith.addf %t, %x : tensor<64xf32>
        mk.yield %u : tensor<64xf32>
      }
      // expected-remark @+1 {{mk-sm-reverse-folds: missed: does more in an iteration than load and compute: do the rest in front of it or behind}}
      %w = mk.fold (%k) in (%K) iter(%t = %v) combine(add) : tensor<64xf32> {
        %x = mk.load %a[%n, %k] : memref<?x?xf32> -> tensor<64xf32>
        %old = mk.count %done[%k] add %c1 : !mk.counter<?>
        %u = arith.addf %t, %x : tensor<64xf32>
        mk.yield %u : tensor<64xf32>
      }
      mk.store %w, %c[%n] : tensor<64xf32>, memref<?xf32>
    }
  }
  mk.role @drawn ctas(rest) {
    mk.foreach (%n) in (%N) schedule(ticket) {
      // expected-remark @+1 {{mk-sm-reverse-folds: missed: stands in no loop over items in static order, so nobody knows which panels the item before left in the cache: schedule(static) has it, and suits items that take equally long}}
      %s = mk.fold (%k) in (%K) iter(%t = %zero) combine(add) : tensor<64xf32> {
        %x = mk.load %a[%n, %k] : memref<?x?xf32> -> tensor<64xf32>
        %u = arith.addf %t, %x : tensor<64xf32>
        mk.yield %u : tensor<64xf32>
      }
      mk.store %s, %c[%n] : tensor<64xf32>, memref<?xf32>
    }
  }
}
