// The outcome of a fuzzed model, as bytes that pass from child to parent.
#ifndef TILEWRIGHT_BENCH_FUZZ_FUZZ_ANSWER_H_
#define TILEWRIGHT_BENCH_FUZZ_FUZZ_ANSWER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "bench/ort/ort_session.h"

namespace tilewright::bench {

struct FuzzAnswer {
  // "ran"; "large": accepted, and too large to run here; "refused".
  std::string verdict;
  std::string stage;    // that refused: "load", "import", "compile", ...
  std::string message;  // of the refusal
  std::vector<OrtTensor> outputs;
};

std::string Encode(const FuzzAnswer& answer);
FuzzAnswer Decode(const std::string& bytes);

// Values for the inputs of a model, by name: normal for floats, small for
// integers. Same seed and name, same values. `data_type` is
// onnx.TensorProto.DataType; others than numbers and bool stay empty.
OrtTensor DrawTensor(const std::string& name, int32_t data_type,
                     const std::vector<int64_t>& dims, uint64_t seed);
// Bytes of an element, 0 if unknown.
int64_t ElementBytes(int32_t data_type);

// Empty if the outputs are the same up to rounding, else what differs first.
std::string Difference(const std::vector<OrtTensor>& ours,
                       const std::vector<OrtTensor>& theirs);

// The message without names, shapes and numbers, so that messages of one kind
// are equal.
std::string KindOfMessage(const std::string& message);

}  // namespace tilewright::bench

#endif  // TILEWRIGHT_BENCH_FUZZ_FUZZ_ANSWER_H_
