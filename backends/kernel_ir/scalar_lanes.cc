#include "backends/kernel_ir/scalar_code.h"

namespace tilewright::kernel_ir::internal {

Scalar ReadLane(const char* reg, DType dtype, int lane) {
  Scalar s;
  switch (dtype) {
    case DType::kBool:
      s.i = At<uint8_t>(reg, lane) != 0;
      break;
    case DType::kInt8:
      s.i = At<int8_t>(reg, lane);
      break;
    case DType::kInt16:
      s.i = At<int16_t>(reg, lane);
      break;
    case DType::kInt32:
      s.i = At<int32_t>(reg, lane);
      break;
    case DType::kUInt8:
      s.i = At<uint8_t>(reg, lane);
      break;
    case DType::kUInt16:
      s.i = At<uint16_t>(reg, lane);
      break;
    case DType::kUInt32:
      s.i = At<uint32_t>(reg, lane);
      break;
    case DType::kInt64:
    case DType::kUInt64:
      s.i = At<int64_t>(reg, lane);
      break;
    case DType::kFloat16:
      s.f = HalfToFloat(At<uint16_t>(reg, lane));
      break;
    case DType::kBFloat16:
      s.f = BFloat16ToFloat(At<uint16_t>(reg, lane));
      break;
    case DType::kFloat32:
      s.f = At<float>(reg, lane);
      break;
    case DType::kFloat64:
      s.f = At<double>(reg, lane);
      break;
  }
  return s;
}

void WriteLane(char* reg, DType dtype, int lane, Scalar value) {
  switch (dtype) {
    case DType::kBool:
      Put<uint8_t>(reg, lane, value.i != 0);
      break;
    case DType::kInt8:
    case DType::kUInt8:
      Put(reg, lane, static_cast<uint8_t>(value.i));
      break;
    case DType::kInt16:
    case DType::kUInt16:
      Put(reg, lane, static_cast<uint16_t>(value.i));
      break;
    case DType::kInt32:
    case DType::kUInt32:
      Put(reg, lane, static_cast<uint32_t>(value.i));
      break;
    case DType::kInt64:
    case DType::kUInt64:
      Put(reg, lane, value.i);
      break;
    case DType::kFloat16:
      Put(reg, lane, FloatToHalf(static_cast<float>(value.f)));
      break;
    case DType::kBFloat16:
      Put(reg, lane, FloatToBFloat16(static_cast<float>(value.f)));
      break;
    case DType::kFloat32:
      Put(reg, lane, static_cast<float>(value.f));
      break;
    case DType::kFloat64:
      Put(reg, lane, value.f);
      break;
  }
}

}  // namespace tilewright::kernel_ir::internal
