//===- Session.cpp - What the ranks of a job ask of the machine -----------===//

#include "Session.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <poll.h>
#include <set>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

using namespace mk::ptx;

namespace {

constexpr int kInvalid = 1, kInvalidPtx = 218, kLost = 719;

std::string makeFolder() {
  const char *base = std::getenv("TMPDIR");
  std::string path =
      std::string(base && *base ? base : "/tmp") + "/ptx-run-XXXXXX";
  if (!::mkdtemp(path.data()))
    throw Error("no temporary folder could be made");
  return path;
}

} // namespace

Session::~Session() {
  for (auto &[number, memory] : memory_) {
    ::munmap(memory.data, memory.bytes);
    ::close(memory.file);
  }
}

//===--- The command ------------------------------------------------------===//

int Session::run(char **command, const std::string &driver, bool quiet) {
  std::string folder = makeFolder(), path = folder + "/socket";
  listener_ = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::snprintf(address.sun_path, sizeof(address.sun_path), "%s", path.c_str());
  if (::bind(listener_, reinterpret_cast<sockaddr *>(&address),
             sizeof(address)) ||
      ::listen(listener_, 64))
    throw Error("cannot listen at " + path);
  pid_t child = ::fork();
  if (child == 0) {
    ::setenv(kSocket, path.c_str(), 1);
    ::setenv(kGpus, std::to_string(gpus_).c_str(), 1);
    ::setenv("MK_CUDA_LIBRARY", driver.c_str(), 1);
    ::setenv("MK_PTXAS", "off", 1); // PTX is what is wanted here
    if (int nowhere = quiet ? ::open("/dev/null", O_WRONLY) : -1; nowhere >= 0) {
      ::dup2(nowhere, 1);
      ::dup2(nowhere, 2);
    }
    ::execvp(command[0], command);
    std::fprintf(stderr, "ptx-run: cannot run %s\n", command[0]);
    ::_exit(127);
  }
  int status = -1;
  bool ended = false;
  while (!ended) {
    std::vector<pollfd> waits = {{listener_, POLLIN, 0}};
    for (auto &client : clients_)
      waits.push_back({client->socket, POLLIN, 0});
    ::poll(waits.data(), waits.size(), 20);
    if (waits[0].revents & POLLIN) {
      auto client = std::make_unique<Client>();
      client->socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      clients_.push_back(std::move(client));
    }
    for (size_t i = 1; i < waits.size(); ++i)
      if (waits[i].revents)
        serve(*clients_[i - 1]);
    std::erase_if(clients_, [](auto &client) { return client->socket < 0; });
    launchAll();
    ended = ::waitpid(child, &status, WNOHANG) == child;
  }
  clients_.clear();
  ::close(listener_);
  ::unlink(path.c_str());
  ::rmdir(folder.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

void Session::serve(Client &client) {
  Request request;
  int file = -1;
  if (!receiveMessage(client.socket, request, file)) {
    ::close(client.socket);
    client.socket = -1;
    return;
  }
  if (request.kind == Request::Wait && !client.launches.empty() &&
      error_.empty()) {
    client.waits = true;
    return;
  }
  Answer result = client.isProxy ? answerProxy(client, request, file)
                                 : answer(client, request, file);
  if (file >= 0)
    ::close(file);
  sendMessage(client.socket, result);
}

Answer Session::answer(Client &client, const Request &request, int file) {
  Answer result;
  switch (request.kind) {
  case Request::Hello:
    client.device = int(request.a);
    client.isProxy = request.b == 1;
    usesNetwork_ |= client.isProxy;
    break;
  case Request::Map: {
    Memory *memory = memoryOf(file, client.device);
    result.code = memory ? 0 : kInvalid;
    if (memory)
      client.regions[request.a] = {request.a, request.b, memory->data, request.c == 1};
    break;
  }
  case Request::Unmap:
    client.regions.erase(request.a);
    break;
  case Request::Load: {
    std::string text(request.b, '\0');
    if (::pread(file, text.data(), text.size(), 0) != ssize_t(text.size())) {
      result.code = kInvalid;
      break;
    }
    size_t known = 0;
    while (known < texts_.size() && texts_[known] != text)
      ++known;
    try {
      if (known == texts_.size()) {
        programs_.push_back(std::make_shared<Program>(Program::parse(text)));
        if (change_)
          programs_.back() = change_(*programs_.back());
        texts_.push_back(text);
      }
      result.a = known;
      result.b = programs_[known]->paramBytes;
    } catch (const Error &error) {
      error_ = error.what();
      result.code = kInvalidPtx;
      std::snprintf(result.text, sizeof(result.text), "%s", error.what());
    }
    break;
  }
  case Request::Launch: {
    Launch launch;
    launch.program = programs_.at(request.a);
    launch.params.resize(request.b);
    launch.ctas = request.ctas;
    launch.threads = request.threads;
    launch.copies = std::move(client.copies);
    client.copies.clear();
    launch.sharedBytes = request.shared;
    for (auto &[at, region] : client.regions)
      launch.memory.push_back(region);
    if (::pread(file, launch.params.data(), request.b, 0) != ssize_t(request.b))
      result.code = kInvalid;
    else
      client.launches.push_back(std::make_shared<Launch>(std::move(launch)));
    break;
  }
  case Request::Beside: {
    uint8_t *to = find(client, request.a), *from = find(client, request.b);
    if (to && from)
      client.copies.push_back({to, from, request.c});
    else
      result.code = kInvalid;
    break;
  }
  case Request::Wait:
    result.code = error_.empty() ? 0 : kLost;
    break;
  case Request::Upload:
  case Request::Download: {
    uint8_t *data = find(client, request.a);
    if (!data) {
      result.code = kInvalid;
    } else if (recording_.launches == 0) {
      // What is there before the first launch is kept as a whole.
    } else {
      recording_.stages[client.device].push_back(
          {nullptr,
           data,
           {data, data + request.b},
           request.kind == Request::Download});
    }
    break;
  }
  default: // of a proxy
    result.code = kInvalid;
    break;
  }
  return result;
}

//===--- Proxies ----------------------------------------------------------===//

Answer Session::answerProxy(const Client &proxy, const Request &request, int file) {
  Answer result;
  uint8_t *to = nullptr, *from = nullptr;
  for (auto &client : clients_) {
    if (client->isProxy || client->device != proxy.device)
      continue;
    to = find(*client, request.a);
    from = find(*client, request.b);
  }
  auto rank = uint32_t(proxy.device);
  uint64_t bytes = request.kind == Request::Publish ? 4 : request.c;
  std::vector<uint8_t> data(bytes);
  if (request.kind == Request::Copy || request.kind == Request::Read) {
    if (!from)
      return {kInvalid};
    if (machine_)
      machine_->networkRead(rank, from, data.data(), bytes);
    else
      std::memcpy(data.data(), from, bytes);
  }
  switch (request.kind) {
  case Request::Read:
    result.code = ::pwrite(file, data.data(), bytes, 0) == ssize_t(bytes) ? 0 : kInvalid;
    break;
  case Request::Write:
    if (::pread(file, data.data(), bytes, 0) != ssize_t(bytes))
      return {kInvalid};
    [[fallthrough]];
  case Request::Copy:
    if (!to)
      return {kInvalid};
    if (machine_)
      machine_->networkWrite(rank, to, data.data(), bytes);
    else
      std::memcpy(to, data.data(), bytes);
    break;
  case Request::Publish: {
    auto value = uint32_t(request.c);
    if (!to)
      return {kInvalid};
    if (machine_)
      machine_->networkPublish(rank, to, value);
    else
      std::memcpy(to, &value, sizeof(value));
    break;
  }
  default:
    result.code = kInvalid;
  }
  return result;
}

bool Session::serveProxies(bool wait) {
  using Clock = std::chrono::steady_clock;
  std::vector<pollfd> waits;
  std::vector<Client *> proxies;
  for (auto &client : clients_)
    if (client->isProxy && client->socket >= 0) {
      waits.push_back({client->socket, POLLIN, 0});
      proxies.push_back(client.get());
    }
  if (::poll(waits.data(), waits.size(), wait ? 1 : 0) > 0) {
    for (size_t i = 0; i < waits.size(); ++i)
      if (waits[i].revents)
        serve(*proxies[i]);
    lastServed_ = Clock::now();
    return true;
  }
  return Clock::now() - lastServed_ < patience_;
}

//===--- Launches ---------------------------------------------------------===//

/// Whether those that have launched need not wait for the others any more: they may be lost, late,
/// or not take part. Without deadlines that is an error of who chose the number of GPUs.
bool Session::goesAlone(bool any, int alive) {
  using std::chrono::seconds;
  auto now = std::chrono::steady_clock::now();
  if (!any || (!deadline_ && hadAll_)) {
    aloneSince_ = {};
    return false;
  }
  if (aloneSince_ == std::chrono::steady_clock::time_point())
    aloneSince_ = now;
  // Hosts may share a processor.
  if (now - aloneSince_ <= (deadline_ ? seconds(2) : seconds(20)))
    return false;
  if (!deadline_ && error_.empty())
    error_ = "20 s behind the first launch the command uses " + std::to_string(alive) + " of " +
             std::to_string(gpus_) + " GPUs; give the same --gpus to both, or compile it before";
  return true;
}

void Session::launchAll() {
  while (true) {
    std::map<int, Client *> ready;
    // Where a kernel opens a launch the two are one: peers may wait for the second one meanwhile.
    auto opens = [](const Client &client) {
      return client.launches.front()->program->name == "mk_open";
    };
    for (auto &client : clients_)
      if (!client->launches.empty() && client->launches.size() > size_t(opens(*client)))
        ready[client->device] = client.get();
    std::set<int> alive;
    for (auto &client : clients_)
      if (!client->isProxy && client->device >= 0)
        alive.insert(client->device);
    hadAll_ |= int(alive.size()) == gpus_;
    // Nobody waits for those that have gone.
    bool all = int(ready.size()) == gpus_ ||
               (deadline_ && hadAll_ && !ready.empty() && ready.size() == alive.size());
    if (!all && !goesAlone(!ready.empty(), int(alive.size())))
      break;
    aloneSince_ = {};
    // What is copied in front of a kernel comes first: other ranks may have nothing to copy.
    auto copies = [](auto &entry) { return entry.second->launches.front()->program->name == "mk_pack"; };
    if (std::any_of(ready.begin(), ready.end(), copies))
      std::erase_if(ready, [&](auto &entry) { return !copies(entry); });
    if (recording_.launches++ == 0)
      keepMemory();
    std::vector<std::vector<Stage>> ranks(static_cast<size_t>(gpus_));
    for (auto &[device, client] : ready) {
      for (int i = 0, count = 1 + opens(*client); i < count; ++i) {
        Stage stage{client->launches.front(), nullptr, {}, false};
        client->launches.pop_front();
        recording_.stages[device].push_back(stage);
        ranks[static_cast<size_t>(device)].push_back(stage);
      }
    }
    if (!error_.empty())
      continue;
    try {
      Machine machine(ranks, seed_ + recording_.launches);
      machine.jump = uint64_t(1) << 26; // 67 ms
      machine.patience = uint32_t(deadline_) * 16 * 8; // of several waits, one after the other
      if (usesNetwork_) {
        lastServed_ = std::chrono::steady_clock::now();
        machine.outside = [this](bool wait) { return serveProxies(wait); };
      }
      machine.stepLimit = stepLimit_;
      machine_ = &machine;
      machine.run();
      machine_ = nullptr;
      recording_.steps += machine.steps();
      recording_.executed.resize(machine.executed.size());
      for (size_t i = 0; i < machine.executed.size(); ++i)
        recording_.executed[i] += machine.executed[i];
    } catch (const Error &error) {
      error_ = error.what();
    }
    machine_ = nullptr;
  }
  for (auto &client : clients_)
    if (client->waits && (client->launches.empty() || !error_.empty())) {
      client->waits = false;
      Answer answer;
      answer.code = error_.empty() ? 0 : kLost;
      sendMessage(client->socket, answer);
    }
}

std::string Session::replay(uint64_t seed,
                            std::shared_ptr<const Program> program,
                            uint64_t stepLimit) {
  std::vector<std::vector<Stage>> ranks = rewind();
  const Program *subject = this->subject();
  for (auto &stages : ranks)
    for (Stage &stage : stages) {
      if (!stage.launch || !program || stage.launch->program.get() != subject)
        continue;
      auto changed = std::make_shared<Launch>(*stage.launch);
      changed->program = program;
      stage.launch = changed;
    }
  try {
    Machine machine(ranks, seed);
    machine.stepLimit = stepLimit;
    machine.run();
    if (!machine.wrong)
      return "";
    return std::to_string(machine.wrong) + " of " +
           std::to_string(machine.compared) + " bytes of results differ";
  } catch (const Error &error) {
    return error.what();
  }
}

const Program *Session::subject() const {
  const Program *last = nullptr;
  for (const Stage &stage : recording_.stages.begin()->second)
    if (stage.launch)
      last = stage.launch->program.get();
  return last;
}

std::vector<std::vector<Stage>> Session::rewind() {
  restoreMemory();
  std::vector<std::vector<Stage>> ranks;
  for (auto &[device, stages] : recording_.stages)
    ranks.push_back(stages);
  return ranks;
}

int Session::ownerOf(const uint8_t *at) const {
  for (auto &[number, memory] : memory_)
    if (at >= memory.data && at < memory.data + memory.bytes)
      return memory.owner;
  return -1;
}

//===--- Memory -----------------------------------------------------------===//

Memory *Session::memoryOf(int file, int device) {
  struct stat info {};
  if (file < 0 || ::fstat(file, &info))
    return nullptr;
  Memory &memory = memory_[uint64_t(info.st_ino)];
  if (memory.data)
    return &memory;
  void *data = ::mmap(nullptr, size_t(info.st_size), PROT_READ | PROT_WRITE,
                      MAP_SHARED, file, 0);
  if (data == MAP_FAILED) {
    memory_.erase(uint64_t(info.st_ino));
    return nullptr;
  }
  memory.file = ::fcntl(file, F_DUPFD_CLOEXEC, 0);
  memory.data = static_cast<uint8_t *>(data);
  memory.bytes = uint64_t(info.st_size);
  memory.owner = device; // who has made it maps it first
  return &memory;
}

uint8_t *Session::find(const Client &client, uint64_t address) {
  auto it = client.regions.upper_bound(address);
  if (it == client.regions.begin())
    return nullptr;
  const Region &region = std::prev(it)->second;
  if (address >= region.address + region.bytes)
    return nullptr;
  return region.data + (address - region.address);
}

void Session::keepMemory() {
  for (auto &[number, memory] : memory_)
    for (off_t at = 0; (at = ::lseek(memory.file, at, SEEK_DATA)) >= 0;) {
      off_t end = ::lseek(memory.file, at, SEEK_HOLE);
      recording_.pages.push_back(
          {memory.data + at, {memory.data + at, memory.data + end}});
      at = end;
    }
}

void Session::restoreMemory() {
  for (auto &[number, memory] : memory_)
    ::fallocate(memory.file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
                off_t(memory.bytes));
  for (const Recording::Page &page : recording_.pages)
    std::memcpy(page.to, page.data.data(), page.data.size());
}
