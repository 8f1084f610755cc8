//===- Rails.h - Which NIC serves which GPU ---------------------*- C++ -*-===//
//
// Each GPU gets its nearest NICs. GPUs that have the same nearest NICs divide
// them: the NICs are laid end to end, each as long as it is fast, in order of
// their bus addresses, the line is cut into equal pieces, and GPU after GPU
// takes one. So two GPUs share one NIC, four GPUs take four of sixteen each,
// and every GPU gets the same speed of unequal NICs. A cut is moved to the
// nearest end of a NIC if that is less than an eighth of a piece away, so that
// a slow NIC does not split all others. A NIC that is near to GPUs with other
// choices too is divided as if all GPUs sent as much.
//
// The same machine always gives the same result. MK_NICS overrides it:
//   MK_NICS="0=mlx5_0,mlx5_1;1=mlx5_2"   GPUs 0 and 1; others as above
//   MK_NICS="mlx5_0,mlx5_2"              as above, of these NICs only
//
// A rail is a NIC that is used in the same way on all nodes: by the same GPUs,
// as their first, second, ... NIC. Where networks are built in rails, the NICs
// of one hang on one switch, so that GPU i of one node reaches GPU i of another
// through one switch.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_RUNTIME_RAILS_H
#define MKERNEL_RUNTIME_RAILS_H

#include "mkernel/Runtime/Topology.h"

#include <span>

namespace mk::rt {

/// A part of a NIC that a GPU uses.
struct NicShare {
  uint32_t nic = 0;    // index into Machine::nics
  uint64_t mbits = 0;  // what is the GPU's when all send at once, Mbit/s
  double fraction = 0; // of the GPU's traffic; those of a GPU add up to 1
};

struct NicAssignment {
  /// A GPU, or a rank of a machine without GPUs.
  struct User {
    uint32_t index = 0;      // into Machine::gpus; or the rank
    bool overridden = false; // named in MK_NICS
    std::vector<NicShare>
        shares; // in order of the NICs' addresses, or as named
  };
  std::vector<User> users;
  /// Why nobody has a NIC; "" if they have.
  std::string problem;
};

struct NicOptions {
  /// GPUs that take part, as indexes into Machine::gpus, in order of the ranks;
  /// empty: all.
  std::vector<uint32_t> gpus = {};
  /// Ranks of a machine without GPUs, all as near to all NICs (host target).
  /// Taken only where `gpus` is empty and the machine has none.
  uint32_t hostRanks = 0;
  /// NICs of one kind only: a transport speaks one.
  std::optional<NicKind> kind = {};
  /// In the form of MK_NICS, and instead of it.
  std::optional<std::string> nics = {};
};

/// Only NICs whose port is active, or unknown, are assigned. One of unknown
/// speed counts as the slowest of those that are known.
/// InvalidArgument: NicOptions::nics or MK_NICS is not of the form above, names
/// a GPU or NIC twice, or one that is not there. FailedPrecondition: it names a
/// NIC whose port is down, or that is of another kind. OutOfRange: `gpus` names
/// none.
Result<NicAssignment> assignNics(const Machine &machine,
                                 const NicOptions &options = {});

/// What other nodes have to know of a node's NICs.
struct NodeNics {
  struct Port {
    std::string nic;
    NicKind kind = NicKind::Verbs;
    std::string link;   // "" if unknown
    uint64_t mbits = 0; // the user's part

    bool operator==(const Port &) const = default;
  };
  /// For each GPU, or rank, of the assignment; in order of its shares.
  std::vector<std::vector<Port>> users;

  static NodeNics of(const Machine &machine, const NicAssignment &assignment);
};

struct Rail {
  /// Who uses it: GPU (its place among the users), and as which of its NICs.
  struct Use {
    uint32_t user = 0, ordinal = 0;
    auto operator<=>(const Use &) const = default;
  };
  std::vector<Use> uses;
  std::vector<std::string> nics; // for each node
  uint64_t mbits = 0;            // of the node where it is slowest, all users
};

/// The rails that all nodes have, in the order in which GPUs use them. NICs
/// that are used differently on some node are on no rail.
std::vector<Rail> commonRails(std::span<const NodeNics> nodes);

/// A part of the traffic from one GPU to another on another node.
struct Stripe {
  uint32_t from = 0, to = 0; // ordinals of the NICs of both
  double fraction = 0;       // those of a pair of GPUs add up to 1
};

/// How user `i` of `a` sends to user `j` of `b`. If both have as many NICs, the
/// k-th talks to the k-th, so that traffic stays on rails, with shares by the
/// slower of each two. Else each side's shares are laid on a line, and what
/// lies beside each other talks to each other. FailedPrecondition: one side has
/// no NIC, or two NICs that would have to talk to each other are of different
/// kinds or links. OutOfRange: no such user.
Result<std::vector<Stripe>> stripes(const NodeNics &a, uint32_t i,
                                    const NodeNics &b, uint32_t j);

} // namespace mk::rt

#endif // MKERNEL_RUNTIME_RAILS_H
