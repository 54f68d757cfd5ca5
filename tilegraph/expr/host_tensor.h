// A dense row-major tensor in host memory: what goes into and comes out of
// models, constants and the interpreter.
#ifndef TILEWRIGHT_TILEGRAPH_EXPR_HOST_TENSOR_H_
#define TILEWRIGHT_TILEGRAPH_EXPR_HOST_TENSOR_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "tilegraph/expr/dtype.h"

namespace tilewright {

// One element, in the arithmetic of the reference: exact int64 for integers and
// bool (uint64 as its bit pattern), double for floats.
struct Scalar {
  double f = 0;
  int64_t i = 0;
};

class HostTensor {
 public:
  HostTensor() = default;
  // All zeros.
  HostTensor(DType dtype, std::vector<int64_t> shape);

  DType dtype() const { return dtype_; }
  const std::vector<int64_t>& shape() const { return shape_; }
  int64_t num_elements() const;
  int64_t size_bytes() const { return static_cast<int64_t>(bytes_.size()); }
  char* data() { return bytes_.data(); }
  const char* data() const { return bytes_.data(); }
  template <typename T>
  absl::Span<T> as() {
    return {reinterpret_cast<T*>(bytes_.data()), bytes_.size() / sizeof(T)};
  }
  template <typename T>
  absl::Span<const T> as() const {
    return {reinterpret_cast<const T*>(bytes_.data()),
            bytes_.size() / sizeof(T)};
  }

  // Element `index` in row-major order; Set rounds to the dtype (floats to
  // nearest even, integers wrap).
  Scalar Get(int64_t index) const;
  void Set(int64_t index, Scalar value);

 private:
  DType dtype_ = DType::kFloat32;
  std::vector<int64_t> shape_;
  std::vector<char> bytes_;
};

// Rounds a reference value to what a tensor of `dtype` can hold.
Scalar RoundTo(DType dtype, Scalar value);
float HalfToFloat(uint16_t bits);
uint16_t FloatToHalf(float value);
float BFloat16ToFloat(uint16_t bits);
uint16_t FloatToBFloat16(float value);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_EXPR_HOST_TENSOR_H_
