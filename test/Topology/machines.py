"""Described machines, in hwloc's XML: python3 machines.py FOLDER writes them.

Written from what makers say of their machines; nobody has compared them with
real ones. What hwloc does not know is said as hwloc would say it if it did:
Port1Rate and Port1LinkLayer, beside its own Port1State.
"""
import pathlib
import sys

H100, VGA = (0x10DE, 0x2330), (0x1A03, 0x2000)
CX7, EFA = (0x15B3, 0x1021), (0x1D0F, 0xEFA2)
BROADCOM, INTEL = (0x14E4, 0x1760), (0x8086, 0x1592)


def gpu(bus):
    return {"bus": bus, "id": H100, "class": 0x0302}


def nic(bus, name, id=CX7, rate="400 Gb/sec (4X NDR)", link="InfiniBand",
        state=4, gbytes=63):
    return {"bus": bus, "id": id, "class": 0x0207 if link == "InfiniBand" else 0x0200,
            "name": name, "rate": rate, "link": link, "state": state, "gbytes": gbytes}


def ethernet(bus, name, id, rate, **more):
    return nic(bus, name, id, f"{rate} Gb/sec", "Ethernet", **more)


def efa(bus, name):
    return nic(bus, name, EFA, "100 Gb/sec (4X EDR)", "Unspecified", gbytes=0)


def switch(bus, *below):
    """Upstream port, and a downstream port for each device or further switch."""
    ports = [{"bus": bus + 1, "device": i, "below": [d]} for i, d in enumerate(below)]
    return {"bus": bus, "below": ports}


def root(bus, *below):
    """A host bridge with a root port for each device or switch."""
    return {"root": bus, "below": [{"bus": bus, "device": i + 1, "below": [d]}
                                   for i, d in enumerate(below)]}


def dgx_h100():
    """8 GPUs, each behind a switch with a ConnectX-7; two sockets."""
    places = [(0x1B, 0x18, 0), (0x43, 0x40, 3), (0x52, 0x4F, 4), (0x61, 0x5E, 5),
              (0x9D, 0x9A, 6), (0xC3, 0xC0, 9), (0xD1, 0xCE, 10), (0xDF, 0xDC, 11)]
    roots = [root(n - 3, switch(n - 2, nic(n, f"mlx5_{i}"), gpu(g)))
             for g, n, i in places]
    return [[root(0, {"bus": 2, "id": VGA, "class": 0x0300})] + roots[:4], roots[4:]]


def p5_groups():
    for i, bus in enumerate([0x4F, 0x60, 0x70, 0x80, 0x90, 0xA0, 0xB0, 0xC0]):
        yield i, gpu(bus), [efa(bus + 1 + k, f"rdmap{bus + 1 + k}s0") for k in range(4)]


def p5():
    """8 GPUs, each behind a switch with four EFA adapters."""
    roots = [root(bus.get("bus") - 4, switch(bus["bus"] - 3, bus, *nics))
             for _, bus, nics in p5_groups()]
    return [roots[:4], roots[4:]]


def p5_flat():
    """The same as a virtual machine that shows no switches."""
    numa = [[], []]
    for i, one, nics in p5_groups():
        numa[i // 4] += [one, *nics]
    return [[root(0x10, *numa[0])], [root(0x88, *numa[1])]]


def one_nic():
    """4 GPUs at each of two sockets, one NIC at the first."""
    return [[root(0x10, *[gpu(0x11 + i) for i in range(4)]), root(0x30, nic(0x31, "mlx5_0"))],
            [root(0x80, *[gpu(0x81 + i) for i in range(4)])]]


def mixed():
    """NICs of three makers and speeds; one has no cable."""
    return [[root(0x10, switch(0x11, gpu(0x20), ethernet(0x21, "mlx5_0", CX7, 400),
                               ethernet(0x22, "bnxt_re0", BROADCOM, 200)))],
            [root(0x80, gpu(0x81), ethernet(0x82, "irdma0", INTEL, 100),
                  ethernet(0x83, "mlx5_1", CX7, 400, state=1))]]


def none():
    """2 GPUs, and nothing that does RDMA."""
    return [[root(0x10, gpu(0x11), gpu(0x12))]]


MACHINES = {"dgx-h100": dgx_h100, "aws-p5": p5, "aws-p5-flat": p5_flat,
            "two-sockets-one-nic": one_nic, "mixed": mixed, "none": none}


class Writer:
    def __init__(self):
        self.lines = ['<?xml version="1.0" encoding="UTF-8"?>',
                      '<!DOCTYPE topology SYSTEM "hwloc2.dtd">', '<topology version="2.0">']
        self.depth, self.index = 1, 0

    def open(self, type, close=False, **attributes):
        self.index += 1
        text = "".join(f' {k}="{v}"' for k, v in attributes.items())
        end = "/>" if close else ">"
        self.line(f'<object type="{type}"{text} gp_index="{self.index}"{end}')
        self.depth += not close

    def close(self):
        self.depth -= 1
        self.line("</object>")

    def line(self, text):
        self.lines.append(" " * self.depth + text)

    def sets(self, bits):
        return {name: f"0x{bits:08x}" for name in
                ("cpuset", "complete_cpuset", "nodeset", "complete_nodeset")}

    def device(self, d, host):
        if "below" in d and "root" in d:
            buses = [x for b in d["below"] for x in self.buses(b)]
            self.open("Bridge", os_index=0, bridge_type="0-1", depth=0,
                      bridge_pci=f'0000:[{d["root"]:02x}-{max(buses):02x}]')
            for b in d["below"]:
                self.device(b, d["root"])
            self.close()
        elif "below" in d:
            buses = [x for b in d["below"] for x in self.buses(b)]
            self.open("Bridge", os_index=0, bridge_type="1-1", depth=1,
                      bridge_pci=f"0000:[{min(buses):02x}-{max(buses):02x}]",
                      pci_busid=f'0000:{d["bus"]:02x}:{d.get("device", 0):02x}.0',
                      pci_type="0604 [1000:c030] [0000:0000] 00", pci_link_speed="0.000000")
            for b in d["below"]:
                self.device(b, host)
            self.close()
        else:
            vendor, id = d["id"]
            self.open("PCIDev", os_index=0, pci_busid=f'0000:{d["bus"]:02x}:00.0',
                      pci_type=f'{d["class"]:04x} [{vendor:04x}:{id:04x}] [0000:0000] 00',
                      pci_link_speed=f'{d.get("gbytes", 63):.6f}')
            if d["id"] == H100:
                self.line('<info name="PCIDevice" value="GH100 [H100 SXM5 80GB]"/>')
            if "name" in d:
                self.open("OSDev", name=d["name"], osdev_type=3)
                for key, value in (("State", d["state"]), ("Rate", d["rate"]),
                                   ("LinkLayer", d["link"])):
                    self.line(f'<info name="Port1{key}" value="{value}"/>')
                self.close()
            self.close()

    def buses(self, d):
        yield d["bus"]
        for b in d.get("below", []):
            yield from self.buses(b)

    def machine(self, sockets):
        """One core and one NUMA node each: only where devices are matters."""
        whole = self.sets((1 << len(sockets)) - 1)
        self.open("Machine", os_index=0, **whole,
                  allowed_cpuset=whole["cpuset"], allowed_nodeset=whole["nodeset"])
        for i, roots in enumerate(sockets):
            here = self.sets(1 << i)
            self.open("Package", os_index=i, **here)
            self.open("NUMANode", close=True, os_index=i, **here, local_memory=1 << 30)
            self.open("Core", os_index=i, **here)
            self.open("PU", close=True, os_index=i, **here)
            self.close()
            for r in roots:
                self.device(r, None)
            self.close()
        self.close()
        return "\n".join(self.lines + ["</topology>", ""])


if __name__ == "__main__":
    for name, describe in MACHINES.items():
        text = Writer().machine(describe())
        pathlib.Path(sys.argv[1], name + ".xml").write_text(text)
