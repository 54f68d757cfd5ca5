// Inputs and outputs of a program as tensors: given or from a seed, and what
// conformance calls equal.
#ifndef TILEWRIGHT_TOOLS_MODEL_IO_H_
#define TILEWRIGHT_TOOLS_MODEL_IO_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "measure/inputs/input_sets.h"
#include "runtime/format/program.pb.h"
#include "runtime/model.h"
#include "runtime/session.h"
#include "tilegraph/expr/host_tensor.h"

namespace tilewright::tools {

// Normal values for floats, integers of a range, random bools. Same seed, same
// values. ResourceExhausted names an input that there is no memory for.
inline constexpr measure::IntegerRange kSmallIntegers = {0, 7};
absl::StatusOr<HostTensor> RandomTensor(
    const TensorSpec& spec, uint64_t seed,
    measure::IntegerRange range = kSmallIntegers);

// InvalidArgument names input, what it should be and what it is.
absl::Status CheckTensor(const TensorSpec& spec, const HostTensor& tensor);

// One tensor per input of the program: those in `given` (by name; an unknown
// name is an error that lists the known ones), the rest from the seed; integers
// of the `ranges`, by name, or small ones.
absl::StatusOr<std::vector<HostTensor>> MakeInputs(
    const Program& program, std::map<std::string, HostTensor> given,
    uint64_t seed,
    const std::map<std::string, measure::IntegerRange>& ranges = {});

// Runs once; the outputs in the program's order. ResourceExhausted names one
// that there is no memory for.
absl::StatusOr<std::vector<HostTensor>> RunOnce(
    Session& session, const std::vector<HostTensor>& inputs);

// A session on inputs that are drawn, which has run once: all it takes to run
// it again.
struct DrawnRun {
  std::unique_ptr<Session> session;
  std::vector<HostTensor> inputs, outputs;
  std::vector<const void*> from;  // the inputs' data
  std::vector<void*> to;          // the outputs'
};
absl::StatusOr<DrawnRun> DrawRun(std::shared_ptr<const Model> model,
                                 uint64_t seed);

// FOLDER/NAME.npy for each output of the program; makes the folder.
absl::Status WriteOutputs(const std::string& folder, const Program& program,
                          const std::vector<HostTensor>& outputs);

// Largest |got - want|, NaN against NaN being 0; and whether every element
// conforms: |y - r| <= 1e-7 + 1e-3·|r| or, for floats, |y - r| <= 2e-5·max|r|.
struct Comparison {
  double max_abs_error = 0;
  bool conforms = true;
  std::string reason;  // if it does not: shapes, dtypes, or the first element
};
Comparison Compare(const HostTensor& got, const HostTensor& want);

}  // namespace tilewright::tools

#endif  // TILEWRIGHT_TOOLS_MODEL_IO_H_
