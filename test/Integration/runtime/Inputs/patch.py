# patch.py IN OUT OFFSET TEXT: replaces bytes of a file.
import sys

data = bytearray(open(sys.argv[1], "rb").read())
offset, text = int(sys.argv[3]), sys.argv[4].encode()
data[offset : offset + len(text)] = text
open(sys.argv[2], "wb").write(data)
