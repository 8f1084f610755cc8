//===- CommandTest.cpp - Commands and their ring --------------------------===//

#include "Support.h"

#include "mkernel/Runtime/CommandRing.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <random>

namespace mk::rt::test {
namespace {

Command randomCommand(std::mt19937_64 &random) {
  Command c;
  c.op = uint8_t(random());
  c.flags = uint8_t(random());
  c.peer = uint16_t(random());
  c.channel = uint16_t(random());
  c.amount = uint16_t(random());
  c.bytes = uint32_t(random());
  c.slot = uint32_t(random() & (MK_COMMAND_MAX_SLOTS - 1));
  c.src = random() >> 16;
  c.dst = random() >> 16;
  return c;
}

std::unique_ptr<CommandRing> make(uint64_t capacity) {
  auto ring = CommandRing::create(capacity);
  EXPECT_OK(ring);
  return std::move(*ring);
}

/// Up to `most` commands off the ring.
std::vector<mk_command> drain(CommandRing &ring, size_t most) {
  std::vector<mk_command> raws;
  size_t n = ring.consume(most, [&](const CommandWords &words) {
    memcpy(&raws.emplace_back(), &words, sizeof(words));
  });
  EXPECT_EQ(n, raws.size());
  ring.freeSpace();
  return raws;
}

TEST(Command, RoundTrips) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 10000; ++i) {
    Command c = randomCommand(random);
    mk_command raw = encodeCommand(c, i);
    auto back = decodeCommand(raw);
    ASSERT_OK(back);
    EXPECT_EQ(*back, c);
  }
}

TEST(Command, FieldsThatDoNotFit) {
  Command c;
  c.slot = MK_COMMAND_MAX_SLOTS;
  EXPECT_ERROR(checkEncodable(c), OutOfRange, "signal slot 16777216");
  c = {};
  c.src = uint64_t(1) << 48;
  EXPECT_ERROR(checkEncodable(c), OutOfRange, "source offset");
  c = {};
  c.dst = UINT64_MAX;
  EXPECT_ERROR(checkEncodable(c), OutOfRange, "destination offset");
}

TEST(Command, DecoderTakesAnyBytes) {
  std::mt19937_64 random(9);
  int refused = 0;
  for (int i = 0; i < 200000; ++i) {
    mk_command raw;
    for (size_t b = 0; b < sizeof(raw); b += 8) {
      uint64_t word = random();
      memcpy(reinterpret_cast<char *>(&raw) + b, &word, 8);
    }
    if (i % 2)
      raw.lap0 &= 1, raw.dst_and_slot_hi &= ~(uint64_t(0x7f) << 56);
    auto c = decodeCommand(raw);
    if (!c) {
      ++refused;
      EXPECT_THAT(c.status().message(), HasSubstr("must be zero"));
      continue;
    }
    // What is accepted means exactly these bits.
    mk_command again = encodeCommand(*c, raw.lap0 & 1 ? 0 : 1);
    again.dst_and_slot_hi &= ~(uint64_t(1) << 63);
    raw.dst_and_slot_hi &= ~(uint64_t(1) << 63);
    EXPECT_EQ(memcmp(&again, &raw, sizeof(raw)), 0);
  }
  EXPECT_GE(refused, 99000);
}

TEST(Ring, CapacityOfTheEnvironmentAndItsDefaults) {
  ::unsetenv("MK_COMMANDS");
  EXPECT_EQ(*CommandRing::capacityAsked(8), 8u);
  ::setenv("MK_COMMANDS", "2K", 1);
  EXPECT_EQ(*CommandRing::capacityAsked(8), 2048u);
  for (const char *bad : {"0", "3", "2M", "-1", "many"}) {
    ::setenv("MK_COMMANDS", bad, 1);
    EXPECT_ERROR(CommandRing::capacityAsked(8).status(), InvalidArgument,
                 str("MK_COMMANDS: '", bad, "' is no number of commands: use a power of two"));
  }
  ::unsetenv("MK_COMMANDS");
  // docs/network.md says so, wherever its lines end.
  std::ifstream file(MK_SOURCE_DIR "/docs/network.md");
  std::string text{std::istreambuf_iterator<char>(file), {}};
  std::replace(text.begin(), text.end(), '\n', ' ');
  EXPECT_THAT(text, HasSubstr(str("a proxy holds (", CommandRing::kOfHost, "; on the GPU ",
                                  CommandRing::kOfGpu, ")")));
}

TEST(Ring, CapacityIsAPowerOfTwo) {
  for (uint64_t bad : {0, 3, 1000, 1 << 21})
    EXPECT_ERROR(CommandRing::create(bad).status(), InvalidArgument,
                 "a power of two from 1 to");
}

TEST(Ring, ACommandIsThereWhenBothHalvesAre) {
  constexpr uint64_t capacity = 4;
  std::vector<mk_command> memory(CommandRing::bytesOf(capacity) / sizeof(mk_command));
  auto ring = CommandRing::create(capacity, reinterpret_cast<std::byte *>(memory.data()));
  ASSERT_OK(ring);
  mk_command *commands = memory.data() + sizeof(mk_command_ring) / sizeof(mk_command);
  for (uint64_t i = 0; i < 3 * capacity; ++i) {
    Command c;
    c.bytes = static_cast<uint32_t>(i);
    // What is left of the lap before is none of this lap.
    EXPECT_FALSE((*ring)->hasCommands()) << i;
    mk_command raw = encodeCommand(c, i / capacity), &place = commands[i % capacity];
    memcpy(&place, &raw, 16); // one half is not enough
    EXPECT_FALSE((*ring)->hasCommands()) << i;
    EXPECT_TRUE(drain(**ring, 1).empty()) << i;
    memcpy(reinterpret_cast<char *>(&place) + 16, reinterpret_cast<char *>(&raw) + 16, 16);
    EXPECT_TRUE((*ring)->hasCommands()) << i;
    auto raws = drain(**ring, capacity);
    ASSERT_EQ(raws.size(), 1u) << i;
    EXPECT_EQ(*decodeCommand(raws[0]), c);
  }
}

TEST(Ring, FullRingWaitsAndLeavesNoHole) {
  auto ring = make(4);
  Command c;
  for (uint16_t i = 0; i < 4; ++i) {
    c.amount = i;
    EXPECT_OK(ring->tryPush(c));
  }
  EXPECT_ERROR(ring->tryPush(c), Again, "full (4 commands)");
  int waits = 0;
  EXPECT_ERROR(ring->push(c,
                          [&]() -> Status {
                            if (++waits < 5)
                              return {};
                            return error(StatusCode::DeadlineExceeded,
                                         "gave up");
                          }),
               DeadlineExceeded, "gave up");
  EXPECT_EQ(waits, 5);
  EXPECT_EQ(ring->backlog(), 4u);
  EXPECT_EQ(drain(*ring, 3).size(), 3u);
  c.amount = 9;
  EXPECT_OK(ring->tryPush(c));
  std::vector<mk_command> raws = drain(*ring, 8);
  ASSERT_EQ(raws.size(), 2u);
  EXPECT_EQ(decodeCommand(raws[0])->amount, 3);
  EXPECT_EQ(decodeCommand(raws[1])->amount, 9);
  EXPECT_TRUE(drain(*ring, 8).empty());
  EXPECT_FALSE(ring->hasCommands());
}

void manyLaps(uint64_t capacity) {
  constexpr uint32_t producers = 6, each = 2000;
  auto ring = make(capacity);
  std::thread consumer([&] {
    std::vector<uint32_t> next(producers, 0);
    uint64_t got = 0;
    Backoff backoff(std::chrono::microseconds(50));
    while (got < uint64_t(producers) * each) {
      std::vector<mk_command> raws = drain(*ring, 13);
      for (const mk_command &raw : raws) {
        auto c = decodeCommand(raw);
        ASSERT_OK(c);
        // In order for each producer, and both halves of one command.
        EXPECT_EQ(c->bytes, next[c->channel]++);
        EXPECT_EQ(c->src, c->bytes * 3ull);
        EXPECT_EQ(c->dst, c->bytes * 5ull + c->channel);
      }
      got += raws.size();
      raws.empty() ? backoff.pause() : backoff.reset();
    }
  });
  Job::parallel(producers, [&](uint32_t p) {
    Backoff backoff(std::chrono::microseconds(50));
    for (uint32_t i = 0; i < each; ++i) {
      Command c;
      c.channel = uint16_t(p);
      c.bytes = i;
      c.src = i * 3ull;
      c.dst = i * 5ull + p;
      EXPECT_OK(ring->push(c, [&]() -> Status {
        backoff.pause();
        return {};
      }));
      backoff.reset();
    }
  });
  consumer.join();
  EXPECT_EQ(ring->backlog(), 0u);
}

// Tiny, so that producers wait all the time and laps are many.
TEST(Ring, ManyProducersManyLaps) { manyLaps(32); }
// Each command is a lap.
TEST(Ring, OfOnePlace) { manyLaps(1); }

} // namespace
} // namespace mk::rt::test
