#include "tilegraph/text/text_form.h"

#include <cmath>
#include <cstring>

#include "base/random.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tilegraph/ir/verifier.h"
#include "tilegraph/testing/random_graph.h"

namespace tilewright {
namespace {

using ::testing::HasSubstr;

constexpr absl::StatusCode kInvalid = absl::StatusCode::kInvalidArgument;

// Everything but axis names' spelling and bytes of NaNs.
void ExpectSameGraph(const TensorGraph& a, const TensorGraph& b) {
  ASSERT_EQ(a.size(), b.size());
  EXPECT_EQ(a.outputs(), b.outputs());
  for (int id = 0; id < a.size(); ++id) {
    const Tensor& x = a.tensor(id);
    const Tensor& y = b.tensor(id);
    EXPECT_EQ(x.name, y.name);
    EXPECT_EQ(x.dtype, y.dtype);
    EXPECT_EQ(x.shape, y.shape);
    EXPECT_EQ(x.hint, y.hint);
    ASSERT_EQ(x.kind, y.kind);
    EXPECT_EQ(x.compute.body, y.compute.body) << x.name;
    EXPECT_EQ(x.compute.result, y.compute.result);
    EXPECT_EQ(x.compute.combiner.has_value(), y.compute.combiner.has_value());
    if (x.compute.combiner.has_value())
      EXPECT_TRUE(*x.compute.combiner == *y.compute.combiner);
    ASSERT_EQ(x.compute.reduce_axes.size(), y.compute.reduce_axes.size());
    for (size_t i = 0; i < x.compute.reduce_axes.size(); ++i) {
      EXPECT_EQ(x.compute.reduce_axes[i].extent,
                y.compute.reduce_axes[i].extent);
      EXPECT_EQ(x.compute.reduce_axes[i].name, y.compute.reduce_axes[i].name);
    }
    if (x.kind == TensorKind::kConstant) {
      ASSERT_EQ(x.value->size_bytes(), y.value->size_bytes());
      EXPECT_EQ(
          std::memcmp(x.value->data(), y.value->data(), x.value->size_bytes()),
          0)
          << x.name;
    }
  }
}

TEST(TextFormTest, TwoThousandRandomGraphsParseBackExactly) {
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    const TensorGraph graph = RandomGraph(seed);
    const std::string text = PrintText(graph, /*inline_elements=*/1 << 20);
    TW_ASSERT_OK_AND_ASSIGN(const TensorGraph parsed, ParseText(text));
    ExpectSameGraph(graph, parsed);
    EXPECT_EQ(PrintText(parsed, 1 << 20), text);
    if (HasFailure()) FAIL() << "seed " << seed << "\n" << text;
  }
}

TEST(TextFormTest, LargeConstantsStandAsFingerprintsAndComeBackFromTheCaller) {
  TensorGraph graph;
  auto value =
      std::make_shared<HostTensor>(DType::kFloat32, std::vector<int64_t>{100});
  value->as<float>()[3] = 2.5f;
  graph.AddConstant("c", value);
  const std::string text = PrintText(graph);
  EXPECT_EQ(text, "c: f32[100] = constant fingerprint \"" +
                      ConstantFingerprint(*value) + "\"\n");
  TW_ASSERT_OK_AND_ASSIGN(
      const TensorGraph parsed,
      ParseText(text, {{ConstantFingerprint(*value), value}}));
  ExpectSameGraph(graph, parsed);
  EXPECT_THAT(
      ParseText(text),
      StatusIs(kInvalid,
               "line 1, column 36: no values are given for constant 'c'"));
  auto wrong =
      std::make_shared<HostTensor>(DType::kFloat32, std::vector<int64_t>{99});
  EXPECT_THAT(ParseText(text, {{ConstantFingerprint(*value), wrong}}),
              StatusIs(kInvalid, "another dtype or shape"));
  EXPECT_NE(ConstantFingerprint(*value),
            ConstantFingerprint(HostTensor(DType::kFloat32, {100})));
  EXPECT_NE(ConstantFingerprint(HostTensor(DType::kFloat32, {2, 3})),
            ConstantFingerprint(HostTensor(DType::kFloat32, {3, 2})));
}

TEST(TextFormTest, EveryDTypeAndSpecialValueOfAConstantReadsBack) {
  constexpr std::string_view kText =
      R"(a: f32[6] = constant { inf, -inf, -0.0, 1e-45, 3.4028235e+38, 0.1 }
b: f64[2] = constant { 0.1, 5e-324 }
c: f16[3] = constant { 0.1, -65504.0, 6e-08 }
d: bf16[1] = constant { 3.14 }
e: bool[2] = constant { true, false }
f: u64[2] = constant { 18446744073709551615, 0 }
g: i64[2] = constant { -9223372036854775808, 9223372036854775807 }
h: i8[] = constant { -128 }
i: f32[1] = constant { nan }
)";
  TW_ASSERT_OK_AND_ASSIGN(const TensorGraph graph, ParseText(kText));
  EXPECT_TRUE(std::isnan(graph.tensor(8).value->as<float>()[0]));
  EXPECT_EQ(graph.tensor(0).value->as<float>()[3], 1e-45f);
  EXPECT_TRUE(std::signbit(graph.tensor(0).value->as<float>()[2]));
  EXPECT_EQ(graph.tensor(5).value->as<uint64_t>()[0], UINT64_MAX);
  TW_ASSERT_OK_AND_ASSIGN(const TensorGraph again, ParseText(PrintText(graph)));
  ExpectSameGraph(graph, again);
}

TEST(TextFormTest, AnyNameIsKeptInQuotes) {
  TensorGraph graph;
  const TensorId x =
      graph.AddPlaceholder("/layer1/Conv \"0\"\\\n", DType::kFloat32, {4});
  const TensorId y = graph.AddPlaceholder("return", DType::kFloat32, {4});
  const TensorId z = graph.AddPlaceholder("conv1.weight", DType::kFloat32, {4});
  const Expr i = Expr::Var(0, "whatever");
  const auto load = [&](TensorId id) { return graph.Load(id, {i}); };
  Compute compute{
      {{"true", 4}},
      {},
      std::nullopt,
      {Expr::Make(Op::kAdd,
                  {Expr::Make(Op::kAdd, {load(x), load(y)}), load(z)})}};
  graph.SetOutputs(
      {graph.AddCompute("exp", DType::kFloat32, compute, "two words")});
  const std::string text = PrintText(graph);
  EXPECT_THAT(
      text,
      HasSubstr(
          R"("/layer1/Conv \"0\"\\\x0a"["true"] + "return"["true"] + conv1.weight["true"])"));
  EXPECT_THAT(text, HasSubstr("hint \"two words\""));
  TW_ASSERT_OK_AND_ASSIGN(const TensorGraph parsed, ParseText(text));
  ExpectSameGraph(graph, parsed);
}

TEST(TextFormTest, AxesOfOneNameAreMadeDistinct) {
  TensorGraph graph;
  const TensorId x = graph.AddPlaceholder("x", DType::kFloat32, {2, 3, 4});
  const Expr v0 = Expr::Var(0, "i"), v1 = Expr::Var(1, "i"),
             v2 = Expr::Var(2, "");
  graph.AddCompute("y", DType::kFloat32,
                   Compute{{{"i", 2}, {"i", 3}},
                           {{"", 4}},
                           Combiner(Combiner::Kind::kSum, DType::kFloat32),
                           {graph.Load(x, {v0, v1, v2})}});
  EXPECT_THAT(
      PrintText(graph),
      HasSubstr("(i: 2, i_1: 3) reduce (i_2: 4) sum:f32 { x[i, i_1, i_2] }"));
  EXPECT_THAT(ParseText(PrintText(graph)), IsOk());
}

TEST(TextFormTest, BareIntegersTakeTheDTypeOfTheirSurroundings) {
  TW_ASSERT_OK_AND_ASSIGN(const TensorGraph graph, ParseText(R"(# a comment
    x: f32[4] = placeholder   # another
    n: i32[4] = placeholder
    y: f32[4] = compute (i: 4) { select(i > 0 && n[i] < 3, max(x[i], 0), -1) }
    z: f32[] = compute () reduce (k: 4) sum:f32 { 1 }
    a: i64[] = compute () reduce (k: 4) argmax:f32 { x[k], k } result 1)"));
  EXPECT_EQ(PrintText(graph), R"(x: f32[4] = placeholder
n: i32[4] = placeholder
y: f32[4] = compute (i: 4) { select(i > 0 && n[i] < 3:i32, max(x[i], 0.0), -1.0) }
z: f32[] = compute () reduce (k: 4) sum:f32 { 1.0 }
a: i64[] = compute () reduce (k: 4) argmax:f32 { x[k], k } result 1
)");
}

TEST(TextFormTest, OperatorsBindAsTheyPrint) {
  const auto body = [](const std::string& text) {
    auto graph = ParseText(
        "x: f32[9] = placeholder\ny: f32[9] = compute (i: 9) { " + text + " }");
    EXPECT_THAT(graph, IsOk()) << text;
    if (!graph.ok()) return std::string();
    const std::string printed = PrintText(*graph);
    const size_t begin = printed.rfind("{ ") + 2;
    return printed.substr(begin, printed.rfind(" }") - begin);
  };
  EXPECT_EQ(body("x[i]-x[i]-x[i]*x[i]/x[i]"),
            "x[i] - x[i] - x[i] * x[i] / x[i]");
  EXPECT_EQ(body("x[i]-(x[i]-x[i])"), "x[i] - (x[i] - x[i])");
  EXPECT_EQ(body("((x[i]*(x[i]+-1.5)))"), "x[i] * (x[i] + -1.5)");
  EXPECT_EQ(body("x[i floordiv 3 + i floormod 2]"),
            "x[i floordiv 3 + i floormod 2]");
  EXPECT_EQ(body("add(x[i], 1)"), "x[i] + 1.0");
  EXPECT_EQ(body("cast:f32((i < 3 || i > 5) && i != 2)"),
            "cast:f32((i < 3 || i > 5) && i != 2)");
  EXPECT_EQ(body("cast:f32(xor(i, 3) + not(i) + and(i, 7))"),
            "cast:f32(xor(i, 3) + not(i) + and(i, 7))");
}

TEST(TextFormTest, ErrorsNamePlaceAndWhatWasExpected) {
  const std::string x = "x: f32[4] = placeholder\n";
  const struct {
    std::string text, message;
  } table[] = {
      {"x f32[4] = placeholder", "line 1, column 3: expected ':', found 'f32'"},
      {"x: f33[4] = placeholder",
       "line 1, column 4: expected a dtype, found 'f33'"},
      {"x: f32[4 = placeholder", "line 1, column 10: expected ']', found '='"},
      {"x: f32[4] = place",
       "expected 'placeholder', 'constant' or 'compute', found 'place'"},
      {"x: f32[4] =", "found the end"},
      {"x: f32[99999999999999999999] = placeholder", "does not fit 64 bits"},
      {"x: f32[-1] = placeholder", "expected an extent, found '-'"},
      {"x: f32[4] = placeholder $", "unexpected character \"$\""},
      {"\"x", "a quoted name does not end"},
      {"\"\\q\": f32[4] = placeholder", "in a quoted name"},
      {x + x, "line 2, column 1: a second tensor 'x'"},
      {x + "return y", "line 2, column 8: no tensor 'y'"},
      {x + "return x x", "expected the end after 'return', found 'x'"},
      {x + "y: f32[4] = compute (i: 5) { x[i] }",
       "the axes of 'y' do not have the extents of its shape"},
      {x + "y: f32[4] = compute (i: 4) { y[i] }",
       "line 2, column 30: no tensor 'y' before this one"},
      {x + "y: f32[4] = compute (i: 4) { x[j] }",
       "line 2, column 32: no axis 'j'"},
      {x + "y: f32[4, 4] = compute (i: 4, i: 4) { x[i] }", "a second axis 'i'"},
      {x + "y: f32[4] = compute (i: 4) { x[i, i] }",
       "2 indices for 'x', which has 1 dimensions"},
      {x + "y: f32[4] = compute (i: 4) { x[x[i]] }",
       "an index of 'x' is no i64"},
      {x + "y: f32[4] = compute (i: 4) { x[i] + i }",
       "line 2, column 35: 'add' does not take (f32, i64)"},
      {x + "y: f32[4] = compute (i: 4) { i < i < i }",
       "expected '}', found '<'"},
      {x + "y: f32[4] = compute (i: 4) { foo(x[i]) }", "no operation 'foo'"},
      {x + "y: f32[4] = compute (i: 4) { max(x[i]) }",
       "'max' does not take (f32)"},
      {x + "y: f32[4] = compute (i: 4) { load(x[i]) }", "no operation 'load'"},
      {x + "y: f32[4] = compute (i: 4) { x[i], x[i] }",
       "more expressions than the combiner has components"},
      {x + "y: f32[4] = compute (i: 4) { }",
       "tensor 'y' has 0 body expressions where 1 are needed"},
      {x + "y: f32[4] = compute (i: 4) { x[i] } result 1", "no component 1"},
      {x + "y: f32[] = compute () reduce (k: 4) mean:f32 { x[k] }",
       "no combiner 'mean:f32'"},
      {x + "y: f32[] = compute () reduce (k: 4) argmax:f32 { x[k] }",
       "has 1 body expressions where 2 are needed"},
      {x + "y: f32[4] = compute (i: 4) { 300:i8 }", "300 is no i8"},
      {x + "y: f32[4] = compute (i: 4) { 1.5:i8 }", "1.5 is no i8"},
      {x + "y: f32[4] = compute (i: 4) { 1e999 }", "1e999 is no f32"},
      {x + "y: f32[4] = compute (i: 4) { 1:bool }", "1 is no bool"},
      {x + "y: f32[4] = compute (i: 4) { -1:u64 }", "-1 is no u64"},
      {"c: f32[2] = constant { 1.0 }", "1 values for 2 elements"},
      {"c: f32[1] = constant { 1.0, 2.0 }",
       "more values than the shape has elements"},
      {"c: i8[1] = constant { 1.0 }", "1.0 is no i8"},
      {"c: i8[1] = constant { 200 }",
       "a value that is not of the tensor's dtype"},
      {"c: f32[4611686018427387904, 4] = constant { 1.0 }",
       "a constant this large"},
      {"x: f32[4611686018427387904, 4] = placeholder",
       "is larger than 2^48 bytes"},
  };
  for (const auto& row : table)
    EXPECT_THAT(ParseText(row.text), StatusIs(kInvalid, row.message))
        << row.text;
  EXPECT_THAT(ParseText("x: f32[n(1..32)] = placeholder"),
              StatusIs(absl::StatusCode::kUnimplemented, "n(1..32)"));
}

TEST(TextFormTest, DeepOrLongExpressionsAreRefusedNotRecursedInto) {
  const auto parse = [](const std::string& body) {
    return ParseText("x: f32[4] = placeholder\ny: f32[4] = compute (i: 4) { " +
                     body + " }")
        .status();
  };
  const auto repeat = [](const std::string& part, int times) {
    std::string result;
    for (int i = 0; i < times; ++i) result += part;
    return result;
  };
  EXPECT_THAT(parse(repeat("(", 300) + "x[i]" + repeat(")", 300)), IsOk());
  EXPECT_THAT(parse("x[i]" + repeat(" + x[i]", 300)), IsOk());
  for (const int times : {1000, 1000000}) {
    EXPECT_THAT(parse(repeat("(", times)),
                StatusIs(kInvalid, "deeper than 400"));
    EXPECT_THAT(parse(repeat("exp(", times)),
                StatusIs(kInvalid, "deeper than 400"));
    EXPECT_THAT(parse(repeat("x[", times)),
                StatusIs(kInvalid, "deeper than 400"));
    EXPECT_THAT(parse(repeat("cast:f32(", times)),
                StatusIs(kInvalid, "deeper than 400"));
    EXPECT_THAT(parse("x[i]" + repeat(" + x[i]", times)),
                StatusIs(kInvalid, "deeper than 400"));
  }
}

// Any damage to a text gives a graph that verifies, or an error with a place;
// never a crash.
TEST(TextFormTest, MutatedTextParsesOrFailsCleanly) {
  Random random(3);
  constexpr std::string_view kBits =
      "()[]{},:=<>+-*/\"\\.#0159aeix \n\x01\xff&|!";
  int accepted = 0;
  for (int trial = 0; trial < 6000; ++trial) {
    const uint64_t seed = static_cast<uint64_t>(trial % 200);
    RandomGraphOptions options;
    options.max_elements = 64;
    std::string text = PrintText(RandomGraph(seed, options));
    for (int64_t edits = random.UniformInt(1, 4); edits > 0 && !text.empty();
         --edits) {
      const size_t at = random.Index(text.size());
      switch (random.Index(5)) {
        case 0:
          text[at] = kBits[random.Index(kBits.size())];
          break;
        case 1:
          text.erase(at, 1 + random.Index(8));
          break;
        case 2:
          text.insert(at, 1, kBits[random.Index(kBits.size())]);
          break;
        case 3:
          text.insert(at,
                      text.substr(random.Index(text.size()), random.Index(40)));
          break;
        default:
          text.resize(at);
          break;
      }
    }
    const absl::StatusOr<TensorGraph> graph = ParseText(text);
    if (graph.ok()) {
      ++accepted;
      EXPECT_THAT(VerifyGraph(*graph), IsOk());
      EXPECT_THAT(ParseText(PrintText(*graph, 1 << 20)), IsOk()) << text;
    } else {
      EXPECT_THAT(std::string(graph.status().message()),
                  ::testing::AnyOf(HasSubstr("line "), HasSubstr("tensor '")))
          << text;
    }
  }
  EXPECT_GT(accepted, 100);
}

}  // namespace
}  // namespace tilewright
