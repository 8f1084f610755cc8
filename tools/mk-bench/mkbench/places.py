"""Where programs, libraries, examples and data files lie: in a source tree with
a build folder, in an install tree, or in an unpacked bundle."""
import os
import sys

from .errors import BenchError

HERE = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))


class Places:
    def __init__(self, prefix=None):
        # .../tools/mk-bench in a source tree, .../share/mkernel/bench else.
        up = os.path.dirname(os.path.dirname(HERE))
        self.root = up if os.path.isdir(os.path.join(up, "examples")) \
            else os.path.dirname(up)
        invoked = os.path.dirname(os.path.dirname(os.path.abspath(sys.argv[0])))
        candidates = [prefix, invoked, self.root, os.environ.get("MK_BUILD_DIR"),
                      os.path.join(self.root, "build")]
        for candidate in filter(None, candidates):
            if os.path.exists(os.path.join(candidate, "bin", "mk-opt")):
                self.prefix = os.path.abspath(candidate)
                break
        else:
            raise BenchError("mk-opt was not found",
                             "looked in bin/ of " + ", ".join(
                                 filter(None, candidates)),
                             "build it (ninja -C build), unpack a bundle, or "
                             "name the folder by --prefix")

    def program(self, name):
        return os.path.join(self.prefix, "bin", name)

    def library(self, name):
        return os.path.join(self.prefix, "lib", name)

    def example(self, name):
        """A kernel file, by its place in the tree."""
        path = name if os.path.isabs(name) else os.path.join(self.root, name)
        if not os.path.exists(path):
            raise BenchError(f"kernel file {name}", f"not found in {self.root}")
        return path

    def tuning(self, name):
        """share/mkernel/tuning/NAME, where the compiler looks for it."""
        return os.path.join(self.prefix, "share", "mkernel", "tuning", name)
