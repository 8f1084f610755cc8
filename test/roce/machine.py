"""Virtual machines with soft-RoCE devices, without root and without KVM.

A kernel, QEMU and what the guest runs besides come from Debian packages, which lie
unpacked in a cache folder; nothing is installed. A guest is a kernel and an
initramfs; its init (guest/init) runs a script and leaves with its status.
"""

import ctypes
import glob
import gzip
import lzma
import os
import re
import shutil
import signal
import subprocess
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
# The device adds this to the script's status, so that no failure of QEMU itself
# can be taken for a status.
EXIT_OFFSET = 16
MODULES = ["rdma_rxe", "ib_uverbs", "veth", "bridge", "sch_netem", "virtio_net",
           "virtio_pci", "crc32_generic", "crc32c_generic", "crc32c-intel"]
PACKAGES = ["qemu-system-x86", "busybox-static", "iproute2", "ibverbs-providers"]


class Problem(Exception):
    pass


def run(*command, **options):
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE,
                          **options).stdout


class Cache:
    """Packages, unpacked."""

    def __init__(self, folder):
        self.folder = folder
        self.root = os.path.join(folder, "root")
        self.vmlinux = os.path.join(folder, "vmlinux")
        done = os.path.join(folder, "complete-1")
        if not os.path.exists(done):
            for tool in ("apt-get", "dpkg-deb"):
                if not shutil.which(tool):
                    raise Problem(f"there is no {tool}: this takes its packages from Debian")
            shutil.rmtree(folder, ignore_errors=True)
            os.makedirs(os.path.join(folder, "debs"))
            os.makedirs(self.root)
            self.fetch()
            self.unpack_kernel()
            shutil.rmtree(os.path.join(folder, "debs"))
            open(done, "w").close()
        libs = ["usr/lib/x86_64-linux-gnu", "lib/x86_64-linux-gnu"]
        self.env = dict(os.environ, LD_LIBRARY_PATH=":".join(
            os.path.join(self.root, lib) for lib in libs))

    def fetch(self):
        def missing():
            image = re.search(r"Depends: (linux-image-[0-9]\S*)",
                              run("apt-cache", "depends", "linux-image-amd64"))
            plan = run("apt-get", "install", "-s", "--no-install-recommends", *PACKAGES,
                       stderr=subprocess.DEVNULL)
            return [image.group(1)] + re.findall(r"^Inst (\S+)", plan, re.M)

        try:
            names = missing()
        except (subprocess.CalledProcessError, AttributeError):
            raise Problem("apt knows no linux-image-amd64 or not " + ", ".join(PACKAGES) +
                          ": this needs Debian 12 with its package lists (apt-get update)")
        print(f"fetching {len(names)} packages into {self.folder}", flush=True)
        debs = os.path.join(self.folder, "debs")
        # Files of a mirror change: the lists may name one that is gone.
        for attempt in (0, 1):
            if not subprocess.run(["apt-get", "download", "-qq", *names], cwd=debs,
                                  stderr=subprocess.DEVNULL if not attempt else None
                                  ).returncode:
                break
            if attempt:
                raise Problem("apt-get download failed: as root, apt-get update")
            subprocess.run(["apt-get", "update", "-qq"])
            names = missing()
        for deb in glob.glob(debs + "/*.deb"):
            if not os.path.basename(deb).startswith("linux-image"):
                run("dpkg-deb", "-x", deb, self.root)
                continue
            with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", deb],
                                  stdout=subprocess.PIPE) as tar:
                parts = ["net", "lib", "crypto", "arch"] + [
                    "drivers/" + d for d in ("infiniband", "net", "virtio")]
                run("tar", "-x", "-C", self.root, "--wildcards", "./boot/vmlinuz-*",
                    *("./lib/modules/*/kernel/" + p for p in parts), stdin=tar.stdout)

    def unpack_kernel(self):
        """A vmlinux starts at once where a bzImage unpacks itself first, slowly."""
        with open(glob.glob(self.root + "/boot/vmlinuz-*")[0], "rb") as f:
            image = f.read()

        def zstd(data):
            return subprocess.run(["zstd", "-dqc"], input=data, stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL).stdout

        formats = [(b"\xfd7zXZ\0", lambda d: lzma.LZMADecompressor().decompress(d)),
                   (b"\x28\xb5\x2f\xfd", zstd),
                   (b"\x1f\x8b\x08", lambda d: gzip.zlib.decompressobj(31).decompress(d))]
        for magic, decompress in formats:
            for at in re.finditer(re.escape(magic), image):
                try:
                    kernel = decompress(image[at.start():])
                except Exception:
                    continue  # the same bytes by chance
                if kernel[:4] == b"\x7fELF" and len(kernel) > 1 << 24:
                    with open(self.vmlinux, "wb") as f:
                        f.write(kernel)
                    return
        raise Problem("the kernel's image cannot be unpacked (is zstd installed?)")

    def find(self, name):
        """A program or file of the packages, else of this machine."""
        for folder in ("usr/bin", "bin", "usr/sbin", "sbin", ""):
            path = os.path.join(self.root, folder, name.lstrip("/"))
            if os.path.isfile(path):
                return path
        path = name if name.startswith("/") else shutil.which(
            name, path=os.environ["PATH"] + ":/usr/sbin:/sbin")
        if not path or not os.path.isfile(path):
            raise Problem(f"there is no {name}: apt-get install iproute2 ibverbs-providers")
        return path

    def modules(self):
        """Files of MODULES and of those they need, in order of loading."""
        files = {}
        for path in glob.glob(self.root + "/lib/modules/**/*.ko*", recursive=True):
            files[re.sub(r"\.ko.*", "", os.path.basename(path)).replace("-", "_")] = path
        order, done = [], set()

        def need(name):
            name = name.replace("-", "_")
            if name in done or name not in files:
                return  # built in
            done.add(name)
            with open(files[name], "rb") as f:
                data = f.read()
            if files[name].endswith(".xz"):
                data = lzma.decompress(data)
            depends = re.search(rb"\0depends=([^\0]*)", data)
            for other in filter(None, (depends.group(1).decode() if depends else "").split(",")):
                need(other)
            order.append((name, data))

        for name in MODULES:
            need(name)
        if "rdma_rxe" not in done:
            raise Problem("this kernel has no module rdma_rxe")
        return order


class Image:
    """An initramfs."""

    def __init__(self, cache):
        self.cache = cache
        self.entries = {}
        for folder in ("proc", "sys", "dev", "tmp", "run", "root", "var/run"):
            self.folder(folder)
        self.program("bin/busybox", cache.find("busybox"))
        # Not busybox's own shell, which takes its own ip and tc for the real ones.
        self.program("bin/sh", cache.find("dash"))
        for name in ("ip", "tc", "rdma"):
            self.program("usr/sbin/" + name, cache.find(name))
        libs = "/usr/lib/x86_64-linux-gnu/"
        self.program("lib/x86_64-linux-gnu/libibverbs.so.1", os.path.realpath(cache.find(libs + "libibverbs.so.1")))
        providers = glob.glob(libs + "libibverbs/librxe-rdmav*.so") + glob.glob(
            cache.root + libs + "libibverbs/librxe-rdmav*.so")
        self.program(libs + "libibverbs/" + os.path.basename(providers[0]), providers[0])
        self.file("etc/libibverbs.d/rxe.driver", b"driver rxe\n")
        self.file("etc/passwd", b"root:x:0:0:root:/root:/bin/sh\n")
        self.file("etc/hosts", b"127.0.0.1 localhost\n")
        names = []
        for name, data in cache.modules():
            names.append(name)
            self.file(f"modules/{name}.ko", data)
        self.file("modules/order", "\n".join(names).encode() + b"\n")
        for name in os.listdir(HERE + "/guest"):
            with open(f"{HERE}/guest/{name}", "rb") as f:
                self.file("init" if name == "init" else "guest/" + name, f.read(), 0o755)

    def folder(self, path):
        path = path.strip("/")
        if path and path not in self.entries:
            self.folder(os.path.dirname(path))
            self.entries[path] = (0o040755, b"")

    def file(self, path, data, mode=0o644):
        path = path.strip("/")
        self.folder(os.path.dirname(path))
        self.entries[path] = (0o100000 | mode, data)

    def program(self, path, source):
        """With the libraries that it names; all lie in one folder."""
        with open(source, "rb") as f:
            self.file(path, f.read(), 0o755)
        ldd = subprocess.run(["ldd", source], env=self.cache.env, text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
        for lost in re.findall(r"(\S+) => not found", ldd):
            raise Problem(f"{source} needs {lost}, which is not here")
        for library in re.findall(r"(/\S+) \(0x", ldd):
            name = os.path.basename(library)
            target = "lib64/" + name if name.startswith("ld-linux") else "lib/x86_64-linux-gnu/" + name
            if target not in self.entries:
                with open(library, "rb") as f:
                    self.file(target, f.read(), 0o755)

    def write(self, path):
        with open(path, "wb") as out:
            def entry(name, mode, data, number):
                raw = name.encode() + b"\0"
                fields = [number, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(raw), 0]
                head = b"070701" + b"".join(b"%08x" % f for f in fields) + raw
                out.write(head + b"\0" * (-len(head) % 4))
                out.write(data + b"\0" * (-len(data) % 4))

            for number, name in enumerate(sorted(self.entries), 1):
                entry(name, *self.entries[name], number)
            entry("TRAILER!!!", 0, b"", 0)


def end_with_parent():
    PR_SET_PDEATHSIG = 1
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class Guest:
    """Runs `script` of an image; its output goes to `sink` line by line."""

    def __init__(self, cache, initrd, script, folder, limit, sink, link=None, memory=1536):
        self.log = os.path.join(folder, f"kernel-{os.path.basename(initrd)}-{id(self)}.log")
        self.limit, self.sink, self.tail = limit, sink, []
        share = cache.root + "/usr/share"
        command = [
            cache.find("qemu-system-x86_64"), "-L", share + "/qemu", "-L", share + "/seabios",
            # /dev/kvm may be there and not work.
            "-accel", "tcg,thread=multi", "-cpu", "max",
            # One core would starve the soft interrupt that moves rxe's packets.
            "-smp", "2", "-m", str(memory), "-nodefaults", "-no-user-config",
            "-display", "none", "-no-reboot",
            "-serial", "file:" + self.log, "-serial", "stdio",
            "-device", "isa-debug-exit,iobase=0xf4,iosize=0x04",
            "-kernel", cache.vmlinux, "-initrd", initrd,
            "-append", "console=ttyS0 quiet panic=-1 nokaslr mitigations=off tsc=reliable "
            "no_timer_check cryptomgr.notests audit=0 random.trust_cpu=on "
            "run=" + script.replace(" ", ","),
        ]
        if link:
            path, server = link
            command += ["-netdev", f"stream,id=wire,server={'on' if server else 'off'},"
                        f"addr.type=unix,addr.path={path}",
                        "-device", "virtio-net-pci,netdev=wire,romfile=,host_mtu=4200,"
                        f"mac=52:54:00:00:00:0{1 if server else 2}"]
        self.process = subprocess.Popen(command, env=cache.env, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                        preexec_fn=end_with_parent)
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            text = line.decode(errors="replace").rstrip()
            self.tail = self.tail[-20:] + [text]
            self.sink(text)

    def wait(self):
        """The script's status, 124 after the time limit, 125 if the guest died."""
        try:
            status = self.process.wait(self.limit)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            status = None
        self.reader.join()
        if status is None:
            self.sink(f"error: the guest did not end within {self.limit} s")
            return 124
        if status & 1 and (status >> 1) >= EXIT_OFFSET:
            return (status >> 1) - EXIT_OFFSET
        self.sink(f"error: the guest died (QEMU: {status}); the kernel's last words:")
        with open(self.log, errors="replace") as f:
            for line in f.readlines()[-15:]:
                self.sink("  " + line.rstrip())
        return 125
