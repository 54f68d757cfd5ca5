#include "bench/fuzz/mutate_onnx.h"

#include <cstdint>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "bench/fuzz/mutations.h"

namespace tilewright::bench {
namespace {

using Mutation = std::string (*)(onnx::ModelProto&, Random&);

struct Weighted {
  Mutation mutation;
  int weight;
};
constexpr Weighted kMutations[] = {
    {MutateAttribute, 8},   {MutateDimension, 5}, {MutateType, 4},
    {MutateEdge, 4},        {MutateOperator, 3},  {MutateOpset, 2},
    {MutateInitializer, 4}, {MutateBoundary, 2},  {MutateNodes, 2},
};

Mutation AnyMutation(Random& random) {
  int total = 0;
  for (const Weighted& one : kMutations) total += one.weight;
  int64_t at = random.UniformInt(0, total - 1);
  for (const Weighted& one : kMutations) {
    if (at < one.weight) return one.mutation;
    at -= one.weight;
  }
  return MutateAttribute;
}

// Takes the types of outputs and intermediate values away.
void Undeclare(onnx::GraphProto& graph) {
  graph.clear_value_info();
  for (onnx::ValueInfoProto& output : *graph.mutable_output())
    output.clear_type();
}

}  // namespace

std::string MutateOnnx(onnx::ModelProto& model, Random& random) {
  // The declared shapes of a model's values would give most changes away before
  // any operator sees them.
  const bool undeclared = random.Bernoulli(0.6);
  if (undeclared) Undeclare(*model.mutable_graph());
  // Mostly one change: what a message is about is then known.
  const int changes =
      random.Bernoulli(0.75) ? 1 : static_cast<int>(random.UniformInt(2, 3));
  std::string text = undeclared ? "undeclared; " : "";
  for (int done = 0, tries = 0; done < changes && tries < 20; ++tries) {
    const std::string change = AnyMutation(random)(model, random);
    if (change.empty()) continue;
    absl::StrAppend(&text, done == 0 ? "" : "; ", change);
    ++done;
  }
  return absl::Utf8SafeCEscape(text);
}

}  // namespace tilewright::bench
