"""What a measurement depends on, for the JSON."""
import datetime
import os
import platform
import subprocess
import sys

QUERY = ["name", "driver_version", "clocks.sm", "clocks.max.sm", "clocks.mem",
         "power.draw", "power.limit", "temperature.gpu", "vbios_version",
         "persistence_mode", "memory.total"]


def run(*command, cwd=None):
    try:
        result = subprocess.run(command, capture_output=True, text=True,
                                timeout=20, check=False, cwd=cwd)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return result.stdout.strip() if result.returncode == 0 else None


def gpu_state():
    """Clocks, power and temperature now; empty without nvidia-smi."""
    text = run("nvidia-smi", "--query-gpu=" + ",".join(QUERY),
               "--format=csv,noheader")
    if not text:
        return {}
    return dict(zip(QUERY, map(str.strip, text.splitlines()[0].split(","))))


def commit(root):
    """Of a source tree; None in a bundle."""
    found = run("git", "describe", "--always", "--dirty", "--abbrev=12",
                cwd=root)
    return found


def environment(places, device, options, tuning):
    data = {
        "time": datetime.datetime.now(datetime.timezone.utc)
        .isoformat(timespec="seconds"),
        "mkernel": run(places.program("mk-opt"), "--version"),
        "commit": commit(places.root), "python": platform.python_version(),
        "host": {"cpus": os.cpu_count(), "machine": platform.machine(),
                 "kernel": platform.release()},
        "target": device.target, "grid": device.grid, "seed": options.seed,
        "tuning": tuning, "command": sys.argv[1:],
    }
    torch = getattr(device, "torch", None)
    if torch:
        data["torch"] = {"version": torch.__version__,
                         "cuda": torch.version.cuda,
                         "cudnn": torch.backends.cudnn.version()}
        if device.group.world > 1:
            data["torch"]["nccl"] = ".".join(map(
                str, torch.cuda.nccl.version()))
        data["gpu_before"] = gpu_state()
    lt = next((o for o in device.objects.values()
               if type(o).__name__ == "CublasLt"), None)
    if lt:
        data["cublaslt"] = {"version": lt.version,
                            "library": os.path.basename(lt.path)}
    return data
