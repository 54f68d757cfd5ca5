// The equation of an Einsum: labels of its operands' and its result's
// dimensions.
#ifndef TILEWRIGHT_FRONTENDS_ONNX_OPS_EINSUM_EQUATION_H_
#define TILEWRIGHT_FRONTENDS_ONNX_OPS_EINSUM_EQUATION_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "frontends/onnx/graph/op_context.h"

namespace tilewright {

// Labels are letters; '0', '1', ... stand for the dimensions of the ellipsis,
// counted from the last.
struct Equation {
  std::vector<std::string> operands;
  std::string result;
  std::map<char, int64_t> extent;
};

// InvalidArgument if the operator's does not fit its inputs.
absl::StatusOr<Equation> ReadEquation(const OpContext& op);

}  // namespace tilewright

#endif  // TILEWRIGHT_FRONTENDS_ONNX_OPS_EINSUM_EQUATION_H_
