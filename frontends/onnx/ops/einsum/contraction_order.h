// In which order the operands of an einsum are multiplied.
#ifndef TILEWRIGHT_FRONTENDS_ONNX_OPS_EINSUM_CONTRACTION_ORDER_H_
#define TILEWRIGHT_FRONTENDS_ONNX_OPS_EINSUM_CONTRACTION_ORDER_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/types/span.h"

namespace tilewright {

// The product of two factors, summed over the labels that nothing else needs.
struct Contraction {
  int a, b;            // factors: operands, then results of contractions before
  std::string labels;  // of the result
};

// One less than there are operands, at most eight, each of which is taken once:
// those that multiply, add and write the least of all orders. The last result
// has the labels `result`; the others the labels of both factors first, then
// those of `a` alone, then those of `b` alone.
std::vector<Contraction> OrderContractions(
    absl::Span<const std::string> operands, const std::string& result,
    const std::map<char, int64_t>& extent);

}  // namespace tilewright

#endif  // TILEWRIGHT_FRONTENDS_ONNX_OPS_EINSUM_CONTRACTION_ORDER_H_
