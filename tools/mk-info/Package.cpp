//===- Package.cpp - What a package holds ---------------------------------===//
//
// Nothing of the package is loaded: its shared object may be for another processor.
//
//===----------------------------------------------------------------------===//

#include "Package.h"

#include "mkernel/Runtime/Versions.h"

#include <cstring>
#include <elf.h>
#include <map>

using namespace mk;
using namespace mk::info;
using mk::rt::str;

/// A part of a file; empty where it is not all there.
static std::span<const std::byte> slice(std::span<const std::byte> bytes, uint64_t offset,
                                        uint64_t size) {
  if (offset > bytes.size() || size > bytes.size() - offset)
    return {};
  return bytes.subspan(offset, size);
}

template <typename T>
static T read(std::span<const std::byte> bytes, uint64_t offset) {
  T value{};
  if (auto found = slice(bytes, offset, sizeof(T)); !found.empty())
    std::memcpy(&value, found.data(), sizeof(T));
  return value;
}

/// Bytes of what a shared object has by name.
static std::map<std::string, int64_t> findSymbols(std::span<const std::byte> object) {
  std::map<std::string, int64_t> sizes;
  auto header = read<Elf64_Ehdr>(object, 0);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64)
    return sizes;
  auto section = [&](uint64_t i) {
    return i < header.e_shnum ? read<Elf64_Shdr>(object, header.e_shoff + i * sizeof(Elf64_Shdr))
                              : Elf64_Shdr{};
  };
  for (uint64_t i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr table = section(i);
    if (table.sh_type != SHT_DYNSYM)
      continue;
    auto symbols = slice(object, table.sh_offset, table.sh_size);
    Elf64_Shdr names = section(table.sh_link);
    auto text = slice(object, names.sh_offset, names.sh_size);
    for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= symbols.size(); at += sizeof(Elf64_Sym)) {
      auto symbol = read<Elf64_Sym>(symbols, at);
      if (symbol.st_name >= text.size())
        continue;
      auto *name = reinterpret_cast<const char *>(text.data()) + symbol.st_name;
      sizes[{name, strnlen(name, text.size() - symbol.st_name)}] = symbol.st_size;
    }
  }
  return sizes;
}

Json info::describePackage(const rt::Package &package) {
  auto text = package.metadataText();
  Json out = Json::parse(reinterpret_cast<const char *>(text.data()),
                         reinterpret_cast<const char *>(text.data()) + text.size());
  out["file_bytes"] = package.bytes().size();
  out["sha256"] = rt::toHex(package.digest());
  out["payload_bytes"] = package.payload().size();
  Json &code = out["code_bytes"] = Json::object();
  auto symbols = findSymbols(package.payload());
  auto add = [&](const std::string &what, const std::string &symbol) {
    if (auto found = symbols.find(symbol); found != symbols.end())
      code[what] = found->second;
  };
  const rt::Metadata &m = package.metadata();
  add("select", "mk_select");
  for (size_t i = 0; i < m.versions.size(); ++i)
    out["versions"][i]["package"] = describePackage(package.version(i));
  if (m.gpu)
    for (size_t i = 0; i < m.gpu->variants.size(); ++i)
      add(m.gpu->variants[i].name, str("mk_device_code_", i));
  else
    for (size_t i = 0; i < m.roles.size(); ++i)
      add(m.roles[i].name, str("mk_role_", i));
  add("prepare", "mk_prepare");
  add("plan", "mk_plan");
  add("reference", "mk_reference");
  return out;
}

static std::string join(const std::vector<std::string> &parts) {
  std::string text;
  for (const std::string &part : parts)
    text += str(text.empty() ? "" : ", ", part);
  return text.empty() ? "none" : text;
}

static std::string valueText(const std::vector<int64_t> &values) {
  std::string text;
  for (int64_t value : values)
    text += str(text.empty() ? " = " : ":", value);
  return text;
}

static std::string argText(const rt::Metadata::Arg &arg) {
  static constexpr const char *kKinds[] = {"in", "out", "inout", "scratch"};
  return str(kKinds[static_cast<int>(arg.kind)], " ", arg.name, ": ", rt::name(arg.type), " [",
             arg.rank && arg.extents.empty() ? str("rank ", arg.rank) : arg.rank ? join(arg.extents) : "",
             "]", arg.symmetric ? ", symmetric" : "");
}

namespace {
/// Lines of a key and a text.
class Lines {
public:
  explicit Lines(size_t indent = 0) : indent_(indent) {}
  template <typename... Text> void operator()(std::string key, const Text &...text) {
    key.insert(0, indent_, ' ');
    key.resize(std::max<size_t>(key.size(), 14), ' ');
    out += str(key, " ", text..., "\n");
  }
  std::string out;

private:
  size_t indent_;
};
} // namespace

/// What the code of a package, or of a version in one, is.
static void addCode(Lines &line, const rt::Metadata &m, const Json &described) {
  const Json &code = described["code_bytes"];
  auto codeText = [&](const std::string &what) {
    return code.contains(what) ? str(code[what].get<int64_t>(), " bytes") : std::string("of unknown size");
  };
  std::vector<std::string> parts;
  for (const auto &role : m.roles)
    parts.push_back(str(role.name, " of ",
                        role.engines && m.gpu ? std::string("copy engines")
                                              : str(role.ctas, role.ctas == 1 ? " CTA" : " CTAs"),
                        role.beside < 0 ? "" : " beside " + m.roles[role.beside].name,
                        role.then < 0 ? "" : " then " + m.roles[role.then].name,
                        m.gpu ? "" : ", code " + codeText(role.name)));
  line("roles", join(parts));
  if (m.gpu)
    for (const auto &variant : m.gpu->variants)
      line(&variant == &m.gpu->variants.front() ? "variants" : "", variant.name, ": needs ",
           variant.needsMaps ? "tensor maps of the arguments" : "nothing", ", ", variant.grid, " CTAs of ",
           variant.threads, " threads, shared memory ", variant.sharedBytes, " bytes, scratch ", variant.workspaceBytes,
           " bytes, code ", codeText(variant.name));
  else
    line("stack", m.stackBytes, " bytes of each CTA");
}

static std::string paramsText(const rt::Metadata &m) {
  std::vector<std::string> parts;
  for (const auto &param : m.params)
    parts.push_back(str(param.name, param.value ? str(" = ", *param.value) : "", " (", param.from, ")"));
  return join(parts);
}

/// Each version, with what it is for and what is its own.
static std::string versionsText(const rt::Package &package, const Json &described) {
  const rt::Metadata &m = package.metadata();
  Lines list;
  size_t versions = rt::placeOf(m, 0).versions;
  list("versions", versions, versions > 1 ? ", of which the sizes that are bound choose one" : "");
  if (m.versions.size() > versions)
    list("candidates", m.versions.size(),
         " for these, of which bindFastest() takes what is measured to be the fastest");
  for (size_t i = 0; i < m.versions.size(); ++i) {
    const rt::Metadata::Version &version = m.versions[i];
    std::string merged;
    for (const auto &sizes : version.merged)
      merged += str(merged.empty() ? ", also compiled for " : " and ", rt::sizesText(sizes),
                    &sizes == &version.merged.back() ? ", which got the same parameters" : "");
    rt::VersionPlace place = rt::placeOf(m, i);
    list(str(versions > 1 || place.candidates == 1 ? str("version ", place.version + 1)
                                                   : std::string(),
             versions > 1 && place.candidates > 1 ? ", " : "",
             place.candidates > 1 ? str("candidate ", place.candidate + 1) : std::string()),
         rt::versionText(m, i),
         version.serves.empty() ? "" : str("; compiled for ", rt::sizesText(version.serves)),
         merged);
    const rt::Metadata &own = package.version(i).metadata();
    Lines line(2);
    line("parameters", paramsText(own));
    for (size_t arg = m.args.size(); arg < own.args.size(); ++arg)
      line(arg == m.args.size() ? "scratch" : "", argText(own.args[arg]));
    addCode(line, own, described["versions"][i]["package"]);
    list.out += line.out;
  }
  return list.out;
}

std::string info::packageText(const rt::Package &package, const Json &described) {
  const rt::Metadata &m = package.metadata();
  Lines line;
  line("kernel", m.kernel);
  line("target", m.target, ", host code for ", m.cpu);
  line("file", described["file_bytes"].get<int64_t>(), " bytes, SHA-256 ",
       described["sha256"].get<std::string>());
  std::vector<std::string> parts;
  for (const auto &axis : m.mesh)
    parts.push_back(str(axis.name, axis.size ? str(" = ", *axis.size) : "", " via ",
                        axis.kind == rt::LinkKind::Net ? "net" : "link"));
  line("mesh", join(parts));
  parts.clear();
  for (const auto &dim : m.dims)
    parts.push_back(str(dim.name, valueText(dim.values), dim.perRank ? " (of each rank)" : ""));
  line("dimensions", join(parts));
  if (m.versions.empty())
    line("parameters", paramsText(m));
  for (size_t i = 0; i < m.args.size(); ++i)
    line(i ? "" : "arguments", argText(m.args[i]));
  if (m.versions.empty())
    addCode(line, m, described);
  else
    line.out += versionsText(package, described);
  line("reference", package.version(0).metadata().reference ? "yes" : "none");
  return line.out;
}
