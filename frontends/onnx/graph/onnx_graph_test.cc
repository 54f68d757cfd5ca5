#include "frontends/onnx/graph/onnx_graph.h"

#include <string>
#include <vector>

#include "frontends/onnx/model_builder.h"
#include "gtest/gtest.h"

namespace tilewright {
namespace {

TEST(OnnxGraphTest, NodesComeInTopologicalOrder) {
  ModelBuilder b;
  b.Input("x", {2}).Output("z");
  b.Node("Relu", {"y"}, {"z"});
  b.Node("Abs", {"x"}, {"y"});
  const absl::StatusOr<OnnxGraph> graph = BuildOnnxGraph(b.model());
  ASSERT_TRUE(graph.ok()) << graph.status();
  ASSERT_EQ(graph->nodes.size(), 2);
  EXPECT_EQ(graph->nodes[0].op, "Abs");
  EXPECT_EQ(graph->nodes[1].op, "Relu");
  EXPECT_EQ(graph->values[graph->outputs[0]].producer, 1);
}

TEST(OnnxGraphTest, DeadNodesGo) {
  ModelBuilder b;
  b.Input("x", {2}).Output("y");
  b.Node("Relu", {"x"}, {"dead"});
  b.Node("Abs", {"x"}, {"y"});
  b.Node("Neg", {"dead"}, {"also_dead"});
  absl::StatusOr<OnnxGraph> graph = BuildOnnxGraph(b.model());
  ASSERT_TRUE(graph.ok());
  RemoveDeadNodes(*graph);
  ASSERT_EQ(graph->nodes.size(), 1);
  EXPECT_EQ(graph->nodes[0].op, "Abs");
}

TEST(OnnxGraphTest, InputsWithAnInitializerAreWeights) {
  ModelBuilder b;
  b.Input("x", {2}).Input("w", {2}).Floats("w", {2}, {1, 2}).Output("y");
  b.Node("Add", {"x", "w"}, {"y"});
  const absl::StatusOr<OnnxGraph> graph = BuildOnnxGraph(b.model());
  ASSERT_TRUE(graph.ok());
  ASSERT_EQ(graph->inputs.size(), 1);
  EXPECT_EQ(graph->name(graph->inputs[0]), "x");
}

std::string MessageOf(const onnx::ModelProto& model) {
  return std::string(BuildOnnxGraph(model).status().message());
}

TEST(OnnxGraphTest, ALongCycleIsNamedInPart) {
  ModelBuilder b;
  b.Input("x", {2}).Output("v0");
  for (int i = 0; i < 20; ++i) {
    b.Node("Neg", {"v" + std::to_string((i + 1) % 20)},
           {"v" + std::to_string(i)});
  }
  EXPECT_EQ(MessageOf(b.model()),
            "the graph has a cycle: 'v0' -> 'v19' -> 'v18' -> 'v17' -> 'v16' "
            "-> 'v15' -> 'v14' -> 'v13' -> ... -> 'v0'; export the model "
            "again");
}

TEST(OnnxGraphTest, ANodeThatReadsItselfIsACycle) {
  ModelBuilder b;
  b.Output("y");
  b.Node("Neg", {"y"}, {"y"});
  EXPECT_EQ(MessageOf(b.model()),
            "the graph has a cycle: 'y' -> 'y'; export the model again");
}

TEST(OnnxGraphTest, NamesWithStrangeCharactersStayOnOneLine) {
  ModelBuilder b;
  b.Input("x", {2}).Output("y");
  b.Node("Neg", {"a\nb"}, {"y"}).Name("n\t1");
  EXPECT_EQ(MessageOf(b.model()),
            "node 'n\\t1' (Neg) reads 'a\\nb', which no input, initializer or "
            "node defines; export the model again");
}

TEST(OnnxGraphTest, AttributesAndInputsGivenTwiceAreRefused) {
  ModelBuilder twice;
  twice.Input("x", {2}).Input("x", {2}).Output("x");
  EXPECT_EQ(MessageOf(twice.model()),
            "input 'x' is defined twice; names must be unique, export the "
            "model again");
  ModelBuilder attribute;
  attribute.Input("x", {2}).Output("y");
  attribute.Node("Elu", {"x"}, {"y"}).Float("alpha", 1).Float("alpha", 2);
  EXPECT_EQ(MessageOf(attribute.model()),
            "node of 'y' (Elu) has attribute 'alpha' twice; export the model "
            "again");
}

}  // namespace
}  // namespace tilewright
