// Recursive descent over the grammar of docs/text_form.md. Whatever the text,
// the outcome is a graph or a Status: dtypes, names and counts are checked
// before anything is built from them, and the depth of expressions is limited.
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "tilegraph/ir/verifier.h"
#include "tilegraph/text/text_expr_parser.h"
#include "tilegraph/text/text_form.h"
#include "tilegraph/text/text_reader.h"

namespace tilewright {
namespace {

class Parser {
 public:
  Parser(
      std::string_view text,
      const std::map<std::string, std::shared_ptr<const HostTensor>>& constants)
      : reader_(text), constants_(constants) {}

  absl::StatusOr<TensorGraph> Run() {
    while (reader_.token().kind != Token::Kind::kEnd) {
      if (reader_.token().IsWord("return")) {
        TW_RETURN_IF_ERROR(ParseReturn());
        if (reader_.token().kind != Token::Kind::kEnd)
          return reader_.Expected("the end after 'return'");
        break;
      }
      TW_RETURN_IF_ERROR(ParseTensor());
    }
    TW_RETURN_IF_ERROR(VerifyGraph(graph_));
    return std::move(graph_);
  }

 private:
  absl::Status ParseReturn() {
    reader_.Next();
    std::vector<TensorId> outputs;
    do {
      const Lexer at_name = reader_.place();
      TW_ASSIGN_OR_RETURN(const std::string name,
                          reader_.TakeName("the name of an output"));
      const std::optional<TensorId> id = graph_.Find(name);
      if (!id.has_value())
        return at_name.Error(absl::StrCat("no tensor '", name, "'"));
      outputs.push_back(*id);
    } while (reader_.TakeIf(","));
    graph_.SetOutputs(std::move(outputs));
    return absl::OkStatus();
  }

  absl::StatusOr<Dim> ParseDim() {
    if (!reader_.token().IsName()) {
      TW_ASSIGN_OR_RETURN(const int64_t extent,
                          reader_.TakeInteger("an extent"));
      return Dim(extent);
    }
    TW_ASSIGN_OR_RETURN(std::string name, reader_.TakeName("an extent"));
    TW_RETURN_IF_ERROR(reader_.Take("("));
    TW_ASSIGN_OR_RETURN(const int64_t min,
                        reader_.TakeInteger("the least extent"));
    TW_RETURN_IF_ERROR(reader_.Take(".."));
    TW_ASSIGN_OR_RETURN(const int64_t max,
                        reader_.TakeInteger("the greatest extent"));
    TW_RETURN_IF_ERROR(reader_.Take(")"));
    return Dim::Symbol(std::move(name), min, max);
  }

  absl::Status ParseTensor() {
    const Lexer start = reader_.place();
    TW_ASSIGN_OR_RETURN(const std::string name,
                        reader_.TakeName("the name of a tensor"));
    if (graph_.Find(name).has_value())
      return start.Error(absl::StrCat("a second tensor '", name, "'"));
    TW_RETURN_IF_ERROR(reader_.Take(":"));
    TW_ASSIGN_OR_RETURN(const DType dtype, reader_.TakeDType());
    TW_RETURN_IF_ERROR(reader_.Take("["));
    std::vector<Dim> shape;
    TW_RETURN_IF_ERROR(reader_.TakeList("]", [&]() -> absl::Status {
      TW_ASSIGN_OR_RETURN(Dim dim, ParseDim());
      if (static_cast<int64_t>(shape.size()) >= kMaxTextRank)
        return reader_.Error("more than 64 dimensions");
      shape.push_back(std::move(dim));
      return absl::OkStatus();
    }));
    TW_RETURN_IF_ERROR(reader_.Take("="));
    if (reader_.TakeWordIf("placeholder")) {
      graph_.AddPlaceholder(name, dtype, std::move(shape));
      return absl::OkStatus();
    }
    if (reader_.TakeWordIf("constant"))
      return ParseConstant(name, dtype, shape);
    if (reader_.TakeWordIf("compute")) return ParseCompute(name, dtype, shape);
    return reader_.Expected("'placeholder', 'constant' or 'compute'");
  }

  absl::Status ParseConstant(const std::string& name, DType dtype,
                             const std::vector<Dim>& shape) {
    std::vector<int64_t> extents;
    int64_t elements = 1;
    for (const Dim& dim : shape) {
      if (!dim.is_static())
        return reader_.Error("a constant has no symbolic extent");
      if (__builtin_mul_overflow(elements, dim.value(), &elements))
        return reader_.Error("a constant this large");
      extents.push_back(dim.value());
    }
    if (reader_.TakeWordIf("fingerprint")) {
      const Lexer at_fingerprint = reader_.place();
      TW_ASSIGN_OR_RETURN(const std::string fingerprint,
                          reader_.TakeName("a fingerprint in quotes"));
      const auto found = constants_.find(fingerprint);
      if (found == constants_.end() || found->second == nullptr) {
        return at_fingerprint.Error(
            absl::StrCat("no values are given for constant '", name, "' (",
                         fingerprint, ")"));
      }
      if (found->second->dtype() != dtype ||
          found->second->shape() != extents) {
        return at_fingerprint.Error(
            absl::StrCat("the values given for constant '", name,
                         "' have another dtype or shape"));
      }
      graph_.AddConstant(name, found->second);
      return absl::OkStatus();
    }
    TW_RETURN_IF_ERROR(reader_.Take("{"));
    std::vector<Scalar>
        values;  // Grows with the text, not with the shape it claims.
    TW_RETURN_IF_ERROR(reader_.TakeList("}", [&]() -> absl::Status {
      if (static_cast<int64_t>(values.size()) >= elements)
        return reader_.Error("more values than the shape has elements");
      TW_ASSIGN_OR_RETURN(ParsedExpr value, ParseLiteral(reader_, dtype));
      Adapt(value, dtype);
      if (value.expr.dtype() != dtype)
        return reader_.Error("a value that is not of the tensor's dtype");
      values.push_back(IsFloat(dtype) ? Scalar{value.expr.float_value(), 0}
                                      : Scalar{0, value.expr.int_value()});
      return absl::OkStatus();
    }));
    if (static_cast<int64_t>(values.size()) != elements) {
      return reader_.Error(
          absl::StrCat(values.size(), " values for ", elements, " elements"));
    }
    auto tensor = std::make_shared<HostTensor>(dtype, std::move(extents));
    for (size_t i = 0; i < values.size(); ++i)
      tensor->Set(static_cast<int64_t>(i), values[i]);
    graph_.AddConstant(name, std::move(tensor));
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<Axis>> ParseAxes() {
    std::vector<Axis> axes;
    TW_RETURN_IF_ERROR(reader_.Take("("));
    TW_RETURN_IF_ERROR(reader_.TakeList(")", [&]() -> absl::Status {
      const Lexer at_name = reader_.place();
      TW_ASSIGN_OR_RETURN(std::string name,
                          reader_.TakeName("the name of an axis"));
      if (axis_ids_.size() >= static_cast<size_t>(kMaxTextRank))
        return at_name.Error("more than 64 axes");
      if (!axis_ids_.emplace(name, static_cast<int>(axis_ids_.size())).second) {
        return at_name.Error(absl::StrCat("a second axis '", name, "'"));
      }
      TW_RETURN_IF_ERROR(reader_.Take(":"));
      TW_ASSIGN_OR_RETURN(Dim extent, ParseDim());
      axes.push_back({std::move(name), std::move(extent)});
      return absl::OkStatus();
    }));
    return axes;
  }

  absl::Status ParseCompute(const std::string& name, DType dtype,
                            const std::vector<Dim>& shape) {
    const Lexer start = reader_.place();
    axis_ids_.clear();
    Compute compute;
    TW_ASSIGN_OR_RETURN(compute.axes, ParseAxes());
    bool same = compute.axes.size() == shape.size();
    for (size_t i = 0; same && i < shape.size(); ++i)
      same = compute.axes[i].extent == shape[i];
    if (!same)
      return start.Error(absl::StrCat(
          "the axes of '", name, "' do not have the extents of its shape"));
    if (reader_.TakeWordIf("reduce")) {
      TW_ASSIGN_OR_RETURN(compute.reduce_axes, ParseAxes());
      TW_ASSIGN_OR_RETURN(compute.combiner, ParseCombiner());
    }
    ExprParser exprs(reader_, graph_, axis_ids_);
    TW_RETURN_IF_ERROR(reader_.Take("{"));
    TW_RETURN_IF_ERROR(reader_.TakeList("}", [&]() -> absl::Status {
      const Lexer at_body = reader_.place();
      TW_ASSIGN_OR_RETURN(ParsedExpr body, exprs.Parse());
      const int component = static_cast<int>(compute.body.size());
      if (component >=
          (compute.combiner.has_value() ? compute.combiner->arity() : 1)) {
        return at_body.Error(
            "more expressions than the combiner has components");
      }
      Adapt(body, compute.combiner.has_value()
                      ? compute.combiner->component_dtype(component)
                      : dtype);
      compute.body.push_back(std::move(body.expr));
      return absl::OkStatus();
    }));
    if (reader_.TakeWordIf("result")) {
      TW_ASSIGN_OR_RETURN(const int64_t result,
                          reader_.TakeInteger("the number of a component"));
      if (result >= static_cast<int64_t>(compute.body.size()))
        return reader_.Error(absl::StrCat("no component ", result));
      compute.result = static_cast<int>(result);
    }
    std::string hint;
    if (reader_.TakeWordIf("hint")) {
      TW_ASSIGN_OR_RETURN(hint, reader_.TakeName("a hint"));
    }
    graph_.AddCompute(name, dtype, std::move(compute), hint);
    return absl::OkStatus();
  }

  absl::StatusOr<Combiner> ParseCombiner() {
    const Lexer at_name = reader_.place();
    TW_ASSIGN_OR_RETURN(const std::string kind,
                        reader_.TakeName("a combiner like 'sum:f32'"));
    TW_RETURN_IF_ERROR(reader_.Take(":"));
    TW_ASSIGN_OR_RETURN(const DType acc, reader_.TakeDType());
    const std::string text = absl::StrCat(kind, ":", std::string(Name(acc)));
    const std::optional<Combiner> combiner = Combiner::Parse(text);
    if (!combiner.has_value())
      return at_name.Error(absl::StrCat("no combiner '", text, "'"));
    return *combiner;
  }

  TextReader reader_;
  const std::map<std::string, std::shared_ptr<const HostTensor>>& constants_;
  TensorGraph graph_;
  std::map<std::string, int> axis_ids_;  // of the compute being read
};

}  // namespace

absl::StatusOr<TensorGraph> ParseText(
    std::string_view text,
    const std::map<std::string, std::shared_ptr<const HostTensor>>& constants) {
  return Parser(text, constants).Run();
}

}  // namespace tilewright
