#include "tilegraph/rewrite/byte_tables.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tilegraph/expr/dtype.h"
#include "tilegraph/expr/expr.h"
#include "tilegraph/expr/host_tensor.h"
#include "tilegraph/expr/op.h"
#include "tilegraph/ir/dim.h"
#include "tilegraph/ir/graph_rewrite.h"
#include "tilegraph/ir/tensor_graph.h"
#include "tilegraph/rewrite/rewrite_testing.h"
#include "tilegraph/text/text_form.h"

namespace tilewright {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Y of X through F, both bytes; its text after.
std::string Tabulated(const std::string& text, int least_operations = 6) {
  const TensorGraph graph = Parsed(text);
  const RewrittenGraph rewritten =
      TabulateFunctionsOfBytes(graph, least_operations);
  ExpectSameResults(graph, rewritten);
  return PrintText(rewritten.graph);
}

// Elementwise in [2, 5].
std::string Line(const std::string& name, const std::string& dtype,
                 const std::string& body) {
  return absl::StrCat(name, ": ", dtype, "[2, 5] = compute (i: 2, j: 5) { ",
                      body, " }\n");
}

const char* const kX = "X: u8[2, 5] = placeholder\n";
const std::string kDequantized =
    Line("D", "f32", "cast:f32(cast:i32(X[i, j]) - 3:i32) * 0.5");
std::string Quantized(const std::string& of, const std::string& name = "Y") {
  return Line(name, "u8", "cast:u8(round(" + of + "[i, j] * 4.0))");
}

TEST(ByteTablesTest, AFunctionOfAByteIsRead) {
  const std::string text =
      Tabulated(kX + kDequantized + Line("S", "f32", "D[i, j] * D[i, j]") +
                Quantized("S") + "return Y\n");
  EXPECT_THAT(text, HasSubstr("{ Y.table[cast:i64(X[i, j])] }"));
  EXPECT_THAT(text, Not(HasSubstr("D:")));
}

TEST(ByteTablesTest, FewOperationsAreComputed) {
  const std::string graph = kX + kDequantized + Quantized("D") + "return Y\n";
  EXPECT_THAT(Tabulated(graph, 6), HasSubstr("Y.table"));
  EXPECT_THAT(Tabulated(graph, 8), Not(HasSubstr("table")));
  const std::string function = kX + kDequantized +
                               Line("S", "f32", "sigmoid(D[i, j])") +
                               Quantized("S") + "return Y\n";
  EXPECT_THAT(PrintText(TabulateFunctionsOfBytes(Parsed(function), 18).graph),
              HasSubstr("Y.table"));
}

TEST(ByteTablesTest, BytesBetweenArePassed) {
  const std::string text =
      Tabulated(kX + kDequantized + Quantized("D", "Q") +
                Line("S", "f32", "cast:f32(cast:i32(Q[i, j])) * D[i, j]") +
                Quantized("S") + "return Y\n");
  EXPECT_THAT(text, HasSubstr("{ Y.table[cast:i64(X[i, j])] }"));
  EXPECT_THAT(text, Not(HasSubstr("Q")));
}

// What others read is there anyway: the next function is one of it.
TEST(ByteTablesTest, BytesThatOthersReadAreWhereTheNextBegins) {
  const std::string graph = kX + kDequantized + Quantized("D", "Q") +
                            Line("S", "f32", "cast:f32(Q[i, j]) * 2.0") +
                            Quantized("S");
  const std::string text = Tabulated(graph + "return Q, Y\n", 4);
  EXPECT_THAT(text, HasSubstr("{ Q.table[cast:i64(X[i, j])] }"));
  EXPECT_THAT(text, HasSubstr("{ Y.table[cast:i64(Q[i, j])] }"));
}

TEST(ByteTablesTest, FloatsThatOthersReadStay) {
  EXPECT_THAT(Tabulated(kX + kDequantized + Quantized("D") + "return D, Y\n"),
              Not(HasSubstr("table")));
}

// A zero point that is no literal is no other byte.
TEST(ByteTablesTest, ConstantsOfOneElementAreNumbers) {
  HostTensor zero(DType::kUInt8, {});
  zero.Set(0, Scalar{0, 3});
  TensorGraph graph;
  const TensorId x = graph.AddPlaceholder("X", DType::kUInt8, {Dim(5)});
  const TensorId z =
      graph.AddConstant("z", std::make_shared<HostTensor>(std::move(zero)));
  const auto integer = [](const Expr& byte) {
    return Expr::Cast(DType::kInt32, byte);
  };
  Compute compute;
  compute.axes = {{"i", Dim(5)}};
  compute.body = {Expr::Cast(
      DType::kUInt8,
      Expr::Make(Op::kSub, {integer(graph.Load(x, {Expr::Var(0, "i")})),
                            integer(graph.Load(z, {}))}))};
  graph.SetOutputs({graph.AddCompute("Y", DType::kUInt8, compute)});
  const RewrittenGraph rewritten = TabulateFunctionsOfBytes(graph, 1);
  EXPECT_THAT(PrintText(rewritten.graph),
              HasSubstr("{ Y.table[cast:i64(X[i])] }"));
  ExpectSameResults(graph, rewritten);
}

TEST(ByteTablesTest, SignedBytesCountByTheirBits) {
  const std::string text = Tabulated(
      "X: i8[2, 5] = placeholder\n" + kDequantized +
      Line("Y", "i8", "cast:i8(round(D[i, j] * 4.0))") + "return Y\n");
  EXPECT_THAT(text, HasSubstr("Y: i8[2, 5]"));
  EXPECT_THAT(text, HasSubstr("{ Y.table[cast:i64(cast:u8(X[i, j]))] }"));
}

TEST(ByteTablesTest, OthersAreNoFunctionsOfOneByte) {
  const std::string two = absl::StrCat(kX, "Z: u8[2, 5] = placeholder\n");
  for (const std::string& text :
       {two + Line("D", "f32", "cast:f32(X[i, j]) * cast:f32(Z[i, j])") +
            Quantized("D"),
        absl::StrCat(kX, Line("D", "f32", "cast:f32(X[i, 4 - j]) * 0.5"),
                     Quantized("D")),
        absl::StrCat(kX, Line("D", "f32", "cast:f32(X[i, j]) * cast:f32(j)"),
                     Quantized("D")),
        // One byte for a whole row.
        absl::StrCat("X: u8[2] = placeholder\n",
                     Line("D", "f32", "cast:f32(X[i]) * 0.5"), Quantized("D")),
        absl::StrCat("X: i16[2, 5] = placeholder\n",
                     Line("D", "f32", "cast:f32(X[i, j]) * 0.5"),
                     Quantized("D")),
        absl::StrCat(kX, kDequantized,
                     Line("Y", "i16", "cast:i16(round(D[i, j] * 4.0))"))}) {
    EXPECT_THAT(Tabulated(text + "return Y\n", 1), Not(HasSubstr("table")))
        << text;
  }
}

// As kernels do in floats: a tie of the product that was rounded before.
TEST(ByteTablesTest, EveryOperationIsRounded) {
  const TensorGraph graph =
      Parsed(kX +
             Line("S", "f32",
                  "sigmoid(cast:f32(cast:i32(X[i, j]) - 119:i32) * "
                  "0.035992038)") +
             Line("Y", "u8", "cast:u8(round(S[i, j] * 256.93973) + 2.0)") +
             "return Y\n");
  const RewrittenGraph rewritten = TabulateFunctionsOfBytes(graph, 1);
  const auto id = rewritten.graph.Find("Y.table");
  ASSERT_TRUE(id.has_value());
  const HostTensor& table = *rewritten.graph.tensor(*id).value;
  ASSERT_EQ(table.num_elements(), 256);
  for (int byte = 0; byte < 256; ++byte) {
    const float x = static_cast<float>(byte - 119) * 0.035992038f;
    const auto s =
        static_cast<float>(1 / (1 + std::exp(-static_cast<double>(x))));
    const float y = std::nearbyint(s * 256.93973f) + 2;
    EXPECT_EQ(table.Get(byte).i, static_cast<int64_t>(std::min(y, 255.0f)))
        << byte;
  }
}

}  // namespace
}  // namespace tilewright
