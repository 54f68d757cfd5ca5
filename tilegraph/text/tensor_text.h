// One line of the text form (text_form.h), under names that the caller gives:
// a part of a graph prints as a graph of its own without being copied.
#ifndef TILEWRIGHT_TILEGRAPH_TEXT_TENSOR_TEXT_H_
#define TILEWRIGHT_TILEGRAPH_TEXT_TENSOR_TEXT_H_

#include <functional>
#include <string>

#include "absl/types/span.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright {

// The name of a tensor as the text form writes it: quoted where it is no bare
// name (QuotedName).
using TensorNames = std::function<std::string(TensorId)>;

// `name`, in quotes unless it is a bare one.
std::string QuotedName(const std::string& name);

// "NAME: f32[4, 8] = ", which the line of every tensor begins with.
std::string PrintTensorHead(const Tensor& tensor, const TensorNames& names);
// "compute (i: 4) { X[i] }": what a compute makes of its sources. REQUIRES:
// `tensor` is one.
std::string PrintCompute(const Tensor& tensor, const TensorNames& names);
// "return A, B" as a line; empty if there are no outputs.
std::string PrintReturn(absl::Span<const TensorId> outputs,
                        const TensorNames& names);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_TEXT_TENSOR_TEXT_H_
