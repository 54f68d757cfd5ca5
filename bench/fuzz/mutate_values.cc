#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "bench/fuzz/mutations.h"
#include "bench/fuzz/odd_values.h"

namespace tilewright::bench {
namespace {

constexpr int kTypes[] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,
                          10, 11, 12, 13, 14, 16, 17, 22, 99, -1};

// All names that some value has.
std::vector<std::string> ValueNames(const onnx::GraphProto& graph) {
  std::vector<std::string> names;
  for (const auto& input : graph.input()) names.push_back(input.name());
  for (const auto& tensor : graph.initializer()) names.push_back(tensor.name());
  for (const auto& node : graph.node())
    names.insert(names.end(), node.output().begin(), node.output().end());
  names.push_back("nobody");
  return names;
}

std::string MutateShape(onnx::TypeProto::Tensor& type, Random& random) {
  auto& shape = *type.mutable_shape();
  const int choice = static_cast<int>(random.UniformInt(0, 9));
  if (choice == 0) {
    type.clear_shape();
    return "no shape";
  }
  if (choice == 1 || shape.dim_size() == 0) {
    shape.add_dim()->set_dim_value(random.UniformInt(1, 3));
    return "a dimension more";
  }
  if (choice == 2) {
    shape.mutable_dim()->RemoveLast();
    return "a dimension less";
  }
  const int at = static_cast<int>(random.Index(shape.dim_size()));
  auto& dim = *shape.mutable_dim(at);
  const int64_t before = dim.dim_value();
  if (choice == 3) {
    dim.set_dim_param("N");
    return absl::StrCat("dimension ", at, " ", before, " -> N");
  }
  dim.set_dim_value(OddInteger(random, before));
  return absl::StrCat("dimension ", at, " ", before, " -> ", dim.dim_value());
}

onnx::ValueInfoProto* AnyDeclaration(onnx::GraphProto& graph, Random& random) {
  const int inputs = graph.input_size(), outputs = graph.output_size();
  const int all = inputs + outputs + graph.value_info_size();
  if (all == 0) return nullptr;
  const int at = static_cast<int>(random.Index(all));
  if (at < inputs) return graph.mutable_input(at);
  if (at < inputs + outputs) return graph.mutable_output(at - inputs);
  return graph.mutable_value_info(at - inputs - outputs);
}

// One value of a tensor, in whatever field it is kept.
std::string ChangeValue(onnx::TensorProto& tensor, Random& random) {
  if (tensor.int64_data_size() > 0) {
    const int at = static_cast<int>(random.Index(tensor.int64_data_size()));
    const int64_t before = tensor.int64_data(at);
    tensor.set_int64_data(at, OddInteger(random, before));
    return absl::StrCat(before, " -> ", tensor.int64_data(at));
  }
  if (tensor.float_data_size() > 0) {
    const int at = static_cast<int>(random.Index(tensor.float_data_size()));
    const float before = tensor.float_data(at);
    tensor.set_float_data(at, static_cast<float>(OddFloat(random, before)));
    return absl::StrCat(before, " -> ", tensor.float_data(at));
  }
  std::string& raw = *tensor.mutable_raw_data();
  if (raw.empty()) return "nothing";
  if (tensor.data_type() == onnx::TensorProto::INT64 && raw.size() >= 8) {
    const size_t at = random.Index(raw.size() / 8) * 8;
    int64_t value = 0;
    raw.copy(reinterpret_cast<char*>(&value), 8, at);
    const int64_t after = OddInteger(random, value);
    raw.replace(at, 8, reinterpret_cast<const char*>(&after), 8);
    return absl::StrCat(value, " -> ", after);
  }
  if (tensor.data_type() == onnx::TensorProto::FLOAT && raw.size() >= 4) {
    const size_t at = random.Index(raw.size() / 4) * 4;
    const float after = static_cast<float>(OddFloat(random, 1));
    raw.replace(at, 4, reinterpret_cast<const char*>(&after), 4);
    return absl::StrCat("a float -> ", after);
  }
  raw[random.Index(raw.size())] ^= static_cast<char>(1 << random.Index(8));
  return "a bit";
}

}  // namespace

std::string AnyName(const onnx::GraphProto& graph, Random& random) {
  const std::vector<std::string> names = ValueNames(graph);
  return names[random.Index(names.size())];
}

std::string MutateDimension(onnx::ModelProto& model, Random& random) {
  onnx::ValueInfoProto* value = AnyDeclaration(*model.mutable_graph(), random);
  if (value == nullptr || !value->type().has_tensor_type()) return "";
  return absl::StrCat(
      "shape of '", value->name(), "': ",
      MutateShape(*value->mutable_type()->mutable_tensor_type(), random));
}

std::string MutateType(onnx::ModelProto& model, Random& random) {
  onnx::GraphProto& graph = *model.mutable_graph();
  const int type = AnyOf(kTypes, random);
  if (graph.initializer_size() > 0 && random.Bernoulli(0.3)) {
    onnx::TensorProto& tensor = *graph.mutable_initializer(
        static_cast<int>(random.Index(graph.initializer_size())));
    tensor.set_data_type(type);
    return absl::StrCat("type of initializer '", tensor.name(), "' -> ", type);
  }
  // All at once, so that operators see another type that is consistent.
  const bool everywhere = random.Bernoulli(0.4);
  onnx::ValueInfoProto* one = AnyDeclaration(graph, random);
  if (one == nullptr) return "";
  const int before = one->type().tensor_type().elem_type();
  for (auto* values : {graph.mutable_input(), graph.mutable_output(),
                       graph.mutable_value_info()}) {
    for (onnx::ValueInfoProto& value : *values) {
      auto& tensor = *value.mutable_type()->mutable_tensor_type();
      if (&value == one || (everywhere && tensor.elem_type() == before))
        tensor.set_elem_type(type);
    }
  }
  return absl::StrCat("type of ", everywhere ? "all like '" : "'", one->name(),
                      "': ", before, " -> ", type);
}

std::string MutateInitializer(onnx::ModelProto& model, Random& random) {
  onnx::GraphProto& graph = *model.mutable_graph();
  if (graph.initializer_size() == 0) return "";
  onnx::TensorProto& tensor = *graph.mutable_initializer(
      static_cast<int>(random.Index(graph.initializer_size())));
  const std::string start = absl::StrCat("initializer '", tensor.name(), "': ");
  switch (random.UniformInt(0, 5)) {
    case 0:
      if (tensor.dims_size() == 0) {
        tensor.add_dims(1);
        return absl::StrCat(start, "a dimension of 1 more");
      } else {
        const int at = static_cast<int>(random.Index(tensor.dims_size()));
        const int64_t before = tensor.dims(at);
        tensor.set_dims(at, OddInteger(random, before));
        return absl::StrCat(start, "dimension ", before, " -> ",
                            tensor.dims(at));
      }
    case 1: {
      // The same elements in one dimension, or with a 1 before them.
      int64_t count = 1;
      for (const int64_t dim : tensor.dims()) count *= dim;
      tensor.clear_dims();
      if (random.Bernoulli(0.5)) tensor.add_dims(1);
      tensor.add_dims(count);
      return absl::StrCat(start, "flattened");
    }
    case 2:
      tensor.mutable_raw_data()->push_back('x');
      return absl::StrCat(start, "a byte more");
    default:
      return absl::StrCat(start, ChangeValue(tensor, random));
  }
}

std::string MutateBoundary(onnx::ModelProto& model, Random& random) {
  onnx::GraphProto& graph = *model.mutable_graph();
  switch (random.UniformInt(0, 5)) {
    case 0: {
      const std::string name = AnyName(graph, random);
      graph.add_output()->set_name(name);
      return absl::StrCat("'", name, "' is an output too");
    }
    case 1:
      if (graph.output_size() > 0) graph.mutable_output()->RemoveLast();
      return "the last output removed";
    case 2:
      if (graph.input_size() > 0) {
        graph.mutable_input()->DeleteSubrange(
            static_cast<int>(random.Index(graph.input_size())), 1);
      }
      return "an input removed";
    case 3:
      if (graph.input_size() > 0) *graph.add_input() = graph.input(0);
      return "the first input twice";
    case 4: {
      if (graph.initializer_size() == 0) return "";
      // The value becomes an input, known at run time alone.
      const onnx::TensorProto tensor = graph.initializer(0);
      graph.mutable_initializer()->DeleteSubrange(0, 1);
      onnx::ValueInfoProto* input = graph.add_input();
      input->set_name(tensor.name());
      auto* type = input->mutable_type()->mutable_tensor_type();
      type->set_elem_type(tensor.data_type());
      type->mutable_shape();
      for (const int64_t dim : tensor.dims())
        type->mutable_shape()->add_dim()->set_dim_value(dim);
      return absl::StrCat("initializer '", tensor.name(), "' is an input");
    }
    default: {
      const std::string name = AnyName(graph, random);
      onnx::TensorProto* tensor = graph.add_initializer();
      tensor->set_name(name);
      tensor->set_data_type(onnx::TensorProto::FLOAT);
      tensor->add_float_data(1);
      return absl::StrCat("initializer '", name, "' added");
    }
  }
}

std::string MutateOpset(onnx::ModelProto& model, Random& random) {
  if (model.opset_import_size() == 0 || random.Bernoulli(0.05)) {
    model.clear_opset_import();
    return "no opset";
  }
  auto& opset = *model.mutable_opset_import(0);
  const int64_t before = opset.version();
  opset.set_version(random.Bernoulli(0.1) ? OddInteger(random, before)
                                          : random.UniformInt(6, 25));
  return absl::StrCat("opset ", before, " -> ", opset.version());
}

}  // namespace tilewright::bench
