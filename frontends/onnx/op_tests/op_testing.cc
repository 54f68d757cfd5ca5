#include "frontends/onnx/op_tests/op_testing.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "absl/status/statusor.h"
#include "frontends/onnx/import_model.h"
#include "gtest/gtest.h"
#include "tilegraph/interpret/interpreter.h"
#include "tilegraph/ir/verifier.h"

namespace tilewright {
namespace {

using Shape = std::vector<int64_t>;

// Values as floats, of any dtype.
Values ToFloats(const HostTensor& tensor) {
  Values values;
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    const Scalar value = tensor.Get(i);
    values.push_back(static_cast<float>(
        IsFloat(tensor.dtype()) ? value.f : static_cast<double>(value.i)));
  }
  return values;
}

}  // namespace

int64_t Total(const Shape& shape) {
  int64_t total = 1;
  for (const int64_t extent : shape) total *= extent;
  return total;
}

bool Next(Shape& index, const Shape& shape) {
  for (size_t d = shape.size(); d-- > 0;) {
    if (++index[d] < shape[d]) return true;
    index[d] = 0;
  }
  return false;
}

Outcome RunModel(ModelBuilder& b, const std::vector<Given>& inputs) {
  const absl::StatusOr<ImportedModel> model = ImportModelProto(b.model());
  if (!model.ok()) {
    ADD_FAILURE() << model.status();
    return {};
  }
  EXPECT_TRUE(VerifyGraph(model->graph).ok()) << VerifyGraph(model->graph);
  std::map<TensorId, HostTensor> values;
  for (size_t i = 0; i < inputs.size(); ++i) {
    HostTensor tensor(DType::kFloat32, inputs[i].shape);
    EXPECT_EQ(tensor.num_elements(),
              static_cast<int64_t>(inputs[i].values.size()));
    std::copy(inputs[i].values.begin(), inputs[i].values.end(),
              tensor.as<float>().begin());
    values[model->inputs[i].tensor] = std::move(tensor);
  }
  const auto interpreter =
      Interpreter::Create(model->graph, std::move(values), {});
  if (!interpreter.ok()) {
    ADD_FAILURE() << interpreter.status();
    return {};
  }
  const auto result = (*interpreter)->Evaluate(model->outputs[0].tensor);
  if (!result.ok()) {
    ADD_FAILURE() << result.status();
    return {};
  }
  EXPECT_EQ(result->shape(), model->outputs[0].shape);
  return {result->shape(), ToFloats(*result)};
}

Outcome RunNode(int64_t opset, const std::string& op,
                const std::vector<Given>& inputs,
                const std::vector<std::vector<int64_t>>& constants,
                const Attributes& attributes) {
  ModelBuilder b(opset);
  std::vector<std::string> names;
  for (size_t i = 0; i < inputs.size(); ++i) {
    names.push_back("x" + std::to_string(i));
    b.Input(names.back(), inputs[i].shape);
  }
  for (size_t i = 0; i < constants.size(); ++i) {
    names.push_back("c" + std::to_string(i));
    b.Ints(names.back(), {static_cast<int64_t>(constants[i].size())},
           constants[i]);
  }
  attributes(b.Node(op, names, {"y"}));
  b.model().mutable_graph()->add_output()->set_name("y");
  return RunModel(b, inputs);
}

void ExpectNear(const Outcome& found, const Shape& shape,
                const Values& values) {
  EXPECT_EQ(found.shape, shape);
  ASSERT_EQ(found.values.size(), values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    if (std::isnan(values[i])) {
      EXPECT_TRUE(std::isnan(found.values[i])) << i;
    } else if (found.values[i] != values[i]) {
      EXPECT_NEAR(found.values[i], values[i], 1e-5 + 1e-7 * std::abs(values[i]))
          << i;
    }
  }
}

Given Vector(const Values& values) {
  return {{static_cast<int64_t>(values.size())}, values};
}

Given Count(const Shape& shape) {  // 1, 2, 3, ...
  Given given{shape, {}};
  for (int64_t i = 1; i <= Total(shape); ++i) {
    given.values.push_back(static_cast<float>(i));
  }
  return given;
}

Given SmallIntegers(const std::vector<int64_t>& shape, Random& random) {
  Given given = Count(shape);
  for (float& value : given.values)
    value = static_cast<float>(random.UniformInt(-8, 8));
  return given;
}

}  // namespace tilewright
