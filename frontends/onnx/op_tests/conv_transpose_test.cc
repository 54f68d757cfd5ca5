// ConvTranspose beside its definition: each input element scatters its products
// with the kernel.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/random.h"
#include "frontends/onnx/model_builder.h"
#include "frontends/onnx/op_tests/op_testing.h"
#include "gtest/gtest.h"

namespace tilewright {
namespace {

using Dims = std::vector<int64_t>;

struct Case {
  Dims x, w;  // [n, ic, spatial...], [ic, oc / groups, kernel...]
  Dims strides, dilations, pads, extra;
  int64_t groups = 1;
  bool bias = false;

  size_t spatial() const { return strides.size(); }
  Dims OutputShape() const {
    Dims shape = {x[0], w[1] * groups};
    for (size_t d = 0; d < spatial(); ++d) {
      shape.push_back(strides[d] * (x[2 + d] - 1) + extra[d] +
                      (w[2 + d] - 1) * dilations[d] + 1 - pads[d] -
                      pads[spatial() + d]);
    }
    return shape;
  }
  std::string ToString() const {
    const auto join = [](const Dims& dims) { return absl::StrJoin(dims, "x"); };
    return absl::StrCat(join(x), " by ", join(w), " strides ", join(strides),
                        " dilations ", join(dilations), " pads ", join(pads),
                        " output_padding ", join(extra), " groups ", groups,
                        bias ? " with bias" : "");
  }
};

int64_t Elements(const Dims& shape) {
  int64_t count = 1;
  for (const int64_t extent : shape) count *= extent;
  return count;
}

// The index of element `i` of a tensor of `shape`.
Dims IndexOf(int64_t i, const Dims& shape) {
  Dims index(shape.size());
  for (size_t d = shape.size(); d-- > 0; i /= shape[d]) index[d] = i % shape[d];
  return index;
}

Values Scatter(const Case& c, const Given& x, const Given& w,
               const Values& bias) {
  const Dims shape = c.OutputShape();
  Values result(static_cast<size_t>(Elements(shape)));
  const int64_t pixels = Elements(shape) / (shape[0] * shape[1]);
  for (size_t i = 0; i < result.size() && c.bias; ++i) {
    result[i] =
        bias[static_cast<size_t>(static_cast<int64_t>(i) / pixels % shape[1])];
  }
  for (int64_t i = 0; i < Elements(c.x); ++i) {
    const Dims from = IndexOf(i, c.x);
    for (int64_t j = 0; j < Elements(c.w); ++j) {
      const Dims tap = IndexOf(j, c.w);
      if (tap[0] != from[1]) continue;
      const int64_t group = from[1] / (c.x[1] / c.groups);
      int64_t to = from[0] * shape[1] + group * c.w[1] + tap[1];
      bool inside = true;
      for (size_t d = 0; d < c.spatial(); ++d) {
        const int64_t at = from[2 + d] * c.strides[d] +
                           tap[2 + d] * c.dilations[d] - c.pads[d];
        inside &= 0 <= at && at < shape[2 + d];
        to = to * shape[2 + d] + at;
      }
      if (inside) {
        result[static_cast<size_t>(to)] +=
            x.values[static_cast<size_t>(i)] * w.values[static_cast<size_t>(j)];
      }
    }
  }
  return result;
}

Case RandomCase(Random& random) {
  Case c;
  c.groups = random.Bernoulli(0.2) ? 2 : 1;
  c.x = {random.UniformInt(1, 2), c.groups * random.UniformInt(1, 3)};
  c.w = {c.x[1], random.UniformInt(1, 3)};
  c.bias = random.Bernoulli(0.5);
  const int64_t spatial = random.UniformInt(1, 4);
  const int64_t longest = spatial > 3 ? 2 : 5;
  Dims behind;
  for (int64_t d = 0; d < spatial; ++d) {
    const int64_t extent = random.UniformInt(1, longest);
    const int64_t kernel = random.UniformInt(1, longest);
    const int64_t stride = random.UniformInt(1, 4);
    const int64_t dilation = random.Bernoulli(0.2) ? 2 : 1;
    const int64_t extra = random.UniformInt(0, stride - 1);
    // Paddings leave an output.
    const int64_t most =
        stride * (extent - 1) + extra + (kernel - 1) * dilation;
    const int64_t before = random.UniformInt(0, std::min<int64_t>(most, 5));
    c.x.push_back(extent);
    c.w.push_back(kernel);
    c.strides.push_back(stride);
    c.dilations.push_back(dilation);
    c.extra.push_back(extra);
    c.pads.push_back(before);
    behind.push_back(random.UniformInt(0, std::min<int64_t>(most - before, 5)));
  }
  c.pads.insert(c.pads.end(), behind.begin(), behind.end());
  return c;
}

// `known`: the weights are a constant of the model.
Outcome RunCase(const Case& c, const Given& x, const Given& w,
                const Given& bias, bool known) {
  ModelBuilder builder(17);
  builder.Input("x", x.shape);
  std::vector<Given> inputs = {x};
  if (known) {
    builder.Floats("w", w.shape, w.values);
  } else {
    builder.Input("w", w.shape);
    inputs.push_back(w);
  }
  std::vector<std::string> names = {"x", "w"};
  if (c.bias) {
    builder.Floats("b", bias.shape, bias.values);
    names.push_back("b");
  }
  builder.Node("ConvTranspose", names, {"y"})
      .Ints("strides", c.strides)
      .Ints("dilations", c.dilations)
      .Ints("pads", c.pads)
      .Ints("output_padding", c.extra)
      .Int("group", c.groups);
  builder.Output("y");
  return RunModel(builder, inputs);
}

TEST(ConvTransposeTest, EqualsItsDefinition) {
  Random random(1);
  for (int i = 0; i < 300; ++i) {
    const Case c = RandomCase(random);
    const bool known = random.Bernoulli(0.8);
    SCOPED_TRACE(absl::StrCat(c.ToString(), known ? "" : ", weights given"));
    const Given x = SmallIntegers(c.x, random), w = SmallIntegers(c.w, random);
    const Given bias = SmallIntegers({c.w[1] * c.groups}, random);
    ExpectNear(RunCase(c, x, w, bias, known), c.OutputShape(),
               Scatter(c, x, w, bias.values));
  }
}

}  // namespace
}  // namespace tilewright
