//===- Provenance.h - What every access has seen ----------------*- C++ -*-===//
//
// Gives each access a number that depends on where it stands, on what it touches,
// on what its CTA has done for the same item before, and, element by element,
// on the accesses whose values it sees or overwrites, and so on all the way
// back. In runs without races two kernels with the same numbers order the same
// accesses in the same way, and compute the same.
//
//===----------------------------------------------------------------------===//
#ifndef MKERNEL_CHECK_PROVENANCE_H
#define MKERNEL_CHECK_PROVENANCE_H

#include "mkernel/Check/Event.h"

#include <map>
#include <unordered_map>

namespace mk::check {

class Provenance {
public:
  /// `items`: what a CTA stores is computed from what it has loaded for the same item;
  /// without, each access is looked at by itself, for where who does what is chance.
  Provenance(uint32_t ctas, uint32_t ctasOfRank, bool items = true);

  struct Access {
    uint64_t number = 0;
    int32_t site = -1, buffer = -1;
    uint32_t rank = 0; // whose memory
    bool write = false;
    Box box;
  };

  /// What this CTA stores from now on is not computed from what it has loaded.
  void nextItem(uint32_t cta) { items_[cta] = 0; }
  /// An event in the order of a Machine; `place` says where in the program it stands.
  void add(uint32_t cta, const Event &event, uint64_t place);

  /// In the order of the events.
  const std::vector<Access> &accesses() const { return accesses_; }
  /// There were boxes of too many elements to be followed.
  bool tooLarge() const { return tooLarge_; }

private:
  struct Element {
    uint64_t value = 0, adds = 0, readers = 0;
  };
  using Buffer = std::unordered_map<uint64_t, Element>;

  uint64_t read(uint32_t cta, const Event &event, uint64_t place, int32_t buffer,
                const std::vector<Box> &boxes);
  void write(uint32_t cta, const Event &event, uint64_t place, uint32_t rank,
             int32_t buffer, const std::vector<Box> &boxes, uint64_t from);
  uint64_t describe(uint64_t place, uint32_t rank, int32_t buffer,
                    const std::vector<Box> &boxes) const;
  void note(uint64_t number, const Event &event, uint32_t rank, int32_t buffer,
            const std::vector<Box> &boxes, bool write);
  template <typename Fn>
  void forElements(uint32_t rank, int32_t buffer, const std::vector<Box> &boxes, Fn each);

  void done(uint32_t cta, uint64_t number);

  uint32_t ctasOfRank_;
  bool linked_;
  std::vector<uint64_t> items_; // by CTA: of all accesses of its item
  std::map<std::pair<uint32_t, int32_t>, Buffer> buffers_;
  std::vector<Access> accesses_;
  bool tooLarge_ = false;
};

} // namespace mk::check

#endif // MKERNEL_CHECK_PROVENANCE_H
