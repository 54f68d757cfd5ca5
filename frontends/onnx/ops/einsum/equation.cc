#include "frontends/onnx/ops/einsum/equation.h"

#include <algorithm>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "frontends/onnx/graph/tensor_proto.h"

namespace tilewright {
namespace {

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

}  // namespace

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
  return equation;
}

}  // namespace tilewright
