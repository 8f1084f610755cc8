// RUN: mk-opt %s --mk-bind='sizes=M=256,node=2 set=SL=3' | FileCheck %s
// RUN: mk-opt %s --mk-bind='sizes=node=2' | FileCheck %s --check-prefix=DEFAULT
// RUN: not mk-opt %s --mk-bind='sizes=Q=1' 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not mk-opt %s --mk-bind='sizes=M' 2>&1 | FileCheck %s --check-prefix=FORM
// RUN: not mk-opt %s --mk-bind='sizes=M=1,M=2' 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not mk-opt %s --mk-bind='sizes=M=-1' 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: not mk-opt %s --mk-bind='sizes=node=0' 2>&1 | FileCheck %s --check-prefix=EMPTY
// RUN: not mk-opt %s --mk-bind='sizes=gpu=3' 2>&1 | FileCheck %s --check-prefix=FIXED
// RUN: not mk-opt %s --mk-bind='set=TX=3' 2>&1 | FileCheck %s --check-prefix=PARAM
// RUN: not mk-opt %s --mk-bind='set=SL=0' 2>&1 | FileCheck %s --check-prefix=LESS
// RUN: not mk-opt %s --mk-bind='set=N=-1' 2>&1 | FileCheck %s --check-prefix=BELOW
// RUN: not mk-opt %s --mk-bind='sizes=T=3' 2>&1 | FileCheck %s --check-prefix=RANK
// RUN: sed "s/dims(uniform M, rank T) (in %%a : memref<?xf32> \[M\])/(in %%a : memref<4xf32> [4])/; s/(%%M, %%T,/(%%c1, %%c1,/" %s | not mk-opt --mk-bind="sizes=Q=1" 2>&1 | FileCheck %s --check-prefix=NONE

// CHECK: mk.mesh @mesh(node = 2 via net, gpu = 2 via link)
mk.mesh @mesh (node = ? via net, gpu = 2 via link)

// CHECK: mk.kernel @k on @mesh dims(uniform M = 256, rank T)
// CHECK: %[[M:.*]] = arith.constant 256 : index
// CHECK: %[[SL:.*]] = mk.param "SL" = 3 least 1
// CHECK: mk.signals(%[[M]], %T, %[[SL]])
// DEFAULT: %[[SL:.*]] = mk.param "SL" default(%c1) least 1
// DEFAULT: mk.signals(%M, %T, %[[SL]])

// NONE: kernel @k has no dimensions; parameters are 'SL', 'N'
// UNKNOWN: bind.mlir:[[@LINE+10]]:1: error: there is no dimension or axis 'Q' for --bind; mesh @mesh has axes 'node', 'gpu'; kernel @k has dimensions 'M', 'T'; parameters are 'SL'
// FORM: error: --bind: 'M' is not of the form NAME=INTEGER
// TWICE: error: --bind: 'M' is given twice: give it once
// LESS: bind.mlir:[[@LINE+9]]:12: error: 'mk.param' op 'SL' is 0, it must be at least 1
// BELOW: 'mk.param' op 'N' is -1, it must be at least 0
// PARAM: bind.mlir:[[@LINE+5]]:1: error: there is no parameter 'TX' for --set; mesh @mesh has axes 'node', 'gpu'; kernel @k has dimensions 'M', 'T'; parameters are 'SL', 'N'
// NEGATIVE: dimension 'M' is bound to -1, it must not be negative
// EMPTY: axis 'node' is bound to 0, but an axis has at least one rank
// FIXED: axis 'gpu' is 2 in the file and cannot be bound to 3
// RANK: dimension 'T' is each rank's own and is bound at launch
mk.kernel @k on @mesh dims(uniform M, rank T) (in %a : memref<?xf32> [M]) {
  %c1 = arith.constant 1 : index
  %slots = mk.param "SL" default(%c1) least 1
  mk.param "N" = 0
  %s = mk.signals(%M, %T, %slots) : !mk.signal<?x?x?, gpu, dynamic>
}
