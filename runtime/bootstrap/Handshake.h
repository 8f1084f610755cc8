//===- Handshake.h - Who may talk to the store ------------------*- C++ -*-===//
#ifndef MKERNEL_RUNTIME_BOOTSTRAP_HANDSHAKE_H
#define MKERNEL_RUNTIME_BOOTSTRAP_HANDSHAKE_H

#include "mkernel/Runtime/Digest.h"
#include "mkernel/Runtime/Status.h"

namespace mk::rt::store {

inline constexpr size_t kNonceBytes = 32;
inline constexpr size_t kMinTokenBytes = 16;

/// What a client says about itself.
struct Hello {
  int32_t rank = -1;
  std::string job;
  Digest abi{};
  std::string nonce;
  Digest proof{};
};

std::string encodeHello(const Hello &hello);
/// Nothing when malformed.
std::optional<Hello> decodeHello(std::string_view payload);

/// Keyed hashes over both nonces and everything the client claims. The two
/// sides' proofs differ, so that neither can be reflected.
Digest clientProof(std::string_view token, std::string_view serverNonce,
                   const Hello &hello);
Digest serverProof(std::string_view token, std::string_view serverNonce,
                   const Hello &hello);

/// The server's judgement. The token is checked first: a stranger learns
/// nothing about the job.
Status judge(const Hello &hello, std::string_view serverNonce,
             std::string_view token, std::string_view job, const Digest &abi,
             uint32_t world);

Status checkToken(std::string_view token);

} // namespace mk::rt::store

#endif // MKERNEL_RUNTIME_BOOTSTRAP_HANDSHAKE_H
