// Element types of tensors and scalars. Storage only: what arithmetic is done
// in (fp16 and bf16 compute in fp32) is decided where expressions are lowered,
// by the numerics rules in docs/numerics.md.
#ifndef TILEWRIGHT_TILEGRAPH_EXPR_DTYPE_H_
#define TILEWRIGHT_TILEGRAPH_EXPR_DTYPE_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace tilewright {

enum class DType : uint8_t {
  kBool,
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kUInt8,
  kUInt16,
  kUInt32,
  kUInt64,
  kFloat16,
  kBFloat16,
  kFloat32,
  kFloat64,
};

// Bytes one element takes in memory; bool takes one.
int64_t SizeBytes(DType dtype);
bool IsFloat(DType dtype);
// Integers, not bool.
bool IsInteger(DType dtype);
// Integers of a byte.
bool Is8Bit(DType dtype);
// "f32", "i64", "u8", "bool", "bf16", ...: the names of the text form.
std::string_view Name(DType dtype);
std::optional<DType> ParseDType(std::string_view name);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_EXPR_DTYPE_H_
