// The ONNX model of every case.
#include <cmath>

#include "base/random.h"
#include "bench/kernels/cases.h"
#include "frontends/onnx/model_builder.h"

namespace tilewright::bench {
namespace {

constexpr int64_t kStemChannels = 16;

class ModelMaker {
 public:
  onnx::ModelProto Make(const Operator& op) {
    std::visit(*this, op);
    for (onnx::NodeProto& node :
         *builder_.model().mutable_graph()->mutable_node())
      node.set_name(node.output(0));
    return std::move(builder_.model());
  }

  void operator()(const Gemm& g) {
    builder_.Input("X", {g.m, g.k});
    Weights("W", {g.k, g.n}, g.k);
    builder_.Node("MatMul", {"X", "W"}, {"case"});
    builder_.Output("case");
  }

  void operator()(const Conv& c) {
    Stem(c.channels_in, c.size);
    Weights("W", {c.channels_out, c.channels_in / c.groups, c.kernel, c.kernel},
            c.channels_in / c.groups * c.kernel * c.kernel);
    Weights("B", {c.channels_out}, 100);
    Windowed(builder_.Node("Conv", {"stem", "W", "B"}, {"case"}), c.kernel,
             c.stride)
        .Int("group", c.groups);
    Tail(c.size_out());
  }

  void operator()(const Softmax& s) {
    builder_.Input("X", {s.rows, s.columns});
    builder_.Node("Softmax", {"X"}, {"case"}).Int("axis", -1);
    builder_.Output("case");
  }

  void operator()(const LayerNorm& l) {
    builder_.Input("X", {l.rows, l.columns});
    Weights("scale", {l.columns}, 1);
    Weights("B", {l.columns}, 1);
    builder_.Node("LayerNormalization", {"X", "scale", "B"}, {"case"})
        .Int("axis", -1);
    builder_.Output("case");
  }

  void operator()(const Transpose& t) {
    builder_.Input("X", t.shape);
    builder_.Node("Transpose", {"X"}, {"case"}).Ints("perm", t.permutation);
    builder_.Output("case");
  }

  void operator()(const Pool& p) {
    Stem(p.channels, p.size);
    NodeBuilder node = builder_.Node(p.op, {"stem"}, {"case"});
    if (p.op == "GlobalAveragePool") {
      builder_.Output("case");
      return;
    }
    Windowed(node, p.kernel, p.stride)
        .Ints("kernel_shape", {p.kernel, p.kernel});
    Tail(p.size_out());
  }

  void operator()(const Resize& r) {
    Stem(r.channels, r.size);
    builder_.Floats("scales", {4}, {1, 1, 2, 2});
    builder_.Node("Resize", {"stem", "", "scales"}, {"case"})
        .String("mode", r.mode)
        .String("coordinate_transformation_mode",
                r.mode == "nearest" ? "asymmetric" : "half_pixel")
        .String("nearest_mode", "floor");
    Tail(2 * r.size);
  }

  void operator()(const Map& m) {
    builder_.Input("X", {m.rows, m.columns});
    if (m.op == "Add") {
      builder_.Input("X2", {m.rows, m.columns});
      builder_.Node("Add", {"X", "X2"}, {"case"});
    } else if (m.op == "Gelu") {
      builder_.Floats("root2", {}, {std::sqrt(2.0F)});
      builder_.Floats("one", {}, {1}).Floats("half", {}, {0.5F});
      builder_.Node("Div", {"X", "root2"}, {"case_scaled"});
      builder_.Node("Erf", {"case_scaled"}, {"case_erf"});
      builder_.Node("Add", {"case_erf", "one"}, {"case_sum"});
      builder_.Node("Mul", {"X", "case_sum"}, {"case_product"});
      builder_.Node("Mul", {"case_product", "half"}, {"case"});
    } else {
      builder_.Node(m.op, {"X"}, {"case"});
    }
    builder_.Output("case");
  }

 private:
  // Normal with variance 1 / `terms`.
  void Weights(const std::string& name, const std::vector<int64_t>& shape,
               int64_t terms) {
    int64_t elements = 1;
    for (const int64_t extent : shape) elements *= extent;
    std::vector<float> values(static_cast<size_t>(elements));
    const double deviation = 1 / std::sqrt(static_cast<double>(terms));
    for (float& value : values)
      value = static_cast<float>(deviation * random_.Normal());
    builder_.Floats(name, shape, values);
  }

  static NodeBuilder& Windowed(NodeBuilder&& node, int64_t kernel,
                               int64_t stride) {
    return Windowed(node, kernel, stride);
  }
  static NodeBuilder& Windowed(NodeBuilder& node, int64_t kernel,
                               int64_t stride) {
    const int64_t pad = (kernel - 1) / 2;
    return node.Ints("strides", {stride, stride})
        .Ints("pads", {pad, pad, pad, pad});
  }

  // "stem": an image as a convolution inside a network leaves it.
  void Stem(int64_t channels, int64_t size) {
    builder_.Input("X", {1, kStemChannels, size, size});
    Weights("stem_W", {channels, kStemChannels, 1, 1}, kStemChannels);
    builder_.Node("Conv", {"X", "stem_W"}, {"stem"});
  }

  // "tail": some of the elements of "case", in the boundary's layout.
  void Tail(int64_t size) {
    const int64_t window = size > 1 ? 2 : 1;
    builder_.Node("MaxPool", {"case"}, {"tail"})
        .Ints("kernel_shape", {window, window})
        .Ints("strides", {8, 8});
    builder_.Output("tail");
  }

  ModelBuilder builder_;
  Random random_{1};
};

}  // namespace

onnx::ModelProto CaseModel(const Operator& op) { return ModelMaker().Make(op); }

}  // namespace tilewright::bench
