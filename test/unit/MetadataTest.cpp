//===- MetadataTest.cpp ---------------------------------------------------===//

#include "mkernel/Runtime/Package.h"

#include "Support.h"

namespace mk::rt::test {
namespace {

const std::string good = R"({
 "kernel": "k", "target": "host", "cpu": "x", "grid": 4, "stack_bytes": 64,
 "mesh": [{"name": "node", "link": "net", "size": 2},
          {"name": "gpu", "link": "link", "size": null}],
 "dims": [{"name": "M", "kind": "uniform", "value": 8},
          {"name": "T", "kind": "rank", "value": [1, 2]}],
 "args": [{"name": "a", "kind": "inout", "type": "bf16", "rank": 2,
           "symmetric": true, "split": [["node", "gpu"], []]}],
 "signals": [{"name": "s", "rank": 1, "scope": "sys", "dynamic": true}],
 "counters": [{"name": "c", "rank": 0}],
 "queues": [{"name": "q", "width": 2}],
 "loops": [{"role": 1, "schedule": "ticket"}],
 "requires": ["M > 0"],
 "roles": [{"name": "r", "ctas": 1, "then": 1},
           {"name": "t", "ctas": 3, "then": -1}],
 "prepare": true,
 "reference": {"inputs": [0], "outputs": [0], "types": ["f64", "f64"],
               "dims": [1], "check_epsilon": [0.0078125]}
})";

std::string with(std::string from, const std::string &to) {
  std::string text = good;
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(Metadata, Parses) {
  auto m = parseMetadata(good);
  ASSERT_OK(m);
  EXPECT_EQ(m->grid, 4u);
  EXPECT_EQ(m->mesh[0].size, 2);
  EXPECT_FALSE(m->mesh[1].size);
  EXPECT_EQ(m->mesh[0].kind, LinkKind::Net);
  EXPECT_EQ(m->dims[1].values, (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(m->args[0].type, ElementType::bf16);
  EXPECT_EQ(m->args[0].split[0].size(), 2u);
  EXPECT_TRUE(m->signals[0].dynamic);
  EXPECT_EQ(m->roles[0].then, 1);
  EXPECT_EQ(m->reference->types.size(), 2u);
  EXPECT_EQ(m->reference->epsilons, (std::vector<double>{0x1p-7}));
  EXPECT_EQ(m->reference->dims, (std::vector<uint32_t>{1}));
  EXPECT_TRUE(m->sites.empty());
  auto sites = parseMetadata(
      with("\"prepare\"",
           R"("sites": [{"op": "mk.put", "at": "x.mlir:1:2"}], "prepare")"));
  ASSERT_OK(sites);
  EXPECT_EQ(sites->sites.at(0).op, "mk.put");
  EXPECT_EQ(sites->sites.at(0).at, "x.mlir:1:2");
  auto beside = parseMetadata(with("\"then\": 1}", "\"then\": -1, \"beside\": 1}"));
  ASSERT_OK(beside);
  EXPECT_EQ(beside->roles[0].beside, 1);
  EXPECT_EQ(beside->roles[1].beside, -1);
  EXPECT_EQ(beside->countBeside(), 1u);
  EXPECT_EQ(beside->countOwnCtas(), 3u);
  EXPECT_TRUE(m->params.empty());
  auto params = parseMetadata(
      with("\"prepare\"", R"("params": {"TM": {"value": 128, "from": "tuned"},
                                       "TN": {"value": null, "from": "default"}}, "prepare")"));
  ASSERT_OK(params);
  EXPECT_EQ(params->params.at(0).name, "TM");
  EXPECT_EQ(params->params.at(0).value, 128);
  EXPECT_EQ(params->params.at(0).from, "tuned");
  EXPECT_FALSE(params->params.at(1).value);
  EXPECT_FALSE(m->timeline);
  auto timed = parseMetadata(with(
      "\"prepare\"", R"("timeline": {"records": 8, "tracks": 1, "communicates": [true, false],
                        "computes": [false, true]}, "prepare")"));
  ASSERT_OK(timed);
  EXPECT_EQ(timed->timeline->records, 8u);
  EXPECT_TRUE(timed->timeline->communicates[0]);
  EXPECT_TRUE(timed->timeline->computes[1]);
  EXPECT_EQ(m->argIndex("a"), 0);
  EXPECT_EQ(m->argIndex("b"), -1);
}

TEST(Metadata, NamesWhatIsWrong) {
  struct Case {
    std::string text, message;
  } cases[] = {
      {"{", "not well-formed JSON"},
      {"[]", "is not an object"},
      {with("\"prepare\"", R"("sites": [{"op": "mk.put"}], "prepare")"),
       "sites[0] lacks the key 'at'"},
      {with("\"prepare\"", R"("params": [], "prepare")"), "key 'params' is not an object"},
      {with("\"prepare\"", R"("params": {"TM": {"value": 1}}, "prepare")"),
       "params['TM'] lacks the key 'from'"},
      {with("\"prepare\"", R"("params": {"TM": {"value": 1, "from": "me"}}, "prepare")"),
       "params['TM'] key 'from' is 'me', not one of given, tuned, model, default"},
      {with("\"prepare\"", R"("timeline": {"records": 8, "tracks": 1, "communicates": [true],
                              "computes": [false, true]}, "prepare")"),
       "key 'communicates' has not one value for each role"},
      {with("\"grid\": 4,", ""), "lacks the key 'grid'"},
      {with("\"grid\": 4", "\"grid\": 0"), "key 'grid' is 0, not within 1"},
      {with("\"grid\": 4", "\"grid\": 5"),
       "gives 4 CTAs to roles, but the grid has 5"},
      {with("\"grid\": 4", "\"grid\": 1e3"), "key 'grid' is not an integer"},
      {with("\"cpu\"", "\"cpus\""), "lacks the key 'cpu'"},
      {with("\"prepare\": true", "\"prepare\": true, \"x\": 1"),
       "unknown key 'x'"},
      {with("\"bf16\"", "\"b16\""),
       "args[0] has the unknown element type 'b16'"},
      {with("\"net\"", "\"wire\""),
       "key 'link' is 'wire', not one of link, net"},
      {with("[[\"node\", \"gpu\"], []]", "[[]]"), "splits 1 dimensions of 2"},
      {with("[\"node\", \"gpu\"]", "[\"no\"]"),
       "axis 'no', which the mesh does not have"},
      {with("\"then\": 1", "\"then\": 2"), "goes on with role 2 of 2"},
      {with("\"then\": 1}", "\"then\": -1, \"beside\": 2}"),
       "role 'r' is run beside role 2 of 2, which has no CTAs of its own"},
      {with("\"then\": 1}", "\"then\": -1, \"beside\": 0}"),
       "role 'r' is run beside role 0 of 2, which has no CTAs of its own"},
      {with("\"role\": 1", "\"role\": 2"), "has a loop of role 2 of 2"},
      {with("\"outputs\": [0]", "\"outputs\": [1]"), "an output's index is 1"},
      {with("[\"f64\", \"f64\"]", "[\"f64\"]"), "not one type for each"},
      {with("0.0078125", "-1"),
       "'check_epsilon' has something that is no number from 0 to 1"},
      {with("0.0078125", "\"x\""), "'check_epsilon' has something that is no number"},
      {with("0.0078125", ""), "'check_epsilon' has not one number for each output"},
      {with("\"dims\": [1]", "\"dims\": [2]"), "a dimension's index is 2"},
      {with("\"uniform\", \"value\": 8", "\"uniform\", \"value\": [8]"),
       "only a 'rank' dimension may have"},
      {with("\"value\": 8", "\"value\": -8"), "key 'value' is -8"},
      {with("\"value\": 8", "\"value\": 99999999999999999999"), "key 'value'"},
  };
  for (const Case &c : cases)
    EXPECT_ERROR(parseMetadata(c.text).status(), InvalidArgument, c.message);
}

/// `good` for a GPU: 1 map of 128 bytes, 112 of the launch, then 2 dimensions, 5
/// words of an argument, 4 of a signal, 1 of a counter, 3 of a queue, 1 of a
/// loop, and, since there are peers, 4 each of `ready` and `done`.
std::string gpu(const std::string &from = "", const std::string &to = "") {
  std::string text = with("\"host\"", "\"sm_90a\"");
  text.insert(text.rfind('}'), R"(, "gpu": {"variants": [
    {"name": "first", "needs": "tensor-maps", "grid": 2, "threads": 256, "cooperative": false,
     "shared_bytes": 0, "param_bytes": 320, "workspace_bytes": 0, "tensor_maps": [],
     "peer_maps": []},
    {"name": "last", "needs": "", "grid": 2, "threads": 384, "cooperative": true,
     "shared_bytes": 200000, "param_bytes": 448, "workspace_bytes": 4096,
     "tensor_maps": [{"arg": 0, "box": [64, 32], "copies": true, "swizzle": 128}],
     "peer_maps": [{"arg": 0, "box": [64, 64], "copies": false, "swizzle": 128}]}]})");
  if (from.empty())
    return text;
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(Metadata, CtasOfRolesBesideOthers) {
  // They are those of the other role on a GPU, in the grid on the host.
  std::string text = gpu("\"then\": 1}", "\"then\": -1, \"beside\": 1}");
  EXPECT_ERROR(parseMetadata(text).status(), InvalidArgument,
               "gives 3 CTAs to roles, but the grid has 4");
  text.replace(text.find("\"grid\": 4"), 9, "\"grid\": 3");
  ASSERT_OK(parseMetadata(text));
  text = with("\"then\": 1}", "\"then\": -1, \"beside\": 1}");
  ASSERT_OK(parseMetadata(text));
  text.replace(text.find("\"grid\": 4"), 9, "\"grid\": 3");
  EXPECT_ERROR(parseMetadata(text).status(), InvalidArgument,
               "gives 4 CTAs to roles, but the grid has 3");
}

TEST(Metadata, GpuParses) {
  auto m = parseMetadata(gpu());
  ASSERT_OK(m);
  ASSERT_TRUE(m->gpu);
  ASSERT_EQ(m->gpu->variants.size(), 2u);
  EXPECT_EQ(m->gpu->variants[0].name, "first");
  EXPECT_TRUE(m->gpu->variants[0].needsMaps);
  const Metadata::Variant &last = m->gpu->variants[1];
  EXPECT_FALSE(last.needsMaps);
  EXPECT_EQ(last.threads, 384u);
  EXPECT_TRUE(last.cooperative);
  EXPECT_EQ(last.sharedBytes, 200000u);
  EXPECT_EQ(last.workspaceBytes, 4096u);
  EXPECT_EQ(last.paramBytes, uint64_t(layOutGpuParams(*m, last).bytes));
  EXPECT_EQ(last.tensorMaps[0].box, (std::vector<uint32_t>{64, 32}));
  EXPECT_TRUE(last.tensorMaps[0].copies);
  EXPECT_FALSE(last.tensorMaps[0].packs);
  EXPECT_EQ(last.tensorMaps[0].swizzle, 128u);
  EXPECT_EQ(last.peerMaps[0].box, (std::vector<uint32_t>{64, 64}));
  EXPECT_OK(parseMetadata(gpu(": 448", ": 456"))); // rounded up to 64
  EXPECT_FALSE(parseMetadata(good)->gpu);
}

TEST(Metadata, GpuNamesWhatIsWrong) {
  struct Case {
    std::string text, message;
  } cases[] = {
      {with("\"host\"", "\"sm_90a\""),
       "is for the target 'sm_90a' and lacks the key 'gpu'"},
      {gpu("\"sm_90a\"", "\"host\""), "which the target 'host' does not have"},
      {gpu("\"threads\": 384", "\"threads\": 2048"), "key 'threads' is 2048"},
      {gpu(": 448", ": 440"),
       "has parameters of 440 bytes; those of this kernel take 448"},
      {gpu(": 448", ": 512"), "has parameters of 512 bytes"},
      {gpu("[64, 32]", "[64]"),
       "has a box of 1 dimensions for argument 'a', which has 2"},
      {gpu("[64, 32]", "[64, 512]"), "a size of the box is 512"},
      {gpu("\"swizzle\": 128", "\"swizzle\": 16"), "key 'swizzle' is 16"},
      {gpu("\"arg\": 0", "\"arg\": 1"), "key 'arg' is 1"},
      {gpu("\"swizzle\"", "\"swizle\""), "lacks the key 'swizzle'"},
      {gpu("\"swizzle\"", "\"packs\": 1, \"swizzle\""), "key 'packs' is not true or false"},
      {gpu("\"swizzle\"", "\"packs\": true, \"swizzle\""),
       "has the key 'packs' for argument 'a', which not only this rank's kernel reads"},
      {gpu("\"needs\": \"tensor-maps\"", "\"needs\": \"luck\""),
       "key 'needs' is 'luck', not one of tensor-maps"},
      {gpu("\"needs\": \"\"", "\"needs\": \"tensor-maps\""),
       "has no variant that needs nothing behind all others"},
  };
  for (const Case &c : cases)
    EXPECT_ERROR(parseMetadata(c.text).status(), InvalidArgument, c.message);
}

TEST(Metadata, MeshFromNumbers) {
  auto m = parseMetadata(good);
  ASSERT_OK(m);
  auto mesh = resolveMesh(*m, {}, 0, 3);
  ASSERT_OK(mesh);
  EXPECT_EQ(mesh->size(), 6u);
  NamedSize gpus[] = {{"gpu", 4}};
  mesh = resolveMesh(*m, gpus, 2, 4);
  ASSERT_OK(mesh);
  EXPECT_EQ(mesh->size(), 8u);
  EXPECT_EQ(resolveMesh(*m, {}, 0, 0)->size(), 2u);
  EXPECT_ERROR(resolveMesh(*m, {}, 3, 0).status(), InvalidArgument,
               "--nodes 3 does not fit the mesh (node = 2 via net, gpu = ? via "
               "link): its axes via net make 2");
  NamedSize nodes[] = {{"node", 4}};
  EXPECT_ERROR(resolveMesh(*m, nodes, 0, 0).status(), InvalidArgument,
               "--bind node=4 does not fit");
  m->mesh[0].kind = LinkKind::Link;
  m->mesh[0].size.reset();
  EXPECT_ERROR(resolveMesh(*m, {}, 0, 4).status(), InvalidArgument,
               "2 axes via link have no size");
}

} // namespace
} // namespace mk::rt::test
