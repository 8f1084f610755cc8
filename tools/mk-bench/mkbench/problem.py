"""What all problems have in common. A problem is one operation on one set of
data: its tensors, its reference, its cost, and who else can compute it."""
from .errors import BenchError
from .space import evaluate


def kernel_dims(variant, dims):
    """A variant's `dims` says what a kernel's dimensions are, as expressions in
    those of the shape ("B * H"); without it they are the same."""
    if "dims" not in variant:
        return dict(dims)
    return {name: evaluate(text, dims)
            for name, text in variant["dims"].items()}


class Problem:
    def __init__(self, device, variant, dims):
        self.device, self.variant, self.dims = device, variant, dims

    # To be defined: flops, bytes, rate (which ceiling counts), arguments() and
    # outputs() (tensors by the kernel's names), compute_reference(), terms().

    rounding_in = 0.0

    def kernel_dims(self):
        """Values of the kernel's dimensions, by name."""
        return kernel_dims(self.variant, self.dims)

    def kernel_arguments(self):
        names = self.variant.get("arguments", {})
        return {names.get(name, name): tensor
                for name, tensor in self.arguments().items()}

    def rival(self, name):
        raise BenchError(f"rival '{name}'",
                         f"{type(self).__name__} has no such rival")

    def rival_outputs(self, contestant):
        """Where a rival leaves its results."""
        return getattr(contestant, "outputs", None) or self.outputs()

    def check(self, contestant):
        """Runs it once on poisoned outputs; {"max", "rel_l2", "passed", ...}, the
        worst of all outputs, which `outputs` has one by one."""
        device = self.device
        outputs = self.rival_outputs(contestant)
        for tensor in self.outputs().values():
            device.poison(tensor)
        contestant.call()
        device.synchronize()
        outputs = self.rival_outputs(contestant) or outputs
        reference = self.compute_reference()
        each = {name: device.compare(tensor, reference[name], self.rounding_in,
                                     self.terms(name))
                for name, tensor in outputs.items() if name in reference}
        worst = max(each.values(), key=lambda e: (
            not e["passed"], e["rel_l2"] if e["rel_l2"] is not None else 1e9))
        return {**worst, "passed": all(e["passed"] for e in each.values()),
                "outputs": each}
