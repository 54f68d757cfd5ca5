#include "tilegraph/expr/host_tensor.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "base/check.h"
#include "tilegraph/expr/scalar_bytes.h"

namespace tilewright {
namespace {

uint32_t Bits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

float FromBits(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

// Rounds `value` to a binary float of `mantissa_bits` explicit bits whose least
// normal exponent is `min_exponent` and whose largest finite value is `max`:
// once, to nearest even, also from a double.
double RoundToFormat(double value, int mantissa_bits, int min_exponent,
                     double max) {
  if (!std::isfinite(value) || value == 0) return value;
  const int exponent = std::max(std::ilogb(value), min_exponent);
  const double quantum = std::ldexp(1.0, exponent - mantissa_bits);
  const double rounded =
      std::nearbyint(value / quantum) *
      quantum;  // Both scalings are by a power of two: exact.
  if (std::fabs(rounded) > max)
    return std::copysign(std::numeric_limits<double>::infinity(), value);
  return rounded == 0 ? std::copysign(0.0, value) : rounded;
}

double RoundToHalf(double value) {
  return RoundToFormat(value, 10, -14, 65504.0);
}
double RoundToBFloat16(double value) {
  return RoundToFormat(value, 7, -126, 3.3895313892515355e38);
}

template <typename T>
int64_t Wrap(int64_t value) {
  return static_cast<int64_t>(static_cast<T>(value));
}

}  // namespace

HostTensor::HostTensor(DType dtype, std::vector<int64_t> shape)
    : dtype_(dtype), shape_(std::move(shape)) {
  int64_t bytes = SizeBytes(dtype);
  for (const int64_t extent : shape_) {
    TW_CHECK(extent >= 0) << "negative extent " << extent;
    TW_CHECK(!__builtin_mul_overflow(bytes, extent, &bytes))
        << "tensor larger than 2^63 bytes";
  }
  bytes_.assign(static_cast<size_t>(bytes), 0);
}

int64_t HostTensor::num_elements() const {
  return size_bytes() / SizeBytes(dtype_);
}

Scalar HostTensor::Get(int64_t index) const {
  TW_CHECK(index >= 0 && index < num_elements())
      << "element " << index << " of " << num_elements();
  return ReadScalar(dtype_, bytes_.data() + index * SizeBytes(dtype_));
}

void HostTensor::Set(int64_t index, Scalar value) {
  TW_CHECK(index >= 0 && index < num_elements())
      << "element " << index << " of " << num_elements();
  WriteScalar(dtype_, value, bytes_.data() + index * SizeBytes(dtype_));
}

Scalar RoundTo(DType dtype, Scalar value) {
  switch (dtype) {
    case DType::kBool:
      value.i = value.i != 0;
      break;
    case DType::kInt8:
      value.i = Wrap<int8_t>(value.i);
      break;
    case DType::kInt16:
      value.i = Wrap<int16_t>(value.i);
      break;
    case DType::kInt32:
      value.i = Wrap<int32_t>(value.i);
      break;
    case DType::kUInt8:
      value.i = Wrap<uint8_t>(value.i);
      break;
    case DType::kUInt16:
      value.i = Wrap<uint16_t>(value.i);
      break;
    case DType::kUInt32:
      value.i = Wrap<uint32_t>(value.i);
      break;
    case DType::kInt64:
    case DType::kUInt64:
      break;
    case DType::kFloat16:
      value.f = RoundToHalf(value.f);
      break;
    case DType::kBFloat16:
      value.f = RoundToBFloat16(value.f);
      break;
    case DType::kFloat32:
      value.f = static_cast<float>(value.f);
      break;
    case DType::kFloat64:
      break;
  }
  return value;
}

float HalfToFloat(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
  const uint32_t exponent = (bits >> 10) & 0x1f;
  const uint32_t mantissa = bits & 0x3ff;
  if (exponent == 0x1f) return FromBits(sign | 0x7f800000 | (mantissa << 13));
  if (exponent != 0)
    return FromBits(sign | ((exponent + 112) << 23) | (mantissa << 13));
  const float magnitude = static_cast<float>(mantissa) *
                          0x1p-24f;  // Denormal or zero: exact in float.
  return sign != 0 ? -magnitude : magnitude;
}

uint16_t FloatToHalf(float value) {
  const uint16_t sign = static_cast<uint16_t>((Bits(value) >> 16) & 0x8000);
  if (std::isnan(value)) return sign | 0x7e00;
  const double magnitude = std::fabs(RoundToHalf(value));
  if (std::isinf(magnitude)) return sign | 0x7c00;
  if (magnitude < 0x1p-14)
    return sign | static_cast<uint16_t>(magnitude * 0x1p24);
  const uint32_t bits = Bits(static_cast<float>(magnitude));
  return sign | static_cast<uint16_t>((bits >> 13) - (112 << 10));
}

float BFloat16ToFloat(uint16_t bits) {
  return FromBits(static_cast<uint32_t>(bits) << 16);
}

uint16_t FloatToBFloat16(float value) {
  const uint32_t bits = Bits(value);
  if (std::isnan(value)) return static_cast<uint16_t>((bits >> 16) | 0x40);
  // To nearest even; the carry of the largest values runs into infinity, as it
  // should.
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

}  // namespace tilewright
