#include "tilegraph/expr/dtype.h"

#include "base/check.h"

namespace tilewright {
namespace {

struct Info {
  std::string_view name;
  int64_t size_bytes;
};

// In the order of DType.
constexpr Info kInfo[] = {{"bool", 1}, {"i8", 1},  {"i16", 2},  {"i32", 4},
                          {"i64", 8},  {"u8", 1},  {"u16", 2},  {"u32", 4},
                          {"u64", 8},  {"f16", 2}, {"bf16", 2}, {"f32", 4},
                          {"f64", 8}};
constexpr int kCount = sizeof(kInfo) / sizeof(kInfo[0]);
static_assert(static_cast<int>(DType::kFloat64) + 1 == kCount,
              "one row per dtype");

const Info& InfoOf(DType dtype) {
  const int index = static_cast<int>(dtype);
  TW_CHECK(index < kCount) << "no dtype " << index;
  return kInfo[index];
}

}  // namespace

int64_t SizeBytes(DType dtype) { return InfoOf(dtype).size_bytes; }

bool IsFloat(DType dtype) {
  return dtype >= DType::kFloat16 && dtype <= DType::kFloat64;
}

bool IsInteger(DType dtype) {
  return dtype >= DType::kInt8 && dtype <= DType::kUInt64;
}

bool Is8Bit(DType dtype) {
  return dtype == DType::kInt8 || dtype == DType::kUInt8;
}

std::string_view Name(DType dtype) { return InfoOf(dtype).name; }

std::optional<DType> ParseDType(std::string_view name) {
  for (int i = 0; i < kCount; ++i) {
    if (kInfo[i].name == name) return static_cast<DType>(i);
  }
  return std::nullopt;
}

}  // namespace tilewright
