// A model with inputs and what a right compiler makes of them, to within what
// rounding may do.
//
// The reference is the imported graph in float64. What rounding does to a
// network depends on the network, so it is sampled: the same graph is evaluated
// with every tensor stored in fp32 (or bf16), each compute still in float64.
// That is the error of a flawless implementation that rounds once per tensor;
// sums in fp32 round once per term, with errors of either sign.
#ifndef TILEWRIGHT_COMPILER_VERIFIED_NETWORK_H_
#define TILEWRIGHT_COMPILER_VERIFIED_NETWORK_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "frontends/onnx/import_model.h"
#include "tilegraph/expr/host_tensor.h"

namespace tilewright {

// How far results may be off, as a multiple of the sampled error.
inline constexpr double kErrorFactor = 16;
// F(4, 3) of --allow=winograd4 errs two to three times as much as the direct
// form (tilegraph/rewrite/winograd.h), single elements more.
inline constexpr double kWinograd4Factor = 16;
// A sample may happen to be nearly exact, and says nothing of what happens
// inside a sum: a limit is at least what one kernel with a sum of that many
// terms may err by, 4 u (sqrt(terms) + 8) (design: numerics.md).
double LeastLimit(int64_t terms);

class VerifiedNetwork {
 public:
  // Draws inputs: normal floats, indices from the range of what they index.
  static absl::StatusOr<VerifiedNetwork> Create(ImportedModel model,
                                                uint64_t seed);

  const ImportedModel& model() const { return model_; }
  const std::vector<HostTensor>& inputs() const { return inputs_; }

  // By output: max|y - r| / max|r|, infinite where y is NaN and r is not.
  std::vector<double> Errors(absl::Span<const HostTensor> outputs) const;
  // The largest errors allowed; `allow` as in CompileOptions.
  std::vector<double> Limits(const std::vector<std::string>& allow) const;

 private:
  ImportedModel model_;
  std::vector<HostTensor> inputs_;
  std::vector<std::vector<double>> expected_;  // by output, then the same
  std::vector<double> fp32_errors_, bf16_errors_;
  int64_t most_terms_ = 1;  // of a sum in the model
};

}  // namespace tilewright

#endif  // TILEWRIGHT_COMPILER_VERIFIED_NETWORK_H_
