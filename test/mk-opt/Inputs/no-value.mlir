func.func @f(%n: index) -> tensor<8xf32> {
  %1 = "mk.fold"(%n, %0) <{combine = #mk.reduction<add>}> ({
  ^bb0(%i: index, %t: tensor<8xf32>):
    "mk.yield"(%t) : (tensor<8xf32>) -> ()
  }) : (index, tensor<8xf32>) -> tensor<8xf32>
  %0 = "arith.constant"() : () -> tensor<8xf32>
  return %1 : tensor<8xf32>
}
