#include "backends/lowering/lanes/lane_network.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace tilewright::lowering {
namespace {

// Shuffles of x86 and others work within 128 bits, or move such parts whole.
constexpr int64_t kPartBytes = 16;
constexpr int kMissing = -1;  // a vector that nobody gave

int Bit(int value, int bit) { return value >> bit & 1; }

// Vectors as bits of an address: slots 0 .. lane_slots-1 are the lane's number,
// the others the vector's. at[slot] is the bit of the given address that stands
// there.
class Network {
 public:
  Network(int given, int given_lanes, int64_t element_bytes,
          const WantedLanes& wanted)
      : given_(given),
        given_bits_(Log2(given_lanes)),
        wanted_bits_(Log2(static_cast<int64_t>(wanted[0].size()))),
        lane_slots_(std::max(given_bits_, wanted_bits_)),
        slots_(
            std::max(Log2(given) + given_bits_,
                     Log2(static_cast<int64_t>(wanted.size())) + wanted_bits_)),
        part_slots_(std::min(lane_slots_, Log2(kPartBytes / element_bytes))),
        wanted_(wanted),
        steps_(given) {}

  std::optional<LaneMoves> Plan() {
    if (slots_ < lane_slots_ || !FindSources()) return std::nullopt;
    ArrangeGiven();
    ArrangeGoal();
    Widen();
    if (!ExchangeByParts()) ExchangeOneByOne();
    std::vector<int> results;
    for (size_t w = 0; w < wanted_.size(); ++w) {
      const int value = Narrow(static_cast<int>(w));
      if (value == kMissing) return std::nullopt;
      results.push_back(value);
    }
    return steps_.Finish(results);
  }

 private:
  // source_[j]: the bit of the given address that bit j of the wanted one is.
  bool FindSources() {
    source_.assign(slots_, -1);
    std::vector<bool> used(slots_, false);
    for (int j = 0; j < slots_; ++j) {
      const LanePlace place = At(1 << j);
      if (place.vector < 0) continue;
      const int address = place.vector << given_bits_ | place.lane;
      const int bit = Log2(address);
      if (address == 0 || address != 1 << bit || bit >= slots_ || used[bit])
        return false;
      source_[j] = bit;
      used[bit] = true;
    }
    int next = 0;  // bits that no element shows
    for (int& source : source_) {
      if (source >= 0) continue;
      while (used[next]) ++next;
      source = next;
      used[next] = true;
    }
    for (int address = 0; address < 1 << slots_; ++address) {
      const LanePlace place = At(address);
      if (place.vector < 0) continue;
      int from = 0;
      for (int j = 0; j < slots_; ++j) from |= Bit(address, j) << source_[j];
      if (from != (place.vector << given_bits_ | place.lane)) return false;
    }
    return true;
  }
  LanePlace At(int address) const {
    const size_t vector = address >> wanted_bits_;
    if (vector >= wanted_.size()) return {};
    return wanted_[vector][address & ((1 << wanted_bits_) - 1)];
  }

  // Lanes that given vectors lack are bits of the vector's number: those that
  // must become a lane's anyway.
  void ArrangeGiven() {
    at_.resize(slots_);
    for (int s = 0; s < slots_; ++s) at_[s] = s;
    for (int s = given_bits_; s < lane_slots_; ++s) {
      int best = s;
      for (int t = s; t < slots_; ++t) {
        const auto wanted = std::find(source_.begin(), source_.end(), at_[t]);
        if (wanted - source_.begin() < wanted_bits_) best = t;
      }
      for (int t = s; t < slots_; ++t) {
        if (s < wanted_bits_ && at_[t] == source_[s]) best = t;
      }
      std::swap(at_[s], at_[best]);
    }
  }
  // goal_[s]: the bit that lane slot s shall hold. Where wanted vectors are
  // narrower, the rest is what stands there already if possible.
  void ArrangeGoal() {
    goal_.assign(source_.begin(), source_.begin() + wanted_bits_);
    for (int s = wanted_bits_; s < lane_slots_; ++s) {
      const auto taken = [&](int bit) {
        return std::find(goal_.begin(), goal_.end(), bit) != goal_.end();
      };
      int bit = at_[s];
      for (int t = 0; taken(bit) && t < slots_; ++t) bit = at_[t];
      goal_.push_back(bit);
    }
  }

  int SlotOf(int bit) const {
    return static_cast<int>(std::find(at_.begin(), at_.end(), bit) -
                            at_.begin());
  }

  // values_[n]: the vector whose number's bits are those of n, from slot
  // lane_slots_ on.
  void Widen() {
    values_.assign(size_t{1} << (slots_ - lane_slots_), kMissing);
    for (size_t n = 0; n < values_.size(); ++n)
      values_[n] = Joined(static_cast<int>(n), lane_slots_ - given_bits_, 0);
  }
  // `bits` of the lane slots that given vectors lack are still open; those
  // above are `high`.
  int Joined(int n, int bits, int high) {
    if (bits == 0) {
      int vector = 0;
      const int address = n << lane_slots_ | high << given_bits_;
      for (int s = given_bits_; s < slots_; ++s)
        vector |= Bit(address, s) << (at_[s] - given_bits_);
      return vector < given_ ? vector : kMissing;
    }
    int low = Joined(n, bits - 1, high),
        top = Joined(n, bits - 1, high | 1 << (bits - 1));
    if (low == kMissing && top == kMissing) return kMissing;
    if (low == kMissing) low = top;
    if (top == kMissing) top = low;
    std::vector<int> lanes(size_t{1} << (given_bits_ + bits));
    for (size_t i = 0; i < lanes.size(); ++i) lanes[i] = static_cast<int>(i);
    return steps_.Add(low, top, std::move(lanes));
  }

  // One stage: the bit in vector slot `enters` becomes a lane's, that in lane
  // slot `leaves` the vector's. from[s] is the slot whose bit goes to lane
  // slot s.
  void Exchange(int enters, int leaves, const std::vector<int>& from) {
    const int lanes = 1 << lane_slots_;
    const int vector_bit = enters - lane_slots_;
    std::vector<int> choice[2];
    for (int side : {0, 1}) {
      for (int i = 0; i < lanes; ++i) {
        int lane = side << leaves;
        for (int s = 0; s < lane_slots_; ++s) {
          const int bit = from[s] == enters ? lane_slots_ : from[s];
          lane |= Bit(i, s) << bit;
        }
        choice[side].push_back(lane);
      }
    }
    for (size_t n = 0; n < values_.size(); ++n) {
      const size_t other = n | size_t{1} << vector_bit;
      if (other == n) continue;
      int a = values_[n], b = values_[other];
      if (a == kMissing && b == kMissing) continue;
      if (a == kMissing) a = b;
      if (b == kMissing) b = a;
      values_[n] = steps_.Add(a, b, choice[0]);
      values_[other] = steps_.Add(a, b, choice[1]);
    }
    std::vector<int> after = at_;
    for (int s = 0; s < lane_slots_; ++s) after[s] = at_[from[s]];
    after[enters] = at_[leaves];
    at_ = std::move(after);
  }
  std::vector<int> Identity() const {
    std::vector<int> from(lane_slots_);
    for (int s = 0; s < lane_slots_; ++s) from[s] = s;
    return from;
  }

  // Every slot within a part, or none, is exchanged: interleaving the low and
  // the high halves of parts does that, an instruction everywhere. The same for
  // the slots that number the parts.
  bool ExchangeByParts() {
    const auto enters = [&](int s) { return SlotOf(goal_[s]) >= lane_slots_; };
    int inside = 0, across = 0;
    for (int s = 0; s < lane_slots_; ++s) {
      if (!enters(s) && at_[s] != goal_[s]) return false;
      (s < part_slots_ ? inside : across) += enters(s);
    }
    if ((inside != 0 && inside != part_slots_) || across > 2) return false;
    for (int k = inside - 1; k >= 0; --k) {
      // The entering bit stands lowest, the highest leaves.
      const int slot = SlotOf(goal_[k]);
      std::vector<int> from = Identity();
      for (int s = 1; s < part_slots_; ++s) from[s] = s - 1;
      from[0] = slot;
      Exchange(slot, part_slots_ - 1, from);
    }
    if (across == 2 && lane_slots_ - part_slots_ == 2) {
      for (int k = part_slots_; k < lane_slots_; ++k) {
        const int slot = SlotOf(goal_[k]);
        std::vector<int> from = Identity();
        from[part_slots_] = part_slots_ + 1;
        from[part_slots_ + 1] = slot;
        Exchange(slot, part_slots_, from);
      }
      return true;
    }
    for (int k = part_slots_; k < lane_slots_; ++k) {
      const int slot = SlotOf(goal_[k]);
      if (slot < lane_slots_) continue;
      std::vector<int> from = Identity();
      from[k] = slot;
      Exchange(slot, k, from);
    }
    return true;
  }

  void ExchangeOneByOne() {
    const auto stays = [&](int s) {
      return std::find(goal_.begin(), goal_.end(), at_[s]) != goal_.end();
    };
    for (;;) {
      std::vector<int> entering;
      for (int s = 0; s < lane_slots_; ++s) {
        if (SlotOf(goal_[s]) >= lane_slots_) entering.push_back(s);
      }
      if (entering.empty()) break;
      const int target = entering[0];
      const int slot = SlotOf(goal_[target]);
      int leaves = target;
      for (int s = 0; s < lane_slots_ && stays(leaves); ++s) leaves = s;
      std::vector<int> from = Identity();
      from[leaves] = slot;
      if (entering.size() == 1) {  // and the rest into its order
        for (int s = 0; s < lane_slots_; ++s) from[s] = SlotOf(goal_[s]);
      }
      Exchange(slot, leaves, from);
    }
    if (std::equal(goal_.begin(), goal_.end(), at_.begin())) return;
    std::vector<int> lanes(size_t{1} << lane_slots_, 0);
    for (size_t i = 0; i < lanes.size(); ++i) {
      for (int s = 0; s < lane_slots_; ++s)
        lanes[i] |= Bit(static_cast<int>(i), s) << SlotOf(goal_[s]);
    }
    for (int& value : values_) {
      if (value != kMissing) value = steps_.Add(value, value, lanes);
    }
    for (int s = 0; s < lane_slots_; ++s) at_[s] = goal_[s];
  }

  // The value of a wanted vector.
  int Narrow(int wanted) {
    int n = 0, first = 0;
    for (int j = wanted_bits_; j < slots_; ++j) {
      const int bit = Bit(wanted, j - wanted_bits_);
      const int slot = SlotOf(source_[j]);
      (slot < lane_slots_ ? first : n) |=
          bit << (slot < lane_slots_ ? slot : slot - lane_slots_);
    }
    const int value = values_[n];
    if (value == kMissing || lane_slots_ == wanted_bits_) return value;
    std::vector<int> lanes(size_t{1} << wanted_bits_);
    for (size_t i = 0; i < lanes.size(); ++i)
      lanes[i] = first + static_cast<int>(i);
    return steps_.Add(value, value, std::move(lanes));
  }

  const int given_, given_bits_, wanted_bits_, lane_slots_, slots_, part_slots_;
  const WantedLanes& wanted_;
  LaneSteps steps_;
  std::vector<int> source_, at_, goal_, values_;
};

}  // namespace

std::optional<LaneMoves> PlanLaneNetwork(int given, int given_lanes,
                                         int64_t element_bytes,
                                         const WantedLanes& wanted) {
  return Network(given, given_lanes, element_bytes, wanted).Plan();
}

}  // namespace tilewright::lowering
