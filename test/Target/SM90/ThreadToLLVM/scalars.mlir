// RUN: mk-opt %s -convert-mk-scalars-to-llvm -split-input-file | FileCheck %s
// RUN: mk-opt %s -convert-mk-scalars-to-llvm -convert-mk-rest-to-llvm -split-input-file | FileCheck %s --check-prefix=REST

// CHECK-LABEL: llvm.func @arithmetic
llvm.func @arithmetic(%a: i32, %b: i32, %x: f32, %y: f32) -> i32 {
  // CHECK: %[[SUM:.*]] = llvm.add %arg0, %arg1 overflow<nsw> : i32
  %sum = arith.addi %a, %b overflow<nsw> : i32
  // CHECK: %[[LESS:.*]] = llvm.icmp "ult" %[[SUM]], %arg1 : i32
  %less = arith.cmpi ult, %sum, %b : i32
  // CHECK: llvm.fmul %arg2, %arg3 {fastmathFlags = #llvm.fastmath<contract>} : f32
  %product = arith.mulf %x, %y fastmath<contract> : f32
  // CHECK: %[[ORDER:.*]] = llvm.fcmp "ogt" %{{.*}}, %arg3 : f32
  %order = arith.cmpf ogt, %product, %y : f32
  // CHECK: %[[BOTH:.*]] = llvm.and %[[LESS]], %[[ORDER]] : i1
  %both = arith.andi %less, %order : i1
  // CHECK: llvm.fptrunc %arg2 : f32 to bf16
  %short = arith.truncf %x : f32 to bf16
  // CHECK: llvm.fpext %{{.*}} : bf16 to f32
  %long = arith.extf %short fastmath<contract> : bf16 to f32
  // CHECK: llvm.select %[[BOTH]], %[[SUM]], %arg0 : i1, i32
  %chosen = arith.select %both, %sum, %a : i32
  // CHECK: llvm.bitcast %{{.*}} : f32 to i32
  %word = arith.bitcast %long : f32 to i32
  // CHECK: llvm.xor
  %result = arith.xori %chosen, %word : i32
  llvm.return %result : i32
}

// -----

// Ops that are several ones of LLVM are expanded.
// CHECK-LABEL: llvm.func @several
llvm.func @several(%a: i32, %b: i32, %x: f32, %y: f32) -> i32 {
  // CHECK: %[[LESS:.*]] = llvm.icmp "slt" %arg0, %arg1 : i32
  // CHECK: llvm.select %[[LESS]], %arg0, %arg1 : i1, i32
  %least = arith.minsi %a, %b : i32
  // CHECK: llvm.icmp "sgt"
  // CHECK: llvm.select
  %most = arith.maxsi %least, %b : i32
  // CHECK: %[[ORDER:.*]] = llvm.fcmp "ugt" %arg2, %arg3 : f32
  // CHECK: llvm.select %[[ORDER]], %arg2, %arg3 : i1, f32
  %largest = arith.maximumf %x, %y : f32
  %word = arith.bitcast %largest : f32 to i32
  // CHECK-NOT: arith.
  %result = arith.ceildivsi %most, %word : i32
  // CHECK: llvm.return
  llvm.return %result : i32
}

// -----

// Branches keep what is said of their loops.
// CHECK-LABEL: llvm.func @branches
#never = #llvm.loop_unroll<disable = true>
#loop = #llvm.loop_annotation<unroll = #never>
llvm.func @branches(%go: i1, %n: i32) {
  // CHECK: llvm.cond_br %arg0, ^[[LOOP:.*]](%arg1 : i32), ^[[END:.*]]
  cf.cond_br %go, ^loop(%n : i32), ^end
^loop(%i: i32):
  // CHECK: llvm.br ^[[LOOP]](%{{.*}} : i32) {llvm.loop_annotation = #{{.*}}}
  cf.br ^loop(%i : i32) {llvm.loop_annotation = #loop}
^end:
  llvm.return
}

// -----

// Constants fold, as they do in conversions; upstream's replaces the new one.
// CHECK-LABEL: llvm.func @folds
llvm.func @folds() -> i32 {
  %two = arith.constant 2 : i32
  %three = arith.constant 3 : i32
  // CHECK-NOT: llvm.mul
  // CHECK: arith.constant 6 : i32
  // CHECK-NOT: llvm.mul
  %six = arith.muli %two, %three : i32
  llvm.return %six : i32
}

// -----

// What needs more than another op is left to convert-mk-rest-to-llvm.
// CHECK-LABEL: llvm.func @others
// REST-LABEL: llvm.func @others
llvm.func @others(%v: vector<2xf32>, %x: f32, %a: i32, %b: i32, %go: i1) {
  // CHECK: arith.addf {{.*}} : vector<2xf32>
  // REST: llvm.fadd {{.*}} : vector<2xf32>
  %sum = arith.addf %v, %v : vector<2xf32>
  // REST: llvm.intr.experimental.constrained.fptrunc {{.*}} tonearest ignore : f32 to bf16
  // CHECK: arith.truncf %{{.*}} to_nearest_even : f32 to bf16
  %short = arith.truncf %x to_nearest_even : f32 to bf16
  // CHECK: arith.shrui {{.*}} exact : i32
  // REST: llvm.lshr exact
  %half = arith.shrui %a, %b exact : i32
  // CHECK: arith.index_cast
  // REST: llvm.sext
  %index = arith.index_cast %a : i32 to index
  // CHECK: cf.cond_br {{.*}} weights([1, 2])
  // REST: llvm.cond_br {{.*}} weights([1, 2])
  cf.cond_br %go weights([1, 2]), ^end, ^end
^end:
  llvm.return
}
