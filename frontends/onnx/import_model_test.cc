#include "frontends/onnx/import_model.h"

#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "frontends/onnx/model_builder.h"
#include "frontends/onnx/testing/imported.h"
#include "gtest/gtest.h"
#include "tilegraph/text/text_form.h"

namespace tilewright {
namespace {

std::string ErrorOf(ModelBuilder& builder, const ImportOptions& options = {}) {
  return std::string(
      ImportModelProto(builder.model(), options).status().message());
}

using Strings = std::vector<std::string>;

ModelBuilder PaddedConvolution() {
  ModelBuilder b;
  b.Input("X", {1, 2, 5, 5}).Floats("W", {4, 2, 3, 3}, std::vector<float>(72));
  b.Floats("B", {4}, {1, 2, 3, 4}).Output("Y");
  b.Node("Conv", {"X", "W", "B"}, {"Y"}).Ints("pads", {1, 1, 1, 1});
  return b;
}

TEST(ImportModelTest, AConvolutionIsPaddingContractionAndBias) {
  ModelBuilder b = PaddedConvolution();
  const ImportedModel model = Import(b);
  EXPECT_EQ(Hints(model), (Strings{"pad", "conv", "bias"}));
  const Tensor& conv = model.graph.tensor(*model.graph.Find("Y.conv"));
  Strings axes;
  for (const Axis& axis : conv.compute.axes) axes.push_back(axis.name);
  for (const Axis& axis : conv.compute.reduce_axes) axes.push_back(axis.name);
  EXPECT_EQ(axes, (Strings{"n", "oc", "oh", "ow", "ic", "kh", "kw"}));
  EXPECT_EQ(conv.compute.combiner->ToString(), "sum:f32");
  EXPECT_EQ(model.outputs[0].shape, (std::vector<int64_t>{1, 4, 5, 5}));
}

TEST(ImportModelTest, AConvolutionWithoutPaddingHasNoGuard) {
  ModelBuilder b;
  b.Input("X", {1, 2, 5, 5}).Floats("W", {4, 2, 3, 3}, std::vector<float>(72));
  b.Output("Y");
  b.Node("Conv", {"X", "W"}, {"Y"});
  EXPECT_EQ(Hints(Import(b)), (Strings{"conv"}));
}

TEST(ImportModelTest, GemmScalesOnlyWhenAsked) {
  for (const float alpha : {1.0f, 0.5f}) {
    ModelBuilder b;
    b.Input("A", {1, 2}).Floats("B", {1, 2}, {3, 4}).Output("Y");
    b.Node("Gemm", {"A", "B"}, {"Y"}).Int("transB", 1).Float("alpha", alpha);
    const ImportedModel model = Import(b);
    EXPECT_EQ(Hints(model),
              alpha == 1 ? Strings{"matmul"} : (Strings{"matmul", "scale"}));
    EXPECT_EQ(Evaluate(model, {Floats({1, 2}, {1, 2})}),
              std::vector<float>{11 * alpha});
  }
}

// Taps that read nothing but padding are dropped with their weights.
TEST(ImportModelTest, DilatedKernelsKeepTheTapsThatMeetTheImage) {
  const std::vector<float> x = {1, 2, 3, 4, 5}, w = {1, 10, 100, 1000};
  for (const int64_t dilation : {1, 3, 5, 7}) {
    for (const int64_t before : {0, 3, 7, 14, 21}) {
      for (const int64_t after : {0, 5, 14, 21}) {
        for (const int64_t stride : {1, 2}) {
          const int64_t span = before + 5 + after - 3 * dilation;
          if (span < 1) continue;
          ModelBuilder b;
          b.Input("X", {1, 1, 5}).Floats("W", {1, 1, 4}, w);
          b.Node("Conv", {"X", "W"}, {"Y"})
              .Ints("dilations", {dilation})
              .Ints("strides", {stride})
              .Ints("pads", {before, after});
          b.Output("Y");
          std::vector<float> expected;
          for (int64_t o = 0; o * stride < span; ++o) {
            float& sum = expected.emplace_back(0);
            for (int64_t k = 0; k < 4; ++k) {
              const int64_t at = o * stride - before + k * dilation;
              if (at >= 0 && at < 5) sum += w[k] * x[at];
            }
          }
          EXPECT_EQ(Evaluate(Import(b), {Floats({1, 1, 5}, x)}), expected)
              << dilation << " " << before << " " << after << " " << stride;
        }
      }
    }
  }
  ModelBuilder middle;
  middle.Input("X", {1, 1, 5}).Floats("W", {1, 1, 3}, {1, 10, 100});
  middle.Node("Conv", {"X", "W"}, {"Y"})
      .Ints("dilations", {6})
      .Ints("pads", {6, 6});
  middle.Output("Y");
  EXPECT_EQ(Hints(Import(middle)), (Strings{"conv"}));
}

TEST(ImportModelTest, IdentityLikeNodesLeaveNothing) {
  ModelBuilder b;
  b.Input("x", {2, 3}).Ints("shape", {2}, {2, 3}).Output("y");
  b.Ints("zeros", {2}, {0, 0}).Ints("ends", {2}, {9, 9});
  b.Node("Identity", {"x"}, {"a"});
  b.Node("Dropout", {"a"}, {"b"});
  b.Node("Cast", {"b"}, {"c"}).Int("to", onnx::TensorProto::FLOAT);
  b.Node("Reshape", {"c", "shape"}, {"d"});
  b.Node("Transpose", {"d"}, {"e"}).Ints("perm", {0, 1});
  b.Node("Slice", {"e", "zeros", "ends"}, {"f"});
  b.Node("Concat", {"f"}, {"g"}).Int("axis", 0);
  b.Node("Expand", {"g", "shape"}, {"h"});
  b.Node("Sum", {"h"}, {"i"});
  b.Node("Relu", {"i"}, {"y"});
  EXPECT_EQ(Hints(Import(b)), Strings{"relu"});
}

TEST(ImportModelTest, EveryOutputIsAComputeOfItsOwn) {
  ModelBuilder b;
  b.Input("x", {2}).Floats("w", {2}, {1, 2});
  b.Node("Identity", {"x"}, {"same"});
  b.Node("Relu", {"x"}, {"r"});
  b.Node("Identity", {"r"}, {"again"});
  b.Output("same").Output("w").Output("r").Output("again").Output("x");
  const ImportedModel model = Import(b);
  ASSERT_EQ(model.outputs.size(), 5);
  std::map<TensorId, int> seen;
  for (const Port& port : model.outputs) {
    EXPECT_EQ(model.graph.tensor(port.tensor).kind, TensorKind::kCompute);
    EXPECT_EQ(++seen[port.tensor], 1) << port.name;
  }
  EXPECT_EQ(model.outputs[3].name, "again");
}

TEST(ImportModelTest, ShapeArithmeticIsFolded) {
  ModelBuilder b;
  b.Input("x", {4, 3, 2}).Ints("zero", {}, {0}).Ints("axes", {1}, {0});
  b.Ints("minus", {1}, {-1}).Output("y", {4, 6});
  b.Node("Shape", {"x"}, {"s"});
  b.Node("Gather", {"s", "zero"}, {"n"});
  b.Node("Unsqueeze", {"n", "axes"}, {"n1"});
  b.Node("Concat", {"n1", "minus"}, {"to"}).Int("axis", 0);
  b.Node("Reshape", {"x", "to"}, {"y"});
  const ImportedModel model = Import(b);
  EXPECT_EQ(Hints(model), Strings{"reshape"});
  EXPECT_EQ(model.graph.size(), 2);
}

TEST(ImportModelTest, FoldingKeepsItsLimits) {
  ModelBuilder b;
  b.Input("x", {1}).Ints("shape", {2}, {1000, 1000}).Output("y");
  b.Node("ConstantOfShape", {"shape"}, {"big"});
  b.Node("Add", {"x", "big"}, {"y"});
  EXPECT_EQ(Hints(Import(b)), Strings{"add"});
  ImportOptions options;
  options.max_folded_bytes = 3'999'999;
  EXPECT_EQ(Hints(Import(b, options)), (Strings{"fill", "add"}));
  options = ImportOptions();
  options.max_folded_total_bytes = 3'999'999;
  EXPECT_EQ(Hints(Import(b, options)), (Strings{"fill", "add"}));
}

TEST(ImportModelTest, FoldedValuesAreThoseOfTheInterpreter) {
  ModelBuilder b;
  b.Input("x", {3, 2}).Floats("w", {2, 3}, {1, 2, 3, 4, 5, 6}).Output("y");
  b.Node("Transpose", {"w"}, {"t"});
  b.Node("Exp", {"t"}, {"e"});
  b.Node("Add", {"x", "e"}, {"y"});
  const ImportedModel model = Import(b);
  EXPECT_EQ(Hints(model), Strings{"add"});
  const std::vector<float> y =
      Evaluate(model, {Floats({3, 2}, {0, 0, 0, 0, 0, 0})});
  const std::vector<double> powers = {1, 4, 2, 5, 3, 6};
  ASSERT_EQ(y.size(), 6);
  for (int i = 0; i < 6; ++i) {
    EXPECT_FLOAT_EQ(y[i], static_cast<float>(std::exp(powers[i])));
  }
}

TEST(ImportModelTest, DeadCodeMayBeUnsupported) {
  ModelBuilder b;
  b.Input("x", {2}).Output("y");
  b.Node("Frobnicate", {"x"}, {"dead"});
  b.Node("Relu", {"x"}, {"y"});
  EXPECT_EQ(Hints(Import(b)), Strings{"relu"});
}

TEST(ImportModelTest, NamesAreThoseOfTheModel) {
  ModelBuilder b;
  b.Input("/in/x.0", {1, 2}).Floats("fc.weight", {2, 2}, {1, 2, 3, 4});
  b.Output("/out");
  b.Node("MatMul", {"/in/x.0", "fc.weight"}, {"/mid"});
  b.Node("Relu", {"/mid"}, {"/out"});
  const ImportedModel model = Import(b);
  for (const char* name : {"/in/x.0", "fc.weight", "/mid", "/out"}) {
    EXPECT_TRUE(model.graph.Find(name).has_value()) << name;
  }
}

TEST(ImportModelTest, ANameThatLooksLikeASuffixDoesNotClash) {
  ModelBuilder b;
  b.Input("X", {1, 1}).Floats("W", {1, 1}, {2}).Floats("Y.matmul", {1}, {5});
  b.Output("Y");
  b.Node("Gemm", {"X", "W", "Y.matmul"}, {"Y"});
  EXPECT_EQ(Evaluate(Import(b), {Floats({1, 1}, {10})}),
            std::vector<float>{25});
}

TEST(ImportModelTest, DimsGiveDynamicDimensionsTheirValue) {
  ModelBuilder b;
  b.Input("x", {-1, -1}).NameDim(0, "batch").Output("y");
  b.Node("Relu", {"x"}, {"y"});
  EXPECT_EQ(ErrorOf(b),
            "dimensions 'batch' of input 'x', 'x.1' of input 'x' have no "
            "value; give them one with --dim=batch=VALUE --dim=x.1=VALUE");
  ImportOptions options;
  options.dims = {{"batch", 3}, {"x.1", 4}};
  EXPECT_EQ(Import(b, options).outputs[0].shape, (std::vector<int64_t>{3, 4}));
  options.dims["other"] = 5;
  EXPECT_EQ(ErrorOf(b, options),
            "--dim=other=5 names no dynamic dimension of the model; it has "
            "batch, x.1");
  options.dims = {{"batch", 0}, {"x.1", 4}};
  EXPECT_EQ(ErrorOf(b, options), "--dim=batch=0: a dimension is at least 1");
}

TEST(ImportModelTest, BoundInputsBecomeConstants) {
  ModelBuilder b;
  b.Input("x", {6}).Input("shape", {2}, onnx::TensorProto::INT64).Output("y");
  b.Node("Reshape", {"x", "shape"}, {"y"});
  EXPECT_EQ(ErrorOf(b),
            "node of 'y' (Reshape): input 'shape' decides a shape and must be "
            "known when compiling; if it is an input of the model, give its "
            "value with --bind=NAME=VALUE");
  ImportOptions options;
  options.bind_text["shape"] = "2,3";
  const ImportedModel model = Import(b, options);
  EXPECT_EQ(model.inputs.size(), 1);
  EXPECT_EQ(model.outputs[0].shape, (std::vector<int64_t>{2, 3}));
  options.bind_text["shape"] = "2,3,4";
  EXPECT_EQ(ErrorOf(b, options),
            "--bind=shape=2,3,4: there are 3 values for 2 elements (the input "
            "is i64 [2])");
  options.bind_text["shape"] = "2,x";
  EXPECT_EQ(ErrorOf(b, options),
            "--bind=shape=2,x: 'x' is no such value (the input is i64 [2])");
  options.bind_text = {{"nothing", "1"}};
  EXPECT_EQ(ErrorOf(b, options),
            "--bind=nothing=... names no input of the model; it has shape, x");
  options.bind_text.clear();
  options.bind_tensors["shape"] = Floats({2}, {2, 3});
  EXPECT_EQ(ErrorOf(b, options),
            "--bind=shape: the value is f32 [2] but the input is i64 [2]");
}

TEST(ImportModelTest, EverythingUnsupportedIsListedAtOnce) {
  ModelBuilder b(26);
  b.Input("x", {2}).Output("y");
  b.Node("Zap", {"x"}, {"a"});
  b.Node("Relu", {"a"}, {"b"});
  b.Node("Foo", {"b"}, {"c"}).Domain("com.example");
  b.Node("Bar", {"c"}, {"y"}).Domain("org.other");
  EXPECT_EQ(ErrorOf(b),
            "the model uses what is not supported: opset 26 of ai.onnx "
            "(supported are 6 to 25); operators Zap, com.example.Foo, "
            "org.other.Bar; domains com.example, org.other; export it with "
            "supported operators");
}

TEST(ImportModelTest, OperatorsBelongToTheirOpset) {
  ModelBuilder b(17);
  b.Input("x", {2}).Output("y");
  b.Node("Gelu", {"x"}, {"y"});
  EXPECT_EQ(ErrorOf(b),
            "the model uses what is not supported: operators Gelu; export it "
            "with supported operators");
}

TEST(ImportModelTest, SoftmaxChangedItsMeaningWithOpset13) {
  for (const int64_t opset : {12, 13}) {
    ModelBuilder b(opset);
    b.Input("x", {1, 2, 2}).Output("y");
    b.Node("Softmax", {"x"}, {"y"}).Int("axis", 1);
    const std::vector<float> y =
        Evaluate(Import(b), {Floats({1, 2, 2}, {0, 0, 0, 0})});
    EXPECT_EQ(y, std::vector<float>(4, opset == 12 ? 0.25f : 0.5f));
  }
}

TEST(ImportModelTest, ALongSumAndALongConcatStayFlat) {
  ModelBuilder b;
  b.Input("x", {1}).Output("y");
  b.Node("Sum", std::vector<std::string>(3000, "x"), {"s"});
  b.Node("Concat", std::vector<std::string>(3000, "s"), {"c"}).Int("axis", 0);
  b.Node("ReduceSum", {"c"}, {"y"}).Int("keepdims", 1);
  EXPECT_EQ(Evaluate(Import(b), {Floats({1}, {1})}),
            std::vector<float>{9'000'000});
}

TEST(ImportModelTest, OutputsAnOperatorDoesNotHaveAreRefused) {
  ModelBuilder b;
  b.Input("x", {2}).Output("z");
  b.Node("Relu", {"x"}, {"y", "z"});
  EXPECT_EQ(ErrorOf(b),
            "node of 'y' (Relu): the operator has no output 1; fix the model "
            "and export it again");
}

TEST(ImportModelTest, NothingIsComputedForOutputsThatNobodyReads) {
  for (const bool is_read : {false, true}) {
    ModelBuilder b;
    b.Input("x", {4}).Output("y");
    b.Node("Dropout", {"x"}, {"dropped", "mask"});
    b.Node("Relu", {"dropped"}, {"y"});
    if (is_read) b.Output("mask", {4}, onnx::TensorProto::BOOL);
    EXPECT_EQ(Hints(Import(b)),
              is_read ? (Strings{"fill", "relu"}) : (Strings{"relu"}));
  }
}

TEST(ImportModelTest, HugeImagesTakeNoMemory) {
  ModelBuilder b;
  b.Input("x", {1, 1, 1 << 20, 1 << 20}).Output("y");
  b.Node("AveragePool", {"x"}, {"y"})
      .Ints("kernel_shape", {3, 3})
      .Ints("pads", {1, 1, 1, 1});
  EXPECT_EQ(Hints(Import(b)), (Strings{"pool", "average"}));
}

TEST(ImportModelTest, EmptyTensorsAreRefused) {
  ModelBuilder b;
  b.Input("x", {0, 3}).Output("y");
  b.Node("Relu", {"x"}, {"y"});
  EXPECT_EQ(ErrorOf(b),
            "input 'x' has shape [0, 3], which is without elements; export "
            "the model with another");
}

TEST(ImportModelTest, OfWhatCastLikeIsLikeOnlyTheTypeMatters) {
  ModelBuilder b;
  b.Input("x", {2, 3}, onnx::TensorProto::INT32).Input("like", {0});
  b.Node("CastLike", {"x", "like"}, {"y"});
  b.Output("y", {-2}, onnx::TensorProto::FLOAT);
  ImportOptions options;
  options.bind_tensors["like"] = Floats({0}, {});
  const ImportedModel model = Import(b, options);
  EXPECT_EQ(model.inputs.size(), 1);
  EXPECT_EQ(model.outputs[0].dtype, DType::kFloat32);
  EXPECT_EQ(model.outputs[0].shape, (std::vector<int64_t>{2, 3}));
}

TEST(ImportModelTest, TheSameModelGivesTheSameGraph) {
  ModelBuilder b = PaddedConvolution();
  EXPECT_EQ(PrintText(Import(b).graph, 0), PrintText(Import(b).graph, 0));
}

TEST(ImportModelTest, RefusesToResizeNothing) {
  ModelBuilder b(17);
  b.Input("unused", {1});
  b.Floats("x", {0, 2}, {});
  b.Floats("scales", {2}, {1, 2});
  b.Node("Resize", {"x", "", "scales"}, {"y"}).String("mode", "nearest");
  b.Output("y");
  const std::string error = ErrorOf(b);
  EXPECT_NE(error.find("without elements"), std::string::npos) << error;
}

}  // namespace
}  // namespace tilewright
