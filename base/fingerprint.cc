#include "base/fingerprint.h"

#include <algorithm>
#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/string_view.h"

namespace tilewright {
namespace {

using Lanes = std::array<uint64_t, 4>;

// The fractional bits of the square roots of 3, 5, 7 and 11: odd, and nothing
// hides in them.
constexpr Lanes kMultipliers = {0xbb67ae8584caa73b, 0x3c6ef372fe94f82b,
                                0xa54ff53a5f1d36f1, 0x510e527fade682d1};
// Those of 13, 17, 19 and 2.
constexpr Lanes kStart = {0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b,
                          0x5be0cd19137e2179, 0x6a09e667f3bcc908};

uint64_t RotateLeft(uint64_t value, int bits) {
  return value << bits | value >> (64 - bits);
}

uint64_t ReadWord(const char* bytes) {
  uint64_t word = 0;
  for (int i = 7; i >= 0; --i) {
    word = word << 8 | static_cast<unsigned char>(bytes[i]);
  }
  return word;
}

void Step(Lanes& lanes, const Lanes& words) {
  for (int i = 0; i < 4; ++i) {
    lanes[i] = (lanes[i] ^ words[i]) * kMultipliers[i];
    lanes[i] ^= lanes[i] >> 32;
  }
  lanes[0] += lanes[1];
  lanes[2] += lanes[3];
  lanes[1] ^= RotateLeft(lanes[2], 23);
  lanes[3] ^= RotateLeft(lanes[0], 41);
}

void StepBlock(Lanes& lanes, const char* block) {
  Step(lanes, {ReadWord(block), ReadWord(block + 8), ReadWord(block + 16),
               ReadWord(block + 24)});
}

}  // namespace

Fingerprinter::Fingerprinter() : lanes_(kStart) {}

Fingerprinter& Fingerprinter::Add(std::string_view bytes) {
  const size_t pending = length_bytes_ % kBlockBytes;
  length_bytes_ += bytes.size();
  if (pending > 0) {
    const size_t taken = std::min(bytes.size(), kBlockBytes - pending);
    std::memcpy(pending_.data() + pending, bytes.data(), taken);
    bytes.remove_prefix(taken);
    if (pending + taken < kBlockBytes) return *this;
    StepBlock(lanes_, pending_.data());
  }
  Lanes lanes = lanes_;
  for (; bytes.size() >= kBlockBytes; bytes.remove_prefix(kBlockBytes)) {
    StepBlock(lanes, bytes.data());
  }
  lanes_ = lanes;
  std::copy(bytes.begin(), bytes.end(), pending_.begin());
  return *this;
}

Fingerprinter& Fingerprinter::AddInt(uint64_t value) {
  char bytes[8];
  for (int i = 0; i < 8; ++i) bytes[i] = static_cast<char>(value >> (8 * i));
  return Add(std::string_view(bytes, sizeof(bytes)));
}

Fingerprinter& Fingerprinter::AddString(std::string_view text) {
  return AddInt(text.size()).Add(text);
}

Fingerprint Fingerprinter::Finish() const {
  Lanes lanes = lanes_;
  const size_t pending = length_bytes_ % kBlockBytes;
  if (pending > 0) {
    std::array<char, kBlockBytes> last{};
    std::copy_n(pending_.begin(), pending, last.begin());
    StepBlock(lanes, last.data());
  }
  Step(lanes, {length_bytes_, 0, 0, 0});
  for (int i = 0; i < 4; ++i) Step(lanes, {0, 0, 0, 0});
  return {lanes[0] + lanes[2], lanes[1] + lanes[3]};
}

Fingerprint Fingerprint::Of(std::string_view bytes) {
  return Fingerprinter().Add(bytes).Finish();
}

std::string Fingerprint::ToString() const {
  return absl::StrCat(absl::Hex(high, absl::kZeroPad16),
                      absl::Hex(low, absl::kZeroPad16));
}

absl::StatusOr<Fingerprint> Fingerprint::FromString(std::string_view hex) {
  Fingerprint result;
  bool valid = hex.size() == 32;
  for (size_t i = 0; valid && i < hex.size(); ++i) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    const size_t digit = kDigits.find(hex[i]);
    valid = digit != std::string_view::npos;
    uint64_t& half = i < 16 ? result.high : result.low;
    half = half << 4 | digit;
  }
  if (!valid) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", ToAbsl(hex),
                     "' is no fingerprint: give 32 lower-case hex digits"));
  }
  return result;
}

}  // namespace tilewright
