"""All examples that communicate, with sizes at which nothing divides evenly, for
tests of transports. Small, for emulated machines."""

# name: (file, kernel, parameters, sizes for `nodes` nodes of two GPUs)
JOBS = {
    "ag_gemm": ("ag_gemm", "", "", "M=101,N=57,K=43"),
    "gemm_rs": ("gemm_rs", "", "", "M=101,N=70,K=50"),
    "gemm_rs_add": ("gemm_rs_add", "", "", "M=101,N=70,K=50"),
    "gemm_ar": ("gemm_ar", "", "", "M=101,N=70,K=50"),
    "gemm_ar_norm": ("gemm_ar_norm", "", "TN=32", "M=101,N=70,K=50"),
    "gemm_a2a": ("gemm_a2a", "", "", "M=61,H=7,D=50,K=30"),
    "ag_mlp_rs": ("ag_mlp_rs", "", "", "M=61,N=57,K=30,F=101"),
    "ag_attention": ("ag_attention", "ag_attention", "", "B=1,HQ=4,HKV=2,S=131,D=32"),
    "ag_attention_causal": ("ag_attention", "ag_attention_causal", "TM=64,TN=48",
                            "B=1,HQ=4,HKV=2,S=131,D=32"),
    "ring_attention": ("ring_attention", "ring_attention", "",
                       "HQ=2,HKV=1,S=119,D=64,SLOTS=3"),
    "ring_attention_causal": ("ring_attention", "ring_attention_causal", "",
                              "HQ=2,HKV=1,S=119,D=64,SLOTS=3"),
    "moe": ("moe", "moe", "TB=16,TM=32,TN=32,DISPATCH=1,PLAN=1", "T=17,CAP=40,H=72,I=31,E=14,K=3,ROWS=720"),
    "moe_dispatch_gemm": ("moe", "moe_dispatch_gemm", "TB=16,TM=32,TN=32,DISPATCH=1,PLAN=1",
                          "T=17,CAP=40,H=72,N=31,E=14,K=3,ROWS=720"),
}
# Sizes that tiles depend on.
FIXED = {"ag_attention": "D=32", "ag_attention_causal": "D=32", "ring_attention": "D=64",
         "ring_attention_causal": "D=64",
         "moe": "K=3", "moe_dispatch_gemm": "K=3"}
# CTAs of a rank: emulated machines have few cores for the threads of all.
GRID = 8
# What mk-run needs besides.
MORE = {"moe": ["--random", "topk_ids=-2:13"],
        "moe_dispatch_gemm": ["--random", "topk_ids=-2:13"]}


def compile_command(mk_opt, examples, name, nodes, output, gpus=2):
    file, kernel, parameters, _ = JOBS[name]
    command = [mk_opt, "--target=host", "--emit=package", "--no-optimize", "--cpu=x86-64-v3",
               f"--grid={GRID}",
               "--bind", ",".join([f"node={nodes},gpu={gpus}"] + [*filter(None, [FIXED.get(name)])]),
               f"{examples}/{file}.mlir", "-o", output]
    if kernel:
        command += ["--kernel", kernel]
    if parameters:
        command += ["--set", parameters]
    return command


def arguments(name):
    return ["--bind", JOBS[name][3], *MORE.get(name, [])]
