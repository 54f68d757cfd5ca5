// Einsum: the product of the operands, summed over the labels the result does
// not have, in one compute.
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "base/status_macros.h"
#include "frontends/onnx/graph/op_def.h"
#include "frontends/onnx/graph/tensor_proto.h"
#include "frontends/onnx/ops/common.h"
#include "frontends/onnx/ops/families.h"

namespace tilewright {
namespace {

// Labels are letters; '0', '1', ... stand for the dimensions of the ellipsis,
// counted from the last.
struct Equation {
  std::vector<std::string> operands;
  std::string result;
  std::string summed;
  std::map<char, int64_t> extent;
};

constexpr int kMostEllipsis = 10;

// Replaces "..." by `count` labels.
std::optional<std::string> Expand(const std::string& term, int count) {
  std::string labels;
  for (size_t i = 0; i < term.size(); ++i) {
    if (term[i] == '.') {
      if (term.compare(i, 3, "...") != 0) return std::nullopt;
      for (int k = count; k-- > 0;) labels += static_cast<char>('0' + k);
      i += 2;
    } else if (absl::ascii_isalpha(term[i])) {
      labels += term[i];
    } else {
      return std::nullopt;
    }
  }
  return labels;
}

absl::StatusOr<Equation> ReadEquation(const OpContext& op) {
  std::string text = op.String("equation", "");
  text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
  const auto wrong = [&](absl::string_view why) {
    return op.Error("equation ", Quoted(text), " ", why);
  };
  const size_t arrow = text.find("->");
  std::string left = text.substr(0, arrow);
  std::vector<std::string> terms(1);
  for (const char c : left) {
    if (c == ',') {
      terms.emplace_back();
    } else {
      terms.back() += c;
    }
  }
  if (static_cast<int>(terms.size()) != op.num_inputs()) {
    return wrong("does not have one term for each input");
  }
  Equation equation;
  int widest = 0;
  for (int i = 0; i < op.num_inputs(); ++i) {
    const std::string& term = terms[i];
    const size_t dots = term.find("...");
    const int named =
        static_cast<int>(term.size()) - (dots == std::string::npos ? 0 : 3);
    const int hidden = dots == std::string::npos ? 0 : op.rank(i) - named;
    const auto labels = Expand(term, hidden);
    if (hidden < 0 || hidden >= kMostEllipsis || !labels.has_value() ||
        static_cast<int>(labels->size()) != op.rank(i)) {
      return wrong(absl::StrCat("does not fit input ", i, " of shape ",
                                ShapeText(op.shape(i))));
    }
    widest = std::max(widest, hidden);
    for (int d = 0; d < op.rank(i); ++d) {
      int64_t& extent =
          equation.extent.try_emplace((*labels)[d], 1).first->second;
      const int64_t own = op.shape(i)[d];
      if (own != 1 && extent != 1 && own != extent) {
        return wrong(
            absl::StrCat("gives one label the extents ", extent, " and ", own));
      }
      if (own != 1) extent = own;
    }
    equation.operands.push_back(*labels);
  }
  if (arrow != std::string::npos) {
    const auto labels = Expand(text.substr(arrow + 2), widest);
    if (!labels.has_value()) return wrong("has a result that is no term");
    equation.result = *labels;
  } else {
    for (int k = widest; k-- > 0;) {
      equation.result += static_cast<char>('0' + k);
    }
    const std::string all = std::string().append(left);
    for (const auto& [label, extent] : equation.extent) {
      if (absl::ascii_isalpha(label) &&
          std::count(all.begin(), all.end(), label) == 1) {
        equation.result += label;
      }
    }
  }
  for (const char label : equation.result) {
    if (equation.extent.count(label) == 0 ||
        std::count(equation.result.begin(), equation.result.end(), label) > 1) {
      return wrong("has a result with unknown or repeated labels");
    }
  }
  for (const auto& [label, extent] : equation.extent) {
    if (equation.result.find(label) == std::string::npos) {
      equation.summed += label;
    }
  }
  return equation;
}

absl::Status InferEinsum(OpContext& op) {
  for (int i = 0; i < op.num_inputs(); ++i) {
    if (!op.has_input(i)) return op.Error("input ", i, " is missing");
  }
  TW_RETURN_IF_ERROR(RequireSameType(op));
  TW_RETURN_IF_ERROR(RequireType(op, 0, TypeClass::kNumeric));
  TW_ASSIGN_OR_RETURN(const Equation equation, ReadEquation(op));
  Shape shape;
  for (const char label : equation.result) {
    shape.push_back(equation.extent.at(label));
  }
  op.SetOutput(0, op.dtype(0), std::move(shape));
  return absl::OkStatus();
}

// Input `i` with the label of the result's last dimension as its own last, in
// `labels`, too: neighbouring results then read neighbours. It is a view where
// that serves them, else a copy (tilegraph/plan/plan_misfits.cc).
TensorId WithResultsLast(ImportContext& in, int i, char last,
                         std::string& labels) {
  const OpContext& op = in.op();
  const TensorId x = in.input(i);
  const size_t at = labels.find(last);
  // Constants are packed as they are read.
  if (at == std::string::npos || at + 1 == labels.size() ||
      op.shape(i)[at] == 1 || op.input(i).constant != nullptr)
    return x;
  const auto dim = static_cast<std::ptrdiff_t>(at);
  Shape shape = op.shape(i);
  shape.push_back(shape[at]);
  shape.erase(shape.begin() + dim);
  labels.erase(at, 1);
  labels.push_back(last);
  return in.Elementwise(in.Name(0, absl::StrCat("operand", i)), op.dtype(0),
                        shape, "transpose", [&](absl::Span<const Expr> index) {
                          std::vector<Expr> from(index.begin(),
                                                 index.end() - 1);
                          from.insert(from.begin() + dim, index.back());
                          return in.At(x, std::move(from));
                        });
}

absl::Status ImportEinsum(ImportContext& in) {
  const OpContext& op = in.op();
  TW_ASSIGN_OR_RETURN(Equation equation, ReadEquation(op));
  const DType acc = Combiner::DefaultAccumulator(op.dtype(0));
  std::vector<TensorId> operands;
  for (int i = 0; i < op.num_inputs(); ++i) {
    const bool of_product = op.num_inputs() == 2 && !equation.summed.empty() &&
                            !equation.result.empty();
    operands.push_back(of_product
                           ? WithResultsLast(in, i, equation.result.back(),
                                             equation.operands[i])
                           : in.input(i));
  }
  const auto product = [&](absl::Span<const Expr> index,
                           absl::Span<const Expr> reduced) {
    std::map<char, Expr> at;
    for (size_t k = 0; k < index.size(); ++k) {
      at[equation.result[k]] = index[k];
    }
    for (size_t k = 0; k < reduced.size(); ++k) {
      at[equation.summed[k]] = reduced[k];
    }
    Expr value;
    for (int i = 0; i < op.num_inputs(); ++i) {
      std::vector<Expr> where;
      const Shape shape = in.shape_of(operands[i]);
      for (int d = 0; d < op.rank(i); ++d) {
        const char label = equation.operands[i][d];
        const bool broadcast = shape[d] == 1 && equation.extent.at(label) != 1;
        where.push_back(broadcast ? Expr::Int(0) : at[label]);
      }
      const Expr factor = CastTo(acc, in.At(operands[i], std::move(where)));
      value = value ? Binary(Op::kMul, value, factor) : factor;
    }
    return value;
  };
  if (equation.summed.empty()) {
    in.EmitElementwise(0, "einsum", [&](absl::Span<const Expr> index) {
      return product(index, {});
    });
    return absl::OkStatus();
  }
  const auto name_of = [](char label) {
    return absl::ascii_isalpha(label)
               ? std::string(1, label)
               : absl::StrCat("e", std::string(1, label));
  };
  std::vector<NamedAxis> axes, reduced;
  for (const char label : equation.result) {
    axes.push_back({name_of(label), equation.extent.at(label)});
  }
  for (const char label : equation.summed) {
    reduced.push_back({name_of(label), equation.extent.at(label)});
  }
  in.SetOutput(
      0,
      in.Reduction(in.Name(), op.dtype(0), axes, reduced, Combiner::Kind::kSum,
                   op.num_inputs() == 2 ? "matmul" : "reduce", product));
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {"Einsum", 12, 1, 8, InferEinsum, ImportEinsum},
};

}  // namespace

absl::Span<const OpDef> EinsumOps() { return kOps; }

}  // namespace tilewright
