//===- RoleCalls.h - What compiled code of a role asks for ------*- C++ -*-===//
//
// The calls of mkernel/ABI/HostCalls.h land here, whoever runs the role: a CTA of a host
// launch, or who takes down what copy engines are to do. Each returns false when it
// cannot succeed; the C entry point then calls unwind(), a longjmp over
// compiled frames only, so that no destructor is skipped.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_RUNTIME_DEVICE_HOST_ROLECALLS_H
#define MKERNEL_RUNTIME_DEVICE_HOST_ROLECALLS_H

#include "device/Device.h"
#include "device/host/Region.h"

namespace mk::rt::host {

class RoleCalls {
public:
  RoleCalls(const Metadata &metadata, const JobPlan &plan, uint32_t rank, uint32_t world)
      : about_(metadata), job_(plan), self_(rank), ranks_(world) {}
  virtual ~RoleCalls() = default;

  /// Back to who runs the role. Never returns.
  [[noreturn]] virtual void unwind() = 0;
  /// A call with an argument that compiled code must not produce, or that the
  /// author must change. False.
  virtual bool fail(const char *what, const std::string &text) = 0;
  /// Every call says so.
  virtual void beat() {}

  virtual bool put(Region region, int64_t peer, int32_t signal, int64_t index, int32_t flags) = 0;
  virtual bool store(Region, int64_t, int32_t, int64_t, int32_t) { return refuse("mk.store"); }
  virtual bool raiseSignal(int32_t, int64_t, int64_t, int64_t, int32_t) {
    return refuse("mk.signal");
  }
  virtual bool wait(int32_t, int64_t, int64_t) { return refuse("mk.wait"); }
  virtual bool settle() { return refuse("mk.settle"); }
  virtual bool fence() { return refuse("mk.fence"); }
  virtual bool count(int32_t, int64_t, int64_t, int64_t &) { return refuse("mk.count"); }
  virtual bool push(int32_t, const int64_t *, int32_t) { return refuse("mk.push"); }
  virtual bool pop(int32_t, int64_t, int64_t *) { return refuse("mk.foreach_item"); }
  virtual bool ticket(int32_t, int64_t &) { return refuse("schedule(ticket)"); }
  virtual void setItem(int32_t, int64_t, int64_t, int64_t, int64_t) {}
  virtual void setLine(int32_t) {}
  /// An own load or store; `at` in one of the arguments, sizes in elements.
  virtual void noteAccess(const void *, int, const int64_t *, bool) {}
  void failFault(int32_t fault, int32_t line);

  // Whether what an op names exists.
  /// Whose part of which argument an op names, and how.
  struct Place {
    int32_t site, named, argument;
    int64_t rank;
  };
  bool regionExists(const Place &place, int ndims, const int64_t *offsets, const int64_t *sizes,
                    const int32_t *rows = nullptr);
  bool extentOf(int32_t argument, int dim, int64_t rank, int64_t &extent);
  bool outside(const Outside &what);
  /// The rank, and the element of the signal that it may raise there.
  bool checkTarget(int64_t peer, int32_t signal, int64_t index);

protected:
  std::string noRankText(int64_t rank) const;
  std::string signalName(int32_t signal, int64_t index) const;
  bool refuse(const char *op);

  const Metadata &about_;
  const JobPlan &job_;
  uint32_t self_, ranks_;
};

} // namespace mk::rt::host

#endif // MKERNEL_RUNTIME_DEVICE_HOST_ROLECALLS_H
