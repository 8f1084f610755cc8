//===- Ranks.h - The ranks of a job as threads of this process --*- C++ -*-===//
#ifndef MKERNEL_TEST_UNIT_RANKS_H
#define MKERNEL_TEST_UNIT_RANKS_H

#include "Support.h"
#include "mkernel/Runtime/Kernel.h"

#include <cmath>

namespace mk::rt::test {

/// One of the packages of hand-written kernels.
inline Package package(const std::string &name) {
  auto result = Package::read(MK_TEST_PACKAGES "/" + name + ".mkpkg");
  EXPECT_OK(result);
  return std::move(*result);
}

inline std::unique_ptr<Kernel> loadKernel(Context &context, const Package &package) {
  auto kernel = Kernel::load(context, package);
  EXPECT_OK(kernel);
  return std::move(*kernel);
}

/// A kernel of such a package, bound to M and N.
inline std::unique_ptr<BoundKernel> bindSizes(Context &context, const Package &package, int64_t m,
                                              int64_t n) {
  auto bound = loadKernel(context, package)->bind({{"M", {m}}, {"N", {n}}});
  EXPECT_OK(bound);
  return std::move(*bound);
}

/// One launch of allgather with data that depends on `round`; `c` is attached. An
/// error of its own if the result is wrong.
inline Status gatherOnce(BoundKernel &kernel, int64_t m, int64_t n, int64_t round,
                         const LaunchOptions &options, std::vector<float> &c) {
  const Shard &shard = kernel.shard("a");
  auto *a = reinterpret_cast<float *>(kernel.data("a"));
  // Small enough for a float to hold 2 a + 1.
  auto value = [&](int64_t i) { return static_cast<float>(i * 3 + round % (1 << 20)); };
  for (int64_t i = 0; i < shard.elements(); ++i)
    a[i] = value(shard.begin[0] * n + i);
  std::fill(c.begin(), c.end(), NAN);
  MK_TRY(kernel.launch(options));
  for (int64_t i = 0; i < m * n; ++i)
    if (c[size_t(i)] != 2 * value(i) + 1)
      return error(StatusCode::Internal, "round ", round, ": element ", i, " is ",
                   c[size_t(i)], ", not ", 2 * value(i) + 1);
  return {};
}

/// A job whose ranks are threads.
struct Ranks {
  Ranks(int64_t nodes, int64_t gpus, ContextOptions base = {}) {
    auto made = Mesh::create(
        {{"node", nodes, LinkKind::Net}, {"gpu", gpus, LinkKind::Link}});
    EXPECT_OK(made);
    StoreServerOptions options;
    options.job = "unit-test";
    options.token = randomToken();
    options.world = made->size();
    auto started = StoreServer::start(options);
    EXPECT_OK(started);
    server = std::move(*started);
    base.mesh = *made;
    base.endpoint = server->endpoint();
    base.job = options.job;
    base.token = options.token;
    base.heapBytes = 1 << 20;
    base.slots = 4096;
    contexts.resize(made->size());
    each([&](uint32_t r) {
      ContextOptions own = base;
      own.rank = r;
      own.proxyPaused = base.proxyPaused && r == 0;
      auto context = Context::create(own);
      EXPECT_OK(context);
      contexts[r] = std::move(*context);
    });
  }

  void each(const std::function<void(uint32_t)> &body) {
    Job::parallel(static_cast<uint32_t>(contexts.size()), body);
  }
  void close() {
    each([&](uint32_t r) { EXPECT_OK(contexts[r]->close()); });
  }

  QuietLog quiet;
  std::unique_ptr<StoreServer> server;
  std::vector<std::unique_ptr<Context>> contexts;
};

} // namespace mk::rt::test

#endif // MKERNEL_TEST_UNIT_RANKS_H
