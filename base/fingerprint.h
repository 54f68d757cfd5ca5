#ifndef TILEWRIGHT_BASE_FINGERPRINT_H_
#define TILEWRIGHT_BASE_FINGERPRINT_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"

namespace tilewright {

// A 128-bit fingerprint of bytes: the same on every machine, in every run and,
// because files and records hold it, in every version. It finds accidents, not
// malice, and equal fingerprints never replace comparing the contents where a
// mistake would give a wrong answer.
struct Fingerprint {
  uint64_t high = 0;
  uint64_t low = 0;

  static Fingerprint Of(std::string_view bytes);

  // 32 lower-case hexadecimal digits, and back.
  std::string ToString() const;
  static absl::StatusOr<Fingerprint> FromString(std::string_view hex);

  friend bool operator==(const Fingerprint& a, const Fingerprint& b) {
    return a.high == b.high && a.low == b.low;
  }
  friend bool operator!=(const Fingerprint& a, const Fingerprint& b) {
    return !(a == b);
  }
  friend bool operator<(const Fingerprint& a, const Fingerprint& b) {
    return a.high != b.high ? a.high < b.high : a.low < b.low;
  }
  template <typename H>
  friend H AbslHashValue(H h, const Fingerprint& f) {
    return H::combine(std::move(h), f.high, f.low);
  }
};

// The same over a stream: any split of the bytes gives the same result.
//
// Four 64-bit lanes take 32 bytes a step, read little-endian: each lane takes
// its word by xor, multiplies by an odd constant and folds its upper half down;
// then the lanes are mixed with each other by additions and rotated xors. For
// given words a step is a bijection of the state, and for a given state it is
// one of the words, so no step loses anything. The end pads with zeros, takes
// the length, and mixes until every bit depends on every other.
class Fingerprinter {
 public:
  Fingerprinter();

  // Bytes as they are: Add("ab"), Add("c") equals Add("abc").
  Fingerprinter& Add(std::string_view bytes);
  // Eight bytes, little-endian.
  Fingerprinter& AddInt(uint64_t value);
  // Length first: a sequence of strings keeps its borders.
  Fingerprinter& AddString(std::string_view text);

  // The fingerprint of everything added so far; more may follow.
  Fingerprint Finish() const;

 private:
  static constexpr size_t kBlockBytes = 32;

  std::array<uint64_t, 4> lanes_;
  uint64_t length_bytes_ = 0;
  // The last length_bytes_ % kBlockBytes bytes.
  std::array<char, kBlockBytes> pending_{};
};

}  // namespace tilewright

#endif  // TILEWRIGHT_BASE_FINGERPRINT_H_
