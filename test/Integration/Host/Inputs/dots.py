"""Writes a kernel for each operand type and layout into the folder given."""
import itertools
import os
import sys

KERNEL = """
mk.mesh @mesh (gpu = ? via link)
mk.kernel @dots on @mesh dims(uniform M, uniform N, uniform K) (
    in %a : memref<?x?x{t}> [{sa}], in %b : memref<?x?x{t}> [{sb}], out %c : memref<?x?xf32> [M, N]) {{
  %c16 = arith.constant 16 : index
  %c24 = arith.constant 24 : index
  %c8 = arith.constant 8 : index
  %mt = arith.ceildivui %M, %c16 : index
  %nt = arith.ceildivui %N, %c24 : index
  %kt = arith.ceildivui %K, %c8 : index
  %zero = arith.constant dense<0.0> : tensor<16x24xf32>
  mk.role @r ctas(rest) {{
    mk.foreach (%i, %j) in (%mt, %nt) {{
      %m = arith.muli %i, %c16 : index
      %n = arith.muli %j, %c24 : index
      %acc = mk.fold (%l) in (%kt) iter(%s = %zero) : tensor<16x24xf32> {{
        %k = arith.muli %l, %c8 : index
        %x = mk.load %a[{oa}] : memref<?x?x{t}> -> tensor<{ta}x{t}>
        %y = mk.load %b[{ob}] : memref<?x?x{t}> -> tensor<{tb}x{t}>
        %d = mk.dot %x, %y, %s {flags} : tensor<{ta}x{t}>, tensor<{tb}x{t}>, tensor<16x24xf32>
        mk.yield %d : tensor<16x24xf32>
      }}
      mk.store %acc, %c[%m, %n] : tensor<16x24xf32>, memref<?x?xf32>
    }}
  }}
}}
func.func @reference(%a: tensor<?x?xf64>, %b: tensor<?x?xf64>) -> tensor<?x?xf64> {{
  %da = arith.constant {da} : index
  %db = arith.constant {db} : index
  %zero = arith.constant 0.0 : f64
  %m = tensor.dim %a, %da : tensor<?x?xf64>
  %n = tensor.dim %b, %db : tensor<?x?xf64>
  %empty = tensor.empty(%m, %n) : tensor<?x?xf64>
  %init = linalg.fill ins(%zero : f64) outs(%empty : tensor<?x?xf64>) -> tensor<?x?xf64>
  %c = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> {ma}>, affine_map<(m, n, k) -> {mb}>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : tensor<?x?xf64>, tensor<?x?xf64>) outs(%init : tensor<?x?xf64>) -> tensor<?x?xf64>
  return %c : tensor<?x?xf64>
}}
"""


def main(folder):
    os.makedirs(folder, exist_ok=True)
    for t, ta, tb in itertools.product(("f32", "f16", "bf16"), (0, 1), (0, 1)):
        text = KERNEL.format(
            t=t,
            sa="K, M" if ta else "M, K", sb="N, K" if tb else "K, N",
            oa="%k, %m" if ta else "%m, %k", ob="%n, %k" if tb else "%k, %n",
            ta="8x16" if ta else "16x8", tb="24x8" if tb else "8x24",
            ma="(k, m)" if ta else "(m, k)", mb="(n, k)" if tb else "(k, n)",
            da=1 if ta else 0, db=0 if tb else 1,
            flags=("transpose_a " if ta else "") + ("transpose_b" if tb else ""))
        with open(os.path.join(folder, f"{t}{ta}{tb}.mlir"), "w") as out:
            out.write(text)


main(sys.argv[1])
