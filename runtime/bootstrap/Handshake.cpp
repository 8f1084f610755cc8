//===- Handshake.cpp - Who may talk to the store --------------------------===//

#include "bootstrap/Handshake.h"
#include "bootstrap/Frame.h"

#include <cstring>

namespace mk::rt::store {
namespace {

std::string_view view(const Digest &d) {
  return {reinterpret_cast<const char *>(d.data()), d.size()};
}

Digest proof(std::string_view role, std::string_view token,
             std::string_view serverNonce, const Hello &hello) {
  Writer text;
  text.bytes(role)
      .bytes(serverNonce)
      .bytes(hello.nonce)
      .bytes(hello.job)
      .u32(static_cast<uint32_t>(hello.rank))
      .bytes(view(hello.abi));
  return hmacSha256(token, text.take());
}

} // namespace

std::string encodeHello(const Hello &hello) {
  Writer out;
  out.u32(static_cast<uint32_t>(hello.rank))
      .bytes(hello.job)
      .bytes(view(hello.abi))
      .bytes(hello.nonce)
      .bytes(view(hello.proof));
  return out.take();
}

std::optional<Hello> decodeHello(std::string_view payload) {
  Reader in(payload);
  Hello hello;
  hello.rank = static_cast<int32_t>(in.u32());
  hello.job = in.bytes();
  std::string_view abi = in.bytes();
  hello.nonce = in.bytes();
  std::string_view proof = in.bytes();
  if (!in.done() || abi.size() != hello.abi.size() ||
      hello.nonce.size() != kNonceBytes || proof.size() != hello.proof.size())
    return std::nullopt;
  memcpy(hello.abi.data(), abi.data(), abi.size());
  memcpy(hello.proof.data(), proof.data(), proof.size());
  return hello;
}

Digest clientProof(std::string_view token, std::string_view serverNonce,
                   const Hello &hello) {
  return proof("client", token, serverNonce, hello);
}

Digest serverProof(std::string_view token, std::string_view serverNonce,
                   const Hello &hello) {
  return proof("server", token, serverNonce, hello);
}

Status judge(const Hello &hello, std::string_view serverNonce,
             std::string_view token, std::string_view job, const Digest &abi,
             uint32_t world) {
  if (!equalDigests(hello.proof, clientProof(token, serverNonce, hello)))
    return error(StatusCode::PermissionDenied,
                 "the job token is wrong: give the rank that of the launcher of "
                 "this job (ContextOptions::token)");
  if (hello.job != job)
    return error(StatusCode::PermissionDenied, "rank ", hello.rank,
                 " belongs to job '", hello.job, "', this is the store of '",
                 job, "'");
  if (!equalDigests(hello.abi, abi))
    return error(StatusCode::PermissionDenied, "rank ", hello.rank,
                 " was built with ABI ", toHex(hello.abi).substr(0, 12),
                 ", the launcher with ", toHex(abi).substr(0, 12),
                 ": use one build of mKernel on all nodes");
  if (hello.rank < -1 || hello.rank >= static_cast<int64_t>(world))
    return error(StatusCode::PermissionDenied, "rank ", hello.rank,
                 " does not exist: the job has ", world, " ranks");
  return {};
}

Status checkToken(std::string_view token) {
  if (token.size() >= kMinTokenBytes)
    return {};
  return error(StatusCode::InvalidArgument, "a job token of ", token.size(),
               " bytes is too short to be a secret: use at least ",
               kMinTokenBytes, ", or let the launcher make one");
}

} // namespace mk::rt::store
