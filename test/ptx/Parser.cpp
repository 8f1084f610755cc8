//===- Parser.cpp - PTX text to a program ---------------------------------===//

#include "Program.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <map>
#include <unordered_map>

using namespace mk::ptx;

namespace {

bool isName(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' ||
         c == '%' || c == '.';
}

class Parser {
public:
  explicit Parser(const std::string &text) : text_(text) {}

  Program run() {
    header();
    body();
    link();
    return std::move(program_);
  }

private:
  [[noreturn]] void fail(const std::string &what) const {
    throw Error("PTX line " + std::to_string(line_) + ": " + what);
  }

  //===--- Characters -------------------------------------------------------//

  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void skip() {
    while (at_ < text_.size()) {
      char c = text_[at_];
      if (c == '\n') {
        ++line_;
        ++at_;
      } else if (std::isspace(static_cast<unsigned char>(c))) {
        ++at_;
      } else if (c == '/' && text_.compare(at_, 2, "//") == 0) {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else {
        return;
      }
    }
  }
  bool eat(char c) {
    skip();
    if (peek() != c)
      return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!eat(c))
      fail(std::string("expected '") + c + "' before '" +
           text_.substr(at_, 20) + "'");
  }
  std::string name() {
    skip();
    size_t begin = at_;
    // Names of special registers and opcodes have dots and colons.
    while (isName(peek()) ||
           (peek() == ':' && text_.compare(at_, 2, "::") == 0)) {
      at_ += peek() == ':' ? 2 : 1;
    }
    return text_.substr(begin, at_ - begin);
  }
  void skipPast(char c) {
    while (at_ < text_.size() && text_[at_] != c) {
      line_ += text_[at_] == '\n';
      ++at_;
    }
    ++at_;
  }

  //===--- What stands before the body --------------------------------------//

  void header() {
    while (true) {
      skip();
      if (at_ >= text_.size())
        fail("there is no entry");
      std::string word = name();
      if (word == ".entry") {
        entry();
        return;
      }
      if (word == ".extern") {
        skipPast(';');
      } else if (word == ".version" || word == ".target" ||
                 word == ".address_size") {
        skipPast('\n');
        ++line_;
      } else if (word != ".visible") {
        fail("'" + word + "' is not known before the entry");
      }
    }
  }
  void entry() {
    param_ = "";
    program_.name = name();
    expect('(');
    // .param .align 64 .b8 NAME[BYTES]
    for (std::string word = name(); word != ""; word = name())
      param_ = word;
    expect('[');
    program_.paramBytes = uint32_t(std::atoi(name().c_str()));
    expect(']');
    expect(')');
    while (!eat('{')) {
      std::string word = name();
      std::vector<uint32_t> numbers;
      skip();
      while (std::isdigit(static_cast<unsigned char>(peek()))) {
        numbers.push_back(uint32_t(std::atoi(name().c_str())));
        eat(',');
        skip();
      }
      if (word == ".reqnctapercluster")
        std::copy(numbers.begin(), numbers.end(), program_.cluster);
      else if (word == ".reqntid" && !numbers.empty())
        program_.threads = numbers[0];
      else if (word != ".minnctapersm" && word != ".explicitcluster")
        fail("'" + word + "' is not known before the body");
    }
  }

  //===--- Scopes and registers ---------------------------------------------//

  struct Scope {
    int parent = -1;
    std::unordered_map<std::string, Operand> registers;
    std::unordered_map<std::string, uint32_t> labels;
    std::unordered_map<std::string, std::vector<std::string>> tables;
  };
  void open() {
    scopes_.push_back({});
    scopes_.back().parent = scope_;
    scope_ = int(scopes_.size()) - 1;
  }
  void close() {
    // Nobody else gets the registers: other lanes may still be here.
    scope_ = scopes_[size_t(scope_)].parent;
  }
  void declare(const std::string &type, const std::string &reg) {
    Operand o;
    o.kind = Operand::Reg;
    // Each begins where a whole one may: what is in flight is noted so.
    o.index = type == ".pred" ? nextWord_ : (nextWord_ + 31) & ~31u;
    uint32_t words = 32;
    if (type == ".pred") {
      o.kind = Operand::Pred;
      words = 1;
    } else if (type == ".b16") {
      o.bytes = 2;
    } else if (type == ".b32" || type == ".f32") {
      o.bytes = 4;
    } else if (type == ".b64") {
      o.bytes = 8;
      words = 64;
    } else if (type == ".b128") {
      o.bytes = 16;
      words = 128;
    } else {
      fail("registers of type " + type);
    }
    nextWord_ = o.index + words;
    program_.words = std::max(program_.words, nextWord_);
    scopes_[size_t(scope_)].registers[reg] = o;
  }
  void registers() {
    std::string type = name();
    do {
      std::string reg = name();
      if (eat('<')) {
        int count = std::atoi(name().c_str());
        expect('>');
        for (int i = 0; i < count; ++i)
          declare(type, reg + std::to_string(i));
      } else {
        declare(type, reg);
      }
    } while (eat(','));
    expect(';');
  }

  //===--- Statements -------------------------------------------------------//

  void body() {
    open();
    for (int depth = 1; depth > 0;) {
      skip();
      if (at_ >= text_.size())
        fail("the body has no end");
      if (eat('{')) {
        open();
        ++depth;
      } else if (eat('}')) {
        close();
        --depth;
      } else {
        statement();
      }
    }
  }
  void statement() {
    Instr instr;
    if (eat('@')) {
      instr.negated = eat('!');
      instr.guard = int16_t(pushOperand(instr));
    }
    std::string word = name();
    if (word.empty())
      fail("'" + text_.substr(at_, 20) + "' is no statement");
    if (peek() == ':') {
      ++at_;
      label(word);
      return;
    }
    if (word == ".reg")
      return registers();
    if (word == ".pragma")
      return skipPast(';');
    instr.opcode = word;
    instr.line = line_;
    std::string label;
    if (word == "bra" || word == "bra.uni") {
      label = name();
    } else if (word == "brx.idx") {
      pushOperand(instr);
      expect(',');
      label = name();
    } else {
      operands(instr);
    }
    expect(';');
    if (!label.empty())
      pending_.push_back({uint32_t(program_.instrs.size()), scope_, label});
    try {
      decode(instr);
    } catch (const Error &error) {
      fail(error.what());
    }
    program_.instrs.push_back(std::move(instr));
  }
  void label(const std::string &word) {
    Scope &scope = scopes_[size_t(scope_)];
    skip();
    if (text_.compare(at_, 14, ".branchtargets") == 0) {
      name();
      do {
        scope.tables[word].push_back(name());
      } while (eat(','));
      expect(';');
      return;
    }
    scope.labels[word] = uint32_t(program_.instrs.size());
  }
  void operands(Instr &instr) {
    skip();
    if (peek() == ';')
      return;
    do {
      skip();
      if (eat('[')) {
        do {
          if (eat('{'))
            vector(instr);
          else
            address(instr);
        } while (eat(','));
        expect(']');
      } else if (eat('{')) {
        vector(instr);
      } else {
        address(instr); // or a symbol with an offset
      }
    } while (eat(',') || eat('|'));
  }
  void vector(Instr &instr) {
    uint8_t count = 0;
    do {
      pushOperand(instr);
      ++count;
    } while (eat(','));
    expect('}');
    instr.vecs.push_back(count);
  }
  void address(Instr &instr) {
    pushOperand(instr);
    bool plus = eat('+'); // LLVM writes [%r1+-4]
    if (eat('-'))
      instr.ops.back().imm -= uint64_t(std::stoll(name(), nullptr, 0));
    else if (plus)
      instr.ops.back().imm += uint64_t(std::stoll(name(), nullptr, 0));
  }
  size_t pushOperand(Instr &instr) {
    skip();
    Operand o;
    bool minus = eat('-');
    std::string word = name();
    if (word.empty())
      fail("'" + text_.substr(at_, 20) + "' is no operand");
    if (word == "_") {
      // Nobody wants the value.
    } else if (std::isdigit(static_cast<unsigned char>(word[0]))) {
      o.kind = Operand::Imm;
      bool isFloat = word.size() > 2 && word[0] == '0' &&
                     (word[1] == 'f' || word[1] == 'd');
      o.imm = isFloat ? std::stoull(word.substr(2), nullptr, 16)
                      : std::stoull(word, nullptr, 0);
      if (minus)
        o.imm = -o.imm;
    } else if (word == "mk_shared") {
      o.kind = Operand::Imm;
      o.imm = kSharedBase;
    } else if (word == param_) {
      o.kind = Operand::Imm;
      o.imm = kParamBase;
    } else if (findSpecial(word, o)) {
      o.kind = Operand::Special;
    } else if (!findRegister(word, o)) {
      fail("'" + word + "' is no register");
    }
    instr.ops.push_back(o);
    return instr.ops.size() - 1;
  }
  bool findSpecial(const std::string &word, Operand &o) {
    static const std::map<std::string, Special> known = {
        {"%tid.x", Special::Tid},     {"%ntid.x", Special::Ntid},
        {"%ctaid.x", Special::Ctaid}, {"%nctaid.x", Special::Nctaid},
        {"%laneid", Special::Lane},   {"%cluster_ctarank", Special::ClusterRank},
        {"%smid", Special::Smid},     {"%globaltimer", Special::Timer}};
    auto it = known.find(word);
    if (it == known.end())
      return false;
    o.imm = uint64_t(it->second);
    return true;
  }
  bool findRegister(const std::string &word, Operand &o) {
    for (int s = scope_; s >= 0; s = scopes_[size_t(s)].parent) {
      auto &registers = scopes_[size_t(s)].registers;
      if (auto it = registers.find(word); it != registers.end()) {
        o = it->second;
        return true;
      }
    }
    return false;
  }

  //===--- Labels -----------------------------------------------------------//

  uint32_t find(int scope, const std::string &label) {
    for (int s = scope; s >= 0; s = scopes_[size_t(s)].parent) {
      auto &labels = scopes_[size_t(s)].labels;
      if (auto it = labels.find(label); it != labels.end())
        return it->second;
    }
    fail("there is no label '" + label + "'");
  }
  void link() {
    for (const Pending &p : pending_) {
      Instr &instr = program_.instrs[p.instr];
      line_ = instr.line;
      if (instr.flow != Flow::Switch) {
        instr.target = find(p.scope, p.label);
        continue;
      }
      for (int s = p.scope; s >= 0; s = scopes_[size_t(s)].parent)
        for (const std::string &label : scopes_[size_t(s)].tables[p.label])
          instr.targets.push_back(find(p.scope, label));
    }
  }

  struct Pending {
    uint32_t instr;
    int scope;
    std::string label;
  };

  const std::string &text_;
  size_t at_ = 0;
  uint32_t line_ = 1;
  Program program_;
  std::string param_;
  std::vector<Scope> scopes_;
  int scope_ = -1;
  uint32_t nextWord_ = 0;
  std::vector<Pending> pending_;
};

} // namespace

Program Program::parse(const std::string &text) { return Parser(text).run(); }
