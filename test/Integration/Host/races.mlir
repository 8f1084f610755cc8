// Races that give right results, in a kernel whose control the compiler cannot follow, since
// it depends on data: the replay of a run finds them. WRONG says which mistake is made.
// REQUIRES: compiler
// RUN: mk-run %s --gpus 2 --bind WRONG=0 --check --check=races --seed 3 --launches 2 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: mk-run --no-optimize %s --nodes 2 --bind WRONG=0 --check --check=races --loopback delay=2ms,reorder=3 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not mk-run %s --gpus 2 --bind WRONG=1 --check --check=races 2>&1 | FileCheck %s --check-prefix=WEAK
// RUN: not mk-run %s --nodes 2 --bind WRONG=1 --check --check=races 2>&1 | FileCheck %s --check-prefix=WEAK
// RUN: not mk-run %s --gpus 2 --bind WRONG=2 --no-verify --check --check=races 2>&1 | FileCheck %s --check-prefix=SETTLE
// RUN: not mk-run %s --nodes 2 --bind WRONG=2 --no-verify --check=races 2>&1 | FileCheck %s --check-prefix=SETTLE
// RUN: not mk-run %s --gpus 2 --bind WRONG=3 --check --check=races 2>&1 | FileCheck %s --check-prefix=LOAD
// RUN: not mk-run %s --gpus 2 --bind WRONG=4 --check --check=races 2>&1 | FileCheck %s --check-prefix=ITEMS
// RUN: not mk-run %s --gpus 2 --bind WRONG=0 --check=race 2>&1 | FileCheck %s --check-prefix=USAGE
// RUN: mk-opt --no-optimize --target=host --emit=package --bind node=1,gpu=2 %s -o %t.mkpkg
// RUN: not mk-run %t.mkpkg --bind WRONG=0 --check=races 2>&1 | FileCheck %s --check-prefix=PACKAGE

// NONE: check: PASS a, c
// NONE: races: none (kernel 'swap', 2 ranks, {{[12]}} launch{{.*}} events)

// WEAK: check: PASS a, c
// WEAK: race: 'x'[0:8] of rank {{[01]}}, launch 1
// WEAK-NEXT: role 'use' (rank {{[01]}}, CTA 1), line 93: loads [0:16]
// WEAK-NEXT: role 'send' (rank {{[01]}}, CTA 0), line 67: puts [0:8]
// WEAK-NEXT: signal with or behind the write (a signal covers its own put alone, a strong one all earlier) and wait for that signal before the read
// WEAK: races: 1 pair of places that nothing orders (kernel 'swap', 2 ranks, 1 launch

// SETTLE: race: 'a'[0:16] of rank {{[01]}}, launch 1
// SETTLE-NEXT: role 'send' (rank {{[01]}}, CTA 0), line 80: stores [0:16]
// SETTLE-NEXT: role 'send' (rank {{[01]}}, CTA 0), line 73: takes a put's source from [0:16]
// SETTLE-NEXT: settle (mk.settle) before the source of a put is written again

// LOAD: check: PASS a, c
// LOAD: race: 'y'[0:16] of rank {{[01]}}, launch 1
// LOAD-NEXT: role 'use' (rank {{[01]}}, CTA 1), line 96: loads [0:16]
// LOAD-NEXT: role 'use' (rank {{[01]}}, CTA 1), line 94: stores [0:16]
// LOAD-NEXT: a store is not ordered before a later load of the same CTA

// ITEMS: check: PASS a, c
// ITEMS: race: 'c'[4:12] of rank {{[01]}}, launch 1
// ITEMS-NEXT: role 'twice' (rank {{[01]}}, CTA {{[23]}}), item ({{[01]}}) of loop 0, line {{[0-9]+}}: stores [{{0:12|4:16}}]

// USAGE: --check=race: each, last, races or accesses is possible
// PACKAGE: --check=races: a package does not say which accesses it makes: give the kernel's .mlir

mk.mesh @mesh (node = ? via net, gpu = ? via link)

mk.kernel @swap on @mesh dims(uniform WRONG) (
    in %n : memref<1xi32> [1],
    inout %a : memref<?xf32, #mk.symmetric> [32] split [(node, gpu)],
    scratch %x : memref<16xf32, #mk.symmetric> [16], scratch %y : memref<16xf32> [16],
    out %c : memref<?xf32> [32] split [(node, gpu)]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %weak = arith.cmpi eq, %WRONG, %c1 : index
  %early = arith.cmpi eq, %WRONG, %c2 : index
  %unsignalled = arith.cmpi eq, %WRONG, %c3 : index
  %items = arith.cmpi eq, %WRONG, %c4 : index
  %s = mk.signals(%c1) : !mk.signal<?, sys, arrivals = 1>
  %d = mk.signals(%c1) : !mk.signal<?, gpu, arrivals = 1>
  mk.role @send ctas(1) {
    mk.foreach_peer (%p) along node, gpu {
      scf.if %weak {
        mk.put %a[%c0][%c8] to %x[%c0] on %p : memref<?xf32, #mk.symmetric> to memref<16xf32, #mk.symmetric>
        mk.put %a[%c8][%c8] to %x[%c8] on %p signal %s[%c0]
            : memref<?xf32, #mk.symmetric> to memref<16xf32, #mk.symmetric>, !mk.signal<?, sys, arrivals = 1>
      } else {
        %t = mk.load %a[%c0] : memref<?xf32, #mk.symmetric> -> tensor<16xf32>
        // What is known of the put ends with its arrival over there: it may still read here.
        mk.put %a[%c0][%c16] to %x[%c0] on %p signal %s[%c0]
            : memref<?xf32, #mk.symmetric> to memref<16xf32, #mk.symmetric>, !mk.signal<?, sys, arrivals = 1>
        scf.if %early {
        } else {
          mk.settle
        }

        mk.store %t, %a[%c0] : tensor<16xf32>, memref<?xf32, #mk.symmetric>
      }
    }
  }
  mk.role @use ctas(1) {
    // Some number, which the compiler does not know.
    %ns = mk.load %n[%c0] : memref<1xi32> -> tensor<1xi32>
    %k = tensor.extract %ns[%c0] : tensor<1xi32>
    %i = arith.index_cast %k : i32 to index
    %some = arith.cmpi slt, %i, %c8 : index
    scf.if %some {
      mk.wait %s[%c0] ge %c1 : !mk.signal<?, sys, arrivals = 1>
    }
    %t = mk.load %x[%c0] : memref<16xf32, #mk.symmetric> -> tensor<16xf32>
    mk.store %t, %y[%c0] : tensor<16xf32>, memref<16xf32>
    scf.if %unsignalled { } else { mk.signal %d[%c0] : !mk.signal<?, gpu, arrivals = 1> mk.wait %d[%c0] ge %c1 : !mk.signal<?, gpu, arrivals = 1> }
    %u = mk.load %y[%c0] : memref<16xf32> -> tensor<16xf32>
    scf.if %items { } else { mk.store %u, %c[%c0] : tensor<16xf32>, memref<?xf32> }
  }
  mk.role @twice ctas(2) {
    %count = arith.select %items, %c2, %c0 : index
    mk.foreach (%i) in (%count) {
      mk.wait %d[%c0] ge %c1 : !mk.signal<?, gpu, arrivals = 1>
      %at = arith.muli %i, %c4 : index
      %u = mk.load %y[%at] : memref<16xf32> -> tensor<12xf32>
      mk.store %u, %c[%at] : tensor<12xf32>, memref<?xf32>
    }
  }
}

func.func @reference(%n: tensor<1xi32>, %a: tensor<?xf64>) -> (tensor<?xf64>, tensor<?xf64>) {
  %size = arith.constant 32 : index
  %empty = tensor.empty(%size) : tensor<?xf64>
  %low = tensor.extract_slice %a[0] [16] [1] : tensor<?xf64> to tensor<16xf64>
  %high = tensor.extract_slice %a[16] [16] [1] : tensor<?xf64> to tensor<16xf64>
  %first = tensor.insert_slice %high into %empty[0] [16] [1] : tensor<16xf64> into tensor<?xf64>
  %c = tensor.insert_slice %low into %first[16] [16] [1] : tensor<16xf64> into tensor<?xf64>
  return %a, %c : tensor<?xf64>, tensor<?xf64>
}
