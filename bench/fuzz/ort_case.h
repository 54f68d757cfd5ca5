// The same model through ONNX Runtime.
#ifndef TILEWRIGHT_BENCH_FUZZ_ORT_CASE_H_
#define TILEWRIGHT_BENCH_FUZZ_ORT_CASE_H_

#include <cstdint>
#include <string>

#include "bench/fuzz/fuzz_answer.h"
#include "onnx/onnx_pb.h"

namespace tilewright::bench {

// Writes the model to `path` and opens it with the library; runs it on the
// values that OwnCase draws from `seed`, unless its inputs take more than 256
// MiB. Messages are ONNX Runtime's.
FuzzAnswer RunOrtCase(const std::string& library, const std::string& path,
                      const onnx::ModelProto& model, uint64_t seed);

}  // namespace tilewright::bench

#endif  // TILEWRIGHT_BENCH_FUZZ_ORT_CASE_H_
