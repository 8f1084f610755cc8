"""Routings of tokens to experts.

routing.py make FILE TOKENS EXPERTS K SEED: writes a NumPy file of the K different experts of each
token, low numbers much more often than high ones, some choices -1.

routing.py traffic FILE STATS TOKENS EXPERTS K CAP H LAYER: compares the bytes between each two
ranks in the output of --stats=json with what the routing in FILE needs: the choices
of CAP tokens, and each token of H bf16 once if the other rank has an expert of its choice.
LAYER = 1: the weights too, and a sum back for each token that went. TOKENS as in --bind."""
import json
import random
import struct
import sys


def read(path):
    with open(path, "rb") as file:
        data = file.read()
    (length,) = struct.unpack("<H", data[8:10])
    return [v for (v,) in struct.iter_unpack("<i", data[10 + length :])]


def make(path, tokens, experts, k, seed):
    choose = random.Random(seed)
    values = []
    for _ in range(tokens):
        order = sorted(range(experts), key=lambda e: choose.random() * (e + 1) ** 2)
        values += [e if choose.random() < 0.9 else -1 for e in order[:k]]
    header = str({"descr": "<i4", "fortran_order": False, "shape": (tokens, k)})
    header = header.ljust(117) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)))
        file.write(header.encode())
        file.write(struct.pack(f"<{len(values)}i", *values))


def traffic(path, stats, tokens, experts, k, cap, h, layer):
    tokens = [int(text) for text in tokens.split(":")]
    ids, world = read(path), len(tokens)
    share = -(-experts // world)
    needs = [[0] * world for _ in range(world)]  # tokens of s for d
    at = 0
    for s, count in enumerate(tokens):
        for t in range(at, at + count):
            chosen = {e // share for e in ids[t * k : t * k + k] if 0 <= e < experts}
            for d in chosen:
                needs[s][d] += 1
        at += count
    with open(stats) as file:
        pairs = json.load(file)["pairs"]
    right = 0
    for pair in pairs:
        s, d = pair["src"], pair["dst"]
        if s == d:
            continue
        want = cap * k * 4 + needs[s][d] * h * 2
        if layer:
            want += tokens[s] * k * 4 + needs[d][s] * h * 2
        if pair["bytes"] == want:
            right += 1
        else:
            print(f"from {s} to {d}: {pair['bytes']} bytes, {want} are needed")
    print(f"{right} of {world * (world - 1)} pairs as needed")


if sys.argv[1] == "make":
    make(sys.argv[2], *(int(text) for text in sys.argv[3:]))
else:
    traffic(*sys.argv[2:5], *(int(text) for text in sys.argv[5:]))
