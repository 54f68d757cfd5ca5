// Sizes and names of the element types of boundary tensors.
#ifndef TILEWRIGHT_RUNTIME_FORMAT_ELEMENT_TYPE_H_
#define TILEWRIGHT_RUNTIME_FORMAT_ELEMENT_TYPE_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "runtime/format/program.pb.h"

namespace tilewright {

// Bytes of one element; 0 for ELEMENT_TYPE_UNSPECIFIED and values this build
// does not know.
int64_t SizeBytes(ElementType type);
// Bytes of a dense tensor. REQUIRES: a verified program's tensor.
int64_t SizeBytes(const TensorSpec& tensor);
// "float32", "int64", ...
absl::string_view Name(ElementType type);
// "float32[1, 3, 224, 224]"
std::string ToString(const TensorSpec& tensor);

}  // namespace tilewright

#endif  // TILEWRIGHT_RUNTIME_FORMAT_ELEMENT_TYPE_H_
