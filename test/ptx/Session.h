//===- Session.h - What the ranks of a job ask of the machine ---*- C++ -*-===//
#ifndef MKERNEL_TEST_PTX_SESSION_H
#define MKERNEL_TEST_PTX_SESSION_H

#include "Machine.h"
#include "Protocol.h"

#include <chrono>
#include <sys/types.h>

namespace mk::ptx {

/// A memory file, mapped here.
struct Memory {
  int file = -1;
  uint8_t *data = nullptr;
  uint64_t bytes = 0;
  int owner = -1; // device
};

/// What was done to all GPUs since the first launch, so that it can be done
/// again.
struct Recording {
  /// The first content of all memory: pages that are not zero.
  struct Page {
    uint8_t *to;
    std::vector<uint8_t> data;
  };
  std::vector<Page> pages;
  std::map<int, std::vector<Stage>> stages; // by device
  uint64_t launches = 0;                    // of each rank
  std::vector<uint64_t> executed; // of the instructions, in all launches
  uint64_t steps = 0;
};

/// Runs a command whose ranks use the driver, and serves them.
class Session {
public:
  Session(int gpus, uint64_t seed) : gpus_(gpus), seed_(seed) {}
  /// Changes each program before it runs.
  using Change = std::function<std::shared_ptr<const Program>(const Program &)>;
  void onLoad(Change change) { change_ = std::move(change); }
  /// How long proxies may do nothing while no warp can go on, and how many steps a launch
  /// may take (0: any number).
  void limit(std::chrono::milliseconds patience, uint64_t steps) {
    patience_ = patience;
    stepLimit_ = steps;
  }
  /// Waits that nobody answers pass deadlines of so many seconds, at most.
  void passDeadlines(int seconds) { deadline_ = seconds; }
  ~Session();

  /// The command's exit status.
  int run(char **command, const std::string &driver, bool quiet = false);
  /// The first thing that went wrong in a launch, or "".
  const std::string &error() const { return error_; }
  /// Whether proxies took part, which cannot be done again without them.
  bool usesNetwork() const { return usesNetwork_; }

  /// The program of the last launch: what the runtime launches in front of it is no compiler's.
  const Program *subject() const;
  /// Does everything again with another seed, and with another program in place of the subject if there
  /// is one; ranks need not wait for one another between launches. "" if the
  /// results are the same, else what is not.
  std::string replay(uint64_t seed, std::shared_ptr<const Program> program,
                     uint64_t stepLimit);
  /// Memory as it was before the first launch; what each rank did since then.
  std::vector<std::vector<Stage>> rewind();
  /// The device that has made the memory at a place of it, -1 if there is none.
  int ownerOf(const uint8_t *at) const;
  const Recording &recording() const { return recording_; }
  /// The PTX of the launches.
  const std::vector<std::string> &texts() const { return texts_; }

private:
  struct Client {
    int socket = -1, device = -1;
    bool waits = false, isProxy = false;
    std::map<uint64_t, Region> regions;
    std::deque<std::shared_ptr<const Launch>> launches;
    std::vector<EngineCopy> copies; // beside the next one
  };
  void serve(Client &client);
  Answer answer(Client &client, const Request &request, int file);
  /// Serves proxies; whether there was anything.
  bool serveProxies(bool wait);
  Answer answerProxy(const Client &proxy, const Request &request, int file);
  void launchAll();
  bool goesAlone(bool any, int alive);
  Memory *memoryOf(int file, int device);
  uint8_t *find(const Client &client, uint64_t address);
  void keepMemory();
  void restoreMemory();

  int gpus_;
  uint64_t seed_;
  int deadline_ = 0;
  int listener_ = -1;
  std::vector<std::unique_ptr<Client>> clients_;
  std::map<uint64_t, Memory> memory_; // by number of the file
  std::vector<std::shared_ptr<const Program>> programs_;
  std::vector<std::string> texts_;
  Recording recording_;
  std::string error_;
  Change change_;
  Machine *machine_ = nullptr; // that runs now
  bool usesNetwork_ = false, hadAll_ = false;
  std::chrono::steady_clock::time_point lastServed_{}, aloneSince_{};
  std::chrono::milliseconds patience_{4000}; // hosts may share a processor
  uint64_t stepLimit_ = 0;
};

} // namespace mk::ptx

#endif // MKERNEL_TEST_PTX_SESSION_H
