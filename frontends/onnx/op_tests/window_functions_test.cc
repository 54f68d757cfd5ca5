// HannWindow, HammingWindow, BlackmanWindow and MelWeightMatrix beside their
// formulas.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/status_matchers.h"
#include "frontends/onnx/import_model.h"
#include "frontends/onnx/model_builder.h"
#include "frontends/onnx/op_tests/op_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tilewright {
namespace {

using ::testing::HasSubstr;
constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr auto kUnimplemented = absl::StatusCode::kUnimplemented;

ModelBuilder WindowModel(const std::string& op, int64_t size, int64_t periodic,
                         int64_t type = onnx::TensorProto::FLOAT) {
  ModelBuilder b(17);
  b.Ints("size", {}, {size});
  b.Node(op, {"size"}, {"y"})
      .Int("periodic", periodic)
      .Int("output_datatype", type);
  b.Output("y", {-2}, static_cast<int>(type));
  return b;
}

TEST(WindowFunctionsTest, AreSumsOfCosines) {
  struct Case {
    const char* op;
    double a0, a1, a2;
  };
  for (const Case& c : {Case{"HannWindow", 0.5, 0.5, 0},
                        Case{"HammingWindow", 25.0 / 46, 21.0 / 46, 0},
                        Case{"BlackmanWindow", 0.42, 0.5, 0.08}}) {
    for (const int64_t size : {2, 3, 10, 400}) {
      for (const int64_t periodic : {0, 1}) {
        const auto turn = static_cast<double>(periodic ? size : size - 1);
        Values expected;
        for (int64_t i = 0; i < size; ++i) {
          const double angle = 2 * M_PI * static_cast<double>(i) / turn;
          expected.push_back(static_cast<float>(c.a0 - c.a1 * std::cos(angle) +
                                                c.a2 * std::cos(2 * angle)));
        }
        SCOPED_TRACE(testing::Message() << c.op << " of " << size
                                        << (periodic ? " periodic" : ""));
        ModelBuilder b = WindowModel(c.op, size, periodic);
        ExpectNear(RunModel(b, {}), {size}, expected);
      }
    }
  }
}

TEST(WindowFunctionsTest, ThoseWithoutAttributesArePeriodicFloats) {
  ModelBuilder b(17);
  b.Ints("size", {}, {4});
  b.Node("HannWindow", {"size"}, {"y"});
  b.Output("y", {4}, onnx::TensorProto::FLOAT);
  ExpectNear(RunModel(b, {}), {4}, {0, 0.5, 1, 0.5});
}

// Integers are truncated; the model's declared type is that of the attribute.
TEST(WindowFunctionsTest, TypesAreThoseThatAreNamed) {
  ModelBuilder whole =
      WindowModel("HannWindow", 4, 1, onnx::TensorProto::INT32);
  ExpectNear(RunModel(whole, {}), {4}, {0, 0, 1, 0});
  ModelBuilder wide =
      WindowModel("HannWindow", 4, 1, onnx::TensorProto::DOUBLE);
  ExpectNear(RunModel(wide, {}), {4}, {0, 0.5, 1, 0.5});
  ModelBuilder text =
      WindowModel("HannWindow", 4, 1, onnx::TensorProto::STRING);
  EXPECT_THAT(ImportModelProto(text.model()),
              StatusIs(kUnimplemented, HasSubstr("output_datatype 8")));
}

TEST(WindowFunctionsTest, SizesMustBeKnownAndPositive) {
  ModelBuilder none = WindowModel("HannWindow", 0, 1);
  EXPECT_THAT(ImportModelProto(none.model()),
              StatusIs(kInvalid, HasSubstr("the size is [0]")));
  ModelBuilder one = WindowModel("HannWindow", 1, 0);
  EXPECT_THAT(ImportModelProto(one.model()),
              StatusIs(kUnimplemented, HasSubstr("window of one value")));
  ModelBuilder b(17);
  b.Input("size", {}, onnx::TensorProto::INT64);
  b.Node("HannWindow", {"size"}, {"y"});
  b.Output("y");
  EXPECT_THAT(ImportModelProto(b.model()),
              StatusIs(kUnimplemented, HasSubstr("known when compiling")));
}

struct Mel {
  int64_t mel_bins, length, rate;
  float low, high;
};

ModelBuilder MelModel(const Mel& mel) {
  ModelBuilder b(17);
  b.Ints("bins", {}, {mel.mel_bins}).Ints("length", {}, {mel.length});
  b.Ints("rate", {}, {mel.rate});
  b.Floats("low", {}, {mel.low}).Floats("high", {}, {mel.high});
  b.Node("MelWeightMatrix", {"bins", "length", "rate", "low", "high"}, {"y"});
  b.Output("y");
  return b;
}

// As the definition's reference fills it, row by row of triangles.
Values MelMatrix(const Mel& mel) {
  const auto mel_of = [](double hz) { return 2595 * std::log10(1 + hz / 700); };
  const double low = mel_of(mel.low);
  const double step =
      (mel_of(mel.high) - low) / static_cast<double>(mel.mel_bins + 2);
  std::vector<int64_t> at;
  for (int64_t i = 0; i < mel.mel_bins + 2; ++i) {
    const double hz =
        700 * (std::pow(10, (low + static_cast<double>(i) * step) / 2595) - 1);
    at.push_back(static_cast<int64_t>(static_cast<double>(mel.length + 1) * hz /
                                      static_cast<double>(mel.rate)));
  }
  Values matrix(static_cast<size_t>((mel.length / 2 + 1) * mel.mel_bins), 0);
  for (int64_t m = 0; m < mel.mel_bins; ++m) {
    const auto i = static_cast<size_t>(m);
    const auto set = [&](int64_t bin, int64_t part, int64_t of) {
      matrix[static_cast<size_t>(bin * mel.mel_bins + m)] =
          static_cast<float>(part) / static_cast<float>(of);
    };
    for (int64_t bin = at[i]; bin < at[i + 1]; ++bin)
      set(bin, bin - at[i], at[i + 1] - at[i]);
    set(at[i + 1], 1, 1);
    for (int64_t bin = at[i + 1]; bin < at[i + 2]; ++bin)
      set(bin, at[i + 2] - bin, at[i + 2] - at[i + 1]);
  }
  return matrix;
}

TEST(MelWeightMatrixTest, HasATriangleForEachMelBin) {
  for (const Mel& mel :
       {Mel{8, 16, 8192, 0, 4096}, Mel{80, 400, 16000, 0, 8000},
        Mel{20, 512, 16000, 125, 7500}, Mel{20, 513, 22050, 300, 8000}}) {
    ModelBuilder b = MelModel(mel);
    ExpectNear(RunModel(b, {}), {mel.length / 2 + 1, mel.mel_bins},
               MelMatrix(mel));
  }
}

// As in a window, integers are truncated: only peaks are left.
TEST(MelWeightMatrixTest, TypesAreThoseThatAreNamed) {
  const Mel mel = {20, 512, 16000, 125, 7500};
  ModelBuilder b = MelModel(mel);
  onnx::GraphProto& graph = *b.model().mutable_graph();
  graph.clear_output();
  NodeBuilder(graph.mutable_node(0))
      .Int("output_datatype", onnx::TensorProto::INT8);
  b.Output("y", {-2}, onnx::TensorProto::INT8);
  Values expected = MelMatrix(mel);
  for (float& value : expected) value = std::floor(value);
  ExpectNear(RunModel(b, {}), {257, 20}, expected);
}

TEST(MelWeightMatrixTest, EdgesMustBeInOrderAndWithinTheSpectrum) {
  ModelBuilder reversed = MelModel({8, 16, 8192, 4096, 0});
  EXPECT_THAT(ImportModelProto(reversed.model()),
              StatusIs(kInvalid, HasSubstr("the lower one first")));
  ModelBuilder negative = MelModel({8, 16, 8192, -1, 4096});
  EXPECT_THAT(ImportModelProto(negative.model()),
              StatusIs(kInvalid, HasSubstr("the lower one first")));
  ModelBuilder beyond = MelModel({80, 400, 16000, 0, 16000});
  EXPECT_THAT(ImportModelProto(beyond.model()),
              StatusIs(kInvalid, HasSubstr("lower upper_edge_hertz")));
  ModelBuilder rate = MelModel({8, 16, 0, 0, 4096});
  EXPECT_THAT(ImportModelProto(rate.model()),
              StatusIs(kInvalid, HasSubstr("sample_rate is [0]")));
}

TEST(MelWeightMatrixTest, EdgesMustBeKnown) {
  ModelBuilder b(17);
  b.Ints("bins", {}, {8}).Ints("length", {}, {16}).Ints("rate", {}, {8192});
  b.Input("low", {}).Floats("high", {}, {4096});
  b.Node("MelWeightMatrix", {"bins", "length", "rate", "low", "high"}, {"y"});
  b.Output("y");
  EXPECT_THAT(ImportModelProto(b.model()),
              StatusIs(kUnimplemented,
                       HasSubstr("lower_edge_hertz that is not known")));
}

}  // namespace
}  // namespace tilewright
