#include "frontends/onnx/graph/narrow_integers.h"

#include "absl/types/span.h"
#include "base/ceil_div.h"
#include "base/check.h"

namespace tilewright {

std::optional<NarrowInteger> NarrowIntegerOf(int64_t type) {
  // By number: schemas before ONNX 1.16 and 1.20 have no names for them.
  switch (type) {
    case 21:
      return NarrowInteger{DType::kUInt8, 4};
    case 22:
      return NarrowInteger{DType::kInt8, 4};
    case 25:
      return NarrowInteger{DType::kUInt8, 2};
    case 26:
      return NarrowInteger{DType::kInt8, 2};
    default:
      return std::nullopt;
  }
}

int64_t PackedBytes(int64_t elements, int bits) {
  return CeilDiv(elements, 8 / bits);
}

void UnpackIntegers(absl::string_view packed, int bits, HostTensor& tensor) {
  const int64_t elements = tensor.num_elements();
  TW_CHECK_EQ(static_cast<int64_t>(packed.size()), PackedBytes(elements, bits));
  const int64_t to_a_byte = 8 / bits;
  const uint32_t mask = (1u << bits) - 1;
  // Of a signed one, the highest bit counts negative.
  const uint32_t sign = tensor.dtype() == DType::kInt8 ? 1u << (bits - 1) : 0;
  const absl::Span<uint8_t> values = tensor.as<uint8_t>();
  for (int64_t i = 0; i < elements; ++i) {
    const auto byte = static_cast<uint8_t>(packed[i / to_a_byte]);
    const uint32_t value = byte >> (i % to_a_byte * bits) & mask;
    values[i] = static_cast<uint8_t>((value ^ sign) - sign);
  }
}

}  // namespace tilewright
