// An element that data leaves short of its arrivals: the launch says so at its end, also if no launch
// waits for what is missing. One that nobody raises in any launch may be declared.
// REQUIRES: compiler
// RUN: mk-run %s --bind FEW=0 --launches 3 --check=races | FileCheck %s --check-prefix=NONE
// RUN: not mk-run %s --bind FEW=1 2>&1 | FileCheck %s
// NONE: races: none (kernel 'short', 1 rank, 3 launches
// CHECK: kernel 'short': signal 's'[1] counted 1 arrival in launch 1, it declares 2: correct its arrivals or declare it dynamic
!sig = !mk.signal<4, gpu, arrivals = 2>
mk.mesh @mesh (gpu = ? via link)
mk.kernel @short on @mesh dims(uniform FEW) (in %n : memref<1xi32> [1], out %c : memref<1xi32> [1]) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %big = arith.constant 0x7fffffff : i32
  %few = arith.cmpi ne, %FEW, %c0 : index
  %s = mk.signals() : !sig
  mk.role @raise ctas(2) {
    mk.foreach (%i) in (%c2) {
      mk.signal %s[%c0] : !sig
      %k = memref.load %n[%c0] : memref<1xi32>
      %low = arith.cmpi slt, %k, %big : i32
      // What depends on data is not followed by the compiler.
      %second = arith.cmpi ne, %i, %c0 : index
      %out0 = arith.andi %few, %low : i1
      %out = arith.andi %out0, %second : i1
      scf.if %out {
      } else {
        mk.signal %s[%c1] : !sig
      }
    }
  }
  mk.role @write ctas(1) {
    mk.wait %s[%c0] ge %c2 : !sig
    %k = memref.load %n[%c0] : memref<1xi32>
    memref.store %k, %c[%c0] : memref<1xi32>
  }
}
