// Integers of 2 and 4 bits: a model file packs them into bytes; here each has a
// byte of its own, with its value in an 8-bit integer.
#ifndef TILEWRIGHT_FRONTENDS_ONNX_GRAPH_NARROW_INTEGERS_H_
#define TILEWRIGHT_FRONTENDS_ONNX_GRAPH_NARROW_INTEGERS_H_

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"
#include "tilegraph/expr/dtype.h"
#include "tilegraph/expr/host_tensor.h"

namespace tilewright {

struct NarrowInteger {
  DType dtype;  // i8 or u8
  int bits;     // 2 or 4
};

// Of TensorProto::DataType UINT4, INT4, UINT2 and INT2; nullopt of all others.
std::optional<NarrowInteger> NarrowIntegerOf(int64_t type);

// Bytes that `elements` of them take in a file.
int64_t PackedBytes(int64_t elements, int bits);

// Sets all elements of `tensor`, i8 or u8. The first is in the lowest bits of
// the first byte. REQUIRES: `packed` has PackedBytes(elements, bits).
void UnpackIntegers(absl::string_view packed, int bits, HostTensor& tensor);

}  // namespace tilewright

#endif  // TILEWRIGHT_FRONTENDS_ONNX_GRAPH_NARROW_INTEGERS_H_
