#include "frontends/onnx/ops/recurrent/recurrent_spec.h"

#include <algorithm>
#include <string>

#include "base/status_macros.h"
#include "frontends/onnx/graph/tensor_proto.h"
#include "tilegraph/ir/combiner.h"

namespace tilewright {
namespace {

// Of one node, over both directions: each is a few computes of the graph.
constexpr int64_t kMostSteps = 4096;

int64_t GatesOf(CellKind cell) {
  return cell == CellKind::kRnn ? 1 : cell == CellKind::kGru ? 3 : 4;
}

absl::Status ReadSizes(const OpContext& op, RecurrentSpec& spec) {
  if (op.rank(kX) != 3 || op.rank(kW) != 3 || op.rank(kR) != 3) {
    return op.Error("X, W and R have shapes ", ShapeText(op.shape(kX)), ", ",
                    ShapeText(op.shape(kW)), " and ", ShapeText(op.shape(kR)),
                    " where three dimensions each are needed");
  }
  const Shape& x = op.shape(kX);
  spec.batch_first = op.Int("layout", 0) != 0;
  spec.steps = x[spec.batch_first ? 1 : 0];
  spec.batch = x[spec.batch_first ? 0 : 1];
  spec.inputs = x[2];
  const Shape& r = op.shape(kR);
  spec.hidden = r[2];
  const std::string direction = op.String("direction", "forward");
  spec.directions = direction == "bidirectional" ? 2 : 1;
  spec.only_reverse = direction == "reverse";
  if (std::min({spec.steps, spec.batch, spec.inputs, r[0], r[1], r[2]}) == 0)
    return op.Unsupported("a sequence or a state without elements");
  if (const int64_t given = op.Int("hidden_size", r[2]); given != r[2]) {
    return op.Error("attribute 'hidden_size' is ", given, " where R has shape ",
                    ShapeText(r));
  }
  if (spec.steps > kMostSteps / spec.directions) {
    return op.Unsupported("a sequence of ", spec.steps, " steps in ",
                          spec.directions, " direction(s), more than ",
                          kMostSteps, " in all,");
  }
  return absl::OkStatus();
}

// Input `i`, if it is there, has such a shape and, but for the lengths, the
// type of X.
absl::Status CheckInput(const OpContext& op, int i, const char* name,
                        const Shape& wanted) {
  if (!op.has_input(i)) return absl::OkStatus();
  if (op.shape(i) != wanted) {
    return op.Error(name, " has shape ", ShapeText(op.shape(i)), " where ",
                    ShapeText(wanted), " is needed");
  }
  if (i != kLengths && op.dtype(i) != op.dtype(kX)) {
    return op.Error("X and ", name, " are ", DTypeText(op.dtype(kX)), " and ",
                    DTypeText(op.dtype(i)), " where one type is needed");
  }
  return absl::OkStatus();
}

absl::Status CheckInputs(const OpContext& op, const RecurrentSpec& spec) {
  const int64_t d = spec.directions, h = spec.hidden, rows = spec.gates * h;
  TW_RETURN_IF_ERROR(CheckInput(op, kW, "W", {d, rows, spec.inputs}));
  TW_RETURN_IF_ERROR(CheckInput(op, kR, "R", {d, rows, h}));
  TW_RETURN_IF_ERROR(CheckInput(op, kB, "B", {d, 2 * rows}));
  TW_RETURN_IF_ERROR(CheckInput(op, kLengths, "sequence_lens", {spec.batch}));
  TW_RETURN_IF_ERROR(CheckInput(op, kInitialH, "initial_h", spec.StateShape()));
  TW_RETURN_IF_ERROR(CheckInput(op, kInitialC, "initial_c", spec.StateShape()));
  return CheckInput(op, kPeepholes, "P", {d, 3 * h});
}

absl::Status ReadLengths(const OpContext& op, RecurrentSpec& spec) {
  if (!op.has_input(kLengths)) return absl::OkStatus();
  spec.has_lengths = true;
  if (op.input(kLengths).constant == nullptr) return absl::OkStatus();
  TW_ASSIGN_OR_RETURN(const std::vector<int64_t> lengths,
                      op.ConstInts(kLengths));
  for (const int64_t length : lengths) {
    if (length < 0 || length > spec.steps) {
      return op.Error("sequence_lens has ", length, " where X has ", spec.steps,
                      " steps");
    }
  }
  spec.has_lengths =
      std::any_of(lengths.begin(), lengths.end(),
                  [&](int64_t length) { return length != spec.steps; });
  return absl::OkStatus();
}

absl::Status ReadOptions(const OpContext& op, RecurrentSpec& spec) {
  if (op.HasAttribute("clip")) {
    spec.clip = op.Float("clip", 0);
    if (!(spec.clip > 0)) {
      return op.Error("attribute 'clip' is ", spec.clip,
                      "; it must be greater than 0");
    }
  }
  spec.input_forget = op.Int("input_forget", 0) != 0;
  spec.linear_before_reset = op.Int("linear_before_reset", 0) != 0;
  std::vector<std::string> one = {"Tanh"};
  if (spec.cell == CellKind::kGru) one = {"Sigmoid", "Tanh"};
  if (spec.cell == CellKind::kLstm) one = {"Sigmoid", "Tanh", "Tanh"};
  std::vector<std::string> names;
  for (int64_t d = 0; d < spec.directions; ++d)
    names.insert(names.end(), one.begin(), one.end());
  TW_ASSIGN_OR_RETURN(spec.activations, ReadActivations(op, std::move(names)));
  return absl::OkStatus();
}

}  // namespace

absl::Span<const Activation> RecurrentSpec::ActivationsOf(
    int64_t direction) const {
  const size_t count = activations.size() / static_cast<size_t>(directions);
  return absl::MakeConstSpan(activations)
      .subspan(static_cast<size_t>(direction) * count, count);
}

Shape RecurrentSpec::SequenceShape() const {
  if (batch_first) return {batch, steps, directions, hidden};
  return {steps, directions, batch, hidden};
}

Shape RecurrentSpec::StateShape() const {
  if (batch_first) return {batch, directions, hidden};
  return {directions, batch, hidden};
}

absl::StatusOr<RecurrentSpec> ReadRecurrent(const OpContext& op,
                                            CellKind cell) {
  RecurrentSpec spec;
  spec.cell = cell;
  spec.gates = GatesOf(cell);
  spec.acc = Combiner::DefaultAccumulator(op.dtype(kX));
  TW_RETURN_IF_ERROR(ReadSizes(op, spec));
  TW_RETURN_IF_ERROR(CheckInputs(op, spec));
  TW_RETURN_IF_ERROR(ReadLengths(op, spec));
  TW_RETURN_IF_ERROR(ReadOptions(op, spec));
  return spec;
}

}  // namespace tilewright
