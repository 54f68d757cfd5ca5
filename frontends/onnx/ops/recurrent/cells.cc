#include "frontends/onnx/ops/recurrent/cells.h"

#include <utility>
#include <vector>

#include "frontends/onnx/ops/activation/activation_functions.h"

namespace tilewright {
namespace {

using Index = absl::Span<const Expr>;

// The gates by their rows in W, R and B.
enum GruGate { kUpdate, kReset, kHidden };
enum LstmGate { kIn, kOut, kForget, kCell };
// Peepholes in P: of the first three gates of LSTM.

// a + b, where an empty one is 0.
Expr AddAll(const Expr& a, const Expr& b) {
  if (!a) return b;
  return b ? Add(a, b) : a;
}
Expr OneMinus(const Expr& x) { return Sub(Literal(x.dtype(), 1), x); }

// Writes the computes of one step.
class Step {
 public:
  Step(const Direction& direction, const StepInputs& inputs,
       const State& before, const std::string& name)
      : in_(direction.in),
        spec_(direction.spec),
        weights_(direction.weights),
        activations_(direction.activations),
        inputs_(inputs),
        before_(before),
        name_(name) {}

  State Rnn() {
    product_ = EmitProduct("product", before_.h, weights_.recurrent);
    return {EmitHidden(
        [&](Index index) { return activations_[0](Clipped(Gate(0, index))); })};
  }

  State Gru() {
    product_ = EmitProduct("product", before_.h, weights_.recurrent);
    if (weights_.hidden >= 0) EmitResetProduct();
    return {EmitHidden([&](Index index) {
      const Expr z = activations_[0](Clipped(Gate(kUpdate, index)));
      const Expr hidden = activations_[1](
          Clipped(AddAll(Input(kHidden, index), RecurrentOfHidden(index))));
      const Expr old = Before(before_.h, index);
      return AddAll(Mul(OneMinus(z), hidden), old ? Mul(z, old) : Expr());
    })};
  }

  State Lstm() {
    product_ = EmitProduct("product", before_.h, weights_.recurrent);
    const TensorId c = in_.Elementwise(
        name_ + "c", spec_.acc, PartShape(), "lstm_cell", [&](Index index) {
          const Expr old = Before(before_.c, index);
          const Expr i = activations_[0](
              Clipped(AddAll(Gate(kIn, index), Peephole(kIn, old, index))));
          const Expr cell = activations_[1](Clipped(Gate(kCell, index)));
          Expr kept;
          if (old) {
            const Expr f = spec_.input_forget
                               ? OneMinus(i)
                               : activations_[0](Clipped(
                                     AddAll(Gate(kForget, index),
                                            Peephole(kForget, old, index))));
            kept = Mul(f, old);
          }
          return IfValid(AddAll(kept, Mul(i, cell)), old, index);
        });
    const TensorId h = EmitHidden([&](Index index) {
      const Expr now = in_.At(c, {index.begin(), index.end()});
      const Expr o = activations_[0](
          Clipped(AddAll(Gate(kOut, index), Peephole(kOut, now, index))));
      return Mul(o, activations_[2](now));
    });
    return {h, c};
  }

 private:
  // A state's shape, the batch at BatchDim().
  int BatchDim() const { return spec_.batch_first ? 0 : 2; }
  Shape PartShape() const {
    Shape shape = {1, 1, 1, spec_.hidden};
    shape[BatchDim()] = spec_.batch;
    return shape;
  }
  std::vector<Expr> PartIndex(const Expr& batch, const Expr& hidden) const {
    std::vector<Expr> index(3, Expr::Int(0));
    index[BatchDim()] = batch;
    index.push_back(hidden);
    return index;
  }

  // [batch, rows of w]; -1 of a state of zeros.
  TensorId EmitProduct(const char* word, TensorId h, TensorId w) {
    if (h < 0) return -1;
    return in_.Reduction(
        name_ + word, spec_.acc,
        {{"m", spec_.batch}, {"n", in_.shape_of(w)[0]}}, {{"k", spec_.hidden}},
        Combiner::Kind::kSum, "matmul", [&](Index index, Index reduced) {
          const Expr left = in_.At(h, PartIndex(index[0], reduced[0]));
          const Expr right = in_.At(w, {index[1], reduced[0]});
          return Mul(CastTo(spec_.acc, left), CastTo(spec_.acc, right));
        });
  }

  // Of a GRU: the state, reset, times the rows of the hidden gate.
  void EmitResetProduct() {
    if (before_.h < 0) return;
    const TensorId reset = in_.Elementwise(
        name_ + "reset", spec_.acc, PartShape(), "gru_reset", [&](Index index) {
          return Mul(activations_[0](Clipped(Gate(kReset, index))),
                     Before(before_.h, index));
        });
    hidden_product_ = EmitProduct("reset_product", reset, weights_.hidden);
  }

  TensorId EmitHidden(const Body& body) {
    return in_.Elementwise(name_ + "h", in_.op().dtype(kX), PartShape(),
                           "recurrent_cell", [&](Index index) {
                             return IfValid(body(index),
                                            Before(before_.h, index), index);
                           });
  }

  // `now` while the sequence goes on, then `old`, zero if empty.
  Expr IfValid(const Expr& now, const Expr& old, Index index) const {
    if (inputs_.valid < 0) return now;
    return SelectExpr(in_.At(inputs_.valid, {index[BatchDim()]}), now,
                      old ? old : Literal(spec_.acc, 0));
  }

  // An element of a state; empty: zero.
  Expr Before(TensorId state, Index index) const {
    if (state < 0) return Expr();
    return CastTo(spec_.acc, in_.At(state, {index.begin(), index.end()}));
  }

  Expr AtGate(TensorId rows, int64_t gate, Index index) const {
    return in_.At(
        rows, {index[BatchDim()], index[3] + Expr::Int(gate * spec_.hidden)});
  }

  Expr Input(int64_t gate, Index index) const {
    return AtGate(inputs_.products, gate, index);
  }

  // What goes into a gate, of X and of the state before.
  Expr Gate(int64_t gate, Index index) const {
    return AddAll(Input(gate, index),
                  product_ < 0 ? Expr() : AtGate(product_, gate, index));
  }

  // Of a GRU's hidden gate; empty: zero.
  Expr RecurrentOfHidden(Index index) const {
    if (weights_.hidden >= 0) {
      return hidden_product_ < 0 ? Expr() : AtGate(hidden_product_, 0, index);
    }
    Expr sum = product_ < 0 ? Expr() : AtGate(product_, kHidden, index);
    if (weights_.bias >= 0) {
      const Expr at = index[3] + Expr::Int((3 + kHidden) * spec_.hidden);
      sum = AddAll(sum, CastTo(spec_.acc, in_.At(weights_.bias, {at})));
    }
    if (!sum) return sum;
    return Mul(activations_[0](Clipped(Gate(kReset, index))), sum);
  }

  Expr Peephole(int64_t gate, const Expr& cell, Index index) const {
    if (weights_.peepholes < 0 || !cell) return Expr();
    const Expr at = index[3] + Expr::Int(gate * spec_.hidden);
    return Mul(CastTo(spec_.acc, in_.At(weights_.peepholes, {at})), cell);
  }

  Expr Clipped(const Expr& x) const {
    if (spec_.clip == 0) return x;
    return Clamp(x, -spec_.clip, spec_.clip);
  }

  ImportContext& in_;
  const RecurrentSpec& spec_;
  const Weights& weights_;
  absl::Span<const Activation> activations_;
  const StepInputs& inputs_;
  const State& before_;
  const std::string& name_;
  TensorId product_ = -1;
  TensorId hidden_product_ = -1;  // of the state, reset
};

}  // namespace

bool AddsBias(const RecurrentSpec& spec, int64_t gate) {
  return !(spec.cell == CellKind::kGru && spec.linear_before_reset &&
           gate == kHidden);
}

State EmitStep(const Direction& direction, const StepInputs& inputs,
               const State& before, const std::string& name) {
  Step step(direction, inputs, before, name);
  switch (direction.spec.cell) {
    case CellKind::kRnn:
      return step.Rnn();
    case CellKind::kGru:
      return step.Gru();
    case CellKind::kLstm:
      return step.Lstm();
  }
  return {};
}

}  // namespace tilewright
