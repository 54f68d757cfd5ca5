// Runs models of a few nodes in tests of operators.
#ifndef TILEWRIGHT_FRONTENDS_ONNX_OP_TESTS_OP_TESTING_H_
#define TILEWRIGHT_FRONTENDS_ONNX_OP_TESTS_OP_TESTING_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/random.h"
#include "frontends/onnx/model_builder.h"

namespace tilewright {

using Values = std::vector<float>;
using Attributes = std::function<void(NodeBuilder)>;

struct Given {
  std::vector<int64_t> shape;
  Values values;
};

struct Outcome {
  std::vector<int64_t> shape;
  Values values;  // as floats, of any dtype
};

inline void None(NodeBuilder) {}
Given Vector(const Values& values);
Given Count(const std::vector<int64_t>& shape);  // 1, 2, 3, ...
// Between -8 and 8: their sums and products are exact in every order.
Given SmallIntegers(const std::vector<int64_t>& shape, Random& random);

int64_t Total(const std::vector<int64_t>& shape);  // elements
// The next index of `shape` in row-major order; false behind the last.
bool Next(std::vector<int64_t>& index, const std::vector<int64_t>& shape);

// Imports the model and evaluates its first output with the interpreter;
// `inputs` are its float inputs. Errors are test failures.
Outcome RunModel(ModelBuilder& builder, const std::vector<Given>& inputs);

// Runs one node on float inputs; `constants` are int64 inputs after them, of
// one dimension.
Outcome RunNode(int64_t opset, const std::string& op,
                const std::vector<Given>& inputs,
                const std::vector<std::vector<int64_t>>& constants = {},
                const Attributes& attributes = None);

// Up to 1e-5 + 1e-7 |value|; NaN equals NaN.
void ExpectNear(const Outcome& found, const std::vector<int64_t>& shape,
                const Values& values);

}  // namespace tilewright

#endif  // TILEWRIGHT_FRONTENDS_ONNX_OP_TESTS_OP_TESTING_H_
