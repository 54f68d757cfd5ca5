// Sizes that a model asks for and no machine has: each is refused in one line
// that says how much was asked for and for what.
#include <string>

#include "base/status_matchers.h"
#include "frontends/onnx/import_model.h"
#include "frontends/onnx/model_builder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tilewright {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int64_t kHuge = int64_t{1} << 38;

absl::Status Import(ModelBuilder& builder) {
  const absl::Status status = ImportModelProto(builder.model()).status();
  EXPECT_THAT(std::string(status.message()), Not(HasSubstr("\n")));
  return status;
}

TEST(MemoryTest, ScatterNdOnAHugeShapeSaysWhatItsTableNeeds) {
  ModelBuilder builder(16);
  builder.Input("x", {kHuge});
  builder.Ints("at", {1, 1}, {3});
  builder.Floats("with", {1}, {1});
  builder.Node("ScatterND", {"x", "at", "with"}, {"y"}).Name("s");
  builder.Output("y");
  EXPECT_THAT(Import(builder),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       HasSubstr("cannot allocate 2199023255552 bytes (2.0 "
                                 "TiB) for a table of node 's' (ScatterND); "
                                 "make the model smaller")));
}

TEST(MemoryTest, ShapesWithoutASizeAreRefused) {
  for (const char* op : {"Expand", "Tile", "ConstantOfShape"}) {
    ModelBuilder builder(16);
    builder.Input("x", {1});
    const bool fill = std::string(op) == "ConstantOfShape";
    builder.Ints("to", {1}, {int64_t{1} << 62});
    if (fill) {
      builder.Node(op, {"to"}, {"big"});
    } else {
      builder.Node(op, {"x", "to"}, {"big"});
    }
    builder.Node("Add", {"big", "x"}, {"y"});
    builder.Output("y");
    EXPECT_THAT(Import(builder), StatusIs(absl::StatusCode::kInvalidArgument,
                                          AnyOf(HasSubstr("larger than"),
                                                HasSubstr("out of range"))))
        << op;
  }
}

TEST(MemoryTest, HugeConstantsAreNotFolded) {
  ModelBuilder builder(16);
  builder.Input("x", {1});
  builder.Ints("to", {1}, {kHuge});
  builder.Node("ConstantOfShape", {"to"}, {"zeros"});
  builder.Node("ReduceSum", {"zeros"}, {"sum"});
  builder.Node("Add", {"sum", "x"}, {"y"});
  builder.Output("y");
  TW_EXPECT_OK(Import(builder));
}

TEST(MemoryTest, IntermediateTensorsHaveASizeToo) {
  ModelBuilder builder(16);
  builder.Input("x", {1, 1, 1, 1, 1});
  builder.Floats("w", {1, 1, 1, 1, 1}, {1});
  const int64_t pad = int64_t{1} << 20;
  builder.Node("Conv", {"x", "w"}, {"y"})
      .Ints("pads", {pad, pad, pad, pad, pad, pad})
      .Ints("strides", {pad, pad, pad});
  builder.Output("y");
  EXPECT_THAT(Import(builder),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("intermediate tensor 'y.pad'"),
                             HasSubstr("larger than"))));
}

}  // namespace
}  // namespace tilewright
