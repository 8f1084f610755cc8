//===- Job.cpp - Meeting the other ranks of a job -------------------------===//

#include "mkernel/Runtime/Job.h"
#include "bootstrap/Handshake.h"
#include "bootstrap/LocalOffer.h"
#include "mkernel/Runtime/Env.h"
#include "mkernel/Runtime/Log.h"

#include <algorithm>
#include <netdb.h>
#include <unistd.h>

using namespace mk::rt;

namespace {

// A failed rank 0 waits that long for the others to hear of it.
constexpr auto kLinger = std::chrono::milliseconds(500);

struct Address {
  std::string host;
  uint16_t port = 0;
};

Result<Address> parseAddress(const std::string &text, std::string_view what) {
  size_t colon = text.rfind(':');
  Result<int64_t> port = colon == std::string::npos
                             ? Result<int64_t>(-1)
                             : env::parseInt(text.substr(colon + 1));
  std::string host = text.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']')
    host = host.substr(1, host.size() - 2);
  if (!port || *port < 1 || *port > 65535 || host.empty())
    return error(StatusCode::InvalidArgument, what, text,
                 ": HOST:PORT is needed, with a port from 1 to 65535");
  return Address{host, static_cast<uint16_t>(*port)};
}

/// Numeric addresses of a host.
Result<std::vector<std::string>> resolve(const std::string &host) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  int rc = getaddrinfo(host.c_str(), nullptr, &hints, &found);
  if (rc != 0)
    return error(StatusCode::Unavailable, "the host '", host,
                 "' of rank 0 cannot be resolved: ", gai_strerror(rc),
                 "; name another address of it with --store or MK_STORE");
  std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(found, freeaddrinfo);
  std::vector<std::string> numbers;
  for (addrinfo *a = found; a; a = a->ai_next) {
    char text[64];
    if (getnameinfo(a->ai_addr, a->ai_addrlen, text, sizeof(text), nullptr, 0,
                    NI_NUMERICHOST) == 0)
      numbers.push_back(text);
  }
  return numbers;
}

Result<std::unique_ptr<StoreServer>> listenAt(StoreServerOptions options,
                                              const Address &at, bool oneHost) {
  MK_ASSIGN(std::vector<std::string> numbers, resolve(at.host));
  options.port = at.port;
  Status last =
      error(StatusCode::Unavailable, "'", at.host, "' has no address");
  for (const std::string &number : numbers) {
    options.address = number;
    // Many systems resolve their own name to an address that no other host
    // reaches.
    if (!oneHost && (number.starts_with("127.") || number == "::1"))
      options.address = number == "::1" ? "::" : "0.0.0.0";
    auto server = StoreServer::start(options);
    if (server)
      return server;
    last = server.status();
  }
  return error(last.code(), "rank 0 cannot listen at ", at.host, ":", at.port,
               ": ", last.message(),
               "; give an address of the host of rank 0 and a free port, the "
               "same on all ranks, with --store or MK_STORE");
}

std::string list(const std::vector<uint32_t> &ranks) {
  std::string text;
  for (size_t i = 0; i < ranks.size() && i < 8; ++i)
    text += str(i ? ", " : "", ranks[i]);
  if (ranks.size() > 8)
    text += str(" and ", ranks.size() - 8, " more");
  return text;
}

} // namespace

Result<std::unique_ptr<Job>> Job::join(JobOptions options) {
  MK_ASSIGN(std::optional<JobPlace> place, findPlace(options));
  if (!place)
    return error(StatusCode::FailedPrecondition,
                 "this process was started by no launcher: start the ranks "
                 "with torchrun, mpirun or srun");
  return join(std::move(*place), std::move(options));
}

Result<std::unique_ptr<Job>> Job::join(JobPlace place, JobOptions options) {
  env::warnOnce();
  auto orElse = [](std::string &option, const char *variable) {
    if (option.empty())
      option = env::get(variable).value_or("");
  };
  orElse(options.store, "MK_STORE");
  orElse(options.token, "MK_JOB_TOKEN");
  orElse(options.node, "MK_NODE");
  std::unique_ptr<Job> job(new Job());
  job->place_ = std::move(place);
  job->options_ = std::move(options);
  MK_TRY(checkTime("JobOptions::timeout", job->options_.timeout));
  MK_TRY(checkTime("JobOptions::silence", job->options_.silence));
  Deadline deadline = Deadline::after(job->options_.timeout);
  // The others learn from rank 0 who did not come, if it is the first to ask.
  if (job->rank() != 0)
    deadline = Deadline::after(addTime(job->options_.timeout, std::chrono::milliseconds(400)));
  Status status = job->connect(deadline);
  if (status.isOk())
    status = job->findNodes(deadline);
  if (!status.isOk()) {
    job->fail(status);
    job->leave().ignore();
    return status;
  }
  log::info(job->describe());
  return job;
}

/// Starts or finds the store.
Status Job::connect(Deadline deadline) {
  const std::string &given = options_.store;
  StoreServerOptions server;
  server.job = str(place_.source, " ", place_.id);
  server.world = world();
  server.handshakeTimeout = std::chrono::seconds(30);
  server.silence = options_.silence;
  server.token = options_.token.empty() ? place_.token : options_.token;
  bool meetHere = place_.oneHost;
  std::optional<Address> at;
  if (!given.empty()) {
    MK_ASSIGN(at, parseAddress(given, "--store (MK_STORE) "));
    meetHere |= at->host == "localhost" || at->host.starts_with("127.");
  } else if (!place_.store.empty()) {
    MK_ASSIGN(at, parseAddress(place_.store,
                               place_.source + " says that rank 0 is at "));
  }
  if (!meetHere && !at)
    return error(
        StatusCode::InvalidArgument, place_.source,
        " does not say where rank 0 of a job of several hosts is: give "
        "all ranks the same --store HOST:PORT (MK_STORE), or "
        "MASTER_ADDR and MASTER_PORT");
  if (!meetHere && server.token.empty())
    return error(StatusCode::InvalidArgument,
                 "a job of several hosts needs a secret that ", place_.source,
                 " does not provide: set MK_JOB_TOKEN on all ranks to the same "
                 "16 or more random characters");
  if (!server.token.empty())
    MK_TRY(store::checkToken(server.token));

  // Jobs of a user that differ in anything here meet apart.
  Digest digest =
      sha256(str(server.job, "\n", world(), "\n", geteuid(), "\n", given));
  std::string name =
      "mkernel-job-" + toHex(std::span<const uint8_t>(digest.data(), 16));
  StoreClientOptions client;
  client.job = server.job;
  client.rank = static_cast<int32_t>(rank());
  client.keeper = "rank 0";
  client.silence = options_.silence;
  std::unique_ptr<LocalOffer> offer;
  if (rank() == 0) {
    if (meetHere && server.token.empty())
      server.token = randomToken();
    if (at && (!meetHere || !given.empty())) {
      MK_ASSIGN(server_, listenAt(server, *at, meetHere));
    } else {
      MK_ASSIGN(server_, StoreServer::start(server));
    }
    if (meetHere) {
      auto offered =
          LocalOffer::start(name, str(server.token, "\n", server_->endpoint()));
      if (!offered)
        return offered.status().withContext(
            str("another rank 0 of this user waits here for ", world(),
                " ranks of '", server.job,
                "': if two processes of this job were given rank 0, correct "
                "that; else end it, or tell the two jobs apart by --store "
                "127.0.0.1:PORT (MK_STORE)"));
      offer = std::move(*offered);
    }
    client.endpoint =
        at && !meetHere ? str("127.0.0.1:", at->port) : server_->endpoint();
    if (std::string own = server_->endpoint();
        !own.starts_with("0.0.0.0") && !own.starts_with("[::]"))
      client.endpoint = own;
    client.token = server.token;
  } else if (meetHere) {
    MK_ASSIGN(std::string offered, takeLocalOffer(name, deadline));
    size_t line = offered.find('\n');
    client.token = offered.substr(0, line);
    client.endpoint = line == std::string::npos ? "" : offered.substr(line + 1);
    if (!options_.token.empty() && options_.token != client.token)
      client.token = options_.token; // refused with the proper words
  } else {
    client.token = server.token;
    bool v6 = at->host.find(':') != std::string::npos;
    client.endpoint = str(v6 ? "[" : "", at->host, v6 ? "]:" : ":", at->port);
  }
  MK_ASSIGN(store_, StoreClient::connect(client, deadline));
  if (!server_)
    return Status::success();

  Backoff backoff(std::chrono::milliseconds(10));
  while (true) {
    if (auto record = server_->aborted()) {
      // Who comes a little later hears why too, instead of waiting for a rank 0
      // that has ended.
      Deadline late = Deadline::after(kLinger);
      while (!server_->missing().empty() && !late.passed())
        backoff.pause();
      return record->toStatus();
    }
    std::vector<uint32_t> missing = server_->missing();
    if (missing.empty())
      break;
    if (deadline.passed()) {
      std::vector<std::string> refused = server_->refusals();
      return error(StatusCode::DeadlineExceeded, "rank(s) ", list(missing),
                   " of ", world(), " did not come within ",
                   deadline.duration(),
                   refused.empty() ? str(": check that ", place_.source,
                                         " started them, and their own output")
                                   : "; " + refused.back());
    }
    backoff.pause();
  }
  // The next job of the same name shall find its own rank 0.
  server_->stopListening();
  return Status::success();
}

std::string Job::describe() const {
  return str(world(), world() == 1 ? " rank on " : " ranks on ", numNodes_,
             numNodes_ == 1 ? " node" : " nodes", ", started by ",
             place_.source);
}

void Job::fail(const Status &why) {
  if (why.isOk() || !store_ || store_->aborted())
    return;
  AbortRecord record =
      AbortRecord::now(static_cast<int32_t>(rank()), "job", why.message());
  failed_ = true;
  if (server_)
    server_->abort(std::move(record));
  else
    store_->publishAbort(record).ignore();
}

Status Job::leave() {
  if (left_ || !store_) {
    server_.reset();
    return Status::success();
  }
  left_ = true;
  store_->publishPending();
  // Where this rank has failed and the way to the store with it, nobody answers.
  constexpr std::chrono::nanoseconds patience = std::chrono::seconds(2);
  Deadline deadline =
      Deadline::after(failed_ ? std::min(patience, options_.timeout) : options_.timeout);
  if (failed_ && !store_->silent().empty())
    deadline = Deadline::after(std::chrono::nanoseconds(0));
  Status result = store_->barrier("mk.job.leave", world(), deadline);
  store_->goodbye(store_->silent().empty() ? Deadline::after(patience)
                                           : Deadline::after(std::chrono::nanoseconds(0)))
      .ignore();
  if (auto record = store_->aborted())
    result = record->toStatus();
  // The store goes last: the others still have to say goodbye, or to hear why
  // the job has failed.
  if (server_) {
    Deadline deadline = Deadline::after(
        result.isOk() ? std::chrono::milliseconds(5000) : kLinger);
    Backoff backoff(std::chrono::milliseconds(2));
    while (server_->connected() > 0 && !deadline.passed())
      backoff.pause();
  }
  server_.reset();
  return result;
}

Job::~Job() {
  // The others shall hear why, not just lose the store.
  if (store_ && (failed_ || store_->aborted()))
    leave().ignore();
}
