"""Conversions between f32 and floats of 16 bits on CPUs with instructions for them and without: compared with NumPy, bit by bit.

  short.py MK_RUN KERNEL CPU...
"""
import os
import subprocess
import sys
import tempfile

import numpy

COUNT = 1 << 18
# Zeros, infinities, NaNs, the ends of what f16 has, halves of its last bits.
SPECIAL = [0, 0x80000000, 0x7f800000, 0xff800000, 0x7f800001, 0x7fc00000, 0x477fefff, 0x477ff000, 0x477fffff, 0x47800000,
           0x33000000, 0x33000001, 0x32ffffff, 0x387fffff, 0x38800000, 0x387fe000, 0x387ff000]


def draw_floats():
    """f32 of all magnitudes; half of them about those of f16, many in the middle of two f16 or bf16."""
    random = numpy.random.default_rng(7)
    bits = random.integers(0, 2**32, COUNT, dtype=numpy.uint64).astype(numpy.uint32)
    half = COUNT // 2
    near = (random.standard_normal(half) * numpy.exp2(random.uniform(-28, 18, half))).astype(numpy.float32)
    near = near.view(numpy.uint32)
    near[::3] &= numpy.uint32(0xfffff000)
    near[1::3] &= numpy.uint32(0xffffe000)
    near[2::9] |= numpy.uint32(0x8000)
    bits[:half] = near
    bits[:len(SPECIAL)] = SPECIAL
    return bits.view(numpy.float32)


def to_bf16(floats):
    bits = floats.view(numpy.uint32).astype(numpy.uint64)
    return ((bits + 0x7fff + (bits >> 16 & 1)) >> 16).astype(numpy.uint16)


def is_nan_bf16(bits):
    return (bits & 0x7fff) > 0x7f80


def count_wrong(bits, expected, is_nan, expected_nan):
    return int(numpy.sum((bits != expected) & ~expected_nan) + numpy.sum(is_nan != expected_nan))


def main():
    mk_run, kernel, *cpus = sys.argv[1:]
    floats = draw_floats()
    shorts = numpy.tile(numpy.arange(65536, dtype=numpy.uint16), COUNT // 65536).view(numpy.float16)
    with numpy.errstate(all="ignore"):
        narrow, wide = floats.astype(numpy.float16), shorts.astype(numpy.float32)
    with tempfile.TemporaryDirectory() as folder:
        path = {name: os.path.join(folder, name + ".npy") for name in ("a", "h", "o", "w", "b")}
        numpy.save(path["a"], floats)
        numpy.save(path["h"], shorts)
        files = [f"--in={n}={path[n]}" for n in "ah"] + [f"--out={n}={path[n]}" for n in "owb"]
        for cpu in cpus:
            subprocess.run([mk_run, kernel, f"--bind=N={COUNT}", f"--cpu={cpu}", *files], check=True, stdout=subprocess.DEVNULL)
            o, w, b = (numpy.load(path[n]) for n in "owb")
            b = b.view(numpy.uint16)
            print(cpu, "f16:", count_wrong(o.view(numpy.uint16), narrow.view(numpy.uint16), numpy.isnan(o), numpy.isnan(floats)),
                  "f32:", count_wrong(w.view(numpy.uint32), wide.view(numpy.uint32), numpy.isnan(w), numpy.isnan(shorts)),
                  "bf16:", count_wrong(b, to_bf16(floats), is_nan_bf16(b), numpy.isnan(floats)))


if __name__ == "__main__":
    main()
