"""Prints one module with the mlir examples of a dialect's .td files (argument: its folder)."""
import pathlib
import re
import sys

TYPES = {
    "i64": "address source dest n m a b",
    "f32": "x y low high x0 x1 x2 x3",
    "i16": "bits",
    "bf16": "h0 h1 h2 h3 h4 h5 h6 h7",
    "!llvm.ptr": "map",
    "i1": "yes",
    "tensor<64x8xbf16, #mk_sm.mma<warpgroups = 1>>": "tile",
    "tensor<64x8xf32, #mk_sm.mma<warpgroups = 1>>": "sums",
    "tensor<64x64xbf16, #mk_sm.mma<warpgroups = 1>>": "wide",
    "tensor<64xf32, #mk_sm.slice<axis = 1, of = #mk_sm.mma<warpgroups = 1>>>": "slice",
}
TYPE_OF = {name: type for type, names in TYPES.items() for name in names.split()}
KERNEL = """mk_thread.kernel @example threads(384) cluster(CLUSTER) params(512) shared(20480)
    frame(<launch = 64, failed = 1032, timeline = 16, tracks = 3, words = 2048>) {"""


def define(name):
    return f'  %{name} = "test.value"() : () -> {TYPE_OF.get(name, "i32")}'


for path in sorted(pathlib.Path(sys.argv[1]).glob("*.td")):
    for example in re.findall(r"```mlir\n(.*?)```", path.read_text(), re.S):
        print(f"// {path.name}\nmodule {{")
        if "mk_thread.kernel" in example:
            print(example)
        elif example.lstrip().startswith("#"):
            for attr in re.split(r"\n(?= *#)", example.strip()):
                print(f'  "test.use"() {{attr = {attr.strip()}}} : () -> ()')
        else:
            results = re.findall(r"^ *(%[^=]*?) *=", example, re.M)
            defined = re.findall(r"%(\w+)", " ".join(results))
            for arguments in re.findall(r"\^\w+\((.*?)\)", example):
                defined += re.findall(r"%(\w+)", arguments)
            used = sorted(set(re.findall(r"%(\w+)", example)) - set(defined))
            kernel = KERNEL.replace("CLUSTER", "8" if " stride " in example else "2")
            print(kernel, *map(define, used), example, "}", sep="\n")
        print("}")
