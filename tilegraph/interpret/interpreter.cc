#include "tilegraph/interpret/interpreter.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "tilegraph/expr/interval.h"
#include "tilegraph/expr/new_tensor.h"
#include "tilegraph/interpret/interpreter_program.h"
#include "tilegraph/interpret/zeroed_array.h"

namespace tilewright {
namespace {

std::string Shape(absl::Span<const int64_t> shape) {
  return absl::StrCat("[", absl::StrJoin(shape, ", "), "]");
}

}  // namespace

class Interpreter::Impl {
 public:
  Impl(const TensorGraph& graph, std::map<TensorId, HostTensor> inputs,
       Options options)
      : graph_(graph),
        inputs_(std::move(inputs)),
        options_(options),
        states_(graph.size()) {
    for (const Tensor& tensor : graph.tensors()) {
      if (tensor.kind == TensorKind::kPlaceholder)
        states_[tensor.id].given = &inputs_.at(tensor.id);
      if (tensor.kind == TensorKind::kConstant)
        states_[tensor.id].given = tensor.value.get();
    }
  }

  const TensorGraph& graph() const { return graph_; }
  int64_t steps() const { return steps_; }

  absl::StatusOr<Scalar> At(TensorId id, int64_t flat) {
    if (states_[id].given != nullptr) return states_[id].given->Get(flat);
    Prepare(id);
    if (!states_[id].known[flat]) {
      if (absl::Status status = Solve(id, flat); !status.ok()) return status;
    }
    return ToScalar(graph_.tensor(id).dtype, states_[id].values[flat]);
  }

 private:
  enum class Outcome { kDone, kMissing, kOutside };

  // Everything known of one tensor. Tensors load only earlier ones, so at most
  // one element of each is being computed at any time: its state (axes,
  // accumulators) lives in `registers`.
  struct State {
    const HostTensor* given = nullptr;  // placeholders and constants
    bool prepared = false;
    InterpreterProgram program;
    std::vector<Register> registers;
    int64_t flat = 0;  // the element being computed
    ZeroedArray<Register> values;
    ZeroedArray<bool> known;
  };

  static Scalar ToScalar(DType dtype, Register value) {
    return IsFloat(dtype) ? Scalar{value.f, 0} : Scalar{0, value.i};
  }
  static Register ToRegister(DType dtype, Scalar value) {
    Register result;
    if (IsFloat(dtype)) {
      result.f = value.f;
    } else {
      result.i = value.i;
    }
    return result;
  }

  void Prepare(TensorId id) {
    State& state = states_[id];
    if (state.prepared || state.given != nullptr) return;
    state.prepared = true;
    state.program = CompileProgram(graph_, id);
    state.registers = state.program.initial;
    const int64_t size = graph_.tensor(id).num_elements();
    state.values.Allocate(size);
    state.known.Allocate(size);
  }

  // Computes one element and all it needs, keeping its own stack: what is
  // missing is computed first, then the body that missed it runs again from
  // where its reduction stood.
  absl::Status Solve(TensorId id, int64_t flat) {
    std::vector<TensorId> stack;
    Start(id, flat);
    stack.push_back(id);
    while (!stack.empty()) {
      const TensorId top = stack.back();
      switch (Continue(top)) {
        case Outcome::kDone:
          stack.pop_back();
          break;
        case Outcome::kMissing:
          Start(missing_tensor_, missing_flat_);
          stack.push_back(missing_tensor_);
          break;
        case Outcome::kOutside:
          return OutsideError(top);
      }
    }
    return absl::OkStatus();
  }

  void Start(TensorId id, int64_t flat) {
    Prepare(id);
    State& state = states_[id];
    const InterpreterProgram& program = state.program;
    state.flat = flat;
    for (int axis = program.num_spatial - 1; axis >= 0; --axis) {
      state.registers[axis].i = flat % program.extents[axis];
      flat /= program.extents[axis];
    }
    for (int i = program.num_spatial;
         i < program.num_axes + program.num_accumulators; ++i) {
      state.registers[i] =
          program
              .initial[i];  // Reduce axes at 0, accumulators at the identity.
    }
  }

  Outcome Continue(TensorId id) {
    State& state = states_[id];
    const InterpreterProgram& program = state.program;
    Register* registers = state.registers.data();
    do {
      ++steps_;
      const Outcome outcome = RunBody(program, registers);
      if (outcome != Outcome::kDone) return outcome;
      // Through `next_`: a result may be another accumulator's old value.
      next_.clear();
      for (const int result : program.results)
        next_.push_back(registers[result]);
      for (int i = 0; i < program.num_accumulators; ++i)
        registers[program.num_axes + i] = next_[i];
    } while (Advance(program, registers));
    const DType dtype = graph_.tensor(id).dtype;
    const Scalar result = ToScalar(program.result_dtype, next_[program.result]);
    state.values[state.flat] =
        ToRegister(dtype, EvaluateOp(Op::kCast, dtype, program.result_dtype,
                                     {&result, 1}, options_.round_floats));
    state.known[state.flat] = true;
    return Outcome::kDone;
  }

  // To the next point of the reduction, the last axis fastest; false after the
  // last one.
  static bool Advance(const InterpreterProgram& program, Register* registers) {
    for (int axis = program.num_axes - 1; axis >= program.num_spatial; --axis) {
      if (++registers[axis].i < program.extents[axis]) return true;
      registers[axis].i = 0;
    }
    return false;
  }

  Outcome RunBody(const InterpreterProgram& program, Register* r) {
    const Instruction* code = program.code.data();
    const int size = static_cast<int>(program.code.size());
    for (int at = 0; at < size; ++at) {
      const Instruction& x = code[at];
      switch (x.code) {
        case Code::kMove:
          r[x.result] = r[x.a];
          break;
        case Code::kJump:
          at = x.c - 1;
          break;
        case Code::kJumpIfFalse:
          at = r[x.a].i != 0 ? at : x.c - 1;
          break;
        case Code::kLoad: {
          const Outcome outcome = Load(program.loads[x.b], r, r + x.result);
          if (outcome != Outcome::kDone) return outcome;
          break;
        }
        case Code::kOther: {
          const Scalar operands[2] = {ToScalar(x.operand_dtype, r[x.a]),
                                      ToScalar(x.operand_dtype, r[x.b])};
          r[x.result] =
              ToRegister(x.dtype, EvaluateOp(x.op, x.dtype, x.operand_dtype,
                                             operands, /*single=*/false));
          break;
        }
        case Code::kAddF:
          r[x.result].f = r[x.a].f + r[x.b].f;
          break;
        case Code::kSubF:
          r[x.result].f = r[x.a].f - r[x.b].f;
          break;
        case Code::kMulF:
          r[x.result].f = r[x.a].f * r[x.b].f;
          break;
        case Code::kDivF:
          r[x.result].f = r[x.a].f / r[x.b].f;
          break;
        case Code::kNegF:
          r[x.result].f = -r[x.a].f;
          break;
        case Code::kAddI:
          r[x.result].i = WrapAdd(r[x.a].i, r[x.b].i);
          break;
        case Code::kSubI:
          r[x.result].i = WrapSub(r[x.a].i, r[x.b].i);
          break;
        case Code::kMulI:
          r[x.result].i = WrapMul(r[x.a].i, r[x.b].i);
          break;
        case Code::kEqI:
          r[x.result].i = r[x.a].i == r[x.b].i;
          break;
        case Code::kNeI:
          r[x.result].i = r[x.a].i != r[x.b].i;
          break;
        case Code::kLtI:
          r[x.result].i = r[x.a].i < r[x.b].i;
          break;
        case Code::kLeI:
          r[x.result].i = r[x.a].i <= r[x.b].i;
          break;
        case Code::kGtI:
          r[x.result].i = r[x.a].i > r[x.b].i;
          break;
        case Code::kGeI:
          r[x.result].i = r[x.a].i >= r[x.b].i;
          break;
        case Code::kAnd:
          r[x.result].i = r[x.a].i & r[x.b].i;
          break;
        case Code::kOr:
          r[x.result].i = r[x.a].i | r[x.b].i;
          break;
      }
    }
    return Outcome::kDone;
  }

  Outcome Load(const LoadSite& site, const Register* registers,
               Register* result) {
    int64_t flat = 0;
    const size_t rank = site.indices.size();
    for (size_t d = 0; d < rank; ++d) {
      const int64_t index = registers[site.indices[d]].i;
      if (index < 0 || index >= site.extents[d]) {
        outside_tensor_ = site.tensor;
        outside_index_.clear();
        for (const int i : site.indices)
          outside_index_.push_back(registers[i].i);
        return Outcome::kOutside;
      }
      flat += index * site.strides[d];
    }
    State& source = states_[site.tensor];
    if (source.given != nullptr) {
      const HostTensor& given = *source.given;
      if (given.dtype() == DType::kFloat32) {
        result->f = reinterpret_cast<const float*>(given.data())[flat];
      } else {
        *result = ToRegister(given.dtype(), given.Get(flat));
      }
      return Outcome::kDone;
    }
    if (!source.prepared || !source.known[flat]) {
      missing_tensor_ = site.tensor;
      missing_flat_ = flat;
      return Outcome::kMissing;
    }
    *result = source.values[flat];
    return Outcome::kDone;
  }

  absl::Status OutsideError(TensorId id) const {
    const Tensor& source = graph_.tensor(outside_tensor_);
    return absl::OutOfRangeError(
        absl::StrCat("tensor '", graph_.tensor(id).name, "' loads '",
                     source.name, "' at ", Shape(outside_index_),
                     ", outside its shape ", Shape(source.static_shape())));
  }

  const TensorGraph& graph_;
  const std::map<TensorId, HostTensor> inputs_;
  const Options options_;
  std::vector<State> states_;
  std::vector<Register> next_;
  int64_t steps_ = 0;
  // Why the last RunBody stopped early.
  TensorId missing_tensor_ = 0;
  int64_t missing_flat_ = 0;
  TensorId outside_tensor_ = 0;
  std::vector<int64_t> outside_index_;
};

Interpreter::Interpreter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Interpreter::~Interpreter() = default;

int64_t Interpreter::steps() const { return impl_->steps(); }

absl::StatusOr<std::unique_ptr<Interpreter>> Interpreter::Create(
    const TensorGraph& graph, std::map<TensorId, HostTensor> inputs,
    Options options) {
  for (const Tensor& tensor : graph.tensors()) {
    if (tensor.kind != TensorKind::kPlaceholder) continue;
    const auto given = inputs.find(tensor.id);
    if (given == inputs.end())
      return absl::InvalidArgumentError(
          absl::StrCat("input '", tensor.name, "' is not given"));
    const HostTensor& value = given->second;
    if (value.dtype() != tensor.dtype ||
        value.shape() != tensor.static_shape()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "input '", tensor.name, "' is ", std::string(Name(tensor.dtype)),
          Shape(tensor.static_shape()), " but ",
          std::string(Name(value.dtype())), Shape(value.shape()), " is given"));
    }
  }
  for (const auto& [id, value] : inputs) {
    if (id < 0 || id >= graph.size() ||
        graph.tensor(id).kind != TensorKind::kPlaceholder) {
      return absl::InvalidArgumentError(absl::StrCat(
          "a value is given for tensor ", id, ", which is no placeholder"));
    }
  }
  return std::unique_ptr<Interpreter>(new Interpreter(
      std::make_unique<Impl>(graph, std::move(inputs), options)));
}

absl::StatusOr<Scalar> Interpreter::At(TensorId tensor,
                                       absl::Span<const int64_t> index) {
  const TensorGraph& graph = impl_->graph();
  if (tensor < 0 || tensor >= graph.size())
    return absl::InvalidArgumentError(absl::StrCat("no tensor ", tensor));
  const std::vector<int64_t> shape = graph.tensor(tensor).static_shape();
  bool inside = index.size() == shape.size();
  int64_t flat = 0;
  for (size_t d = 0; inside && d < shape.size(); ++d) {
    inside = index[d] >= 0 && index[d] < shape[d];
    flat = flat * shape[d] + index[d];
  }
  if (!inside) {
    return absl::OutOfRangeError(absl::StrCat("element ", Shape(index), " of '",
                                              graph.tensor(tensor).name,
                                              "' with shape ", Shape(shape)));
  }
  return impl_->At(tensor, flat);
}

absl::StatusOr<HostTensor> Interpreter::Evaluate(TensorId tensor) {
  const TensorGraph& graph = impl_->graph();
  if (tensor < 0 || tensor >= graph.size())
    return absl::InvalidArgumentError(absl::StrCat("no tensor ", tensor));
  TW_ASSIGN_OR_RETURN(
      HostTensor result,
      NewTensor(graph.tensor(tensor).dtype, graph.tensor(tensor).static_shape(),
                absl::StrCat("tensor '", graph.tensor(tensor).name, "'")));
  for (int64_t i = 0; i < result.num_elements(); ++i) {
    absl::StatusOr<Scalar> value = impl_->At(tensor, i);
    if (!value.ok()) return value.status();
    result.Set(i, *value);
  }
  return result;
}

}  // namespace tilewright
