// A model while it is being drawn: values with their shapes, parameters by
// their distribution, and the layers that blocks are made of. Internal to
// random networks.
#ifndef TILEWRIGHT_FRONTENDS_ONNX_TESTING_NETWORK_DRAFT_H_
#define TILEWRIGHT_FRONTENDS_ONNX_TESTING_NETWORK_DRAFT_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/random.h"
#include "frontends/onnx/model_builder.h"

namespace tilewright {

struct Value {
  std::string name;
  std::vector<int64_t> shape;
};

struct ConvShape {
  int64_t kernel_h = 1, kernel_w = 1;
  int64_t stride = 1, dilation = 1, groups = 1;
  // Rows above, columns left, rows below, columns right.
  std::vector<int64_t> pads = {0, 0, 0, 0};
};

// Padding that keeps the size at stride 1.
ConvShape Same(int64_t kernel, int64_t dilation = 1);

class NetworkDraft {
 public:
  explicit NetworkDraft(uint64_t seed) : random(seed), builder(17) {}

  // One of `values`.
  int64_t Pick(const std::vector<int64_t>& values) {
    return values[random.Index(values.size())];
  }
  bool Chance(double probability) { return random.Bernoulli(probability); }

  // Parameters: names of initializers.
  std::string Normal(const std::vector<int64_t>& shape, double deviation,
                     double mean = 0);
  std::string Uniform(const std::vector<int64_t>& shape, double low,
                      double high);
  std::string Floats(const std::vector<int64_t>& shape,
                     const std::vector<float>& values);
  std::string Ints(const std::vector<int64_t>& values);

  // A node with one result of that shape.
  Value Node(
      const std::string& op, const std::vector<std::string>& inputs,
      std::vector<int64_t> shape,
      const std::function<void(NodeBuilder)>& attributes = [](NodeBuilder) {});

  // Layers. Parameters are drawn for unit results of unit operands.
  Value Unary(const std::string& op, const Value& x);
  Value Binary(const std::string& op, const Value& a, const Value& b);
  Value Scalar(const std::string& op, const Value& x, float scalar);
  Value Conv(const Value& x, int64_t channels, const ConvShape& shape);
  Value ConvTranspose(const Value& x, int64_t channels, int64_t kernel,
                      int64_t stride);
  Value MatMul(const Value& a, const Value& b);
  // Over the last dimension; perhaps with a bias.
  Value Linear(const Value& x, int64_t features);
  Value Reshape(const Value& x, const std::vector<int64_t>& shape);
  Value Transpose(const Value& x, const std::vector<int64_t>& order);
  Value Slice(const Value& x, int axis, int64_t begin, int64_t end);
  Value Concat(const std::vector<Value>& parts, int axis);
  std::vector<Value> Split(const Value& x, int axis,
                           const std::vector<int64_t>& sizes);
  // `op`: ReduceMean or ReduceMax, dimensions kept.
  Value Reduce(const std::string& op, const Value& x,
               const std::vector<int64_t>& axes);
  Value Pool(const std::string& op, const Value& x, const ConvShape& shape);
  Value Softmax(const Value& x, int axis);
  // Any continuous function of elements, Relu most often; `channel_axis` is
  // where PRelu has its slopes.
  Value Activation(const Value& x, int channel_axis = 1);
  Value Gelu(const Value& x);

  Random random;
  ModelBuilder builder;
  int64_t multiply_adds = 0;  // of what has been drawn

 private:
  std::string NewName(const char* prefix);
  int names_ = 0;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_FRONTENDS_ONNX_TESTING_NETWORK_DRAFT_H_
