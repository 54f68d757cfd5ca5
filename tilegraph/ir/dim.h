// The extent of one axis: an integer now; a named symbol with a range in the
// text form, the protos and the fingerprints. The graph verifier refuses
// symbols until dynamic shapes exist, so everything after it may call
// `value()`.
#ifndef TILEWRIGHT_TILEGRAPH_IR_DIM_H_
#define TILEWRIGHT_TILEGRAPH_IR_DIM_H_

#include <cstdint>
#include <string>

namespace tilewright {

class Dim {
 public:
  Dim(int64_t value = 0)
      : min_(value),
        max_(value) {}  // NOLINT: an extent is first of all a number
  static Dim Symbol(std::string name, int64_t min, int64_t max);

  bool is_static() const { return name_.empty(); }
  // REQUIRES: is_static().
  int64_t value() const;
  const std::string& name() const { return name_; }
  int64_t min() const { return min_; }
  int64_t max() const { return max_; }
  // "64", or "batch(1..32)".
  std::string ToString() const;

  friend bool operator==(const Dim& a, const Dim& b) {
    return a.name_ == b.name_ && a.min_ == b.min_ && a.max_ == b.max_;
  }
  friend bool operator!=(const Dim& a, const Dim& b) { return !(a == b); }

 private:
  std::string name_;
  int64_t min_;
  int64_t max_;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_IR_DIM_H_
