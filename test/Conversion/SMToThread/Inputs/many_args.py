"""Prints a kernel of the SM level with so many arguments, each of which it copies if 'copy' is said."""
import sys

count, copies = int(sys.argv[1]), "copy" in sys.argv
args = ", ".join(f"in %a{i} : memref<64x64xbf16> [64, 64]" for i in range(count))
ring = "!mk_sm.ring<1, tensor<64x64xbf16>>"
slot = "!mk_sm.slot<tensor<64x64xbf16>>"
print(f"""mk.mesh @mesh (gpu = 1 via link)
mk.kernel @k on @mesh ({args}) {{
  %c0 = arith.constant 0 : index
  mk.role @r ctas(rest) {{
    %ring = mk_sm.create_ring : {ring}
    mk_sm.partition producer warps(1) registers(40) {{
      %slot = mk_sm.acquire %ring : {ring} -> {slot}""")
for i in range(count if copies else 0):
    print(f"      mk_sm.copy %a{i}[%c0, %c0] to %slot[0] : memref<64x64xbf16>, {slot}")
print("    }\n  }\n}")
