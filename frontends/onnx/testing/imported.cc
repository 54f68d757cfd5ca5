#include "frontends/onnx/testing/imported.h"

#include <map>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tilegraph/interpret/interpreter.h"
#include "tilegraph/ir/tensor_graph.h"
#include "tilegraph/ir/verifier.h"

namespace tilewright {

ImportedModel Import(ModelBuilder& builder, const ImportOptions& options) {
  absl::StatusOr<ImportedModel> model =
      ImportModelProto(builder.model(), options);
  if (!model.ok()) {
    ADD_FAILURE() << model.status();
    return {};
  }
  const absl::Status verified = VerifyGraph(model->graph);
  EXPECT_TRUE(verified.ok()) << verified;
  return *std::move(model);
}

void ExpectRefused(ModelBuilder& builder, absl::StatusCode code,
                   const std::string& part, const std::string& another) {
  const absl::Status refused = ImportModelProto(builder.model(), {}).status();
  EXPECT_EQ(refused.code(), code);
  EXPECT_THAT(
      std::string(refused.message()),
      testing::AllOf(testing::HasSubstr(part), testing::HasSubstr(another)));
}

std::vector<std::string> Hints(const ImportedModel& model) {
  std::vector<std::string> hints;
  for (const Tensor& tensor : model.graph.tensors()) {
    if (tensor.kind == TensorKind::kCompute)
      hints.push_back(tensor.hint.word());
  }
  return hints;
}

HostTensor Floats(const std::vector<int64_t>& shape,
                  const std::vector<float>& values) {
  HostTensor tensor(DType::kFloat32, shape);
  for (size_t i = 0; i < values.size(); ++i) tensor.as<float>()[i] = values[i];
  return tensor;
}

std::vector<float> Evaluate(const ImportedModel& model,
                            const std::vector<HostTensor>& inputs) {
  std::map<TensorId, HostTensor> values;
  for (size_t i = 0; i < inputs.size(); ++i) {
    values[model.inputs[i].tensor] = inputs[i];
  }
  auto interpreter = Interpreter::Create(model.graph, std::move(values), {});
  if (!interpreter.ok()) {
    ADD_FAILURE() << interpreter.status();
    return {};
  }
  const auto result = (*interpreter)->Evaluate(model.outputs[0].tensor);
  if (!result.ok()) {
    ADD_FAILURE() << result.status();
    return {};
  }
  const auto span = result->as<float>();
  return {span.begin(), span.end()};
}

}  // namespace tilewright
