#include "compiler/element_types.h"

#include <utility>

#include "base/check.h"

namespace tilewright {
namespace {

constexpr std::pair<DType, ElementType> kTypes[] = {
    {DType::kBool, BOOL},         {DType::kInt8, INT8},
    {DType::kInt16, INT16},       {DType::kInt32, INT32},
    {DType::kInt64, INT64},       {DType::kUInt8, UINT8},
    {DType::kUInt16, UINT16},     {DType::kUInt32, UINT32},
    {DType::kUInt64, UINT64},     {DType::kFloat16, FLOAT16},
    {DType::kBFloat16, BFLOAT16}, {DType::kFloat32, FLOAT32},
    {DType::kFloat64, FLOAT64},
};

}  // namespace

ElementType ToElementType(DType dtype) {
  for (const auto& [known, type] : kTypes) {
    if (known == dtype) return type;
  }
  return ELEMENT_TYPE_UNSPECIFIED;
}

DType ToDType(ElementType type) {
  for (const auto& [dtype, known] : kTypes) {
    if (known == type) return dtype;
  }
  TW_CHECK(false) << "element type " << static_cast<int>(type);
  return DType::kFloat32;
}

TensorSpec ToTensorSpec(std::string name, const Tensor& tensor) {
  TensorSpec spec;
  spec.set_name(std::move(name));
  spec.set_element_type(ToElementType(tensor.dtype));
  for (const int64_t extent : tensor.static_shape()) spec.add_shape(extent);
  return spec;
}

}  // namespace tilewright
