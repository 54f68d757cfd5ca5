#include "tilegraph/rewrite/byte_tables.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "tilegraph/analysis/access.h"
#include "tilegraph/expr/dtype.h"
#include "tilegraph/expr/expr.h"
#include "tilegraph/expr/host_tensor.h"
#include "tilegraph/expr/op.h"
#include "tilegraph/interpret/interpreter.h"

namespace tilewright {
namespace {

constexpr int kBytes = 256;
constexpr int kQuotient = 6, kFunction = 12;  // in operations

// Something at each byte that there is; most tensors have none.
using Values = std::vector<Scalar>;

// A tensor whose elements are functions of those of `root`, at the same
// indices.
struct OfByte {
  TensorId root;
  Values values;
  int operations = 0;  // from the root
};

bool IsElementwise(const Tensor& tensor) {
  return tensor.kind == TensorKind::kCompute && !tensor.compute.combiner;
}

int OperationsOf(const Expr& e) {
  if (IsTranscendental(e.op())) return kFunction;
  return e.op() == Op::kDiv && IsFloat(e.dtype()) ? kQuotient : 1;
}

// Evaluates a body at each byte of the one root that its loads have.
class Body {
 public:
  Body(const TensorGraph& graph,
       const std::vector<std::optional<OfByte>>& of_bytes)
      : graph_(graph), of_bytes_(of_bytes) {}

  // nullopt if it is no function of one byte.
  std::optional<OfByte> Of(const Tensor& tensor) {
    reader_ = tensor.id;
    std::optional<Values> values = ValuesOf(tensor.compute.body[0]);
    if (!values || root_ < 0) return std::nullopt;
    for (Scalar& value : *values) value = RoundTo(tensor.dtype, value);
    return OfByte{root_, *std::move(values), operations_};
  }

 private:
  std::optional<Values> ValuesOf(const Expr& e) {
    if (e.op() == Op::kVar) return std::nullopt;
    if (e.op() == Op::kLoad) return Loaded(e);
    if (e.op() == Op::kConst) {
      return Values(kBytes, IsFloat(e.dtype()) ? Scalar{e.float_value(), 0}
                                               : Scalar{0, e.int_value()});
    }
    std::vector<Values> operands;
    for (const Expr& operand : e.operands()) {
      std::optional<Values> values = ValuesOf(operand);
      if (!values) return std::nullopt;
      operands.push_back(*std::move(values));
    }
    operations_ += OperationsOf(e);
    const DType from = e.operands().back().dtype();
    Values result(kBytes);
    std::vector<Scalar> at(operands.size());
    for (int byte = 0; byte < kBytes; ++byte) {
      for (size_t i = 0; i < at.size(); ++i) at[i] = operands[i][byte];
      result[byte] = EvaluateOp(e.op(), e.dtype(), from, at, /*single=*/true);
    }
    return result;
  }

  std::optional<Values> Loaded(const Expr& load) {
    const std::optional<OfByte>& source = of_bytes_[load.source()];
    if (!source) return NumberAt(load);
    if ((root_ >= 0 && root_ != source->root) ||
        !ReadsElementwise(graph_, reader_, load.source()))
      return std::nullopt;
    root_ = source->root;
    operations_ += source->operations;
    return source->values;
  }

  // A constant of one element.
  std::optional<Values> NumberAt(const Expr& load) const {
    const HostTensor* value = graph_.tensor(load.source()).value.get();
    if (value == nullptr || value->num_elements() != 1) return std::nullopt;
    return Values(kBytes, value->Get(0));
  }

  const TensorGraph& graph_;
  const std::vector<std::optional<OfByte>>& of_bytes_;
  TensorId reader_ = -1;
  TensorId root_ = -1;
  int operations_ = 0;
};

class Tabulator {
 public:
  Tabulator(const TensorGraph& old, int least_operations)
      : old_(old), least_operations_(least_operations) {}

  RewrittenGraph Run() {
    // Followed as far as one can, to learn what only such functions read; then
    // from each byte that others read too.
    Follow(std::vector<bool>(old_.size(), true));
    Follow(ReadByFunctionsOnly());
    for (const Tensor& tensor : old_.tensors()) {
      ids_.push_back(IsWorthATable(tensor) ? Tabulated(tensor)
                                           : CopyTensor(tensor, ids_, new_));
    }
    return FinishRewrite(old_, std::move(new_), std::move(ids_));
  }

 private:
  void Follow(std::vector<bool> through) {
    through_ = std::move(through);
    functions_.clear();
    of_bytes_.clear();
    for (const Tensor& tensor : old_.tensors()) {
      std::optional<OfByte> found;
      if (IsElementwise(tensor)) found = Body(old_, of_bytes_).Of(tensor);
      functions_.push_back(found);
      // Constants are numbers, or different at each index.
      if (Is8Bit(tensor.dtype) && tensor.kind != TensorKind::kConstant &&
          (!found || !through_[tensor.id]))
        found = Root(tensor);
      of_bytes_.push_back(std::move(found));
    }
  }

  static OfByte Root(const Tensor& tensor) {
    OfByte root{tensor.id, Values(kBytes), 0};
    for (int byte = 0; byte < kBytes; ++byte)
      root.values[byte] = RoundTo(tensor.dtype, Scalar{0, byte});
    return root;
  }

  std::vector<bool> ReadByFunctionsOnly() const {
    std::vector<bool> only;
    for (const auto& readers : old_.Consumers()) {
      only.push_back(std::all_of(
          readers.begin(), readers.end(),
          [&](TensorId reader) { return functions_[reader].has_value(); }));
    }
    for (const TensorId output : old_.outputs()) only[output] = false;
    return only;
  }

  // Others that read what comes before the table would compute that again.
  bool IsWorthATable(const Tensor& tensor) const {
    const std::optional<OfByte>& function = functions_[tensor.id];
    if (!Is8Bit(tensor.dtype) || !function ||
        function->operations < least_operations_)
      return false;
    const auto& inputs = old_.Inputs(tensor.id);
    return std::all_of(inputs.begin(), inputs.end(), [&](TensorId input) {
      return input == function->root || through_[input] ||
             old_.tensor(input).kind == TensorKind::kConstant;
    });
  }

  TensorId Tabulated(const Tensor& tensor) {
    const OfByte& function = *functions_[tensor.id];
    const Tensor& root = old_.tensor(function.root);
    auto table = std::make_shared<HostTensor>(tensor.dtype,
                                              std::vector{int64_t{kBytes}});
    for (int byte = 0; byte < kBytes; ++byte)
      table->Set(byte, function.values[byte]);
    std::vector<Expr> index;
    for (size_t d = 0; d < tensor.compute.axes.size(); ++d)
      index.push_back(
          Expr::Var(static_cast<int>(d), tensor.compute.axes[d].name));
    Expr byte = Expr::Load(ids_[root.id], root.dtype, std::move(index));
    if (root.dtype != DType::kUInt8) byte = Expr::Cast(DType::kUInt8, byte);
    Compute compute;
    compute.axes = tensor.compute.axes;
    compute.body = {new_.Load(new_.AddConstant(tensor.name + ".table", table),
                              {Expr::Cast(DType::kInt64, byte)})};
    return new_.AddCompute(tensor.name, tensor.dtype, std::move(compute),
                           "table");
  }

  const TensorGraph& old_;
  const int least_operations_;
  // By tensor: whether a function may go through it; what it is of the byte
  // before it; and what it is to those who read it, itself if it is a root.
  std::vector<bool> through_;
  std::vector<std::optional<OfByte>> functions_, of_bytes_;
  TensorGraph new_;
  std::vector<TensorId> ids_;
};

}  // namespace

RewrittenGraph TabulateFunctionsOfBytes(const TensorGraph& graph,
                                        int least_operations) {
  return Tabulator(graph, least_operations).Run();
}

}  // namespace tilewright
