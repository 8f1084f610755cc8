"""Functions of floats at numbers where a plain formula goes wrong, on the host target and, where a
GPU has code for them, by its PTX: compared with NumPy.

  floats.py MK_RUN PTX_RUN
"""
import os
import subprocess
import sys
import tempfile

import numpy

INF, NAN = numpy.inf, numpy.nan
POWERS = [(0, 0), (-2, 2), (-2, 3), (-8, 1), (-1, 5), (1, NAN), (NAN, 0), (-2, 0.5), (0, 3), (-0.0, 3), (-0.0, -3), (0, -2),
          (-1, INF), (-1, -INF), (0.5, INF), (0.5, -INF), (2, INF), (INF, -1), (-INF, 3), (-INF, 0.5), (2, 10), (9, 0.5),
          (NAN, 1), (2, NAN), (-1, NAN), (1.5, 4.25)]
REMAINDERS = [(1e10, 3), (1e7, 0.1), (5.5, 2), (-5.5, 2), (5.5, -2), (3e38, 1e-38), (-1e30, 7), (INF, 3), (3, INF), (-3, INF),
              (3, 0), (-0.0, 1), (-6, 3), (NAN, 2), (1, NAN), (1e-44, 3e-45), (16777215, 16777214), (0.3, 0.1)]
SMALL = [1e-6, -1e-6, 1e-5, 1e-4, -1e-3, 0.01, 0.3, 1, -0.5, 5, 0, -0.0, 1e-30]
WIDE = [1 + 2.0**-8 + 2.0**-40, 1 + 3 * 2.0**-8 - 2.0**-40, 1 + 2.0**-11 + 2.0**-40, 1.5, -1e300, 1e-300, NAN, -INF, 65519.9999,
        65520, 2.0**-25, 2.0**-25 * (1 + 2.0**-30), -(1 + 2.0**-11 + 2.0**-40)]
# Ties to even, and what is too large to the largest number.
INTEGERS = [0, 1, -3, 17, 19, -25, 300, 500, 2**24 + 1, -(2**31), 2**31 - 1]
TO_E4M3 = [0, 1, -3, 16, 20, -24, 288, 448, 448, -448, 448]
TO_E5M2 = [0, 1, -3, 16, 20, -24, 320, 512, 57344, -57344, 57344]


def to_bf16(x):
    """Rounds f64 to the nearest bf16, ties to even, as f64. Of normal numbers."""
    fraction, exponent = numpy.frexp(x)
    rounded = numpy.ldexp(numpy.rint(numpy.ldexp(fraction, 8)), exponent - 8)
    return numpy.where(numpy.abs(x) < 2.0**-120, 0 * x, numpy.where(numpy.abs(rounded) > 3.4e38, numpy.sign(x) * INF, rounded))


# What falls off to one side and to the other.
SIDES = [-40, -20, -5, -1, -0.3, -1e-6, 0, -0.0, 1e-6, 0.59, 0.61, 3, 20, 40, INF, NAN]
ONE = "%one = arith.constant dense<1.0> : !t\n"
ONE_PLUS_TANH = ONE + "%f = math.tanh %a : !t\n%v = arith.addf %one, %f : !t"
SILU = (ONE + "%m = arith.negf %a : !t\n%f = math.exp %m : !t\n%g = arith.addf %f, %one : !t\n"
        "%v = arith.divf %a, %g : !t")


def kernel(element, op, count, result):
    """`op` is the name of one, or the lines that give %v."""
    names = ", ".join("%a %b %c".split()[:count])
    if "%v" not in op:
        op = f"%v = {op} {names} : !t{' to tensor<8xRESULT>' if result != element else ''}"
    return f"""
!t = tensor<8xELEMENT>
mk.mesh @mesh (gpu = ? via link)
mk.kernel @k on @mesh dims(uniform N) (
    in %pa : memref<?xELEMENT> [N], in %pb : memref<?xELEMENT> [N], in %pc : memref<?xELEMENT> [N], out %y : memref<?xRESULT> [N]) {{
  %c8 = arith.constant 8 : index
  %n = arith.ceildivui %N, %c8 : index
  mk.role @r ctas(1) {{
    mk.foreach (%i) in (%n) {{
      %at = arith.muli %i, %c8 : index
      %a = mk.load %pa[%at] : memref<?xELEMENT> -> !t
      %b = mk.load %pb[%at] : memref<?xELEMENT> -> !t
      %c = mk.load %pc[%at] : memref<?xELEMENT> -> !t
      {op}
      mk.store %v, %y[%at] : tensor<8xRESULT>, memref<?xRESULT>
    }}
  }}
}}
""".replace("ELEMENT", element).replace("RESULT", result)


def run(command, element, op, inputs, result=None):
    result = result or element
    with tempfile.TemporaryDirectory() as folder:
        path = lambda name: os.path.join(folder, name)
        with open(path("k.mlir"), "w", encoding="ascii") as file:
            file.write(kernel(element, op, len(inputs), result))
        arguments = []
        for name, values in zip(("pa", "pb", "pc"), (inputs + inputs[:1] * 2)[:3]):
            numpy.save(path(name), numpy.array(values, {"f64": "<f8", "i32": "<i4"}.get(element, "<f4")))
            arguments += ["--in", f"{name}={path(name)}.npy"]
        done = subprocess.run([*command, "--tuning", "none", path("k.mlir"), "--bind", f"N={len(inputs[0])}",
                               *arguments, "--out", f"y={path('y.npy')}"], capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{op} on {element}: {done.stdout}{done.stderr}")
        values = numpy.load(path("y.npy"))
        if result == "bf16":
            values = (values.astype(numpy.uint32) << 16).view(numpy.float32)
        return values.astype(float)


failed = 0


def check(name, got, want, tolerance=0.0):
    """NaN and the sign of 0 count, too."""
    global failed
    for i, (g, w) in enumerate(zip(got, numpy.asarray(want, float))):
        same = numpy.isnan(g) and numpy.isnan(w) or g == w and numpy.signbit(g) == numpy.signbit(w)
        if not same and not abs(g - w) <= tolerance * abs(w):
            failed += 1
            print(f"{name}: number {i} is {g}, not {w}")


def main():
    numpy.seterr(all="ignore")
    host = [sys.argv[1], "--target", "host"]
    gpu = [sys.argv[2], sys.argv[1], "--no-optimize", "--target", "sm_90a"]
    single = lambda values: numpy.array(values, numpy.float32)
    for name, command in (("host", host), ("sm_90a", gpu)):
        x, y = map(single, zip(*POWERS))
        check(f"{name} powf", run(command, "f32", "math.powf", [x, y]), numpy.power(x.astype(float), y.astype(float)), 1e-5)
        x, y = map(single, zip(*REMAINDERS))
        check(f"{name} remf", run(command, "f32", "arith.remf", [x, y]), numpy.fmod(x, y))
        for element, extreme in (("f16", 60000), ("bf16", 1e20)):
            x, y = single([extreme, -7, INF, -0.0, 5]), single([3, 2, INF, 1, 0.25])
            if element == "bf16":
                x = to_bf16(x.astype(float)).astype(numpy.float32)
            else:
                x = x.astype(numpy.float16).astype(numpy.float32)
            check(f"{name} remf {element}", run(command, element, "arith.remf", [x, y]), numpy.fmod(x, y))
            # The last ones are rounded twice by way of f32.
            hard = [(1297 / 2**16, 1617 / 2**16, 1, 1.0009765625)] if element == "f16" else [
                (130 / 128, 160 / 128, 2.0**-40, 163 / 128), (-130 / 128, 160 / 128, -(2.0**-40), -163 / 128)]
            *triple, want = map(single, zip((1, 3, 0.5, 3.5), (1.5, 2.5, -1, 2.75), (-2, 4, 8, 0), (0.5, 0.25, 1, 1.125), *hard))
            check(f"{name} fma {element}", run(command, element, "math.fma", triple), want)
        wide = single(SIDES).astype(float)
        if name != "host":  # where 1 + tanh x is what it says, and cancels
            check("1 + tanh", run(command, "f32", ONE_PLUS_TANH, [single(SIDES)]), 2 / (1 + numpy.exp(-2 * wide)), 1e-5)
        check(f"{name} silu", run(command, "f32", SILU, [single(SIDES)]), wide / (1 + numpy.exp(-wide)), 1e-5)
        check(f"{name} truncf f64 f16", run(command, "f64", "arith.truncf", [WIDE], "f16"),
              numpy.array(WIDE).astype(numpy.float16))
        for element, values, want in (
                ("f8E4M3FN", [1.0625 * (1 + 2.0**-35), 1.1875 * (1 - 2.0**-40), -1.0625, 500, 0.3], [1.125, 1.125, -1, 448, 0.3125]),
                ("f8E5M2", [1.125 * (1 + 2.0**-40), 1.375 * (1 - 2.0**-40), 3], [1.25, 1.25, 3])):
            check(f"{name} truncf f64 {element}", run(command, "f64", "arith.truncf", [values], element), want)
        # Written as it is, or by way of f32, which is folded away.
        for element, want in (("f8E4M3FN", TO_E4M3), ("f8E5M2", TO_E5M2)):
            for op, wants in (("sitofp", want), ("uitofp", [w if i >= 0 else max(want) for i, w in zip(INTEGERS, want)])):
                chain = f"%f = arith.{op} %a : !t to tensor<8xf32>\n%v = arith.truncf %f : tensor<8xf32> to tensor<8x{element}>"
                check(f"{name} {op} {element}", run(command, "i32", f"arith.{op}", [INTEGERS], element), wants)
                check(f"{name} {op} f32 {element}", run(command, "i32", chain, [INTEGERS], element), wants)
        check(f"{name} truncf f64 bf16", run(command, "f64", "arith.truncf", [WIDE], "bf16"), to_bf16(numpy.array(WIDE)))
    for op, function in (("expm1", numpy.expm1), ("log1p", numpy.log1p)):
        check(op, run(host, "f32", f"math.{op}", [SMALL]), function(single(SMALL).astype(float)), 5e-7)
        check(op + " f64", run(host, "f64", f"math.{op}", [SMALL]), function(numpy.array(SMALL)), 1e-15)
        check(op + " f16", run(host, "f16", f"math.{op}", [single([0.5, -0.25, 0, 0.125])]),
              function(single([0.5, -0.25, 0, 0.125]).astype(float)), 1e-3)
    print("passed" if not failed else f"{failed} failed")
    sys.exit(1 if failed else 0)


main()
