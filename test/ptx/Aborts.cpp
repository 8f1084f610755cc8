//===- Aborts.cpp - Launches whose job is given up on ---------------------===//
//
// What a launch has to do that sees the abort word (docs/sm90.md, "A launch that fails"),
// tried at moments that no test on a GPU meets.
//
//===----------------------------------------------------------------------===//
#include "Aborts.h"

#include "mkernel/ABI/Gpu.h"

#include <cstdio>
#include <set>

using namespace mk::ptx;

namespace {

uint8_t *find(const Launch &launch, uint64_t address, uint64_t bytes, bool host) {
  for (const Region &r : launch.memory)
    if (r.host == host && address >= r.address && address + bytes <= r.address + r.bytes)
      return r.data + (address - r.address);
  return nullptr;
}

/// Where a launch has its words: behind the tensor maps, of which it is not known how many
/// there are.
struct Words {
  uint8_t *control = nullptr, *report = nullptr, *jobAbort = nullptr;
  size_t at = 0; // of mk_gpu_launch

  static Words of(const Launch &launch) {
    Words words;
    // What opens a launch is told the first of them, in the same order.
    bool opens = launch.program->name == "mk_open";
    size_t bytes = opens ? offsetof(mk_gpu_launch, zero) : sizeof(mk_gpu_launch);
    for (size_t at = 0; at + bytes <= launch.params.size(); at += MK_GPU_TENSOR_MAP_BYTES) {
      mk_gpu_launch l;
      l.num_ctas = launch.ctas;
      std::memcpy(&l, launch.params.data() + at, bytes);
      words.control = find(launch, l.control, sizeof(mk_gpu_control), false);
      words.report = find(launch, l.report, sizeof(mk_gpu_report), true);
      words.jobAbort = find(launch, l.job_abort, 4, true);
      if (words.control && words.report && words.jobAbort && l.num_ctas == launch.ctas) {
        words.at = at;
        return words;
      }
    }
    throw Error("the launch's parameters have no mk_gpu_launch");
  }
};

/// Whether a launch can be given up. What packs arguments in front of one waits
/// for nobody.
bool canBeGivenUp(const Launch &launch) { return launch.program->name != "mk_pack"; }

uint32_t wordAt(const uint8_t *at, size_t offset) {
  uint32_t word;
  std::memcpy(&word, at + offset, sizeof(word));
  return word;
}

std::shared_ptr<Launch> withoutDeadline(const Launch &launch) {
  auto changed = std::make_shared<Launch>(launch);
  const uint64_t longest = ~uint64_t(0) >> 8;
  std::memcpy(changed->params.data() + Words::of(launch).at + offsetof(mk_gpu_launch, deadline_ns),
              &longest, sizeof(longest));
  return changed;
}

struct Seen {
  int raised = 0, failed = 0, behind = 0;
};

/// One abort; throws for what must not be.
void tryOne(Session &session, uint64_t seed, const AbortOptions &options, Seen &seen) {
  Random random(seed);
  std::vector<std::vector<Stage>> ranks = session.rewind();
  std::vector<std::set<uint8_t *>> words(ranks.size()), reports(ranks.size());
  for (size_t r = 0; r < ranks.size(); ++r)
    for (Stage &stage : ranks[r])
      if (stage.launch && canBeGivenUp(*stage.launch)) {
        stage.launch = withoutDeadline(*stage.launch);
        Words w = Words::of(*stage.launch);
        words[r].insert(w.jobAbort);
        reports[r].insert(w.report);
      }
  // A rank may never come to its last launch.
  size_t lacks = random.chance(50) || !options.raises ? random.below(uint32_t(ranks.size()))
                                                      : ranks.size();
  if (lacks < ranks.size() && session.recording().launches > 1)
    while (true) {
      bool isLaunch = ranks[lacks].back().launch != nullptr;
      ranks[lacks].pop_back();
      if (isLaunch)
        break;
    }

  Machine machine(ranks, seed);
  machine.patience = 400;
  // Waits look at the words each 8 ms.
  machine.stepTime = (1 << 23) / (16 + random.below(500));
  std::vector<bool> raised(ranks.size(), false);
  // Launches of the recording were done one by one, these overlap.
  uint64_t when = random.below(uint32_t(session.recording().steps));
  for (size_t r = 0; r < ranks.size() && options.raises; ++r)
    machine.at(when + (random.chance(50) ? 0 : random.below(20000)), [&, r] {
      raised[r] = true;
      const uint32_t one = 1;
      for (uint8_t *word : words[r])
        machine.networkPublish(uint32_t(r), word, one);
    });
  // Of launches that begin behind one that has failed on the same rank.
  std::vector<bool> quiet(ranks.size(), false);
  machine.onBegin = [&](uint32_t rank, const Launch &launch) {
    if (!canBeGivenUp(launch))
      return;
    quiet[rank] = wordAt(Words::of(launch).control, offsetof(mk_gpu_control, abort)) != 0;
    seen.behind += quiet[rank];
  };
  machine.global.onWrite = [&](const uint8_t *to, size_t bytes, const Writer &writer) {
    size_t rank = 0;
    while (rank < ranks.size() && !machine.isOf(uint32_t(rank), writer.cta))
      ++rank;
    if (rank == ranks.size() || !quiet[rank])
      return;
    int owner = session.ownerOf(to);
    if (owner >= 0 && size_t(owner) != rank)
      throw Error("rank " + std::to_string(rank) + " writes " + std::to_string(bytes) +
                  " bytes to rank " + std::to_string(owner) +
                  " in a launch behind one that has failed");
  };
  machine.run();
  bool any = false, failed = false;
  for (size_t r = 0; r < ranks.size(); ++r) {
    any |= raised[r];
    failed |= quiet[r];
    for (uint8_t *report : reports[r])
      if (wordAt(report, offsetof(mk_gpu_report, written)))
        throw Error("rank " + std::to_string(r) + " reports a failure of its own (kind " +
                    std::to_string(wordAt(report, offsetof(mk_gpu_report, kind))) +
                    ", role " + std::to_string(wordAt(report, offsetof(mk_gpu_report, role))) +
                    ", number " +
                    std::to_string(wordAt(report, offsetof(mk_gpu_report, number))) + ")");
    for (const Stage &stage : ranks[r])
      if (stage.launch && canBeGivenUp(*stage.launch))
        failed |= wordAt(Words::of(*stage.launch).control, offsetof(mk_gpu_control, abort)) != 0;
  }
  seen.raised += any;
  seen.failed += failed;
}

} // namespace

bool mk::ptx::tryAborts(Session &session, uint64_t seed, const AbortOptions &options) {
  if (session.usesNetwork())
    throw Error("--aborts: launches across nodes cannot be done again without their proxies");
  Seen seen;
  int wrong = 0;
  for (int i = 0; i < options.count; ++i) {
    uint64_t one = seed + 1 + uint64_t(i) * 7;
    try {
      tryOne(session, one, options, seen);
    } catch (const Error &error) {
      std::fflush(stdout);
      std::fprintf(stderr, "ptx-run: abort %d, seed %llu: %s\n", i,
                   static_cast<unsigned long long>(one), error.what());
      ++wrong;
    }
  }
  std::printf("aborts: %d of %d ended well; %d seen by a launch, %d launches behind one that had failed\n",
              options.count - wrong, options.count, seen.failed, seen.behind);
  return wrong == 0;
}
