//===- mk-info.cpp - What is here, and what is missing for what -----------===//

#include "Facts.h"
#include "../Support/Output.h"

#include "mkernel/Version.h"

#include <cstdio>
#include <cstring>

using namespace mk;
using namespace mk::info;

static constexpr const char *kHelp = R"(usage: mk-info [options]
Shows versions, processor, GPUs, links, driver, CUDA programs and network
adapters; then for each feature of mKernel whether it works here, and if not,
everything that is missing, with the remedy.

  --json         one JSON object: what was found, and "features"
  --facts FILE   report on what --json has printed on another machine
  --root DIR     read DIR/sys and DIR/proc, look for libraries in DIR/lib, and ask
                 no driver (for tests)
  --version
)";

static int fail(const std::string &message) {
  std::fprintf(stderr, "mk-info: %s\n", message.c_str());
  return 2;
}

static int run(int argc, char **argv) {
  bool json = false;
  std::string root, file;
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
    } else if (option == "--root" || option == "--facts") {
      if (++i == argc)
        return fail(option +
                    " needs a value; mk-info --help shows all options");
      (option == "--root" ? root : file) = argv[i];
    } else {
      return fail("there is no option '" + option +
                  "'; mk-info --help shows all options");
    }
  }
  Facts facts;
  if (!file.empty()) {
    std::string text = readText(file);
    if (text.empty())
      return fail("--facts: '" + file + "' cannot be read or is empty");
    auto read = fromJson(Json::parse(text, nullptr, /*exceptions=*/false));
    if (!read)
      return fail(
          "--facts: '" + file +
          "' was not printed by mk-info --json: " + read.status().message());
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
