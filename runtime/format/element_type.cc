#include "runtime/format/element_type.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace tilewright {

int64_t SizeBytes(ElementType type) {
  switch (type) {
    case BOOL:
    case INT8:
    case UINT8:
      return 1;
    case INT16:
    case UINT16:
    case FLOAT16:
    case BFLOAT16:
      return 2;
    case INT32:
    case UINT32:
    case FLOAT32:
      return 4;
    case INT64:
    case UINT64:
    case FLOAT64:
      return 8;
    default:
      return 0;
  }
}

int64_t SizeBytes(const TensorSpec& tensor) {
  int64_t bytes = SizeBytes(tensor.element_type());
  for (const int64_t extent : tensor.shape()) bytes *= extent;
  return bytes;
}

absl::string_view Name(ElementType type) {
  switch (type) {
    case BOOL:
      return "bool";
    case INT8:
      return "int8";
    case INT16:
      return "int16";
    case INT32:
      return "int32";
    case INT64:
      return "int64";
    case UINT8:
      return "uint8";
    case UINT16:
      return "uint16";
    case UINT32:
      return "uint32";
    case UINT64:
      return "uint64";
    case FLOAT16:
      return "float16";
    case BFLOAT16:
      return "bfloat16";
    case FLOAT32:
      return "float32";
    case FLOAT64:
      return "float64";
    default:
      return "unknown type";
  }
}

std::string ToString(const TensorSpec& tensor) {
  return absl::StrCat(Name(tensor.element_type()), "[",
                      absl::StrJoin(tensor.shape(), ", "), "]");
}

}  // namespace tilewright
