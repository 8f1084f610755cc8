//===- TopologySvg.cpp - A machine's topology as a picture ----------------===//

#include "Topology.h"

#include <algorithm>
#include <map>

using namespace mk;
using namespace mk::info;

namespace {

// In pixels.
constexpr int kWidth = 900, kMargin = 16;
constexpr int kRow = 34, kBox = 28, kLabel = 20, kPad = 8;
constexpr int kGpuX = 70, kGpuWidth = 230, kNicX = 560, kNicWidth = 270;

const char *const kColours[] = {"#1a7f37", "#0a7ea4", "#9a6700", "#bc4c00",
                                "#cf222e"};

std::string escape(std::string_view text) {
  std::string out;
  for (char c : text) {
    switch (c) {
    case '<':
      out += "&lt;";
      break;
    case '>':
      out += "&gt;";
      break;
    case '&':
      out += "&amp;";
      break;
    case '"':
      out += "&quot;";
      break;
    default:
      if (static_cast<unsigned char>(c) >= ' ')
        out += c;
    }
  }
  return out;
}

/// What stands in one innermost frame.
struct Devices {
  std::vector<uint32_t> gpus, nics;
  size_t rows() const { return std::max(gpus.size(), nics.size()); }
};
/// By NUMA node, host bridge, and root port where several devices are behind
/// one.
using Tree =
    std::map<int, std::map<std::string, std::map<std::string, Devices>>>;

class Picture {
public:
  Picture(const rt::Machine &machine, const rt::NicAssignment &assignment)
      : machine(machine), assignment(assignment), gpuY(machine.gpus.size()),
        nicY(machine.nics.size()), railOf(machine.nics.size(), -1) {}

  std::string draw() {
    numberRails();
    y = kMargin + 18;
    text(kMargin, y, "title", "seen by " + machine.source);
    y += 14;
    Tree tree = build();
    for (auto &[numa, roots] : tree)
      drawNuma(numa, roots);
    if (tree.empty())
      note("no GPU, and no NIC that does RDMA");
    else if (!assignment.problem.empty())
      note("other nodes cannot be reached: " + assignment.problem);
    drawShares();
    drawLegend();
    return rt::str(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"", kWidth,
        "\" height=\"", y, "\" viewBox=\"0 0 ", kWidth, " ", y,
        "\">\n<style>text{font:12px sans-serif;fill:#1f2328}"
        ".title{font-size:14px}.small{font-size:11px;fill:#57606a}"
        ".numa{fill:#f6f8fa;stroke:#8c959f}.root{fill:#fff;stroke:#8c959f}"
        ".switch{fill:#ddf4ff;stroke:#54aeff}.gpu{fill:#dafbe1;stroke:#1a7f37}"
        ".nic{fill:#fff8c5;stroke:#9a6700}.off{fill:#eaeef2;stroke:#8c959f}"
        ".label{fill:#fff}"
        "</style>\n<rect width=\"100%\" height=\"100%\" "
        "fill=\"#fff\"/>\n",
        frames, lines, boxes, "</svg>\n");
  }

private:
  void numberRails() {
    std::vector node = {rt::NodeNics::of(machine, assignment)};
    std::vector<rt::Rail> rails = rt::commonRails(node);
    for (size_t r = 0; r < rails.size(); ++r)
      for (size_t n = 0; n < machine.nics.size(); ++n)
        if (machine.nics[n].name == rails[r].nics[0])
          railOf[n] = static_cast<int>(r);
  }

  Tree build() const {
    std::map<std::string, int> behind;
    auto port = [](const rt::PciPlace &place) {
      return place.bridges.empty()
                 ? std::string()
                 : place.root + " " + place.bridges[0].toString();
    };
    for (const rt::MachineGpu &gpu : machine.gpus)
      ++behind[port(gpu.place)];
    for (const rt::MachineNic &nic : machine.nics)
      ++behind[port(nic.place)];
    Tree tree;
    auto leaf = [&](const rt::PciPlace &place) -> Devices & {
      std::string key = port(place);
      return tree[place.numa][place.root][behind[key] > 1 ? key : ""];
    };
    for (uint32_t i = 0; i < machine.gpus.size(); ++i)
      leaf(machine.gpus[i].place).gpus.push_back(i);
    for (uint32_t i = 0; i < machine.nics.size(); ++i)
      leaf(machine.nics[i].place).nics.push_back(i);
    return tree;
  }

  void drawNuma(int numa,
                std::map<std::string, std::map<std::string, Devices>> &roots) {
    int top = y;
    text(kMargin + kPad, top + 15, "small",
         numa < 0 ? "NUMA node unknown" : rt::str("NUMA node ", numa));
    y += kLabel;
    for (auto &[root, ports] : roots)
      drawRoot(root, ports);
    frame("numa", kMargin, top);
    y += kPad;
  }

  void drawRoot(const std::string &root,
                std::map<std::string, Devices> &ports) {
    int top = y;
    text(kMargin + 2 * kPad, top + 15, "small",
         root.empty() ? "not on PCI" : "host bridge " + root);
    y += kLabel;
    for (auto &[port, devices] : ports) {
      int inner = y;
      if (!port.empty()) {
        text(kMargin + 3 * kPad, y + 15, "small", "PCIe switch");
        y += kLabel;
      }
      drawDevices(devices);
      if (!port.empty())
        frame("switch", kMargin + 2 * kPad, inner);
    }
    frame("root", kMargin + kPad, top);
  }

  void drawDevices(const Devices &devices) {
    double height = double(devices.rows()) * kRow;
    for (size_t i = 0; i < devices.gpus.size(); ++i)
      drawGpu(devices.gpus[i],
              y + int(height * (2 * i + 1) / (2 * devices.gpus.size())));
    for (size_t i = 0; i < devices.nics.size(); ++i)
      drawNic(devices.nics[i],
              y + int(height * (2 * i + 1) / (2 * devices.nics.size())));
    y += int(height);
  }

  void drawGpu(uint32_t index, int middle) {
    const rt::MachineGpu &gpu = machine.gpus[index];
    gpuY[index] = middle;
    std::string address = gpu.place.address->toString();
    box("gpu", kGpuX, middle, kGpuWidth, rt::str("GPU ", index, "  ", address),
        gpu.name.empty() ? address : gpu.name);
  }

  void drawNic(uint32_t index, int middle) {
    const rt::MachineNic &nic = machine.nics[index];
    nicY[index] = middle;
    std::string label =
        rt::str(nic.name, "  ", nic.vendor(), nic.vendor().empty() ? "" : "  ",
                rt::gbitsText(nic.mbits), " Gbit/s");
    if (!nic.usable())
      label += "  " + nic.state;
    else if (railOf[index] >= 0)
      label += rt::str("  rail ", railOf[index]);
    box(nic.usable() ? "nic" : "off", kNicX, middle, kNicWidth, label,
        nic.place.address ? nic.place.address->toString() : nic.name);
  }

  void drawShares() {
    if (machine.gpus.empty())
      return; // of ranks, which are not drawn
    for (const auto &user : assignment.users)
      for (const rt::NicShare &share : user.shares) {
        rt::Distance distance = machine.distance(user.index, share.nic);
        double x0 = kGpuX + kGpuWidth, x1 = kNicX, y0 = gpuY[user.index],
               y1 = nicY[share.nic];
        lines += rt::str(
            "<line x1=\"", int(x0), "\" y1=\"", int(y0), "\" x2=\"", int(x1),
            "\" y2=\"", int(y1), "\" stroke=\"", kColours[int(distance)],
            "\" stroke-width=\"", std::max(1, int(6 * share.fraction + 0.5)),
            "\"", user.overridden ? " stroke-dasharray=\"8 4\"" : "",
            "><title>GPU ", user.index, " - ",
            escape(machine.nics[share.nic].name), ": ", rt::toString(distance),
            ", ", percentText(share.fraction), ", ", speedText(machine, share),
            "</title></line>\n");
        // Where lines are apart: at the side that has one for each.
        bool several = user.shares.size() > 1;
        double t = several ? 0.84 : 0.12;
        label(int(x0 + (x1 - x0) * t), int(y0 + (y1 - y0) * t),
              several ? percentText(share.fraction)
                      : speedText(machine, share));
      }
  }

  void drawLegend() {
    y += 14;
    int x = kMargin;
    for (int d = 0; d < 5; ++d) {
      lines += rt::str("<line x1=\"", x, "\" y1=\"", y, "\" x2=\"", x + 24,
                       "\" y2=\"", y, "\" stroke=\"", kColours[d],
                       "\" stroke-width=\"3\"/>\n");
      text(x + 30, y + 4, "small", rt::toString(rt::Distance(d)));
      x += 80;
    }
    text(x, y + 4, "small",
         "width: share of the GPU's traffic; dashed: by MK_NICS");
    y += kMargin + 4;
  }

  void note(const std::string &what) {
    y += kLabel;
    text(kMargin, y, "small", what);
  }

  /// From `top` to here. Outer frames are made last and must lie below.
  void frame(const char *kind, int x, int top) {
    y += kPad / 2;
    frames = rt::str("<rect class=\"", kind, "\" x=\"", x, "\" y=\"", top,
                     "\" width=\"", kWidth - 2 * x, "\" height=\"", y - top,
                     "\" rx=\"4\"/>\n") +
             frames;
    y += kPad / 2;
  }

  void box(const char *kind, int x, int middle, int width,
           const std::string &label, const std::string &title) {
    boxes +=
        rt::str("<rect class=\"", kind, "\" x=\"", x, "\" y=\"",
                middle - kBox / 2, "\" width=\"", width, "\" height=\"", kBox,
                "\" rx=\"4\"><title>", escape(title), "</title></rect>\n");
    text(x + kPad, middle + 4, "", label);
  }

  /// On a line, with something behind it that hides the line.
  void label(int x, int middle, const std::string &what) {
    boxes += rt::str("<rect class=\"label\" x=\"", x - 2, "\" y=\"", middle - 7,
                     "\" width=\"", 6 * what.size() + 6,
                     "\" height=\"14\" rx=\"3\"/>\n");
    text(x, middle + 4, "small", what);
  }

  void text(int x, int at, const char *kind, std::string_view what) {
    boxes +=
        rt::str("<text ", *kind ? rt::str("class=\"", kind, "\" ") : "", "x=\"",
                x, "\" y=\"", at, "\">", escape(what), "</text>\n");
  }

  const rt::Machine &machine;
  const rt::NicAssignment &assignment;
  std::vector<int> gpuY, nicY, railOf;
  std::string frames, lines, boxes; // drawn in this order
  int y = 0;
};

} // namespace

std::string info::topologySvg(const rt::Machine &machine,
                              const rt::NicAssignment &assignment) {
  return Picture(machine, assignment).draw();
}
