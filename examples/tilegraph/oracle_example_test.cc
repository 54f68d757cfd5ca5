// tilegraph alone, as an oracle: a kernel of one's own against the meaning of
// the expression that it should compute. No schedule, no compiler.

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/random.h"
#include "base/status_matchers.h"
#include "gtest/gtest.h"
#include "tilegraph/expr/dtype.h"
#include "tilegraph/expr/expr.h"
#include "tilegraph/expr/host_tensor.h"
#include "tilegraph/interpret/interpreter.h"
#include "tilegraph/ir/combiner.h"
#include "tilegraph/ir/tensor_graph.h"

namespace {

using ::tilewright::Combiner;
using ::tilewright::Compute;
using ::tilewright::DType;
using ::tilewright::Expr;
using ::tilewright::HostTensor;
using ::tilewright::Interpreter;
using ::tilewright::Op;
using ::tilewright::Random;
using ::tilewright::TensorGraph;
using ::tilewright::TensorId;

constexpr int64_t kRows = 7, kColumns = 5, kDepth = 9;

// Somebody's kernel: y = relu(a b + bias), row by row.
void MyKernel(const float* a, const float* b, const float* bias, float* y) {
  for (int64_t m = 0; m < kRows; ++m) {
    std::copy(bias, bias + kColumns, y + m * kColumns);
    for (int64_t k = 0; k < kDepth; ++k) {
      for (int64_t n = 0; n < kColumns; ++n) {
        y[m * kColumns + n] += a[m * kDepth + k] * b[k * kColumns + n];
      }
    }
    for (int64_t n = 0; n < kColumns; ++n) {
      y[m * kColumns + n] = std::max(y[m * kColumns + n], 0.0f);
    }
  }
}

HostTensor RandomTensor(std::vector<int64_t> shape, Random& random) {
  HostTensor tensor(DType::kFloat32, std::move(shape));
  for (float& value : tensor.as<float>()) {
    value = static_cast<float>(random.Normal());
  }
  return tensor;
}

TEST(OracleExampleTest, AHandWrittenKernelComputesItsExpression) {
  // The meaning of the kernel. Inside a body, variable i is axis i: first those
  // of the result, then the reduced ones.
  const Expr m = Expr::Var(0, "m"), n = Expr::Var(1, "n"),
             k = Expr::Var(2, "k");
  TensorGraph graph;
  const TensorId a =
      graph.AddPlaceholder("A", DType::kFloat32, {kRows, kDepth});
  const TensorId b =
      graph.AddPlaceholder("B", DType::kFloat32, {kDepth, kColumns});
  const TensorId bias =
      graph.AddPlaceholder("bias", DType::kFloat32, {kColumns});
  Compute product;
  product.axes = {{"m", kRows}, {"n", kColumns}};
  product.reduce_axes = {{"k", kDepth}};
  product.combiner = Combiner(Combiner::Kind::kSum, DType::kFloat32);
  product.body = {
      Expr::Make(Op::kMul, {graph.Load(a, {m, k}), graph.Load(b, {k, n})})};
  const TensorId t = graph.AddCompute("T", DType::kFloat32, product);
  Compute relu;
  relu.axes = product.axes;
  relu.body = {Expr::Make(
      Op::kMax,
      {Expr::Make(Op::kAdd, {graph.Load(t, {m, n}), graph.Load(bias, {n})}),
       Expr::Float(0)})};
  const TensorId y = graph.AddCompute("Y", DType::kFloat32, relu);
  graph.SetOutputs({y});

  Random random(1);
  std::map<TensorId, HostTensor> inputs = {
      {a, RandomTensor({kRows, kDepth}, random)},
      {b, RandomTensor({kDepth, kColumns}, random)},
      {bias, RandomTensor({kColumns}, random)}};
  std::vector<float> mine(kRows * kColumns);
  MyKernel(inputs.at(a).as<float>().data(), inputs.at(b).as<float>().data(),
           inputs.at(bias).as<float>().data(), mine.data());

  TW_ASSERT_OK_AND_ASSIGN(std::unique_ptr<Interpreter> interpreter,
                          Interpreter::Create(graph, inputs, {}));
  TW_ASSERT_OK_AND_ASSIGN(HostTensor expected, interpreter->Evaluate(y));
  bool positive = false;
  for (size_t i = 0; i < mine.size(); ++i) {
    EXPECT_NEAR(mine[i], expected.as<float>()[i], 1e-5) << i;
    positive |= mine[i] > 0;
  }
  EXPECT_TRUE(positive) << "the comparison would pass with zeros";
}

}  // namespace
