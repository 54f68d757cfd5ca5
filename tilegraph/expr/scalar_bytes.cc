#include "tilegraph/expr/scalar_bytes.h"

#include <cstdint>
#include <cstring>

namespace tilewright {
namespace {

template <typename T>
T ReadAs(const char* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

template <typename T>
void WriteAs(char* bytes, T value) {
  std::memcpy(bytes, &value, sizeof(T));
}

}  // namespace

Scalar ReadScalar(DType dtype, const char* bytes) {
  Scalar value;
  switch (dtype) {
    case DType::kBool:
      value.i = ReadAs<uint8_t>(bytes) != 0;
      break;
    case DType::kInt8:
      value.i = ReadAs<int8_t>(bytes);
      break;
    case DType::kInt16:
      value.i = ReadAs<int16_t>(bytes);
      break;
    case DType::kInt32:
      value.i = ReadAs<int32_t>(bytes);
      break;
    case DType::kInt64:
      value.i = ReadAs<int64_t>(bytes);
      break;
    case DType::kUInt8:
      value.i = ReadAs<uint8_t>(bytes);
      break;
    case DType::kUInt16:
      value.i = ReadAs<uint16_t>(bytes);
      break;
    case DType::kUInt32:
      value.i = ReadAs<uint32_t>(bytes);
      break;
    case DType::kUInt64:
      value.i = ReadAs<int64_t>(bytes);
      break;
    case DType::kFloat16:
      value.f = HalfToFloat(ReadAs<uint16_t>(bytes));
      break;
    case DType::kBFloat16:
      value.f = BFloat16ToFloat(ReadAs<uint16_t>(bytes));
      break;
    case DType::kFloat32:
      value.f = ReadAs<float>(bytes);
      break;
    case DType::kFloat64:
      value.f = ReadAs<double>(bytes);
      break;
  }
  return value;
}

void WriteScalar(DType dtype, Scalar value, char* bytes) {
  switch (dtype) {
    case DType::kBool:
      WriteAs<uint8_t>(bytes, value.i != 0);
      break;
    case DType::kInt8:
    case DType::kUInt8:
      WriteAs(bytes, static_cast<uint8_t>(value.i));
      break;
    case DType::kInt16:
    case DType::kUInt16:
      WriteAs(bytes, static_cast<uint16_t>(value.i));
      break;
    case DType::kInt32:
    case DType::kUInt32:
      WriteAs(bytes, static_cast<uint32_t>(value.i));
      break;
    case DType::kInt64:
    case DType::kUInt64:
      WriteAs(bytes, value.i);
      break;
    // Rounded once from double; the result then converts exactly.
    case DType::kFloat16:
      WriteAs(bytes, FloatToHalf(static_cast<float>(RoundTo(dtype, value).f)));
      break;
    case DType::kBFloat16:
      WriteAs(bytes,
              FloatToBFloat16(static_cast<float>(RoundTo(dtype, value).f)));
      break;
    case DType::kFloat32:
      WriteAs(bytes, static_cast<float>(value.f));
      break;
    case DType::kFloat64:
      WriteAs(bytes, value.f);
      break;
  }
}

}  // namespace tilewright
