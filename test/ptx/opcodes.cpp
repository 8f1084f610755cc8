//===- opcodes.cpp - Single instructions with given operands --------------===//
//
//   ptx-opcodes FILE
// Each line of FILE that begins with "=" is an instruction, what it has to give and its operands,
// bit patterns in hexadecimal. The number of digits says how wide a register is, p0 and p1 are
// predicates:
//   = min.NaN.f32 7fffffff 7fc00000 3f800000
// All are done in one launch.
//
//===----------------------------------------------------------------------===//

#include "Machine.h"

#include <cstdio>
#include <fstream>
#include <sstream>

using namespace mk::ptx;

namespace {

constexpr uint64_t kResults = 0x20000000;

struct Line {
  unsigned number = 0;
  std::string opcode;
  std::vector<std::string> values; // the result in front
};

std::vector<Line> read(const char *name) {
  std::ifstream file(name);
  std::vector<Line> lines;
  std::string text;
  for (unsigned number = 1; std::getline(file, text); ++number) {
    std::istringstream words(text);
    std::string word;
    if (!(words >> word) || word != "=")
      continue;
    Line line;
    line.number = number;
    words >> line.opcode;
    while (words >> word)
      line.values.push_back(word);
    if (line.values.size() < 2)
      throw Error("line " + std::to_string(number) + " has no operands");
    lines.push_back(line);
  }
  return lines;
}

bool isPredicate(const std::string &value) { return value[0] == 'p'; }
std::string bits(const std::string &value) { return std::to_string(4 * value.size()); }

std::string programOf(const std::vector<Line> &lines) {
  std::ostringstream out;
  out << ".version 8.6\n.target sm_90a\n.address_size 64\n"
         ".visible .entry opcodes(.param .align 64 .b8 opcodes_param_0[8])\n"
         ".reqntid 32\n{\n";
  uint64_t at = kResults;
  for (const Line &line : lines) {
    out << "{\n";
    std::string operands;
    for (size_t i = 0; i < line.values.size(); ++i) {
      const std::string &value = line.values[i];
      std::string reg = "%r" + std::to_string(i);
      std::string type = isPredicate(value) ? "pred" : "b" + bits(value);
      operands += (i ? ", " : "") + reg;
      out << ".reg ." << type << " " << reg << ";\n";
      if (i && isPredicate(value))
        out << "mov.pred " << reg << ", " << value.substr(1) << ";\n";
      else if (i)
        out << "mov." << type << " " << reg << ", 0x" << value << ";\n";
    }
    out << line.opcode << " " << operands << ";\n.reg .b64 %to;\nmov.b64 %to, " << at << ";\n";
    const std::string &result = line.values[0];
    if (isPredicate(result))
      out << ".reg .b32 %bit;\nselp.b32 %bit, 1, 0, %r0;\nst.global.b32 [%to], %bit;\n";
    else
      out << "st.global.b" << bits(result) << " [%to], %r0;\n";
    out << "}\n";
    at += 8;
  }
  out << "ret;\n}\n";
  return out.str();
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fputs("usage: ptx-opcodes FILE\n", stderr);
    return 2;
  }
  int failed = 0;
  try {
    std::vector<Line> lines = read(argv[1]);
    std::vector<uint64_t> results(lines.size());
    Launch launch;
    launch.program = std::make_shared<Program>(Program::parse(programOf(lines)));
    launch.threads = launch.program->threads;
    launch.memory = {{kResults, 8 * results.size(), reinterpret_cast<uint8_t *>(results.data())}};
    launch.params.resize(launch.program->paramBytes);
    std::vector<std::vector<Stage>> ranks(1);
    ranks[0].push_back({std::make_shared<Launch>(launch), nullptr, {}, false});
    Machine(ranks, 1).run();
    for (size_t i = 0; i < lines.size(); ++i) {
      const Line &line = lines[i];
      const std::string &value = line.values[0];
      uint64_t want = std::stoull(isPredicate(value) ? value.substr(1) : value, nullptr, 16);
      if (results[i] == want)
        continue;
      failed = 1;
      std::printf("line %u: %s gives %0*llx, not %s\n", line.number, line.opcode.c_str(),
                  int(value.size()), static_cast<unsigned long long>(results[i]), value.c_str());
    }
    std::printf("%zu instructions\n", lines.size());
  } catch (const std::exception &error) {
    std::printf("FAILED: %s\n", error.what());
    return 1;
  }
  return failed;
}
