"""The ranks of a measurement as torch knows them: NCCL, and memory that peers
reach (torch's symmetric memory). NVLink multicast is never used: job.py turns it
off in NCCL and torch, and this makes sure of it."""
import warnings

from .errors import Lost

TIMEOUT_MS = 60000


class Peers:
    """One for a device (TorchDevice.shared)."""

    def __init__(self, device):
        import torch.distributed as dist
        import torch.distributed._symmetric_memory as symmetric
        self.device, self.dist, self.symmetric = device, dist, symmetric
        torch = device.torch
        if symmetric._SymmetricMemory.has_multicast_support(
                symmetric.DeviceType.CUDA, device.index):
            raise Lost("torch would set up NVLink multicast", remedy="set "
                       "TORCH_SYMM_MEM_DISABLE_MULTICAST=1")
        dist.init_process_group("nccl", device_id=torch.device("cuda",
                                                               device.index))
        self.name = dist.group.WORLD.group_name
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # newer torch does it by itself
            symmetric.enable_symm_mem_for_group(self.name)
        self.pad = symmetric.empty(1024, dtype=torch.int32, device="cuda")
        self.handle = symmetric.rendezvous(self.pad, self.name)
        self.meet()
        device.synchronize()

    def meet(self):
        """Enqueues a kernel that ends when those of all ranks have begun: each
        spins on a word that its peers write."""
        self.handle.barrier(channel=0, timeout_ms=TIMEOUT_MS)

    def empty(self, shape, type):
        """Memory that torch's fused operations take. Collective."""
        tensor = self.symmetric.empty(shape, dtype=self.device.type(type),
                                      device="cuda")
        self.symmetric.rendezvous(tensor, self.name)
        return tensor

    def version(self):
        return ".".join(map(str, self.device.torch.cuda.nccl.version()))
