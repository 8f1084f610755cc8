"""What all problems have in common. A problem is one operation on one set of
data: its tensors, its reference, its cost, and who else can compute it."""
from .errors import BenchError
from .space import evaluate


def kernel_dims(variant, dims):
    """A variant's `dims` says what a kernel's dimensions are, as expressions in
    those of the shape ("B * H") and, of several ranks, their number P; without
    it they are the same."""
    if "dims" not in variant:
        return {name: value for name, value in dims.items() if name != "P"}
    return {name: evaluate(text, dims)
            for name, text in variant["dims"].items()}


def severity(error):
    """Orders errors: those that do not pass behind all others."""
    return (not error["passed"],
            error["rel_l2"] if error["rel_l2"] is not None else 1e9)


class Problem:
    def __init__(self, device, variant, dims):
        self.device, self.variant, self.dims = device, variant, dims

    # To be defined: flops, bytes, rate (which ceiling counts), arguments() and
    # outputs() (tensors by the kernel's names), compute_reference(), terms().

    def argument_sets(self):
        """Arguments that calls take in turn, equal in value."""
        return [self.arguments()]

    rounding_in = 0.0
    link_bytes = 0  # from or to other ranks

    def kernel_dims(self):
        """Values of the kernel's dimensions, by name."""
        return kernel_dims(self.variant, self.dims)

    def kernel_name(self, name):
        """What the kernel calls an argument."""
        return self.variant.get("arguments", {}).get(name, name)

    def rival(self, name):
        raise BenchError(f"rival '{name}'",
                         f"{type(self).__name__} has no such rival")

    def rival_outputs(self, contestant):
        """Where a rival leaves its results."""
        return getattr(contestant, "outputs", None) or self.outputs()

    def factors(self, name):
        """What each column of an output was multiplied with last, if with anything; errors
        of what stands before grow with it."""
        return None

    def check(self, contestant):
        """Runs it once on poisoned outputs; {"max", "rel_l2", "passed", ...}, the
        worst of all outputs, which `outputs` has one by one."""
        outputs = self.rival_outputs(contestant)
        # The first and the second of all sets of data, if there are two.
        each = [self.check_once(contestant, outputs) for _ in range(min(2, contestant.turns))]
        return max(each, key=severity)

    def check_once(self, contestant, outputs):
        device = self.device
        for tensor in [*self.outputs().values(), *outputs.values()]:
            device.poison(tensor)
        contestant.call()
        if contestant.wait:
            contestant.wait()
        device.synchronize()
        outputs = self.rival_outputs(contestant) or outputs
        reference = self.compute_reference()
        each = {name: device.compare(tensor, reference[name], self.rounding_in,
                                     self.terms(name), self.factors(name))
                for name, tensor in outputs.items() if name in reference}
        worst = max(each.values(), key=severity)
        return {**worst, "passed": all(e["passed"] for e in each.values()),
                "outputs": each}
