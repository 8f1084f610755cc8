"""Memory of a CTA's producer side: the parameters, one array, shared memory.

Every access has to be aligned to its size and to lie within what there is. A piece of
cp.async that brings any byte has to lie within the array as a whole.
"""
PARAMETERS = 0x7000000000000
SHARED = 1024
SHARED_BYTES = 227 * 1024


class Fault(Exception):
    """What a GPU might refuse, or do with another result."""


class Memory:
    """`array` are the bytes from address `base` on. Shared memory starts as rubbish."""

    def __init__(self, parameters, base, array, random):
        self.regions = {PARAMETERS: parameters, base: array}
        self.base, self.array = base, array
        self.shared = bytearray(random.randbytes(SHARED + SHARED_BYTES))

    @staticmethod
    def check_alignment(address, count):
        if address % count:
            raise Fault(f"misaligned access of {count} bytes at {address:#x}")

    def load(self, address, count):
        """From the parameters or the array."""
        self.check_alignment(address, count)
        for start, data in self.regions.items():
            if start <= address and address + count <= start + len(data):
                return data[address - start:address - start + count]
        raise Fault(f"{count} bytes at {address:#x} are outside of all memory, the array "
                    f"is [{self.base:#x}, {self.base + len(self.array):#x})")

    def check_shared(self, address, count):
        self.check_alignment(address, count)
        if not SHARED <= address <= len(self.shared) - count:
            raise Fault(f"{count} bytes at {address:#x} are outside of shared memory")

    def load_shared(self, address, count):
        self.check_shared(address, count)
        return self.shared[address:address + count]

    def store_shared(self, address, data):
        self.check_shared(address, len(data))
        self.shared[address:address + len(data)] = data

    def fetch(self, source, piece, count):
        """What cp.async brings: `count` bytes of a piece, then zeros."""
        self.check_alignment(source, piece)
        if not 0 <= count <= piece:
            raise Fault(f"{count} bytes of a piece of {piece}")
        data = self.load(source, piece)[:count] if count else b""
        return data + bytes(piece - count)
