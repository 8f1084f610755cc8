"""The host target in the place of a GPU: the same steps with small data and no
other package than Python's own. For tests of mk-bench, not for figures."""
import array
import ctypes as C
import itertools
import math
import random
import struct
import time

from .group import Alone

EPS = {"f64": 2.0 ** -52, "f32": 2.0 ** -23, "bf16": 2.0 ** -7,
       "f16": 2.0 ** -10}
CODES = {"f64": "d", "f32": "f", "bf16": "H", "f16": "H", "i32": "i",
         "i64": "q"}


def encode(values, type):
    """An array of the type's bits."""
    if type == "bf16":
        bits = array.array("I", array.array("f", values).tobytes())
        # To nearest, ties to even; NaN stays NaN.
        values = [0x7fc0 if value != value
                  else (b + 0x7fff + ((b >> 16) & 1)) >> 16 & 0xffff
                  for b, value in zip(bits, values)]
    elif type == "f16":
        values = struct.unpack(f"<{len(values)}H",
                               struct.pack(f"<{len(values)}e", *values))
    return array.array(CODES[type], values)


def decode(bits, type):
    if type == "bf16":
        return list(array.array("f", array.array(
            "I", [b << 16 for b in bits]).tobytes()))
    if type == "f16":
        raw = bits.tobytes()
        return list(struct.unpack(f"<{len(raw) // 2}e", raw))
    return list(bits)


class HostTensor:
    def __init__(self, shape, type, bits):
        self.shape, self.type, self.bits = tuple(shape), type, bits
        self.buffer = (C.c_char * max(1, len(bits) * bits.itemsize)) \
            .from_buffer(bits) if len(bits) else None

    def values(self):
        return decode(self.bits, self.type)


class HostDevice:
    target = "host"
    has_rivals = False
    deadline_s = 60  # of every wait of a kernel; threads share few processors
    compile_grid = 16  # the target's own: roles need more CTAs than a rehearsal

    def __init__(self, grid=4, clock=time.perf_counter, sleep=time.sleep,
                 group=None):
        self.grid, self.clock, self.sleep = grid, clock, sleep
        self.group, self.objects = group or Alone(), {}

    def normal(self, shape, type, seed, scale=1.0):
        rng = random.Random(seed)
        values = [rng.gauss(0, scale) for _ in range(math.prod(shape))]
        return HostTensor(shape, type, encode(values, type))

    def integers(self, values, type="i32"):
        return HostTensor((len(values),), type, encode(values, type))

    def empty(self, shape, type):
        return HostTensor(shape, type, encode([0] * math.prod(shape), type))

    zeros = empty

    def ones(self, count):
        return HostTensor((count,), "f32", encode([1.0] * count, "f32"))

    def shaped(self, tensor, shape):
        return HostTensor(shape, tensor.type, tensor.bits)

    def joined(self, tensors):
        bits = array.array(CODES[tensors[0].type])
        for tensor in tensors:
            bits.extend(tensor.bits)
        rows = sum(tensor.shape[0] for tensor in tensors)
        return HostTensor((rows, *tensors[0].shape[1:]), tensors[0].type, bits)

    def beside(self, tensors):
        rows = [self.joined([self.row(t, i) for t in tensors])
                for i in range(tensors[0].shape[0])]
        return self.shaped(self.joined(rows),
                           (len(rows), *rows[0].shape))

    def row(self, tensor, number):
        part = self.part(tensor, 0, number, number + 1)
        return HostTensor(part.shape[1:], part.type, part.bits)

    def part(self, tensor, dimension, begin, end):
        step = math.prod(tensor.shape[dimension + 1:])
        stride = step * tensor.shape[dimension]
        bits = array.array(CODES[tensor.type])
        for outer in range(0, len(tensor.bits), max(1, stride)):
            bits.extend(tensor.bits[outer + begin * step:outer + end * step])
        shape = list(tensor.shape)
        shape[dimension] = end - begin
        return HostTensor(shape, tensor.type, bits)

    def take(self, tensor, rows):
        step = math.prod(tensor.shape[1:])
        bits = array.array(CODES[tensor.type])
        for row in rows:
            bits.extend(tensor.bits[row * step:(row + 1) * step])
        return HostTensor((len(rows), *tensor.shape[1:]), tensor.type, bits)

    def put(self, tensor, begin, rows):
        step = math.prod(tensor.shape[1:])
        for i, value in enumerate(rows.bits, begin * step):
            tensor.bits[i] = value

    def memory(self, address, like):
        element = C.c_char * max(1, len(like.bits) * like.bits.itemsize)
        bits = memoryview(element.from_address(address)).cast("B") \
            [:len(like.bits) * like.bits.itemsize].cast(CODES[like.type])
        return HostTensor(like.shape, like.type, bits)

    def copy(self, target, source):
        target.bits[:] = source.bits

    def bytes_of(self, tensor):
        return bytes(memoryview(tensor.bits))

    def count_different(self, one, other):
        return sum(map(int.__ne__, one, other))

    def transpose(self, tensor):
        rows, columns = tensor.shape
        bits = array.array(tensor.bits.typecode, (
            tensor.bits[r * columns + c] for c in range(columns)
            for r in range(rows)))
        return HostTensor((columns, rows), tensor.type, bits)

    view_t = transpose

    def shared(self, factory):
        return self.objects.setdefault(factory, factory(self))

    def poison(self, tensor):
        nan = -2 ** 31 if tensor.type in ("i32", "i64") \
            else encode([float("nan")], tensor.type)[0]
        for i in range(len(tensor.bits)):
            tensor.bits[i] = nan

    def pointer(self, tensor):
        return C.addressof(tensor.buffer)

    def strides(self, tensor):
        return [math.prod(tensor.shape[i + 1:])
                for i in range(len(tensor.shape))]

    def stream_handle(self):
        return 0

    def synchronize(self):
        pass

    recover = release = synchronize

    def idle(self, seconds):
        self.sleep(seconds)

    def record(self, run, count, meet=False):
        times = []
        for _ in range(count):
            if meet:
                self.group.gather("meeting", None)
            begin = self.clock()
            run()
            times.append((self.clock() - begin) * 1e3)
        return times

    def capture(self, call, count):
        def run():
            for _ in range(count):
                call()
        return run

    def eps(self, type):
        return EPS[type]

    def scaled(self, tensor, scales, rows, columns):
        """Each block of so many rows and columns by its element of `scales`."""
        width, wide, factors = tensor.shape[1], scales.shape[1], scales.values()
        values = [value * factors[i // width // rows * wide + i % width // columns]
                  for i, value in enumerate(tensor.values())]
        return HostTensor(tensor.shape, "f64", array.array("d", values))

    def matmul_reference(self, a, b):
        """a (M x K) times b, which plain() gives as K x N."""
        (m, k), n = a.shape, b.shape[1]
        x, y = a.values(), self.transpose(b).values()
        out = [math.fsum(map(float.__mul__, x[i * k:i * k + k],
                             y[j * k:j * k + k]))
               for i in range(m) for j in range(n)]
        return HostTensor((m, n), "f64", array.array("d", out))

    def compare(self, out, reference, rounding_in, terms, factors=None):
        values, wanted = out.values(), reference.values()
        errors = [abs(v - w) for v, w in zip(values, wanted)]
        if out.type in ("i32", "i64"):
            return {"max": float(max(errors, default=0)), "rel_l2": 0.0,
                    "rms": 0.0, "rms_bound": 0.0, "passed": not any(errors)}
        rms = math.sqrt(sum(w * w for w in wanted) / max(1, len(wanted)))
        sums = math.sqrt(terms) * 2.0 ** -23
        slack = 4 * (rounding_in + sums) * rms
        larger = [max(1.0, abs(f)) for f in factors.values()] if factors else [1.0]
        small = all(e <= EPS[out.type] * abs(w) + slack * f
                    for e, w, f in zip(errors, wanted, itertools.cycle(larger)))
        rms_error = math.sqrt(sum(e * e for e in errors) / max(1, len(errors)))
        bound = ((EPS[out.type] + rounding_in) / 2 + sums) * rms
        number = lambda v: v if math.isfinite(v) else None
        return {"max": number(max(errors, default=0.0)),
                "rel_l2": number(rms_error / rms if rms else rms_error),
                "rms": number(rms_error), "rms_bound": bound,
                "passed": small and rms_error <= bound}

    def attention_reference(self, q, k, v, places=None):
        heads, rows, width = q.shape
        columns, scale = k.shape[1], width ** -0.5
        q, k, v = (t.values() for t in (q, k, v))
        out, lse = array.array("d"), array.array("d")
        line = lambda t, head, i, length: t[(head * length + i) * width:][:width]
        for head in range(heads):
            for row in range(rows):
                query = line(q, head, row, rows)
                seen = columns if places is None else places[row] + 1
                scores = [scale * math.fsum(map(float.__mul__, query, line(
                    k, head, j, columns))) for j in range(seen)]
                top = max(scores)
                sums = top + math.log(math.fsum(
                    math.exp(s - top) for s in scores))
                weights = [math.exp(s - sums) for s in scores]
                lse.append(sums)
                out.extend(math.fsum(
                    w * v[(head * columns + j) * width + d]
                    for j, w in enumerate(weights)) for d in range(width))
        return (HostTensor((heads, rows, width), "f64", out),
                HostTensor((heads, rows), "f64", lse))

    def residual_norm(self, product, residual, weight, eps):
        columns, weights = product.shape[1], weight.values()
        y = array.array("d", map(float.__add__, product.values(), residual.values()))
        out = array.array("d")
        for at in range(0, len(y), columns):
            row = y[at:at + columns]
            root = math.sqrt(math.fsum(v * v for v in row) / columns + eps)
            out.extend(v / root * w for v, w in zip(row, weights))
        return (HostTensor(product.shape, "f64", y),
                HostTensor(product.shape, "f64", out))

    def row_sums(self, tensor):
        (rows, columns), values = tensor.shape, tensor.values()
        sums = [math.fsum(values[i * columns:(i + 1) * columns]) for i in range(rows)]
        return HostTensor((rows,), "f32", encode(sums, "f32"))

    def normalized(self, rows, product, sums, eps):
        (m, k), x, n = rows.shape, rows.values(), product.shape[1]
        given, factors, out = product.values(), sums.values() if sums else [0] * n, []
        for i in range(m):
            row = x[i * k:(i + 1) * k]
            mean = math.fsum(row) / k if sums else 0
            scale = (math.fsum((v - mean) ** 2 for v in row) / k + eps) ** -0.5
            out += [(given[i * n + j] - mean * factors[j]) * scale for j in range(n)]
        return HostTensor(product.shape, "f64", array.array("d", out))

    def gated(self, gate, up):
        values = [g / (1 + math.exp(-g)) * u
                  for g, u in zip(gate.values(), up.values())]
        return HostTensor(gate.shape, "f64", array.array("d", values))

    def gelu(self, product, bias):
        columns, biases = product.shape[1], bias.values()
        x = [value + biases[i % columns] for i, value in enumerate(product.values())]
        root = math.sqrt(2 / math.pi)
        return HostTensor(product.shape, "f64", array.array("d", (
            v / 2 * (1 + math.tanh(root * (v + 0.044715 * v ** 3))) for v in x)))

    def added(self, product, other):
        return HostTensor(product.shape, "f64", array.array(
            "d", map(float.__add__, product.values(), other.values())))

    def add_rows(self, out, rows, values, factors, places):
        width, given, factor = out.shape[1], values.values(), factors.values()
        for i, (row, place) in enumerate(zip(rows, places)):
            for j in range(width):
                out.bits[row * width + j] += given[i * width + j] * factor[place]
