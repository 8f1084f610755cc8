# Configuration of all lit tests. What depends on the build comes from
# lit.site.cfg.py.in.
#
# Features for REQUIRES:
#   compiler   the compiler was built (else only the runtime and mk-run)
#   x86        the host is an x86-64
#   bundle     `ninja bundle` can be built
#   hwloc      the runtime was built with it
#   ptxas      MK_PTXAS names CUDA's assembler, or PATH has it
#   numpy      Python has it
#   mpirun     Open MPI's is there
#   apt        Debian's package manager is there
#   loopback   emulated nodes can be run (always; for symmetry with gpu)
# Substitutions besides lit's own:
#   %examples  the folder examples/
#   %bin       the folder of the programs
#   %packages  packages of hand-written C kernels, made by the build
#   %bundle    the archive that `ninja bundle` makes
#   %fake_cuda a driver that stands in for NVIDIA's (MK_CUDA_LIBRARY)
#   %ptx_run   runs a command on GPUs that are not there (docs/checking.md),
#              %ptx_copies some of the same code, %ptx_opcodes single instructions
#   %python    Python 3
#   %mpirun    it, with the options that a small machine needs
#   %ptxas     CUDA's assembler, %tuning the folder of tuning files
import importlib.util
import os
import platform
import shutil
import subprocess

import lit.formats
import lit.util
from lit.llvm import llvm_config
from lit.llvm.subst import ToolSubst

config.name = "mKernel"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs", "Benchmark", "gpu", "unit"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = config.mkernel_test_dir

if config.mkernel_compiler:
    config.available_features.add("compiler")
if config.mkernel_bundle:
    config.available_features.add("bundle")
if config.mkernel_hwloc:
    config.available_features.add("hwloc")
config.available_features.add("loopback")
if platform.machine() in ("x86_64", "amd64"):
    config.available_features.add("x86")

# A hanging test is a failed test, not a hanging suite.
if lit.util.killProcessAndChildrenIsSupported()[0]:
    lit_config.maxIndividualTestTime = 120
else:
    lit_config.warning(
        "tests have no time limit: on Debian, apt-get install python3-psutil")

config.substitutions.append(
    ("%examples", os.path.join(config.mkernel_source_dir, "examples")))
config.substitutions.append(("%bin", config.mkernel_bin_dir))
config.substitutions.append(
    ("%packages",
     os.path.join(config.mkernel_test_dir, "Integration", "runtime")))
config.substitutions.append(
    ("%fake_cuda",
     os.path.join(config.mkernel_test_dir, "unit", "fake-cuda.so")))
# NICs in software, where transports over NICs were built.
softrdma = os.path.join(config.mkernel_test_dir, "unit", "libsoftrdma.so")
if config.mkernel_verbs:
    config.available_features.add("verbs")
    config.substitutions.append(
        ("%softrdma", "env MK_IBVERBS_LIBRARY={0} MK_EFA_LIBRARY={0} "
         "MK_HWLOC_LIBRARY=off MK_SOFTRDMA_LOG=0".format(softrdma)))
config.substitutions.append(
    ("%ptx_run", os.path.join(config.mkernel_test_dir, "ptx", "ptx-run")))
config.substitutions.append(
    ("%ptx_copies",
     os.path.join(config.mkernel_test_dir, "ptx", "ptx-copies")))
config.substitutions.append(
    ("%ptx_opcodes",
     os.path.join(config.mkernel_test_dir, "ptx", "ptx-opcodes")))
config.substitutions.append(("%bundle", config.mkernel_bundle))
config.substitutions.append(("%python", config.python))
config.substitutions.append(
    ("%tuning", os.path.join(config.mkernel_source_dir, "share", "mkernel",
                             "tuning")))
ptxas = os.environ.get("MK_PTXAS") or shutil.which("ptxas")
if ptxas:
    config.available_features.add("ptxas")
    config.substitutions.append(("%ptxas", ptxas))

# scripts/test-long runs what takes too long to be run with each change.
if os.environ.get("MK_LONG_TESTS") == "1":
    config.available_features.add("long")

if importlib.util.find_spec("numpy"):
    config.available_features.add("numpy")

if shutil.which("apt-get"):
    config.available_features.add("apt")
mpirun = shutil.which("mpirun")
if mpirun and b"Open MPI" in subprocess.run([mpirun, "--version"],
                                            capture_output=True).stdout:
    config.available_features.add("mpirun")
    # It has to know nothing of the network to start processes on this machine.
    config.substitutions.append(
        ("%mpirun", mpirun + " --allow-run-as-root --oversubscribe"
         " --bind-to none --host localhost:64"))
# Those of whoever runs the tests are for others.
for name in list(config.environment):
    if name.startswith(("OMPI_", "PMIX_", "SLURM_")):
        del config.environment[name]

# The tools under test first, then LLVM's (FileCheck, not, mlir-opt, ...).
dirs = [config.mkernel_bin_dir, config.llvm_tools_dir]
config.environment["PATH"] = os.pathsep.join(
    dirs + [config.environment.get("PATH", "")])
for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS", "CI"):
    if name in os.environ:
        config.environment[name] = os.environ[name]

# What programs compile through the C and C++ interfaces, others find again.
config.environment["MK_CACHE_DIR"] = os.path.join(config.mkernel_test_dir, "cache")

tools = ["FileCheck", "not", "count", "split-file", "mlir-opt"]
tools += [
    ToolSubst(name, unresolved="ignore")
    for name in ("mk-opt", "mk-run", "mk-info", "mk-reduce", "mk-lsp-server",
                 "mk-fuzz", "mkernel-proxy-speed")
]
llvm_config.add_tool_substitutions(tools, dirs)
