// Graphs of every family of kernels, to check generated code on a GPU with.
// Their first axis is one of independent rows (or images, or batches): a few of
// them can be computed again elsewhere.
#ifndef TILEWRIGHT_TOOLS_GPU_CHECK_GRAPHS_H_
#define TILEWRIGHT_TOOLS_GPU_CHECK_GRAPHS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tilegraph/expr/dtype.h"

namespace tilewright::cuda {

struct CheckGraph {
  std::string family;               // "product", "softmax", ...
  std::string name;                 // "product of 256 x 192 x 224"
  DType storage = DType::kFloat32;  // of inputs and outputs
  int64_t rows = 1;
  // The text form (tilegraph/text/text_form.h), but for the number of rows.
  std::string text;

  // The graph of so many rows: the same tensors, in the same order. Inputs
  // whose shape does not depend on it are shared by all rows.
  std::string TextOf(int64_t some_rows) const;
};

enum class CheckSizes : uint8_t {
  kGpu,  // some microseconds to a millisecond, and chains larger than caches
  kEmulated,  // what an emulator does in no time, with tails everywhere
};

// All families, in fp32 and in fp16 storage; sums are fp32.
std::vector<CheckGraph> CheckGraphs(CheckSizes sizes);

// C = A B, n x n x n, fp32.
CheckGraph SquareProduct(int64_t n);

}  // namespace tilewright::cuda

#endif  // TILEWRIGHT_TOOLS_GPU_CHECK_GRAPHS_H_
