// A note on a compute by the front end or pass that made it. Passes decide by
// roles alone, and the verifier holds each against the expression; all other
// words are labels, for people.
#ifndef TILEWRIGHT_TILEGRAPH_IR_COMPUTE_HINT_H_
#define TILEWRIGHT_TILEGRAPH_IR_COMPUTE_HINT_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace tilewright {

enum class ComputeRole : uint8_t {
  kNone,
  // Front ends give these: a convolution; the same elements in the same order
  // in another shape; integers that are scaled to what they stand for.
  kConvolution,
  kReshape,
  kDequantize,
  kWinograd2,  // a convolution that Winograd may compute (winograd.h)
  kWinograd4,
  kBandIn,  // moves between whole tensors and a band (bands.h)
  kBandOut,
  kPlainCopy,  // of an image, plain in memory (plain_copies.h)
};

class ComputeHint {
 public:
  ComputeHint() = default;
  // NOLINTNEXTLINE(google-explicit-constructor)
  ComputeHint(ComputeRole role);
  // Has the role with this word in the text form, if there is one.
  // NOLINTNEXTLINE(google-explicit-constructor)
  ComputeHint(std::string_view word);
  // NOLINTNEXTLINE(google-explicit-constructor)
  ComputeHint(const char* word) : ComputeHint(std::string_view(word)) {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  ComputeHint(const std::string& word) : ComputeHint(std::string_view(word)) {}

  ComputeRole role() const { return role_; }
  const std::string& word() const { return word_; }  // may be empty

  friend bool operator==(const ComputeHint& a, const ComputeHint& b) {
    return a.word_ == b.word_;
  }

 private:
  ComputeRole role_ = ComputeRole::kNone;
  std::string word_;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_IR_COMPUTE_HINT_H_
