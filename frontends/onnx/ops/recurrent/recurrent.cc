// RNN, GRU and LSTM. One product gives what X says in every step; the steps,
// each with a product of the state before it and then its gates, follow one
// another. What a step reads of that product is a tensor of its own, so that
// all steps have the same kernels.
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "base/status_macros.h"
#include "frontends/onnx/graph/op_def.h"
#include "frontends/onnx/ops/common.h"
#include "frontends/onnx/ops/families.h"
#include "frontends/onnx/ops/recurrent/cells.h"
#include "frontends/onnx/ops/recurrent/recurrent_spec.h"
#include "frontends/onnx/ops/recurrent/weights.h"
#include "tilegraph/ir/join_parts.h"

namespace tilewright {
namespace {

using Index = absl::Span<const Expr>;

template <CellKind kCell>
absl::Status InferRecurrent(OpContext& op) {
  TW_ASSIGN_OR_RETURN(const RecurrentSpec spec, ReadRecurrent(op, kCell));
  op.SetOutput(0, op.dtype(kX), spec.SequenceShape());
  op.SetOutput(1, op.dtype(kX), spec.StateShape());
  if (kCell == CellKind::kLstm)
    op.SetOutput(2, op.dtype(kX), spec.StateShape());
  return absl::OkStatus();
}

// The states of a direction: after the last step, and of every position in the
// sequence what output Y has there.
struct Run {
  State last;
  std::vector<TensorId> outputs;
};

class Network {
 public:
  Network(ImportContext& in, const RecurrentSpec& spec)
      : in_(in), spec_(spec) {}

  absl::Status Import() {
    if (spec_.has_lengths) EmitValid();
    std::vector<Run> runs;
    for (int64_t d = 0; d < spec_.directions; ++d) {
      TW_ASSIGN_OR_RETURN(Run run, EmitDirection(d));
      runs.push_back(std::move(run));
    }
    if (in_.op().has_output(0)) EmitSequence(runs);
    if (in_.op().has_output(1))
      EmitState(1, runs, [](const Run& run) { return run.last.h; });
    if (in_.op().has_output(2))
      EmitState(2, runs, [](const Run& run) { return run.last.c; });
    return absl::OkStatus();
  }

 private:
  int TimeDim() const { return spec_.batch_first ? 1 : 0; }
  int BatchDim() const { return spec_.batch_first ? 0 : 2; }
  int DirectionDim() const { return spec_.batch_first ? 2 : 1; }
  // Of the states, outputs Y_h and Y_c.
  int StateBatchDim() const { return spec_.batch_first ? 0 : 1; }

  // Whether a sequence reaches a step, [steps, batch and more]: every step's
  // part begins where a buffer might.
  void EmitValid() {
    const TensorId lengths = in_.input(kLengths);
    constexpr int64_t kAligned = 64;
    const int64_t width = (spec_.batch + kAligned - 1) / kAligned * kAligned;
    valid_ = in_.Elementwise(
        in_.Name(0, "valid"), DType::kBool, {spec_.steps, width}, "mask",
        [&](Index index) {
          const Expr sequence =
              Binary(Op::kMin, index[1], Expr::Int(spec_.batch - 1));
          return Binary(Op::kLt, index[0],
                        CastTo(DType::kInt64, in_.At(lengths, {sequence})));
        });
  }

  absl::StatusOr<Run> EmitDirection(int64_t d) {
    TW_ASSIGN_OR_RETURN(const Weights weights, EmitWeights(in_, spec_, d));
    const TensorId products = EmitProducts(weights, d);
    const Direction direction{in_, spec_, weights, spec_.ActivationsOf(d)};
    Run run;
    run.outputs.resize(static_cast<size_t>(spec_.steps));
    run.last.h = EmitInitial(kInitialH, d);
    run.last.c = EmitInitial(kInitialC, d);
    for (int64_t step = 0; step < spec_.steps; ++step) {
      const int64_t t = spec_.IsReverse(d) ? spec_.steps - 1 - step : step;
      const std::string name = in_.Name(0, absl::StrCat("d", d, ".t", t, "."));
      const StepInputs inputs{EmitRowsOf(products, t, name),
                              EmitValidAt(t, name)};
      run.last = EmitStep(direction, inputs, run.last, name);
      run.outputs[static_cast<size_t>(t)] =
          EmitOutput(run.last.h, inputs.valid, name);
    }
    return run;
  }

  // X times W of all steps, with biases: [steps * batch, gates * hidden], or
  // the batch first.
  TensorId EmitProducts(const Weights& weights, int64_t d) {
    const int64_t rows = spec_.steps * spec_.batch;
    const int64_t columns = spec_.gates * spec_.hidden;
    const TensorId x = EmitReshaped(in_, in_.Name(0, absl::StrCat("x", d)),
                                    in_.input(kX), {rows, spec_.inputs});
    const TensorId product = in_.Reduction(
        in_.Name(0, absl::StrCat("xw", d)), spec_.acc,
        {{"m", rows}, {"n", columns}}, {{"k", spec_.inputs}},
        Combiner::Kind::kSum, "matmul", [&](Index index, Index reduced) {
          const Expr left = in_.At(x, {index[0], reduced[0]});
          const Expr right = in_.At(weights.input, {index[1], reduced[0]});
          return Binary(Op::kMul, CastTo(spec_.acc, left),
                        CastTo(spec_.acc, right));
        });
    if (weights.bias < 0) return product;
    return in_.Elementwise(
        in_.Name(0, absl::StrCat("inputs", d)), spec_.acc, {rows, columns},
        "bias", [&](Index index) {
          return Binary(Op::kAdd, in_.At(product, {index.begin(), index.end()}),
                        BiasAt(weights.bias, index[1]));
        });
  }

  // The biases of W and R at a column of all gates.
  Expr BiasAt(TensorId bias, const Expr& column) const {
    const int64_t columns = spec_.gates * spec_.hidden;
    const Expr first = CastTo(spec_.acc, in_.At(bias, {column}));
    const Expr second =
        CastTo(spec_.acc, in_.At(bias, {column + Expr::Int(columns)}));
    const Expr both = Binary(Op::kAdd, first, second);
    // The last gate is the one that may not have both.
    if (AddsBias(spec_, spec_.gates - 1)) return both;
    return SelectExpr(
        Binary(Op::kLt, column, Expr::Int(columns - spec_.hidden)), both,
        first);
  }

  // What step `t` reads of the products.
  TensorId EmitRowsOf(TensorId products, int64_t t, const std::string& name) {
    return in_.Elementwise(
        name + "inputs", spec_.acc, {spec_.batch, spec_.gates * spec_.hidden},
        "split", [&](Index index) {
          const Expr row =
              spec_.batch_first
                  ? index[0] * Expr::Int(spec_.steps) + Expr::Int(t)
                  : index[0] + Expr::Int(t * spec_.batch);
          return in_.At(products, {row, index[1]});
        });
  }

  TensorId EmitValidAt(int64_t t, const std::string& name) {
    if (valid_ < 0) return -1;
    return in_.Elementwise(name + "valid", DType::kBool, {spec_.batch}, "split",
                           [&](Index index) {
                             return in_.At(valid_, {Expr::Int(t), index[0]});
                           });
  }

  // A direction of an initial state, in the shape of a step's; -1: zeros.
  TensorId EmitInitial(int i, int64_t d) {
    if (!in_.op().has_input(i)) return -1;
    const TensorId initial = in_.input(i);
    Shape shape = {1, 1, 1, spec_.hidden};
    shape[BatchDim()] = spec_.batch;
    return in_.Elementwise(
        in_.Name(0, absl::StrCat(i == kInitialH ? "h" : "c", d)),
        in_.op().dtype(i), shape, "split", [&](Index index) {
          std::vector<Expr> at(2, Expr::Int(d));
          at[StateBatchDim()] = index[BatchDim()];
          at.push_back(index[3]);
          return in_.At(initial, std::move(at));
        });
  }

  // A step's part of output Y: zero behind the end of a sequence.
  TensorId EmitOutput(TensorId h, TensorId valid, const std::string& name) {
    if (valid < 0 || !in_.op().has_output(0)) return h;
    return in_.Elementwise(
        name + "y", in_.dtype_of(h), in_.shape_of(h), "mask", [&](Index index) {
          return SelectExpr(in_.At(valid, {index[BatchDim()]}),
                            in_.At(h, {index.begin(), index.end()}),
                            Literal(in_.dtype_of(h), 0));
        });
  }

  // `parts` behind each other along dimension `axis`.
  Expr Joined(const std::vector<TensorId>& parts, int axis, Index index) const {
    std::vector<int64_t> offsets;
    for (size_t i = 0; i < parts.size(); ++i)
      offsets.push_back(static_cast<int64_t>(i));
    return JoinParts(offsets, axis, index,
                     [&](size_t part, std::vector<Expr> at) {
                       return in_.At(parts[part], std::move(at));
                     });
  }

  void EmitSequence(const std::vector<Run>& runs) {
    if (runs.size() == 1) {
      in_.EmitElementwise(0, "concat", [&](Index index) {
        return Joined(runs[0].outputs, TimeDim(), index);
      });
      return;
    }
    Shape shape = spec_.SequenceShape();
    shape[DirectionDim()] = 1;
    std::vector<TensorId> directions;
    for (size_t d = 0; d < runs.size(); ++d) {
      directions.push_back(
          in_.Elementwise(in_.Name(0, absl::StrCat("y", d)), in_.op().dtype(kX),
                          shape, "concat", [&](Index index) {
                            return Joined(runs[d].outputs, TimeDim(), index);
                          }));
    }
    in_.EmitElementwise(0, "concat", [&](Index index) {
      return Joined(directions, DirectionDim(), index);
    });
  }

  void EmitState(int output, const std::vector<Run>& runs,
                 TensorId (*state)(const Run&)) {
    std::vector<TensorId> parts;
    for (const Run& run : runs) parts.push_back(state(run));
    in_.EmitElementwise(output, "concat", [&](Index index) {
      const int direction_dim = 1 - StateBatchDim();
      std::vector<Expr> at(4, Expr::Int(0));
      at[BatchDim()] = index[StateBatchDim()];
      at[DirectionDim()] = index[direction_dim];
      at[3] = index[2];
      return Joined(parts, DirectionDim(), at);
    });
  }

  ImportContext& in_;
  const RecurrentSpec& spec_;
  TensorId valid_ = -1;
};

template <CellKind kCell>
absl::Status ImportRecurrent(ImportContext& in) {
  TW_ASSIGN_OR_RETURN(const RecurrentSpec spec, ReadRecurrent(in.op(), kCell));
  return Network(in, spec).Import();
}

constexpr OpDef kOps[] = {
    {"RNN", 7, 3, 6, InferRecurrent<CellKind::kRnn>,
     ImportRecurrent<CellKind::kRnn>},
    {"GRU", 7, 3, 6, InferRecurrent<CellKind::kGru>,
     ImportRecurrent<CellKind::kGru>},
    {"LSTM", 7, 3, 8, InferRecurrent<CellKind::kLstm>,
     ImportRecurrent<CellKind::kLstm>},
};

}  // namespace

absl::Span<const OpDef> RecurrentOps() { return kOps; }

}  // namespace tilewright
