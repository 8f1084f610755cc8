"""little-memory.py MK-OPT ARGUMENTS...: runs it with less and less memory. Whatever it
does, it ends by itself; prints what it said when it had too little."""
import resource
import subprocess
import sys

said = None
for megabytes in range(640, 100, -20):
    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20,) * 2)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    done = subprocess.run(sys.argv[1:], preexec_fn=limit, capture_output=True, text=True)
    if done.returncode == 127 or "loading shared libraries" in done.stderr:
        break  # too little for the program's own libraries
    if done.returncode not in (0, 1) or "LLVM ERROR" in done.stderr:
        sys.exit(f"{megabytes} MiB: status {done.returncode}\n{done.stderr}")
    if done.returncode == 1:
        said = done.stderr.strip().splitlines()[-1]
print(said)
