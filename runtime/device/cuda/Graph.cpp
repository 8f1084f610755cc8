//===- Graph.cpp - A launch as a CUDA graph -------------------------------===//

#include "device/cuda/Binding.h"

using namespace mk::rt;
using namespace mk::rt::cuda;

namespace {

class CudaGraph : public LaunchGraph {
public:
  explicit CudaGraph(Binding &binding) : binding_(binding) {}
  ~CudaGraph() override {
    const Driver &driver = binding_.device().driver();
    Current current(binding_.device());
    if (exec)
      driver.graphExecDestroy(exec);
    if (graph)
      driver.graphDestroy(graph);
    if (stream)
      driver.streamDestroy(stream);
  }

  Status record(const LaunchOptions &options) {
    const Driver &driver = binding_.device().driver();
    Current current(binding_.device());
    MK_TRY(binding_.check(driver.streamCreate(&stream, kStreamNonBlocking),
                          "cuStreamCreate"));
    MK_TRY(binding_.check(
        driver.streamBeginCapture(stream, kCaptureThreadLocal),
        "cuStreamBeginCapture"));
    LaunchOptions captured = options;
    captured.stream = stream;
    timed = options.timed;
    Status status = binding_.enqueue(captured);
    // Ended in any case: a stream that captures cannot be destroyed in peace.
    int code = driver.streamEndCapture(stream, &graph);
    MK_TRY(status);
    MK_TRY(binding_.check(code, "cuStreamEndCapture"));
    return binding_.check(driver.graphInstantiate(&exec, graph, 0),
                          "cuGraphInstantiate");
  }

  Status launch(void *on) override {
    auto stream = static_cast<StreamHandle>(on);
    return binding_.begin(stream, timed, [&] {
      return binding_.check(
          binding_.device().driver().graphLaunch(exec, stream), "cuGraphLaunch");
    });
  }

private:
  Binding &binding_;
  bool timed = false;
  StreamHandle stream = nullptr;
  GraphHandle graph = nullptr;
  GraphExecHandle exec = nullptr;
};

} // namespace

Result<std::unique_ptr<LaunchGraph>>
Binding::capture(const LaunchOptions &options) {
  MK_TRY(context_.abort().check());
  auto graph = std::make_unique<CudaGraph>(*this);
  MK_TRY(graph->record(options));
  return std::unique_ptr<LaunchGraph>(std::move(graph));
}
