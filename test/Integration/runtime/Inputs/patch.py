# patch.py IN OUT OFFSET: inverts a byte of a file, which any value notices.
import sys

data = bytearray(open(sys.argv[1], "rb").read())
data[int(sys.argv[3])] ^= 0xFF
open(sys.argv[2], "wb").write(data)
