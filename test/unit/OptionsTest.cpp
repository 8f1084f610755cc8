//===- OptionsTest.cpp ----------------------------------------------------===//

#include "Options.h"

#include "Compile.h"
#include "Support.h"

namespace mk::run {
namespace {

using rt::test::HasSubstr;

Result<Options> parse(std::vector<std::string> args) {
  std::vector<char *> argv = {const_cast<char *>("mk-run")};
  for (std::string &arg : args)
    argv.push_back(arg.data());
  return parseOptions(static_cast<int>(argv.size()), argv.data());
}

TEST(Options, EverythingTogether) {
  auto o = parse({"f.mlir", "--nodes", "2", "--gpus=4", "--bind",
                  "M=1024,T=100:80:0:33", "--bind=node=2", "--in", "a=x.npy",
                  "--out=c=y=z.npy", "--stats=json", "--deadline", "500ms",
                  "--corrupt=c:7", "--check", "--seed=9", "--delay=50ms",
                  "--set", "depth=3,split=2"});
  ASSERT_OK(o);
  EXPECT_EQ(o->file, "f.mlir");
  EXPECT_EQ(o->compile.nodes, 2);
  EXPECT_EQ(o->compile.gpus, 4);
  ASSERT_EQ(o->compile.bind.size(), 3u);
  EXPECT_EQ(o->compile.bind[1].values, (std::vector<int64_t>{100, 80, 0, 33}));
  EXPECT_EQ(o->outputs[0].path, "y=z.npy");
  EXPECT_EQ(o->stats, Options::Stats::Json);
  EXPECT_EQ(o->launch.deadline, std::chrono::milliseconds(500));
  EXPECT_EQ(o->delay, std::chrono::milliseconds(50));
  EXPECT_EQ(o->corrupt, "c");
  EXPECT_EQ(o->corruptIndex, 7);
  EXPECT_FALSE(o->rank);
  EXPECT_EQ(mk::jit::toJson(compilerOptions(*o)),
            "{\"nodes\":2,\"gpus\":4,"
            "\"bind\":{\"M\":\"1024\",\"T\":\"100:80:0:33\",\"node\":\"2\"},"
            "\"set\":{\"depth\":\"3\",\"split\":\"2\"},\"complete_dims\":true}");
  EXPECT_EQ(o->launches, 1);
  EXPECT_FALSE(o->graph || o->checkEach);
}

// Whatever Options.def says that mk-run takes is taken, kept, passed on and explained.
TEST(Options, AllRowsOfTheTable) {
  EXPECT_EQ(jit::toJson({}), "{}");
  std::string help = helpText();
  jit::Options initial;
  mkernel::options::forEachCompileOption([&](const mkernel::options::Option &option) {
    using mkernel::options::Kind;
    if (!option.isInMkRun())
      return;
    std::string flag = std::string("--") + option.flag;
    EXPECT_THAT(help, HasSubstr("\n  " + flag));
    std::vector<std::string> args = {"f.mlir", flag};
    switch (option.kind) {
    case Kind::Text:
    case Kind::Texts:
      args.push_back("text");
      break;
    case Kind::Ranks:
    case Kind::Ctas:
    case Kind::Candidates:
      EXPECT_ERROR(parse({"f.mlir", flag, std::to_string(option.most() + 1)}).status(),
                   InvalidArgument, "an integer from 1 to ");
      args.push_back(std::to_string(option.most()));
      break;
    case Kind::Sizes:
    case Kind::Params:
      args.push_back("A=3");
      break;
    default:
      break;
    }
    auto o = parse(args);
    ASSERT_OK(o);
    EXPECT_TRUE(o->isGiven(flag));
    EXPECT_THAT(jit::toJson(o->compile), HasSubstr(std::string("{\"") + option.key + "\":"));
    bool late = option.tools == mkernel::options::Tools::Source;
    args[0] = "f.mkpkg";
    EXPECT_EQ(parse(args).isOk(), !late) << flag;
  });
}

TEST(Options, VersionsAddUp) {
  auto o = parse({"f.mlir", "--variants=M=64", "--variants", "M=512+TM=128,M=900"});
  ASSERT_OK(o);
  EXPECT_EQ(o->compile.variants, "M=64,M=512+TM=128,M=900");
  // What they choose by is given when the kernel is bound.
  o->compile.bind = {{"M", {9}}, {"MM", {8}}, {"TM", {7}}, {"K", {6}}};
  std::vector<std::string> left;
  for (const auto &dim : compilerOptions(*o).bind)
    left.push_back(dim.name);
  EXPECT_EQ(left, (std::vector<std::string>{"MM", "K"}));
}

TEST(Options, TolerancesOfSingleOutputs) {
  auto o = parse({"f.mlir", "--check", "--tolerance", "2,c=0.1", "--tolerance=lse=3"});
  ASSERT_OK(o);
  EXPECT_EQ(toleranceOf(*o, "c"), 0.1);
  EXPECT_EQ(toleranceOf(*o, "lse"), 3);
  EXPECT_EQ(toleranceOf(*o, "other"), 2);
  for (const char *bad : {"inf", "-inf", "nan", "-1", "0", "1e999", "", "c=", "c=inf",
                          "=1", "1,", "c=1x"})
    EXPECT_ERROR(parse({"f.mlir", "--tolerance", bad}).status(), InvalidArgument,
                 "a factor above 0 is needed, a number, or OUTPUT=FACTOR");
}

TEST(Options, GraphsAreLaunches) {
  auto o = parse({"f.mkpkg", "--graph", "7", "--check=each"});
  ASSERT_OK(o);
  EXPECT_TRUE(o->graph);
  EXPECT_EQ(o->launches, 7);
  EXPECT_TRUE(o->check && o->checkEach);
  EXPECT_EQ(parse({"f.mkpkg", "--launches", "9"})->launches, 9);
}

TEST(Options, Refusals) {
  struct {
    std::vector<std::string> args;
    const char *message;
  } cases[] = {
      {{}, "no file given"},
      {{"a", "b"}, "two files given"},
      {{"f", "--nodse", "2"}, "did you mean --node"},
      {{"f", "--nodes"}, "--nodes needs a value"},
      {{"f", "--nodes", "0"}, "an integer from 1"},
      {{"f", "--nodes", "x"}, "an integer from 1"},
      {{"f", "--help=1"}, "takes no value"},
      {{"f", "--check=1"}, "--check=1: each, last, races or accesses is possible"},
      {{"f", "--launches", "2", "--graph", "2"}, "exclude each other"},
      {{"f", "--graph", "0"}, "an integer from 1"},
      {{"f.mlir", "--set", "x"}, "NAME=N is needed"},
      {{"f.mlir", "--set", "x=y"}, "NAME=N is needed"},
      {{"f.mlir", "--set", "x=1,x=2"}, "--set gives 'x' twice"},
      {{"f.mkpkg", "--set", "x=1"}, "only a .mlir takes them"},
      {{"f", "--bind", "M"}, "NAME=VALUE is needed"},
      {{"f", "--bind", "M="}, "NAME=VALUE is needed"},
      {{"f", "--bind", "M=1:"}, "NAME=VALUE is needed"},
      {{"f", "--bind", "M=-1"}, "NAME=VALUE is needed"},
      {{"f", "--bind", "M=18446744073709551617"},
       "--bind M=18446744073709551617: the value is too large; sizes are less than 2^63"},
      {{"f", "--bind", "T=3:9223372036854775808"}, "the value is too large"},
      {{"f", "--bind", "M=1,M=2"}, "gives 'M' twice"},
      {{"f", "--in", "a"}, "ARGUMENT=FILE.npy is needed"},
      {{"f", "--stats=xml"}, "json or text"},
      {{"f", "--deadline", "0"}, "seconds are needed"},
      {{"f", "--tolerance", "0"}, "above 0"},
      {{"f", "--corrupt", "c"}, "needs it"},
      {{"f", "--transport", "efa", "--transport", "verbs,qps=2"},
       "--transport verbs,qps=2: --transport efa is given as well: give one of them"},
      {{"f", "--transport=loopback,delay=1ms,mtu=1K,delay=1ms"},
       "loopback option 'delay=1ms': 'delay=1ms' is given as well: give one of them"},
      {{"f", "--loopback=pause,pause"}, "--loopback pause,pause: loopback option 'pause'"},
  };
  for (auto &c : cases)
    EXPECT_ERROR(parse(c.args).status(), InvalidArgument, c.message);
}

} // namespace
} // namespace mk::run
