// The reference interpreter: evaluates any TensorGraph slowly and obviously, on
// demand per element, in double or exact integer arithmetic. It is the oracle
// of every test. It shares nothing with schedules or kernel IR.
//
// Every tensor that is a graph edge is rounded to its dtype, except that float
// tensors stay in double when `Options::round_floats` is false (the default for
// oracles: kernels are then judged by error bounds).
#ifndef TILEWRIGHT_TILEGRAPH_INTERPRET_INTERPRETER_H_
#define TILEWRIGHT_TILEGRAPH_INTERPRET_INTERPRETER_H_

#include <map>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "tilegraph/expr/host_tensor.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright {

class Interpreter {
 public:
  struct Options {
    bool round_floats = false;
  };

  // `inputs`: one per placeholder, with its dtype and shape. InvalidArgument
  // names what is missing or does not fit. `graph` must outlive this.
  static absl::StatusOr<std::unique_ptr<Interpreter>> Create(
      const TensorGraph& graph, std::map<TensorId, HostTensor> inputs,
      Options options);
  ~Interpreter();

  // One element; everything it needs is computed once and remembered.
  // OutOfRange names tensor and index if a load leaves its tensor.
  absl::StatusOr<Scalar> At(TensorId tensor, absl::Span<const int64_t> index);
  // Bodies evaluated so far, once for every element and step of its reduction.
  int64_t steps() const;
  // The whole tensor, rounded to its dtype.
  absl::StatusOr<HostTensor> Evaluate(TensorId tensor);

 private:
  class Impl;
  explicit Interpreter(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Evaluates one operation on scalars: the meaning of every Op, also used to
// fold constants and by the kernel-IR interpreters. `operand_dtype` is the
// dtype of the operands (for kSelect of the branches, for kCast of the source),
// `dtype` that of the result. `single` rounds the result of every float
// operation to `dtype` (fp16 and bf16 compute in fp32), as kernels do.
Scalar EvaluateOp(Op op, DType dtype, DType operand_dtype,
                  absl::Span<const Scalar> operands, bool single);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_INTERPRET_INTERPRETER_H_
