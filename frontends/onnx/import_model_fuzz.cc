// Any bytes at all: a graph that verifies, or one line; never a crash, a hang
// or more memory than a small multiple of the limits. Bytes that begin with
// 0xff are choices from which a model is built, so that the operators are
// reached; others are a ModelProto.
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "base/check.h"
#include "frontends/onnx/graph/load_model.h"
#include "frontends/onnx/import_model.h"
#include "frontends/onnx/ops/op_table.h"
#include "google/protobuf/stubs/logging.h"
#include "tilegraph/ir/verifier.h"

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  google::protobuf::SetLogHandler(nullptr);
  return 0;
}

namespace tilewright {
namespace {

// Reads the input as a sequence of small choices.
class Choices {
 public:
  Choices(const uint8_t* data, size_t size) : data_(data), end_(data + size) {}
  bool done() const { return data_ == end_; }
  // In [0, count).
  int Pick(int count) { return done() ? 0 : *data_++ % count; }
  // In [-4, 12) mostly, rarely a large or odd number.
  int64_t Number() {
    const int choice = Pick(20);
    if (choice < 16) return choice - 4;
    static constexpr int64_t kOdd[] = {INT64_MAX, INT64_MIN, int64_t{1} << 33,
                                       -1000};
    return kOdd[choice - 16];
  }

 private:
  const uint8_t* data_;
  const uint8_t* end_;
};

void AddTensorInput(onnx::GraphProto& graph, const std::string& name,
                    Choices& choices) {
  static constexpr int kTypes[] = {1, 1, 1, 7, 9, 10, 11, 3};
  onnx::ValueInfoProto* input = graph.add_input();
  input->set_name(name);
  auto* type = input->mutable_type()->mutable_tensor_type();
  type->set_elem_type(kTypes[choices.Pick(8)]);
  type->mutable_shape();
  for (int rank = choices.Pick(6); rank > 0; --rank) {
    type->mutable_shape()->add_dim()->set_dim_value(1 + choices.Pick(6));
  }
}

void AddConstant(onnx::GraphProto& graph, const std::string& name,
                 Choices& choices) {
  onnx::TensorProto* tensor = graph.add_initializer();
  tensor->set_name(name);
  const bool is_float = choices.Pick(4) == 0;
  tensor->set_data_type(is_float ? 1 : 7);
  const int count = choices.Pick(5);
  if (count != 4) tensor->add_dims(count);
  for (int i = 0; i < (count == 4 ? 1 : count); ++i) {
    if (is_float) {
      tensor->add_float_data(static_cast<float>(choices.Pick(9)) - 4);
    } else {
      tensor->add_int64_data(choices.Number());
    }
  }
}

void AddAttribute(onnx::NodeProto& node, Choices& choices) {
  static constexpr const char* kInts[] = {
      "axis",       "keepdims",  "transA",     "transB",      "group",
      "ceil_mode",  "blocksize", "to",         "num_outputs", "allowzero",
      "batch_dims", "k",         "num_groups", "size",        "p"};
  static constexpr const char* kLists[] = {
      "pads", "strides", "dilations", "kernel_shape", "perm",
      "axes", "starts",  "ends",      "split",        "value_ints"};
  static constexpr const char* kStrings[] = {"auto_pad", "mode", "mode",
                                             "approximate"};
  static constexpr const char* kValues[] = {"SAME_UPPER", "SAME_LOWER", "VALID",
                                            "reflect",    "edge",       "wrap",
                                            "CRD",        "tanh",       "none"};
  onnx::AttributeProto* attribute = node.add_attribute();
  switch (choices.Pick(4)) {
    case 0:
    case 1:
      attribute->set_name(kInts[choices.Pick(15)]);
      attribute->set_type(onnx::AttributeProto::INT);
      attribute->set_i(choices.Number());
      break;
    case 2:
      attribute->set_name(kLists[choices.Pick(10)]);
      attribute->set_type(onnx::AttributeProto::INTS);
      for (int n = choices.Pick(5); n > 0; --n) {
        attribute->add_ints(choices.Number());
      }
      break;
    default:
      attribute->set_name(kStrings[choices.Pick(4)]);
      attribute->set_type(onnx::AttributeProto::STRING);
      attribute->set_s(kValues[choices.Pick(9)]);
  }
}

// A model of known operators on small tensors, most of it nonsense.
onnx::ModelProto BuildModel(Choices choices) {
  static const std::vector<std::string>& names =
      *new std::vector<std::string>(OpTable().names());
  onnx::ModelProto model;
  model.add_opset_import()->set_version(
      kMinOpset + choices.Pick(static_cast<int>(kMaxOpset - kMinOpset) + 1));
  onnx::GraphProto& graph = *model.mutable_graph();
  std::vector<std::string> values = {"a", "b", "c", "d", "e"};
  AddTensorInput(graph, "a", choices);
  AddTensorInput(graph, "b", choices);
  for (const char* name : {"c", "d", "e"}) AddConstant(graph, name, choices);
  for (int n = 0; n < 6 && !choices.done(); ++n) {
    onnx::NodeProto* node = graph.add_node();
    node->set_op_type(names[choices.Pick(static_cast<int>(names.size()))]);
    for (int i = choices.Pick(5); i > 0; --i) {
      const int from = choices.Pick(static_cast<int>(values.size()) + 1);
      node->add_input(from == 0 ? "" : values[values.size() - from]);
    }
    for (int i = choices.Pick(4); i > 0; --i) AddAttribute(*node, choices);
    const int outputs = 1 + choices.Pick(8) / 6;
    for (int i = 0; i < outputs; ++i) {
      values.push_back("v" + std::to_string(values.size()));
      node->add_output(values.back());
    }
  }
  graph.add_output()->set_name(values.back());
  return model;
}

void Import(onnx::ModelProto model, bool has_n) {
  ImportOptions options;
  if (has_n) options.dims["N"] = 3;
  options.max_folded_bytes = 1 << 16;
  options.max_folded_total_bytes = 1 << 20;
  options.max_folded_work = 1 << 14;
  const absl::StatusOr<ImportedModel> imported =
      ImportModelProto(std::move(model), options);
  if (imported.ok()) {
    TW_CHECK_OK(VerifyGraph(imported->graph));
    return;
  }
  TW_CHECK(!imported.status().message().empty());
  TW_CHECK(!absl::StrContains(imported.status().message(), "\n"))
      << imported.status();
}

}  // namespace
}  // namespace tilewright

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > 0 && data[0] >= 0x80) {
    tilewright::Import(
        tilewright::BuildModel(tilewright::Choices(data + 1, size - 1)), false);
    return 0;
  }
  const absl::string_view bytes(reinterpret_cast<const char*>(data), size);
  absl::StatusOr<onnx::ModelProto> model =
      tilewright::ParseModel(bytes, "input");
  if (model.ok()) {
    tilewright::Import(*std::move(model), absl::StrContains(bytes, "N"));
  }
  return 0;
}
