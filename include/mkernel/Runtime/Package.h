//===- Package.h - Compiled kernels -----------------------------*- C++ -*-===//
//
// Reads the files that mkernel/ABI/Package.h describes (ABI/Gpu.h: what those
// for GPUs have besides). A file that is
// truncated, altered, of another ABI or not well-formed is refused with a
// message before any of it is run.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_RUNTIME_PACKAGE_H
#define MKERNEL_RUNTIME_PACKAGE_H

#include "mkernel/ABI/GpuParams.h"
#include "mkernel/Runtime/Digest.h"
#include "mkernel/Runtime/ElementType.h"
#include "mkernel/Runtime/Mesh.h"
#include "mkernel/Runtime/Status.h"

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace mk::rt {

namespace abi = mkernel::abi;

struct NamedSize {
  std::string name;
  int64_t size;
  bool operator==(const NamedSize &) const = default;
};

/// A kernel's interface, as its package states it.
struct Metadata {
  struct MeshAxis {
    std::string name;
    LinkKind kind = LinkKind::Link;
    std::optional<int64_t> size; // absent: given at launch
    bool operator==(const MeshAxis &) const = default;
  };
  struct Dim {
    std::string name;
    bool perRank = false;        // "rank": every rank has its own value
    std::vector<int64_t> values; // empty: given at launch; else one, or one
                                 // for each rank
    bool operator==(const Dim &) const = default;
  };
  /// A parameter (mk.param), which the code no longer has.
  struct Param {
    std::string name;
    std::optional<int64_t> value; // absent: follows from what is given at launch
    std::string from;             // "given", "tuned", "model" or "default"
  };
  enum class ArgKind { In, Out, InOut, Scratch };
  struct Arg {
    std::string name;
    ArgKind kind = ArgKind::In;
    ElementType type = ElementType::f32;
    uint32_t rank = 0;
    bool symmetric = false;
    std::vector<std::vector<std::string>> split; // axes for each dimension
    /// "local": whether an extent depends on a per-rank dimension, for each
    /// dimension. Empty when the package does not say; found out by trying.
    std::vector<bool> local;
    /// "extents": as the kernel's file writes them, for messages; may be empty.
    std::vector<std::string> extents;
    bool operator==(const Arg &) const = default;
  };
  /// Where a role waits for a signal, or for records of a queue: "kernel.mlir:106:11".
  struct Wait {
    uint32_t role = 0;
    std::string at;
  };
  struct Signal {
    std::string name;
    uint32_t rank = 0;
    bool sys = false; // peers can raise it
    bool dynamic = false;
    std::vector<Wait> waits;
  };
  struct Counter {
    std::string name;
    uint32_t rank = 0;
  };
  struct Queue {
    std::string name;
    uint32_t width = 1; // words of a record
    std::vector<Wait> waits;
  };
  enum class Schedule { Static, Ticket, Queue };
  struct Loop {
    uint32_t role = 0;
    Schedule schedule = Schedule::Static;
  };
  struct Role {
    std::string name;
    uint32_t ctas = 0;
    int32_t then = -1; // role that finished CTAs help, -1: none
    /// Role beside which a GPU's CTAs run this one, -1: none. On the host it has as many CTAs of
    /// its own.
    int32_t beside = -1;
    bool engines = false; // a GPU's copy engines carry it out
    /// Whether a GPU's grid has CTAs for it.
    bool isInGrid() const { return beside < 0 && !engines; }
  };
  /// An op that is checked when it runs; see mkernel/ABI/Site.h.
  struct Site {
    std::string op, at;
  };
  /// See mkernel/ABI/Timeline.h.
  struct TimelineTracks {
    uint32_t records = 0; // that a track holds
    uint32_t tracks = 1;  // of a CTA
    std::vector<bool> communicates, computes; // by role
  };
  struct Reference {
    std::vector<uint32_t> inputs, outputs; // argument indices
    std::vector<ElementType> types;        // of inputs, then outputs
    int64_t contraction = 0; // "check_k": terms of a sum; 0: not stated
    /// "check_epsilon", for each output: of the coarsest type to which values on their
    /// way to it are rounded, the last rounding left out. Empty: not stated.
    std::vector<double> epsilons;
    std::vector<uint32_t> dims; // indices of dimensions that it takes
  };

  /// Tensor map `i` of the parameter block; see mkernel/ABI/Gpu.h.
  struct TensorMap {
    uint32_t arg = 0;
    std::vector<uint32_t> box; // elements, innermost last
    uint32_t swizzle = 0;      // bytes
    bool copies = false;       // tiles are fetched by it
    bool packs = false;        // the argument may be copied in front of a launch
  };
  /// One of several codes of a kernel for a GPU.
  struct Variant {
    std::string name;
    bool needsMaps = false;      // by which it fetches tiles
    uint32_t grid = 1;           // CTAs that are launched, at most those of all roles
    uint32_t threads = 1;        // of a CTA
    bool cooperative = false;    // CTAs wait for one another
    uint64_t sharedBytes = 0;    // dynamic shared memory of a CTA
    uint64_t paramBytes = 0;     // size of the parameter block
    uint64_t workspaceBytes = 0; // device memory that CTAs share
    std::vector<TensorMap> tensorMaps; // of this rank, in the block
    std::vector<TensorMap> peerMaps;   // of each rank
  };
  struct Gpu {
    /// The first whose needs the arguments of all ranks meet is launched; the last needs
    /// nothing.
    std::vector<Variant> variants;
  };

  /// One of several versions of a kernel, which lies in the package as a package of its own.
  struct Version {
    /// The largest sizes that it is for, of open uniform dimensions; dimensions that are not
    /// in here have any. The last version is also for all above.
    /// Empty: there is one version, for all sizes.
    std::vector<NamedSize> serves;
    /// From 1: it stands behind the first one of a version, serves the same and has other
    /// parameters. 0: it is the first one.
    size_t candidate = 0;
    /// What versions were to serve that got the same parameters.
    std::vector<std::vector<NamedSize>> merged;
    uint64_t bytes = 0;
  };

  std::string kernel, target, cpu;
  std::vector<std::string> cpuFeatures; // what the code may use of a CPU
  uint32_t grid = 1;
  uint64_t stackBytes = 0;
  std::vector<MeshAxis> mesh;
  std::vector<Dim> dims;
  std::vector<Param> params;
  std::vector<Arg> args;
  std::vector<Signal> signals;
  std::vector<Counter> counters;
  std::vector<Queue> queues;
  std::vector<Loop> loops;
  std::vector<std::string> requirements;
  std::vector<Role> roles;
  bool prepare = false;
  std::vector<Site> sites;
  std::vector<Site> engineSites; // of a GPU's roles of copy engines
  std::optional<TimelineTracks> timeline; // of kernels that record times
  std::optional<Reference> reference;
  /// Of a GPU target. Where there are versions, those have the variants.
  std::optional<Gpu> gpu;
  /// Not empty: what kernel, target, cpu, mesh, dims and args say all versions have in common
  /// (behind `args` a version may have scratch of its own), `grid` is the largest, and the rest,
  /// which is not here, each version has for itself.
  std::vector<Version> versions;

  /// -1 when there is no such argument.
  int argIndex(std::string_view name) const;
  /// CTAs of roles that have their own: the grid of a GPU.
  size_t countOwnCtas() const;
  /// Roles beside others.
  uint32_t countBeside() const;
};

/// Parses strictly: a missing, unknown, ill-typed or inconsistent key is an
/// InvalidArgument that names it.
Result<Metadata> parseMetadata(std::string_view json);

/// Where the parameters of a GPU kernel lie; its block may be padded behind.
abi::GpuParamLayout layOutGpuParams(const Metadata &metadata, const Metadata::Variant &variant);

/// "1024 x 64"; "scalar" for no dimensions.
std::string shapeText(std::span<const int64_t> extents);

/// The mesh of a job: axes of the package, sizes from the package or, by axis
/// name, from `bind`; then `nodes` and `gpus` (0: not given) fill the one
/// unbound net and link axis, and what is left is 1. InvalidArgument shows the
/// mesh and the numbers when they do not fit.
Result<Mesh> resolveMesh(const Metadata &metadata,
                         std::span<const NamedSize> bind, int64_t nodes,
                         int64_t gpus);

class Job;

/// A package in memory: checked, not loaded.
class Package {
public:
  static Result<Package> read(const std::string &path);
  /// Reads a file descriptor from its start; it stays open.
  static Result<Package> read(int fd, const std::string &what);
  /// `what` is for messages.
  static Result<Package> parse(std::vector<std::byte> bytes,
                               const std::string &what);

  const Metadata &metadata() const { return metadata_; }
  /// What metadata() was parsed from.
  std::span<const std::byte> metadataText() const;
  /// The shared object.
  std::span<const std::byte> payload() const {
    return std::span(bytes_).subspan(payloadOffset_, payloadBytes_);
  }
  /// The packages of its versions (metadata().versions); of one without, itself alone. They
  /// live as long as this.
  size_t numVersions() const { return versions_.empty() ? 1 : versions_.size(); }
  const Package &version(size_t i) const { return versions_.empty() ? *this : versions_[i]; }
  std::span<const std::byte> bytes() const { return bytes_; }
  const Digest &digest() const { return digest_; }

private:
  /// `isVersion`: it lies in a package, and has no versions itself.
  static Result<Package> parse(std::vector<std::byte> bytes, const std::string &what,
                               bool isVersion);
  Status readVersions(const std::string &what);

  std::vector<std::byte> bytes_;
  size_t payloadOffset_ = 0, payloadBytes_ = 0;
  std::vector<Package> versions_;
  Metadata metadata_;
  Digest digest_{};
};

/// What `make` gives on rank 0 of a job, its errors included, on every rank.
/// Collective.
Result<Package> sharePackage(Job &job,
                             const std::function<Result<Package>()> &make);

} // namespace mk::rt

#endif // MKERNEL_RUNTIME_PACKAGE_H
