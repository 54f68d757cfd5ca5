#include "tilegraph/ir/layout_view.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "tilegraph/expr/simplify.h"

namespace tilewright {
namespace {

struct StridedDigit {
  Layout::Digit digit;
  int64_t stride;
};

// x, x floordiv c, x mod m, (x floordiv c) mod m.
std::optional<Layout::Digit> AsDigit(Expr term,
                                     absl::Span<const int64_t> shape) {
  const auto constant = [](const Expr& e) -> int64_t {
    return e.op() == Op::kConst ? e.int_value() : 0;
  };
  int64_t mod = 0, div = 1;
  if (term.op() == Op::kFloorMod) {
    mod = constant(term.operand(1));
    if (mod < 1) return std::nullopt;
    term = Expr(term.operand(0));
  }
  if (term.op() == Op::kFloorDiv) {
    div = constant(term.operand(1));
    if (div < 1) return std::nullopt;
    term = Expr(term.operand(0));
  }
  if (term.op() != Op::kVar) return std::nullopt;
  const int dim = term.var_id();
  const int64_t rest = (shape[dim] + div - 1) / div;
  return Layout::Digit{dim, div, mod == 0 ? rest : mod};
}

struct Pads {
  int64_t before = 0, after = 0;
};

// The part of the source's paddings that pads dimension `dim`.
Pads PadsOf(int dim, const Layout& source, absl::Span<const LinearForm> index,
            absl::Span<const int64_t> shape) {
  int from = -1;
  for (size_t d = 0; d < index.size(); ++d) {
    bool mentioned = false;
    for (const auto& [term, coefficient] : index[d].terms) {
      Visit(term, [&](const Expr& e) {
        mentioned |= e.op() == Op::kVar && e.var_id() == dim;
      });
    }
    if (!mentioned) continue;
    if (from >= 0 || index[d].terms.size() != 1 ||
        index[d].CoefficientOf(dim) != 1)
      return {};
    from = static_cast<int>(d);
  }
  if (from < 0) return {};
  const int64_t first = index[from].constant;
  const int64_t beyond = first + shape[dim] - source.shape()[from];
  Pads pads;
  if (first <= 0) pads.before = source.pad_before()[from] + first;
  if (beyond >= 0) pads.after = source.pad_after()[from] - beyond;
  return pads;
}

bool LeavesSource(const Layout& source, absl::Span<const Expr> index,
                  const RangeOf& ranges) {
  for (size_t d = 0; d < index.size(); ++d) {
    const std::optional<Range> range = RangeOfExpr(index[d], ranges);
    if (!range || range->min < -source.pad_before()[d] ||
        range->max >= source.shape()[d] + source.pad_after()[d])
      return true;
  }
  return false;
}

}  // namespace

std::optional<Layout> ViewLayout(const Layout& source,
                                 absl::Span<const Expr> index,
                                 absl::Span<const int64_t> shape) {
  const RangeOf ranges = [&](int var) -> std::optional<Range> {
    return Range{0, shape[var] - 1};
  };
  if (LeavesSource(source, index, ranges)) return std::nullopt;
  const LinearForm offset = ToLinear(source.Offset(index), ranges);
  std::vector<StridedDigit> digits;
  std::vector<int> digits_of_dim(shape.size(), 0);
  for (const auto& [term, coefficient] : offset.terms) {
    const std::optional<Layout::Digit> digit = AsDigit(term, shape);
    if (!digit || coefficient < 1) return std::nullopt;
    digits.push_back({*digit, coefficient});
    ++digits_of_dim[digit->dim];
  }
  std::stable_sort(digits.begin(), digits.end(),
                   [](const StridedDigit& a, const StridedDigit& b) {
                     return a.stride > b.stride;
                   });

  std::vector<LinearForm> forms;
  for (const Expr& one : index) forms.push_back(ToLinear(one, ranges));
  int64_t base = offset.constant;
  std::vector<int64_t> before(shape.size(), 0), after(shape.size(), 0);
  for (StridedDigit& digit : digits) {
    const int dim = digit.digit.dim;
    if (digits_of_dim[dim] > 1) continue;
    const Pads pads = PadsOf(dim, source, forms, shape);
    before[dim] = pads.before;
    after[dim] = pads.after;
    digit.digit.extent += pads.before + pads.after;
    base -= pads.before * digit.stride;
  }

  // Every dimension has a digit, those of extent 1 outermost.
  std::vector<Layout::Digit> all;
  std::vector<int64_t> strides;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (digits_of_dim[d] > 0) continue;
    all.push_back({static_cast<int>(d), 1, 1});
    strides.push_back(source.physical_elements());
  }
  for (const StridedDigit& digit : digits) {
    all.push_back(digit.digit);
    strides.push_back(digit.stride);
  }
  absl::StatusOr<Layout> layout =
      Layout::Strided({shape.begin(), shape.end()}, std::move(before),
                      std::move(after), std::move(all), std::move(strides),
                      base, source.physical_elements(), source.fill());
  if (!layout.ok()) return std::nullopt;
  return layout->is_row_major() ? Layout::RowMajor(shape) : *layout;
}

std::optional<Layout> DenseInOrder(const Layout& layout) {
  std::vector<std::pair<int64_t, Layout::Digit>> by_stride;
  for (size_t i = 0; i < layout.digits().size(); ++i) {
    Layout::Digit digit = layout.digits()[i];
    const int64_t rest =
        (layout.shape()[digit.dim] + digit.div - 1) / digit.div;
    digit.extent = std::min(digit.extent, rest);
    by_stride.emplace_back(layout.stride(static_cast<int>(i)), digit);
  }
  std::stable_sort(
      by_stride.begin(), by_stride.end(),
      [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<Layout::Digit> digits;
  for (const auto& [stride, digit] : by_stride) {
    if (!digits.empty() && digits.back().dim == digit.dim &&
        digits.back().div == digit.div * digit.extent) {
      digits.back().div = digit.div;
      digits.back().extent *= digit.extent;
    } else {
      digits.push_back(digit);
    }
  }
  const std::vector<int64_t> none(layout.shape().size(), 0);
  absl::StatusOr<Layout> dense = Layout::Create(
      layout.shape(), none, none, std::move(digits), Layout::Fill::kUndefined);
  return dense.ok() ? std::optional<Layout>(*std::move(dense)) : std::nullopt;
}

}  // namespace tilewright
