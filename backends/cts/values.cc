#include "backends/cts/values.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tilewright::cts {
namespace {

std::vector<Scalar> FloatSpecials(DType dtype) {
  // The largest and smallest of the dtype.
  double largest, smallest_normal, smallest;
  switch (dtype) {
    case DType::kFloat16:
      largest = 65504, smallest_normal = 0x1p-14, smallest = 0x1p-24;
      break;
    case DType::kBFloat16:
      largest = 0x1.fep127, smallest_normal = 0x1p-126, smallest = 0x1p-133;
      break;
    case DType::kFloat32:
      largest = std::numeric_limits<float>::max();
      smallest_normal = 0x1p-126, smallest = 0x1p-149;
      break;
    default:
      largest = std::numeric_limits<double>::max();
      smallest_normal = 0x1p-1022, smallest = 0x1p-1074;
      break;
  }
  const double inf = std::numeric_limits<double>::infinity();
  std::vector<Scalar> values;
  for (double v : {0.0,      1.0,          2.0,       3.0,     0.5,
                   1.5,      2.5,          0.1,       1e10,    127.0,
                   128.0,    255.0,        256.0,     255.5,   65535.0,
                   0x1p31,   0x1p31 - 128, 0x1p32,    0x1p63,  0x1p64,
                   0x1p23,   0x1p23 + 1,   8388607.5, largest, smallest_normal,
                   smallest, 3 * smallest, inf}) {
    values.push_back({v, 0});
    values.push_back({-v, 0});
  }
  values.push_back({std::numeric_limits<double>::quiet_NaN(), 0});
  return values;
}

bool IsSigned(DType dtype) {
  return dtype == DType::kInt8 || dtype == DType::kInt16 ||
         dtype == DType::kInt32 || dtype == DType::kInt64;
}

}  // namespace

const std::vector<DType>& AllDTypes() {
  static const auto* dtypes = new std::vector<DType>{
      DType::kBool,   DType::kInt8,    DType::kInt16,    DType::kInt32,
      DType::kInt64,  DType::kUInt8,   DType::kUInt16,   DType::kUInt32,
      DType::kUInt64, DType::kFloat16, DType::kBFloat16, DType::kFloat32,
      DType::kFloat64};
  return *dtypes;
}

const std::vector<DType>& RegisterDTypes() {
  static const auto* dtypes = [] {
    auto* result = new std::vector<DType>;
    for (DType dtype : AllDTypes()) {
      if (dtype != DType::kFloat16 && dtype != DType::kBFloat16) {
        result->push_back(dtype);
      }
    }
    return result;
  }();
  return *dtypes;
}

std::vector<Scalar> SpecialValues(DType dtype) {
  if (IsFloat(dtype)) return FloatSpecials(dtype);
  if (dtype == DType::kBool) return {{0, 0}, {0, 1}};
  const int bits = static_cast<int>(8 * SizeBytes(dtype));
  std::vector<Scalar> values;
  for (int64_t v : {0, 1, 2, 3, 7, 63, 64, 100}) values.push_back({0, v});
  const uint64_t top = uint64_t{1} << (bits - 1);
  if (IsSigned(dtype)) {
    for (int64_t v : {-1, -2, -3, -7, -64}) values.push_back({0, v});
    values.push_back({0, static_cast<int64_t>(top - 1)});
    // Sign-extended: a value of the dtype.
    values.push_back({0, -static_cast<int64_t>(top - 1) - 1});
    values.push_back({0, -static_cast<int64_t>(top - 1)});
  } else {
    values.push_back({0, static_cast<int64_t>(top)});
    values.push_back({0, static_cast<int64_t>(top - 1)});
    values.push_back({0, static_cast<int64_t>(top + (top - 1))});
  }
  return values;
}

Scalar RandomValue(DType dtype, Random& random) {
  if (dtype == DType::kBool) return {0, random.UniformInt(0, 1)};
  if (!IsFloat(dtype)) {
    const int64_t any = static_cast<int64_t>(random.Next());
    return RoundTo(dtype, {0, random.Bernoulli(0.5) ? any : any % 100});
  }
  if (random.Bernoulli(0.5)) return RoundTo(dtype, {random.Normal() * 4, 0});
  const double magnitude = std::ldexp(
      random.Uniform(), static_cast<int>(random.UniformInt(-160, 140)));
  return RoundTo(dtype, {random.Bernoulli(0.5) ? -magnitude : magnitude, 0});
}

std::string Bytes(DType dtype, const std::vector<Scalar>& values) {
  HostTensor tensor(dtype, {static_cast<int64_t>(values.size())});
  for (size_t i = 0; i < values.size(); ++i) {
    tensor.Set(static_cast<int64_t>(i), values[i]);
  }
  return std::string(tensor.data(), static_cast<size_t>(tensor.size_bytes()));
}

std::string SomeBytes(DType dtype, int64_t count, Random& random) {
  std::vector<Scalar> values = SpecialValues(dtype);
  values.resize(static_cast<size_t>(
      std::min<int64_t>(count, static_cast<int64_t>(values.size()))));
  while (static_cast<int64_t>(values.size()) < count) {
    values.push_back(RandomValue(dtype, random));
  }
  return Bytes(dtype, values);
}

std::vector<std::string> PairBytes(DType dtype, int64_t count, Random& random) {
  std::vector<Scalar> left, right;
  const std::vector<Scalar> specials = SpecialValues(dtype);
  for (const Scalar& a : specials) {
    for (const Scalar& b : specials) {
      left.push_back(a);
      right.push_back(b);
    }
  }
  while (static_cast<int64_t>(left.size()) < count) {
    left.push_back(RandomValue(dtype, random));
    right.push_back(RandomValue(dtype, random));
  }
  left.resize(static_cast<size_t>(count));
  right.resize(static_cast<size_t>(count));
  return {Bytes(dtype, left), Bytes(dtype, right)};
}

std::string Pattern(int64_t size_bytes) {
  return std::string(static_cast<size_t>(size_bytes), '\xa5');
}

}  // namespace tilewright::cts
