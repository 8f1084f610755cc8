//===- mk-info.cpp - What is here, and what is missing for what -----------===//

#include "../Support/Output.h"
#include "Facts.h"
#include "Package.h"
#include "Topology.h"

#include "mkernel/Runtime/Env.h"
#include "mkernel/Version.h"

#include <cstdio>
#include <filesystem>
#include <fstream>

using namespace mk;
using namespace mk::info;

static constexpr const char *kHelp = R"(usage: mk-info [options]
Shows versions, processor, GPUs, links, driver, CUDA programs and network
adapters; then for each feature of mKernel whether it works here, and if not,
everything that is missing, with the remedy.

  --package FILE what a package holds instead: kernel, target, dimensions, parameters,
                 variants and what each needs, scratch, sizes of code;
                 of one with versions which sizes each is for, and the same of each
  --json         one JSON object: what was found, and "features"; of a package its
                 metadata, and sizes
  --facts FILE   report on what --json has printed on another machine
  --topology     GPUs and NICs, how far they are from each other, and which NIC
                 serves which GPU (docs/topology.md); --topology=svg: a picture
  --topology-xml FILE
                 the same of a machine that lstopo --of xml has described
  -o FILE        write the topology to a file
  --root DIR     read DIR/sys and DIR/proc, look for libraries in DIR/lib, and ask
                 no driver (for tests)
  --version
)";

static int fail(const std::string &message) {
  std::fprintf(stderr, "mk-info: %s\n", message.c_str());
  return 2;
}

/// Prints `text`, or writes it to `file`.
static int deliver(const std::string &text, const std::string &file) {
  if (file.empty() || file == "-") {
    std::fputs(text.c_str(), stdout);
    return 0;
  }
  std::ofstream out(file, std::ios::binary);
  out << text;
  out.close();
  return out ? 0 : fail("-o: '" + file + "' cannot be written");
}

static int showTopology(const std::string &form, const std::string &xml,
                        const std::string &root, const std::string &out) {
  auto machine = rt::Machine::discover(
      {.xml = xml, .sysfs = root.empty() ? "" : root + "/sys"});
  if (!machine)
    return fail(machine.status().message());
  auto assignment = rt::assignNics(*machine);
  if (!assignment)
    return fail(assignment.status().message());
  return deliver(form == "svg" ? topologySvg(*machine, *assignment)
                               : topologyText(*machine, *assignment),
                 out);
}

static int showPackage(const std::string &path, bool json) {
  auto package = rt::Package::read(path);
  if (!package)
    return fail(package.status().message());
  Json described = describePackage(*package);
  return deliver(json ? described.dump(2) + "\n" : packageText(*package, described), "");
}

static int run(int argc, char **argv) {
  rt::env::warnOnce();
  bool json = false;
  std::string root, file, package, topology, xml, target;
  for (int i = 1; i < argc; ++i) {
    std::string option = argv[i];
    if (option == "--json") {
      json = true;
    } else if (option == "--help" || option == "-h") {
      std::fputs(kHelp, stdout);
      return 0;
    } else if (option == "--version") {
      std::puts("mKernel " MK_VERSION);
      return 0;
    } else if (option == "--topology" || option == "--topology=text") {
      topology = "text";
    } else if (option == "--topology=svg") {
      topology = "svg";
    } else if (option.starts_with("--topology=")) {
      return fail(option + ": there is no such form: use --topology=text (a table) or "
                           "--topology=svg (a picture)");
    } else if (std::string *value = option == "--root"           ? &root
                                    : option == "--facts"        ? &file
                                    : option == "--package"      ? &package
                                    : option == "--topology-xml" ? &xml
                                    : option == "-o"             ? &target
                                                                 : nullptr) {
      if (++i == argc)
        return fail(option +
                    " needs a value; mk-info --help shows all options");
      *value = argv[i];
    } else {
      return fail("there is no option '" + option +
                  "'; mk-info --help shows all options");
    }
  }
  if (!root.empty() && !std::filesystem::is_directory(root))
    return fail("--root '" + root + "': there is no such folder: name one that has sys and proc");
  if (!package.empty()) {
    if (!root.empty() || !file.empty() || !topology.empty() || !xml.empty() || !target.empty())
      return fail("--package goes with --json alone: it is about a file, not about a machine");
    return showPackage(package, json);
  }
  if (!xml.empty() && topology.empty())
    topology = "text";
  if (topology.empty() && !target.empty())
    return fail("-o is for --topology; redirect the output of others");
  if (!topology.empty()) {
    if (json || !file.empty())
      return fail("--topology goes with neither --json nor --facts");
    return showTopology(topology, xml, root, target);
  }
  Facts facts;
  if (!file.empty()) {
    std::string text = readText(file);
    if (text.empty())
      return fail("--facts: '" + file + "' cannot be read or is empty");
    auto read = fromJson(Json::parse(text, nullptr, /*exceptions=*/false));
    if (!read)
      return fail("--facts: '" + file + "' was not printed by mk-info --json: " +
                  read.status().message() + "; print it again there");
    facts = std::move(*read);
  } else {
    facts = collect(root);
  }
  if (!json) {
    std::fputs(toText(facts).c_str(), stdout);
    return 0;
  }
  Json out = toJson(facts);
  for (const Feature &feature : features(facts)) {
    Json &entry = out["features"][feature.name];
    entry = {{"available", feature.missing.empty()}, {"what", feature.what}};
    entry["missing"] = Json::array();
    for (const Feature::Missing &missing : feature.missing)
      entry["missing"].push_back(
          {{"what", missing.what}, {"remedy", missing.remedy}});
  }
  std::puts(out.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
  return 0;
}

int main(int argc, char **argv) {
  return mkernel::finishOutput("mk-info", run(argc, argv));
}
