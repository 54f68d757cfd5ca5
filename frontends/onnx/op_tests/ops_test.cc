// Operators one by one: small tensors, results worked out by hand, one case for
// each attribute that changes them.
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "frontends/onnx/model_builder.h"
#include "frontends/onnx/op_tests/op_testing.h"
#include "gtest/gtest.h"

namespace tilewright {
namespace {

using Shape = std::vector<int64_t>;

TEST(OpsTest, BroadcastingAlignsTheLastDimensions) {
  ExpectNear(RunNode(17, "Sub", {Count({2, 1, 2}), Count({3, 1})}), {2, 3, 2},
             {0, 1, -1, 0, -2, -1, 2, 3, 1, 2, 0, 1});
}

TEST(OpsTest, Opset6BroadcastsFromAnAxis) {
  const auto axis = [](NodeBuilder n) { n.Int("broadcast", 1).Int("axis", 0); };
  ExpectNear(RunNode(6, "Add", {Count({2, 3}), Vector({10, 20})}, {}, axis),
             {2, 3}, {11, 12, 13, 24, 25, 26});
}

TEST(OpsTest, ElementwiseFunctionsAtSpecialValues) {
  const float inf = INFINITY;
  const float nan = NAN;
  const Given x = Vector({-inf, -1.5f, -0.0f, 2.5f, inf, nan});
  ExpectNear(RunNode(17, "Relu", {x}), {6}, {0, 0, 0, 2.5f, inf, nan});
  ExpectNear(RunNode(17, "Sign", {x}), {6}, {-1, -1, 0, 1, 1, nan});
  ExpectNear(RunNode(17, "Round", {x}), {6}, {-inf, -2, 0, 2, inf, nan});
  ExpectNear(RunNode(17, "Softplus", {x}), {6},
             {0, 0.2014133f, 0.6931472f, 2.5788897f, inf, nan});
  ExpectNear(RunNode(17, "IsInf", {x}), {6}, {1, 0, 0, 0, 1, 0});
  ExpectNear(RunNode(17, "IsInf", {x}, {},
                     [](NodeBuilder n) { n.Int("detect_negative", 0); }),
             {6}, {0, 0, 0, 0, 1, 0});
  ExpectNear(RunNode(17, "IsNaN", {x}), {6}, {0, 0, 0, 0, 0, 1});
}

TEST(OpsTest, ActivationsTakeTheirAttributes) {
  const Given x = Vector({-2, 1});
  const auto alpha = [](NodeBuilder n) { n.Float("alpha", 0.5f); };
  ExpectNear(RunNode(17, "LeakyRelu", {x}), {2}, {-0.02f, 1});
  ExpectNear(RunNode(17, "LeakyRelu", {x}, {}, alpha), {2}, {-1, 1});
  ExpectNear(RunNode(17, "Elu", {x}, {}, alpha), {2}, {-0.4323324f, 1});
  ExpectNear(RunNode(17, "Celu", {x}, {}, alpha), {2}, {-0.4908422f, 1});
  ExpectNear(RunNode(17, "ThresholdedRelu", {x}, {}, alpha), {2}, {0, 1});
  ExpectNear(RunNode(17, "HardSigmoid", {x}, {}, alpha), {2}, {0, 1});
  ExpectNear(RunNode(17, "HardSwish", {x}), {2}, {-1.0f / 3, 2.0f / 3});
  ExpectNear(RunNode(20, "Gelu", {x}), {2}, {-0.0455003f, 0.8413447f});
  ExpectNear(RunNode(20, "Gelu", {x}, {},
                     [](NodeBuilder n) { n.String("approximate", "tanh"); }),
             {2}, {-0.0454023f, 0.8411920f});
  ExpectNear(RunNode(17, "PRelu", {x, Vector({3, 4})}), {2}, {-6, 1});
}

TEST(OpsTest, ClipTakesAttributesThenInputs) {
  const Given x = Vector({-2, 0, 2});
  ExpectNear(RunNode(6, "Clip", {x}, {},
                     [](NodeBuilder n) { n.Float("min", -1).Float("max", 1); }),
             {3}, {-1, 0, 1});
  ExpectNear(RunNode(13, "Clip", {x, {{}, {-1}}, {{}, {1}}}), {3}, {-1, 0, 1});
  ExpectNear(RunNode(13, "Clip", {x}), {3}, {-2, 0, 2});
}

TEST(OpsTest, CastsTruncateAndTestForZero) {
  const Given x = Vector({-1.7f, 0, 2.9f});
  const auto to = [](int type) {
    return [type](NodeBuilder n) { n.Int("to", type); };
  };
  ExpectNear(RunNode(17, "Cast", {x}, {}, to(onnx::TensorProto::INT32)), {3},
             {-1, 0, 2});
  ExpectNear(RunNode(17, "Cast", {x}, {}, to(onnx::TensorProto::BOOL)), {3},
             {1, 0, 1});
}

TEST(OpsTest, MatMulFollowsNumpy) {
  ExpectNear(RunNode(17, "MatMul", {Count({2}), Count({2, 3})}), {3},
             {9, 12, 15});
  ExpectNear(RunNode(17, "MatMul", {Count({2, 2}), Count({2})}), {2}, {5, 11});
  ExpectNear(RunNode(17, "MatMul", {Count({2}), Count({2})}), {}, {5});
  ExpectNear(RunNode(17, "MatMul", {Count({2, 1, 1}), Count({2, 1, 1, 2})}),
             {2, 2, 1, 2}, {1, 2, 2, 4, 3, 4, 6, 8});
}

TEST(OpsTest, GemmTakesItsAttributes) {
  const std::vector<Given> in = {Count({2, 1}), Count({3, 2}), Vector({10})};
  ExpectNear(RunNode(17, "Gemm", in, {},
                     [](NodeBuilder n) {
                       n.Int("transA", 1).Int("transB", 1).Float("alpha", 2);
                       n.Float("beta", 0.5f);
                     }),
             {1, 3}, {15, 27, 39});
}

TEST(OpsTest, ConvolutionTakesItsAttributes) {
  const Given x = Count({1, 1, 5});
  const Given w = {{1, 1, 2}, {1, 10}};
  ExpectNear(RunNode(17, "Conv", {x, w}), {1, 1, 4}, {21, 32, 43, 54});
  ExpectNear(RunNode(17, "Conv", {x, w}, {},
                     [](NodeBuilder n) { n.Ints("strides", {2}); }),
             {1, 1, 2}, {21, 43});
  ExpectNear(RunNode(17, "Conv", {x, w}, {},
                     [](NodeBuilder n) { n.Ints("dilations", {3}); }),
             {1, 1, 2}, {41, 52});
  ExpectNear(RunNode(17, "Conv", {x, w}, {},
                     [](NodeBuilder n) {
                       n.Ints("pads", {2, 1});
                     }),
             {1, 1, 7}, {0, 10, 21, 32, 43, 54, 5});
  ExpectNear(RunNode(17, "Conv", {x, w}, {},
                     [](NodeBuilder n) { n.String("auto_pad", "SAME_LOWER"); }),
             {1, 1, 5}, {10, 21, 32, 43, 54});
  ExpectNear(RunNode(17, "Conv", {x, w}, {},
                     [](NodeBuilder n) { n.String("auto_pad", "SAME_UPPER"); }),
             {1, 1, 5}, {21, 32, 43, 54, 5});
}

TEST(OpsTest, GroupedConvolutionReadsItsOwnChannels) {
  ExpectNear(RunNode(17, "Conv",
                     {Count({1, 4, 1}), {{4, 2, 1}, {1, 0, 0, 1, 1, 1, 2, 0}}},
                     {}, [](NodeBuilder n) { n.Int("group", 2); }),
             {1, 4, 1}, {1, 2, 7, 6});
}

TEST(OpsTest, ConvTransposeScattersItsInput) {
  const Given x = Count({1, 1, 3});
  const Given w = {{1, 1, 2}, {1, 10}};
  ExpectNear(RunNode(17, "ConvTranspose", {x, w}), {1, 1, 4}, {1, 12, 23, 30});
  ExpectNear(RunNode(17, "ConvTranspose", {x, w}, {},
                     [](NodeBuilder n) {
                       n.Ints("strides", {2}).Ints("pads", {1, 0});
                       n.Ints("output_padding", {1});
                     }),
             {1, 1, 6}, {10, 2, 20, 3, 30, 0});
  ExpectNear(RunNode(17, "ConvTranspose",
                     {Count({1, 2, 1}), {{2, 2, 1}, {1, 2, 3, 4}}}, {},
                     [](NodeBuilder n) { n.Int("group", 2); }),
             {1, 4, 1}, {1, 2, 6, 8});
}

TEST(OpsTest, PoolsTakeTheirAttributes) {
  const Given x = {{1, 1, 5}, {-1, -5, -3, -2, -4}};
  const auto three = [](NodeBuilder n) {
    n.Ints("kernel_shape", {3}).Ints("pads", {1, 1}).Ints("strides", {2});
  };
  ExpectNear(RunNode(17, "MaxPool", {x}, {}, three), {1, 1, 3}, {-1, -2, -2});
  ExpectNear(RunNode(17, "AveragePool", {x}, {}, three), {1, 1, 3},
             {-3, -10.0f / 3, -3});
  ExpectNear(RunNode(17, "AveragePool", {x}, {},
                     [&](NodeBuilder n) {
                       three(n);
                       n.Int("count_include_pad", 1);
                     }),
             {1, 1, 3}, {-2, -10.0f / 3, -2});
  ExpectNear(RunNode(17, "MaxPool", {x}, {},
                     [](NodeBuilder n) {
                       n.Ints("kernel_shape", {2}).Ints("strides", {2});
                       n.Int("ceil_mode", 1);
                     }),
             {1, 1, 3}, {-1, -2, -4});
  ExpectNear(RunNode(17, "GlobalAveragePool", {x}), {1, 1, 1}, {-3});
  ExpectNear(RunNode(17, "GlobalMaxPool", {x}), {1, 1, 1}, {-1});
  ExpectNear(RunNode(17, "GlobalLpPool", {x}), {1, 1, 1}, {std::sqrt(55.0F)});
  ExpectNear(RunNode(17, "GlobalLpPool", {x}, {},
                     [](NodeBuilder n) { n.Int("p", 1); }),
             {1, 1, 1}, {15});
  ExpectNear(RunNode(17, "GlobalLpPool", {x}, {},
                     [](NodeBuilder n) { n.Int("p", 3); }),
             {1, 1, 1}, {std::cbrt(225.0F)});
  ExpectNear(RunNode(17, "LpPool", {x}, {},
                     [&](NodeBuilder n) {
                       three(n);
                       n.Int("p", 3);
                     }),
             {1, 1, 3},
             {std::cbrt(126.0F), std::cbrt(160.0F), std::cbrt(72.0F)});
}

TEST(OpsTest, ReductionsTakeAxesAsAttributeThenAsInput) {
  const Given x = Count({2, 3});
  ExpectNear(RunNode(12, "ReduceSum", {x}, {},
                     [](NodeBuilder n) { n.Ints("axes", {1}); }),
             {2, 1}, {6, 15});
  ExpectNear(RunNode(17, "ReduceSum", {x}, {{-2}},
                     [](NodeBuilder n) { n.Int("keepdims", 0); }),
             {3}, {5, 7, 9});
  ExpectNear(RunNode(17, "ReduceSum", {x}), {1, 1}, {21});
  ExpectNear(RunNode(17, "ReduceSum", {x}, {},
                     [](NodeBuilder n) { n.Int("noop_with_empty_axes", 1); }),
             {2, 3}, x.values);
  ExpectNear(RunNode(18, "ReduceMean", {x}, {{0}}), {1, 3}, {2.5f, 3.5f, 4.5f});
  ExpectNear(RunNode(18, "ReduceL2", {x}, {{1}}), {2, 1},
             {3.7416574f, 8.7749644f});
  ExpectNear(RunNode(18, "ReduceLogSumExp", {{{2}, {1000, 1000}}}), {1},
             {1000.6931f});
  ExpectNear(RunNode(18, "ReduceLogSumExp", {{{2}, {-INFINITY, -INFINITY}}}),
             {1}, {-INFINITY});
}

TEST(OpsTest, ArgMaxGivesTheFirstOrTheLast) {
  const Given x = {{2, 3}, {1, 5, 5, 7, 7, 2}};
  const auto axis = [](NodeBuilder n) { n.Int("axis", 1).Int("keepdims", 0); };
  ExpectNear(RunNode(17, "ArgMax", {x}, {}, axis), {2}, {1, 0});
  ExpectNear(RunNode(17, "ArgMax", {x}, {},
                     [&](NodeBuilder n) {
                       axis(n);
                       n.Int("select_last_index", 1);
                     }),
             {2}, {2, 1});
  ExpectNear(RunNode(17, "ArgMin", {x}), {1, 3}, {0, 0, 1});
}

TEST(OpsTest, ArgMaxOfNaNAndInfinities) {
  const Given x = {{4, 3},
                   {1, NAN, NAN, -INFINITY, -INFINITY, -INFINITY, 0, -0.0f, -1,
                    -INFINITY, 2, INFINITY}};
  const auto with = [](int last) {
    return [=](NodeBuilder n) {
      n.Int("axis", 1).Int("keepdims", 0).Int("select_last_index", last);
    };
  };
  ExpectNear(RunNode(17, "ArgMax", {x}, {}, with(0)), {4}, {1, 0, 0, 2});
  ExpectNear(RunNode(17, "ArgMax", {x}, {}, with(1)), {4}, {2, 2, 1, 2});
  ExpectNear(RunNode(17, "ArgMin", {x}, {}, with(0)), {4}, {1, 0, 2, 0});
  ExpectNear(RunNode(17, "ArgMin", {x}, {}, with(1)), {4}, {2, 2, 2, 0});
}

TEST(OpsTest, CumSumTakesItsAttributes) {
  const Given x = Count({3});
  ExpectNear(RunNode(17, "CumSum", {x}, {{0}}), {3}, {1, 3, 6});
  ExpectNear(RunNode(17, "CumSum", {x}, {{0}},
                     [](NodeBuilder n) { n.Int("exclusive", 1); }),
             {3}, {0, 1, 3});
  ExpectNear(RunNode(17, "CumSum", {x}, {{0}},
                     [](NodeBuilder n) { n.Int("reverse", 1); }),
             {3}, {6, 5, 3});
}

TEST(OpsTest, NormalisationsUseTheirStatistics) {
  const Given x = {{1, 2, 2}, {1, 3, 10, 30}};
  const auto exact = [](NodeBuilder n) { n.Float("epsilon", 0); };
  ExpectNear(RunNode(17, "InstanceNormalization",
                     {x, Vector({1, 2}), Vector({0, 5})}, {}, exact),
             {1, 2, 2}, {-1, 1, 3, 7});
  ExpectNear(RunNode(17, "LayerNormalization", {x, Vector({1, 2})}, {}, exact),
             {1, 2, 2}, {-1, 2, -1, 2});
  ExpectNear(RunNode(17, "BatchNormalization",
                     {x, Vector({2, 1}), Vector({1, 0}), Vector({1, 10}),
                      Vector({4, 100})},
                     {}, exact),
             {1, 2, 2}, {1, 3, 0, 2});
  ExpectNear(RunNode(17, "LRN", {{{1, 3, 1}, {1, 2, 3}}}, {},
                     [](NodeBuilder n) {
                       n.Int("size", 3).Float("alpha", 3).Float("beta", 1);
                     }),
             {1, 3, 1}, {1.0f / 6, 2.0f / 15, 3.0f / 14});
}

// Nor are normal numbers lost.
TEST(OpsTest, SoftmaxHasNoDenormals) {
  const Outcome y = RunNode(17, "Softmax", {Vector({0, -100, -87})});
  EXPECT_EQ(y.values[1], 0);
  EXPECT_NEAR(y.values[2] / std::exp(-87.0), 1, 1e-6);
}

TEST(OpsTest, SoftmaxDoesNotOverflow) {
  ExpectNear(RunNode(17, "Softmax", {Vector({1000, 1000})}), {2}, {0.5f, 0.5f});
  ExpectNear(RunNode(17, "LogSoftmax", {Vector({1000, 0})}), {2}, {0, -1000});
  ExpectNear(RunNode(17, "Hardmax", {Vector({1, 3, 3})}), {3}, {0, 1, 0});
}

TEST(OpsTest, ShapesChangeAndElementsStay) {
  const Given x = Count({2, 3, 4});
  EXPECT_EQ(RunNode(17, "Reshape", {x}, {{0, -1}}).shape, (Shape{2, 12}));
  EXPECT_EQ(
      RunNode(17, "Flatten", {x}, {}, [](NodeBuilder n) { n.Int("axis", 2); })
          .shape,
      (Shape{6, 4}));
  EXPECT_EQ(RunNode(17, "Unsqueeze", {x}, {{0, -1}}).shape,
            (Shape{1, 2, 3, 4, 1}));
  EXPECT_EQ(RunNode(17, "Squeeze", {Count({1, 2, 1})}, {{2}}).shape,
            (Shape{1, 2}));
  ExpectNear(RunNode(17, "Reshape", {x}, {{4, 3, 2}}), {4, 3, 2}, x.values);
  ExpectNear(RunNode(17, "Transpose", {Count({2, 3})}), {3, 2},
             {1, 4, 2, 5, 3, 6});
  ExpectNear(RunNode(17, "Tile", {Count({2})}, {{2}}), {4}, {1, 2, 1, 2});
}

TEST(OpsTest, SlicesTakeNegativeStepsAndAttributes) {
  const Given x = Count({5});
  ExpectNear(RunNode(17, "Slice", {x}, {{-1}, {-100}, {0}, {-2}}), {3},
             {5, 3, 1});
  ExpectNear(
      RunNode(9, "Slice", {x}, {},
              [](NodeBuilder n) { n.Ints("starts", {1}).Ints("ends", {-1}); }),
      {3}, {2, 3, 4});
}

TEST(OpsTest, PadsTakeEveryMode) {
  const Given x = Count({3});
  const auto mode = [](const char* name) {
    return [name](NodeBuilder n) { n.String("mode", name); };
  };
  ExpectNear(RunNode(19, "Pad", {x}, {{2, 1}}), {6}, {0, 0, 1, 2, 3, 0});
  ExpectNear(RunNode(19, "Pad", {x}, {{2, 1}}, mode("reflect")), {6},
             {3, 2, 1, 2, 3, 2});
  ExpectNear(RunNode(19, "Pad", {x}, {{2, 1}}, mode("edge")), {6},
             {1, 1, 1, 2, 3, 3});
  ExpectNear(RunNode(19, "Pad", {x}, {{2, 1}}, mode("wrap")), {6},
             {2, 3, 1, 2, 3, 1});
  ExpectNear(RunNode(19, "Pad", {x}, {{-1, 1}}), {3}, {2, 3, 0});
  ExpectNear(RunNode(10, "Pad", {x}, {},
                     [](NodeBuilder n) {
                       n.Ints("pads", {0, 2}).Float("value", 7);
                     }),
             {5}, {1, 2, 3, 7, 7});
}

TEST(OpsTest, DepthAndSpaceAreExchangedInBothModes) {
  const Given x = Count({1, 8, 1, 1});
  const auto mode = [](const char* name) {
    return
        [name](NodeBuilder n) { n.Int("blocksize", 2).String("mode", name); };
  };
  ExpectNear(RunNode(17, "DepthToSpace", {x}, {}, mode("DCR")), {1, 2, 2, 2},
             {1, 3, 5, 7, 2, 4, 6, 8});
  ExpectNear(RunNode(17, "DepthToSpace", {x}, {}, mode("CRD")), {1, 2, 2, 2},
             {1, 2, 3, 4, 5, 6, 7, 8});
  ExpectNear(RunNode(17, "SpaceToDepth", {Count({1, 1, 2, 2})}, {},
                     [](NodeBuilder n) { n.Int("blocksize", 2); }),
             {1, 4, 1, 1}, {1, 2, 3, 4});
}

TEST(OpsTest, ResizeReadsBetweenPositions) {
  const auto with = [](const char* mode, const char* coordinates) {
    return [=](NodeBuilder n) {
      n.String("mode", mode);
      n.String("coordinate_transformation_mode", coordinates);
    };
  };
  const auto run = [&](const Given& x, const std::vector<float>& scales,
                       const Attributes& attributes) {
    ModelBuilder builder(17);
    builder.Input("x", x.shape);
    builder.Floats("scales", {static_cast<int64_t>(scales.size())}, scales);
    attributes(builder.Node("Resize", {"x", "", "scales"}, {"y"}));
    builder.Output("y");
    return RunModel(builder, {x});
  };
  ExpectNear(run({{2}, {0, 4}}, {2}, with("linear", "half_pixel")), {4},
             {0, 1, 3, 4});
  ExpectNear(run({{2}, {0, 3}}, {2}, with("linear", "align_corners")), {4},
             {0, 1, 2, 3});
  ExpectNear(run({{2}, {0, 4}}, {2}, with("nearest", "asymmetric")), {4},
             {0, 0, 4, 4});
  ExpectNear(run({{3}, {0, 4, 8}}, {2.0f / 3}, with("nearest", "half_pixel")),
             {2}, {0, 8});
}

TEST(OpsTest, ResizeCropsAndExtrapolates) {
  const auto run = [](const char* mode, const std::vector<float>& roi,
                      const std::vector<float>& scales,
                      const std::vector<int64_t>& sizes) {
    ModelBuilder builder(17);
    builder.Input("x", {5}).Floats("roi", {2}, roi);
    std::vector<std::string> inputs = {"x", "roi", ""};
    if (!scales.empty()) {
      builder.Floats("scales", {1}, scales);
      inputs[2] = "scales";
    } else {
      builder.Ints("sizes", {1}, sizes);
      inputs.push_back("sizes");
    }
    builder.Node("Resize", inputs, {"y"})
        .String("mode", mode)
        .String("coordinate_transformation_mode", "tf_crop_and_resize")
        .Float("extrapolation_value", 9);
    builder.Output("y");
    return RunModel(builder, {Vector({1, 2, 3, 4, 5})});
  };
  for (const char* mode : {"nearest", "linear", "cubic"}) {
    SCOPED_TRACE(mode);
    ExpectNear(run(mode, {0, 1}, {}, {5}), {5}, {1, 2, 3, 4, 5});
    ExpectNear(run(mode, {0.25f, 1.25f}, {}, {5}), {5}, {2, 3, 4, 5, 9});
    ExpectNear(run(mode, {-0.5f, 1.5f}, {}, {5}), {5}, {9, 1, 3, 5, 9});
    ExpectNear(run(mode, {1, 0}, {}, {5}), {5}, {5, 4, 3, 2, 1});
    ExpectNear(run(mode, {0.25f, 0.75f}, {}, {1}), {1}, {3});
    ExpectNear(run(mode, {1.5f, 2}, {}, {2}), {2}, {9, 9});
    ExpectNear(run(mode, {0.5f, 1}, {1.25f}, {}), {3}, {3, 4, 5});
  }
  ExpectNear(run("linear", {0.25f, 0.75f}, {2}, {}), {5},
             {2, 2.5f, 3, 3.5f, 4});
}

// Crops of two axes of three, by sums of sums and by one axis after the other.
TEST(OpsTest, ResizeCropsSomeAxes) {
  for (const char* mode : {"linear", "cubic"}) {
    ModelBuilder builder(18);
    builder.Input("x", {2, 3, 3}).Floats("roi", {4}, {0, 0.5f, 1, 1.5f});
    builder.Ints("sizes", {2}, {2, 3});
    builder.Node("Resize", {"x", "roi", "", "sizes"}, {"y"})
        .String("mode", mode)
        .String("coordinate_transformation_mode", "tf_crop_and_resize")
        .Ints("axes", {1, 2});
    builder.Output("y");
    ExpectNear(RunModel(builder, {Count({2, 3, 3})}), {2, 2, 3},
               {2, 3, 0, 8, 9, 0, 11, 12, 0, 17, 18, 0});
  }
}

TEST(OpsTest, ResizeOfOldTensorFlowModels) {
  ModelBuilder builder(11);
  builder.Input("x", {4}).Floats("roi", {0}, {}).Floats("scales", {1}, {0.5f});
  builder.Node("Resize", {"x", "roi", "scales"}, {"y"})
      .String("nearest_mode", "floor")
      .String("coordinate_transformation_mode", "tf_half_pixel_for_nn");
  builder.Output("y");
  ExpectNear(RunModel(builder, {Vector({1, 2, 3, 4})}), {2}, {2, 4});
}

TEST(OpsTest, QuantizationRoundsAndSaturates) {
  const Given x = Vector({-100, 0.5f, 1.5f, 1000});
  ExpectNear(RunNode(17, "QuantizeLinear", {x, {{}, {1}}}), {4},
             {0, 0, 2, 255});
}

TEST(OpsTest, LossesTakeTheirAttributes) {
  const Given scores = {{2, 3}, {-1, -2, -3, -4, -5, -6}};
  const auto run = [&](const char* op, const char* reduction, int64_t ignore) {
    ModelBuilder b(17);
    b.Input("x", scores.shape).Ints("labels", {2}, {2, 0});
    b.Floats("w", {3}, {0.5f, 1, 2}).Output("y");
    b.Node(op, {"x", "labels", "w"}, {"y"})
        .String("reduction", reduction)
        .Int("ignore_index", ignore);
    return RunModel(b, {scores});
  };
  const char* nll = "NegativeLogLikelihoodLoss";
  ExpectNear(run(nll, "none", -1), {2}, {6, 2});
  ExpectNear(run(nll, "sum", -1), {}, {8});
  ExpectNear(run(nll, "mean", -1), {}, {3.2f});
  ExpectNear(run(nll, "mean", 0), {}, {3});
  ExpectNear(run("SoftmaxCrossEntropyLoss", "none", -1), {2},
             {4.8152119f, 0.2038030f});
}

TEST(OpsTest, BitsAreJoinedAndShifted) {
  // Of floats, which are integers of `type` in between.
  const auto run = [](const char* op, int type,
                      const std::vector<Given>& inputs,
                      const Attributes& attributes = None) {
    ModelBuilder b(18);
    std::vector<std::string> names;
    for (const Given& given : inputs) {
      const std::string name = "x" + std::to_string(names.size());
      names.push_back(name + ".cast");
      b.Input(name, given.shape);
      b.Node("Cast", {name}, {names.back()}).Int("to", type);
    }
    attributes(b.Node(op, names, {"y"}));
    b.model().mutable_graph()->add_output()->set_name("y");
    return RunModel(b, inputs);
  };
  constexpr int kI16 = onnx::TensorProto::INT16;
  const std::vector<Given> two = {{{2, 1}, {12, -2}}, Vector({10, 7})};
  ExpectNear(run("BitwiseAnd", kI16, two), {2, 2}, {8, 4, 10, 6});
  ExpectNear(run("BitwiseOr", kI16, two), {2, 2}, {14, 15, -2, -1});
  ExpectNear(run("BitwiseXor", kI16, two), {2, 2}, {6, 11, -12, -7});
  ExpectNear(run("BitwiseNot", kI16, {Vector({0, 5, -1})}), {3}, {-1, -6, 0});
  ExpectNear(run("BitwiseNot", onnx::TensorProto::UINT8, {Vector({0, 5})}), {2},
             {255, 250});
  const auto towards = [](const char* direction) {
    return [=](NodeBuilder n) { n.String("direction", direction); };
  };
  const std::vector<Given> shifts = {{{2, 1}, {1, 201}},
                                     Vector({0, 1, 3, 7, 8, 255})};
  ExpectNear(run("BitShift", onnx::TensorProto::UINT8, shifts, towards("LEFT")),
             {2, 6}, {1, 2, 8, 128, 0, 0, 201, 146, 72, 128, 0, 0});
  ExpectNear(
      run("BitShift", onnx::TensorProto::UINT8, shifts, towards("RIGHT")),
      {2, 6}, {1, 0, 0, 0, 0, 0, 201, 100, 25, 1, 0, 0});
  ExpectNear(run("BitShift", onnx::TensorProto::UINT64,
                 {Vector({3}), Vector({0, 20, 60})}, towards("LEFT")),
             {3}, {3, 3145728, 3458764513820540928.0F});
}

TEST(OpsTest, EinsumSumsWhatTheResultLacks) {
  const auto equation = [](const char* text) {
    return [text](NodeBuilder n) { n.String("equation", text); };
  };
  ExpectNear(RunNode(17, "Einsum", {Count({2, 2}), Count({2, 2})}, {},
                     equation("ij,kj->ik")),
             {2, 2}, {5, 11, 11, 25});
  ExpectNear(RunNode(17, "Einsum", {Count({2, 2})}, {}, equation("ii->i")), {2},
             {1, 4});
  ExpectNear(RunNode(17, "Einsum", {Count({2, 2})}, {}, equation("ij->ji")),
             {2, 2}, {1, 3, 2, 4});
  ExpectNear(RunNode(17, "Einsum", {Count({1, 2, 2}), Count({2, 2})}, {},
                     equation("...ij,jk")),
             {1, 2, 2}, {7, 10, 15, 22});
  ExpectNear(
      RunNode(17, "Einsum", {Count({1, 2, 1, 2}), Count({1, 2, 1, 2})}, {},
              equation("bqhd,bkhd->bhqk")),
      {1, 1, 2, 2}, {5, 11, 11, 25});
  ExpectNear(RunNode(17, "Einsum", {Count({1, 2, 2}), Count({1, 2})}, {},
                     equation("ijj,ik->kj")),
             {2, 2}, {1, 4, 2, 8});
}

TEST(OpsTest, EinsumOfThreeOperandsTakesTwoAtATime) {
  const auto run = [](const std::vector<Given>& operands, const char* text) {
    return RunNode(17, "Einsum", operands, {},
                   [text](NodeBuilder n) { n.String("equation", text); });
  };
  const Given square = Count({2, 2});
  ExpectNear(run({square, square, square}, "ij,jk,kl->il"), {2, 2},
             {37, 54, 81, 118});
  ExpectNear(run({Count({1, 2}), Count({1, 2, 2}), Count({1, 2})},
                 "bn,anm,bm->ba"),
             {1, 1}, {27});
  ExpectNear(run({Count({2}), Count({2}), Count({2})}, "i,i,i->"), {}, {9});
  ExpectNear(run({square, Count({2}), Count({2})}, "ij,k,k->j"), {2}, {20, 30});
  ExpectNear(run({Count({1, 2}), square, square, Count({2, 1})},
                 "...i,ij,jk,k...->..."),
             {1}, {145});
}

}  // namespace
}  // namespace tilewright
