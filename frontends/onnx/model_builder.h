// Builds ONNX models in tests and benchmarks.
#ifndef TILEWRIGHT_FRONTENDS_ONNX_MODEL_BUILDER_H_
#define TILEWRIGHT_FRONTENDS_ONNX_MODEL_BUILDER_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "onnx/onnx_pb.h"

namespace tilewright {

class NodeBuilder {
 public:
  explicit NodeBuilder(onnx::NodeProto* node) : node_(node) {}
  NodeBuilder& Int(const std::string& name, int64_t value) {
    onnx::AttributeProto* a = Add(name, onnx::AttributeProto::INT);
    a->set_i(value);
    return *this;
  }
  NodeBuilder& Float(const std::string& name, float value) {
    onnx::AttributeProto* a = Add(name, onnx::AttributeProto::FLOAT);
    a->set_f(value);
    return *this;
  }
  NodeBuilder& String(const std::string& name, const std::string& value) {
    onnx::AttributeProto* a = Add(name, onnx::AttributeProto::STRING);
    a->set_s(value);
    return *this;
  }
  NodeBuilder& Ints(const std::string& name,
                    const std::vector<int64_t>& values) {
    onnx::AttributeProto* a = Add(name, onnx::AttributeProto::INTS);
    for (const int64_t value : values) a->add_ints(value);
    return *this;
  }
  NodeBuilder& Floats(const std::string& name,
                      const std::vector<float>& values) {
    onnx::AttributeProto* a = Add(name, onnx::AttributeProto::FLOATS);
    for (const float value : values) a->add_floats(value);
    return *this;
  }
  NodeBuilder& Strings(const std::string& name,
                       const std::vector<std::string>& values) {
    onnx::AttributeProto* a = Add(name, onnx::AttributeProto::STRINGS);
    for (const std::string& value : values) a->add_strings(value);
    return *this;
  }
  NodeBuilder& Graph(const std::string& name, const onnx::GraphProto& graph) {
    onnx::AttributeProto* a = Add(name, onnx::AttributeProto::GRAPH);
    *a->mutable_g() = graph;
    return *this;
  }
  NodeBuilder& Name(const std::string& name) {
    node_->set_name(name);
    return *this;
  }
  NodeBuilder& Domain(const std::string& domain) {
    node_->set_domain(domain);
    return *this;
  }

 private:
  onnx::AttributeProto* Add(const std::string& name,
                            onnx::AttributeProto::AttributeType type) {
    onnx::AttributeProto* attribute = node_->add_attribute();
    attribute->set_name(name);
    attribute->set_type(type);
    return attribute;
  }
  onnx::NodeProto* node_;
};

class ModelBuilder {
 public:
  explicit ModelBuilder(int64_t opset = 17) {
    model_.set_ir_version(8);
    model_.add_opset_import()->set_version(opset);
    model_.mutable_graph()->set_name("test");
  }

  // A dimension of -1 is unknown.
  ModelBuilder& Input(const std::string& name,
                      const std::vector<int64_t>& shape,
                      int type = onnx::TensorProto::FLOAT) {
    Declare(model_.mutable_graph()->add_input(), name, shape, type);
    return *this;
  }
  // The last input's dimension `d` gets a name instead of a number.
  ModelBuilder& NameDim(int d, const std::string& name) {
    onnx::GraphProto& graph = *model_.mutable_graph();
    graph.mutable_input(graph.input_size() - 1)
        ->mutable_type()
        ->mutable_tensor_type()
        ->mutable_shape()
        ->mutable_dim(d)
        ->set_dim_param(name);
    return *this;
  }
  // A declared shape, or none if `shape` is {-2}.
  ModelBuilder& Output(const std::string& name,
                       const std::vector<int64_t>& shape = {-2},
                       int type = onnx::TensorProto::FLOAT) {
    Declare(model_.mutable_graph()->add_output(), name, shape, type);
    return *this;
  }
  ModelBuilder& Floats(const std::string& name,
                       const std::vector<int64_t>& shape,
                       const std::vector<float>& values) {
    onnx::TensorProto* tensor = model_.mutable_graph()->add_initializer();
    tensor->set_name(name);
    tensor->set_data_type(onnx::TensorProto::FLOAT);
    for (const int64_t dim : shape) tensor->add_dims(dim);
    for (const float value : values) tensor->add_float_data(value);
    return *this;
  }
  ModelBuilder& Ints(const std::string& name, const std::vector<int64_t>& shape,
                     const std::vector<int64_t>& values) {
    onnx::TensorProto* tensor = model_.mutable_graph()->add_initializer();
    tensor->set_name(name);
    tensor->set_data_type(onnx::TensorProto::INT64);
    for (const int64_t dim : shape) tensor->add_dims(dim);
    for (const int64_t value : values) tensor->add_int64_data(value);
    return *this;
  }
  // An integer tensor of 8 to 32 bits; `type` is onnx::TensorProto's. Of 2 and
  // 4 bits, values are bytes that hold several.
  ModelBuilder& Integers(const std::string& name, int type,
                         const std::vector<int64_t>& shape,
                         const std::vector<int64_t>& values) {
    onnx::TensorProto* tensor = model_.mutable_graph()->add_initializer();
    tensor->set_name(name);
    tensor->set_data_type(type);
    for (const int64_t dim : shape) tensor->add_dims(dim);
    for (const int64_t value : values)
      tensor->add_int32_data(static_cast<int32_t>(value));
    return *this;
  }
  NodeBuilder Node(const std::string& op,
                   const std::vector<std::string>& inputs,
                   const std::vector<std::string>& outputs) {
    onnx::NodeProto* node = model_.mutable_graph()->add_node();
    node->set_op_type(op);
    for (const std::string& name : inputs) node->add_input(name);
    for (const std::string& name : outputs) node->add_output(name);
    return NodeBuilder(node);
  }
  onnx::ModelProto& model() { return model_; }

 private:
  static void Declare(onnx::ValueInfoProto* info, const std::string& name,
                      const std::vector<int64_t>& shape, int type) {
    info->set_name(name);
    onnx::TypeProto::Tensor* tensor =
        info->mutable_type()->mutable_tensor_type();
    tensor->set_elem_type(type);
    if (shape == std::vector<int64_t>{-2}) return;
    tensor->mutable_shape();
    for (const int64_t dim : shape) {
      auto* proto = tensor->mutable_shape()->add_dim();
      if (dim >= 0) proto->set_dim_value(dim);
    }
  }
  onnx::ModelProto model_;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_FRONTENDS_ONNX_MODEL_BUILDER_H_
