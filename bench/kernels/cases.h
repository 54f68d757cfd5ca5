// The operators that the kernel benchmark runs, as a table of shapes, and the
// small ONNX model that each becomes.
//
// The model computes the operator from input "X" (and weights) into a tensor
// whose name begins with "case". Operators on images stand between a 1x1
// convolution ("stem...") and a sparse pooling ("tail..."), so that they meet
// the layouts and halos they have inside a network, not those of a model's
// boundary; the benchmark times only what is neither stem nor tail.
#ifndef TILEWRIGHT_BENCH_KERNELS_CASES_H_
#define TILEWRIGHT_BENCH_KERNELS_CASES_H_

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "onnx/onnx_pb.h"

namespace tilewright::bench {

// [m, k] · [k, n], the second a constant.
struct Gemm {
  int64_t m, k, n;
};
// Batch 1, square images, padded by (kernel - 1) / 2, with bias.
struct Conv {
  int64_t channels_in, channels_out, size, kernel, stride = 1, groups = 1;
  int64_t size_out() const { return (size - 1) / stride + 1; }
};
// Over the last axis.
struct Softmax {
  int64_t rows, columns;
};
struct LayerNorm {
  int64_t rows, columns;
};
struct Transpose {
  std::vector<int64_t> shape, permutation;
};
// Batch 1, square images, padded as Conv.
struct Pool {
  std::string op;  // "MaxPool", "AveragePool", "GlobalAveragePool"
  int64_t channels, size, kernel = 1, stride = 1;
  int64_t size_out() const {
    return op == "GlobalAveragePool" ? 1 : (size - 1) / stride + 1;
  }
};
// Doubles height and width.
struct Resize {
  std::string mode;  // "nearest", "linear"
  int64_t channels, size;
};
// Elementwise: "Add" of two inputs, "Sigmoid", or "Gelu" spelt out with Erf.
struct Map {
  std::string op;
  int64_t rows, columns;
};
using Operator =
    std::variant<Gemm, Conv, Softmax, LayerNorm, Transpose, Pool, Resize, Map>;

struct Case {
  std::string family;
  Operator op;
};

// The whole table, families together.
std::vector<Case> Cases();

// "128x768x3072", "3x3 64->64 @56 /2": what a table's first column shows.
std::string Name(const Operator& op);
// Multiplications and additions; 0 where moving bytes is the work.
double Flops(const Operator& op);
// The compulsory traffic: inputs, weights and outputs, each once.
double CompulsoryBytes(const Operator& op);
// Weights are drawn from a fixed seed.
onnx::ModelProto CaseModel(const Operator& op);

}  // namespace tilewright::bench

#endif  // TILEWRIGHT_BENCH_KERNELS_CASES_H_
