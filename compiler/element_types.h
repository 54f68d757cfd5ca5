// Between the compiler's tensors and the boundary types of a .tw.
#ifndef TILEWRIGHT_COMPILER_ELEMENT_TYPES_H_
#define TILEWRIGHT_COMPILER_ELEMENT_TYPES_H_

#include <string>

#include "runtime/format/program.pb.h"
#include "tilegraph/expr/dtype.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright {

ElementType ToElementType(DType dtype);
// REQUIRES: a type a verified program can hold.
DType ToDType(ElementType type);
TensorSpec ToTensorSpec(std::string name, const Tensor& tensor);

}  // namespace tilewright

#endif  // TILEWRIGHT_COMPILER_ELEMENT_TYPES_H_
