#include "frontends/onnx/nodes/unroll_loops.h"

#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "base/status_macros.h"
#include "frontends/onnx/graph/subgraph.h"
#include "frontends/onnx/graph/tensor_proto.h"
#include "frontends/onnx/nodes/node_errors.h"
#include "frontends/onnx/nodes/written_node.h"
#include "tilegraph/expr/host_tensor.h"

namespace tilewright {
namespace {

constexpr char kBody[] = "body";
constexpr int64_t kScanOpset = 9;  // before, it had a batch and lengths

// What a node reads and writes: first its states, then what it scans and what
// it makes of that.
struct ScanShape {
  size_t states, inputs, outputs;
  std::vector<int64_t> input_axes, output_axes, reversed_inputs,
      reversed_outputs;
  int64_t steps = 0;
};

absl::StatusOr<ScanShape> ShapeOf(const OnnxNode& node,
                                  const std::vector<ValueInfo>& infos,
                                  const OnnxGraph& graph) {
  const auto inputs = static_cast<size_t>(node.Int("num_scan_inputs", 0));
  if (inputs > node.inputs.size() ||
      node.inputs.size() - inputs > node.outputs.size())
    return InvalidNode(graph, node, "has ", node.inputs.size(), " inputs and ",
                       node.outputs.size(), " outputs for ", inputs,
                       " scanned");
  ScanShape shape{node.inputs.size() - inputs, inputs, 0, {}, {}, {}, {}};
  shape.outputs = node.outputs.size() - shape.states;
  shape.input_axes = node.Ints("scan_input_axes", std::vector<int64_t>(inputs));
  shape.reversed_inputs =
      node.Ints("scan_input_directions", std::vector<int64_t>(inputs));
  shape.output_axes =
      node.Ints("scan_output_axes", std::vector<int64_t>(shape.outputs));
  shape.reversed_outputs =
      node.Ints("scan_output_directions", std::vector<int64_t>(shape.outputs));
  if (shape.input_axes.size() != inputs ||
      shape.reversed_inputs.size() != inputs ||
      shape.output_axes.size() != shape.outputs ||
      shape.reversed_outputs.size() != shape.outputs)
    return InvalidNode(graph, node, "its axes and directions do not fit ",
                       inputs, " inputs and ", shape.outputs, " outputs");
  for (size_t i = 0; i < inputs; ++i) {
    const ValueId id = node.inputs[shape.states + i];
    if (id == kNoValue)
      return InvalidNode(graph, node, "input ", i, " is missing");
    const auto rank = static_cast<int64_t>(infos[id].shape.size());
    int64_t& axis = shape.input_axes[i];
    if (axis < 0) axis += rank;
    if (axis < 0 || axis >= rank)
      return InvalidNode(graph, node, Quoted(graph.name(id)), " has no axis ",
                         axis);
    const int64_t steps = infos[id].shape[axis];
    if (i > 0 && steps != shape.steps)
      return InvalidNode(graph, node, "its inputs have ", shape.steps, " and ",
                         steps, " slices");
    shape.steps = steps;
  }
  return shape;
}

absl::StatusOr<InlinedSubgraph> Step(const OnnxNode& node,
                                     const std::vector<ValueId>& inputs,
                                     size_t outputs, OnnxGraph& graph) {
  TW_ASSIGN_OR_RETURN(InlinedSubgraph step,
                      InlineSubgraph(node, kBody, inputs, graph));
  if (step.outputs.size() != outputs)
    return InvalidNode(graph, node, "its body has ", step.outputs.size(),
                       " outputs instead of ", outputs);
  return step;
}

void Append(std::vector<OnnxNode>& from, std::vector<OnnxNode>& to) {
  for (OnnxNode& node : from) to.push_back(std::move(node));
}

// A Loop that has begun: behind the condition, which may be left out, come its
// states, then what each trip has made.
constexpr char kTrip[] = "trip", kMostTrips[] = "most_trips";
constexpr char kStates[] = "states";

absl::StatusOr<OnnxNode> Begun(const OnnxNode& node,
                               const std::vector<ValueInfo>& infos,
                               const OnnxGraph& graph) {
  if (node.inputs.size() < 2 || node.inputs.size() - 2 > node.outputs.size())
    return InvalidNode(graph, node, "has ", node.inputs.size(), " inputs and ",
                       node.outputs.size(), " outputs");
  int64_t most = std::numeric_limits<int64_t>::max();
  if (const ValueId trips = node.inputs[0]; trips != kNoValue) {
    if (infos[trips].constant == nullptr)
      return UnimplementedNode(
          graph, node, "how often it runs, ", Quoted(graph.name(trips)),
          ", is not known when compiling; if it is an input of the model, give "
          "its value with --bind=NAME=VALUE");
    if (infos[trips].constant->num_elements() != 1 ||
        IsFloat(infos[trips].dtype))
      return InvalidNode(graph, node, Quoted(graph.name(trips)),
                         " must be a single integer");
    most = infos[trips].constant->Get(0).i;
  }
  OnnxNode begun = node;
  begun.is_rewritten = true;
  begun.inputs.erase(begun.inputs.begin());
  begun.attributes[kTrip] = IntAttribute(0);
  begun.attributes[kMostTrips] = IntAttribute(most);
  begun.attributes[kStates] =
      IntAttribute(static_cast<int64_t>(begun.inputs.size()) - 1);
  return begun;
}

absl::StatusOr<std::vector<OnnxNode>> Ended(const OnnxNode& node,
                                            OnnxGraph& graph) {
  const int64_t trips = node.Int(kTrip, 0);
  const auto states = static_cast<size_t>(node.Int(kStates, 0));
  const size_t made = node.outputs.size() - states;
  std::vector<OnnxNode> nodes;
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] == kNoValue) continue;
    if (i < states) {
      nodes.push_back(SameAs(node, node.inputs[1 + i], node.outputs[i]));
      continue;
    }
    if (trips == 0)
      return UnimplementedNode(graph, node, "it runs no time, so that output ",
                               i, " is without elements");
    std::vector<ValueId> slices;
    for (int64_t trip = 0; trip < trips; ++trip)
      slices.push_back(node.inputs[1 + states + trip * made + i - states]);
    StackSlices(node, slices, 0, node.outputs[i], graph, nodes);
  }
  return nodes;
}

}  // namespace

absl::StatusOr<std::vector<OnnxNode>> UnrollScan(
    const OnnxNode& node, const std::vector<ValueInfo>& infos,
    OnnxGraph& graph) {
  if (graph.opset() < kScanOpset)
    return UnimplementedNode(graph, node, "Scan of opsets before ", kScanOpset,
                             " is not supported; export a later one");
  TW_ASSIGN_OR_RETURN(const ScanShape shape, ShapeOf(node, infos, graph));
  if (shape.steps == 0)
    return UnimplementedNode(graph, node, "there are no slices to scan");
  std::vector<ValueId> states(node.inputs.begin(),
                              node.inputs.begin() + shape.states);
  std::vector<std::vector<ValueId>> made(shape.outputs);
  std::vector<OnnxNode> nodes;
  for (int64_t step = 0; step < shape.steps; ++step) {
    std::vector<ValueId> inputs = states;
    for (size_t i = 0; i < shape.inputs; ++i) {
      const bool reversed = shape.reversed_inputs[i] != 0;
      const ValueId scanned = node.inputs[shape.states + i];
      const ValueId slice = graph.AddValue(graph.name(scanned) + ".slice");
      nodes.push_back(SliceAt(node, scanned, shape.input_axes[i],
                              reversed ? shape.steps - 1 - step : step, slice,
                              graph));
      inputs.push_back(slice);
    }
    TW_ASSIGN_OR_RETURN(InlinedSubgraph body,
                        Step(node, inputs, node.outputs.size(), graph));
    Append(body.nodes, nodes);
    if (nodes.size() > kMostUnrolled)
      return UnimplementedNode(graph, node, "its ", shape.steps,
                               " steps are too many nodes to compile");
    states.assign(body.outputs.begin(), body.outputs.begin() + shape.states);
    for (size_t i = 0; i < shape.outputs; ++i) {
      std::vector<ValueId>& slices = made[i];
      slices.insert(shape.reversed_outputs[i] ? slices.begin() : slices.end(),
                    body.outputs[shape.states + i]);
    }
  }
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] == kNoValue) continue;
    if (i < shape.states) {
      nodes.push_back(SameAs(node, states[i], node.outputs[i]));
    } else {
      StackSlices(node, made[i - shape.states],
                  shape.output_axes[i - shape.states], node.outputs[i], graph,
                  nodes);
    }
  }
  return nodes;
}

absl::StatusOr<std::vector<OnnxNode>> UnrollLoop(
    const OnnxNode& node, const std::vector<ValueInfo>& infos,
    OnnxGraph& graph) {
  if (!node.is_rewritten) {
    TW_ASSIGN_OR_RETURN(OnnxNode begun, Begun(node, infos, graph));
    return std::vector<OnnxNode>{std::move(begun)};
  }
  const int64_t trip = node.Int(kTrip, 0);
  const auto states = static_cast<size_t>(node.Int(kStates, 0));
  ValueId condition = node.inputs[0];
  if (condition != kNoValue) {
    const auto& known = infos[condition].constant;
    if (known == nullptr)
      return UnimplementedNode(graph, node, "whether it goes on after ", trip,
                               " trips, ", Quoted(graph.name(condition)),
                               ", is not known when compiling");
    if (known->dtype() != DType::kBool || known->num_elements() != 1)
      return InvalidNode(graph, node, Quoted(graph.name(condition)),
                         " must be a single bool");
    if (known->Get(0).i == 0) return Ended(node, graph);
  }
  if (trip >= node.Int(kMostTrips, 0)) return Ended(node, graph);
  if (condition == kNoValue) {
    HostTensor yes(DType::kBool, {});
    yes.Set(0, {0, 1});
    condition = NewConstant(std::move(yes), graph);
  }
  std::vector<ValueId> inputs = {NewInteger(trip, graph), condition};
  inputs.insert(inputs.end(), node.inputs.begin() + 1,
                node.inputs.begin() + 1 + states);
  TW_ASSIGN_OR_RETURN(InlinedSubgraph body,
                      Step(node, inputs, 1 + node.outputs.size(), graph));
  OnnxNode next = node;
  next.attributes[kTrip] = IntAttribute(trip + 1);
  // Without a condition, trips alone end it.
  if (node.inputs[0] != kNoValue) next.inputs[0] = body.outputs[0];
  std::copy_n(body.outputs.begin() + 1, states, next.inputs.begin() + 1);
  next.inputs.insert(next.inputs.end(), body.outputs.begin() + 1 + states,
                     body.outputs.end());
  body.nodes.push_back(std::move(next));
  return std::move(body.nodes);
}

}  // namespace tilewright
