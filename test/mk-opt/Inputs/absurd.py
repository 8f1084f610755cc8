"""absurd.py KIND: a kernel file that is written to be hard to compile."""
import sys

kind = sys.argv[1]
mesh = "mk.mesh @mesh (gpu = ? via link)\n"


def kernel(extent="N", scope="", tile="8"):
    return f"""mk.kernel @k on @mesh dims(uniform N) (
    in %x : memref<?xf32> [{extent}], scratch %y : memref<?xf32> [N]) {{
  %c0 = arith.constant 0 : index
  {scope}
  mk.role @r ctas(1) {{
    %t = mk.load %x[%c0] : memref<?xf32> -> tensor<{tile}xf32>
    mk.store %t, %y[%c0] : tensor<{tile}xf32>, memref<?xf32>
  }}
}}
"""


def doubling(depth):
    """Each function calls the next one twice."""
    text = ""
    for i in range(depth):
        text += f"""func.func private @f{i}(%a: index) -> index {{
  %b = func.call @f{i + 1}(%a) : (index) -> index
  %c = func.call @f{i + 1}(%b) : (index) -> index
  return %c : index
}}
"""
    return text + f"""func.func private @f{depth}(%a: index) -> index {{
  %b = arith.addi %a, %a : index
  return %b : index
}}
"""


call = "%z = func.call @f0(%c0) : (index) -> index"
if kind == "calls":
    text = doubling(30) + kernel(scope=call)
elif kind == "reference-calls":
    text = doubling(30) + kernel() + f"""
func.func @reference(%x: tensor<?xf64>) {{
  %c0 = arith.constant 0 : index
  {call}
  return
}}
"""
elif kind == "parameters":
    # Each value is used twice by the next one.
    chain = '%a0 = mk.param "P" = 8\n'
    for i in range(60):
        chain += f"  %a{i + 1} = arith.minsi %a{i}, %a{i} : index\n"
    text = kernel(scope=chain + '  %q = mk.param "Q" default(%a60)')
elif kind == "regions":
    text = kernel(scope="%b = arith.constant true\n" + "scf.if %b {\n" * 20000 + "}\n" * 20000)
elif kind == "types":
    text = "func.func private @f() -> " + "tuple<" * 100000 + "i1" + ">" * 100000 + "\n"
elif kind == "sum":
    text = kernel(extent=" + ".join(["N"] * 50000))
elif kind == "ops":
    chain = "%a0 = arith.addi %N, %c0 : index\n"
    for i in range(17000):
        chain += f"  %a{i + 1} = arith.muli %a{i}, %N : index\n"
    text = kernel(scope=chain)
elif kind.startswith("tile"):
    text = kernel(tile=kind[4:])
else:
    sys.exit(f"absurd.py: there is no kind {kind}")
print(mesh + text)
