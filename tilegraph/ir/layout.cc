#include "tilegraph/ir/layout.h"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/ceil_div.h"
#include "base/check.h"
#include "tilegraph/expr/interval.h"

namespace tilewright {
namespace {

// Elements that ForEachRun hands out together, at most.
constexpr int64_t kLongestRun = 1 << 12;

// Calls fn(index, offset, along) for runs of elements of the plain tensor, all
// of them in order: element `index` + i, in row-major order, lies at offset +
// along[i].
template <typename Fn>
void ForEachRun(const Layout& layout, const Fn& fn) {
  const std::vector<int64_t>& shape = layout.shape();
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return;
  // Every digit reads one dimension, so the offset is a sum of one table per
  // dimension.
  std::vector<std::vector<int64_t>> part(shape.size());
  for (size_t d = 0; d < shape.size(); ++d) {
    part[d].assign(shape[d], 0);
    for (size_t i = 0; i < layout.digits().size(); ++i) {
      const Layout::Digit& digit = layout.digits()[i];
      if (digit.dim != static_cast<int>(d)) continue;
      for (int64_t x = 0; x < shape[d]; ++x) {
        part[d][x] += (x + layout.pad_before()[d]) / digit.div % digit.extent *
                      layout.stride(static_cast<int>(i));
      }
    }
  }
  // The last dimensions share a table, as many as make a run.
  std::vector<int64_t> along = {0};
  size_t outer = shape.size();
  while (outer > 0 && (outer == shape.size() ||
                       static_cast<int64_t>(along.size()) * shape[outer - 1] <=
                           kLongestRun)) {
    --outer;
    std::vector<int64_t> longer;
    for (const int64_t before : part[outer]) {
      for (const int64_t offset : along) longer.push_back(before + offset);
    }
    along = std::move(longer);
  }
  std::vector<int64_t> at(outer, 0);
  for (int64_t index = 0;; index += static_cast<int64_t>(along.size())) {
    int64_t offset = layout.base();
    for (size_t d = 0; d < outer; ++d) offset += part[d][at[d]];
    fn(index, offset, along);
    size_t d = outer;
    while (d > 0 && ++at[d - 1] == shape[d - 1]) at[--d] = 0;
    if (d == 0) return;
  }
}

// Calls fn with the constant `bytes`, the size of an element.
template <typename Fn>
void WithSize(int64_t bytes, const Fn& fn) {
  switch (bytes) {
    case 1:
      return fn(std::integral_constant<int, 1>());
    case 2:
      return fn(std::integral_constant<int, 2>());
    case 4:
      return fn(std::integral_constant<int, 4>());
    default:
      TW_CHECK_EQ(bytes, 8);
      return fn(std::integral_constant<int, 8>());
  }
}

}  // namespace

Layout Layout::RowMajor(absl::Span<const int64_t> shape) {
  Layout layout;
  layout.shape_.assign(shape.begin(), shape.end());
  layout.pad_before_.assign(shape.size(), 0);
  layout.pad_after_.assign(shape.size(), 0);
  for (size_t d = 0; d < shape.size(); ++d) {
    layout.digits_.push_back({static_cast<int>(d), 1, shape[d]});
  }
  layout.SetDenseStrides();
  return layout;
}

void Layout::SetDenseStrides() {
  strides_.assign(digits_.size(), 1);
  base_ = 0;
  physical_elements_ = 1;
  for (size_t i = digits_.size(); i-- > 0;) {
    strides_[i] = physical_elements_;
    physical_elements_ *= digits_[i].extent;
  }
}

Layout Layout::BlockedLast(absl::Span<const int64_t> shape, int dim,
                           int64_t block) {
  TW_CHECK(dim >= 0 && dim < static_cast<int>(shape.size()))
      << "no dimension " << dim;
  TW_CHECK_GT(block, 0);
  Layout layout = RowMajor(shape);
  layout.digits_[dim] = {dim, block, CeilDiv(shape[dim], block)};
  layout.digits_.push_back({dim, 1, block});
  layout.SetDenseStrides();
  return layout;
}

Layout Layout::WithHalo(absl::Span<const int64_t> before,
                        absl::Span<const int64_t> after, Fill fill) const {
  TW_CHECK_EQ(before.size(), shape_.size());
  TW_CHECK_EQ(after.size(), shape_.size());
  TW_CHECK(is_dense()) << "a strided layout cannot grow: " << ToString();
  Layout layout = *this;
  layout.fill_ = fill;
  for (size_t d = 0; d < shape_.size(); ++d) {
    TW_CHECK(before[d] >= 0 && after[d] >= 0)
        << "a halo of dimension " << d << " is negative";
    layout.pad_before_[d] += before[d];
    layout.pad_after_[d] += after[d];
    Digit* top = nullptr;  // the outermost digit grows with the range
    for (Digit& digit : layout.digits_) {
      if (digit.dim == static_cast<int>(d) &&
          (top == nullptr || digit.div >= top->div))
        top = &digit;
    }
    if (before[d] + after[d] == 0) continue;
    int64_t range = layout.pad_before_[d] + shape_[d] + layout.pad_after_[d];
    if (top == nullptr) {
      layout.digits_.push_back({static_cast<int>(d), 1, range});
    } else {
      top->extent = std::max(top->extent, CeilDiv(range, top->div));
    }
  }
  layout.SetDenseStrides();
  return layout;
}

absl::StatusOr<Layout> Layout::Create(std::vector<int64_t> shape,
                                      std::vector<int64_t> pad_before,
                                      std::vector<int64_t> pad_after,
                                      std::vector<Digit> digits, Fill fill) {
  if (pad_before.size() != shape.size() || pad_after.size() != shape.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "layout: ", shape.size(), " dimensions but ", pad_before.size(),
        " and ", pad_after.size(), " paddings"));
  }
  std::vector<Digit> sorted = digits;
  std::stable_sort(
      sorted.begin(), sorted.end(),
      [](const Digit& a, const Digit& b) { return a.div < b.div; });
  std::vector<int64_t> covered(shape.size(), 1);
  int64_t elements = 1;
  for (const Digit& digit : sorted) {
    if (digit.dim < 0 || digit.dim >= static_cast<int>(shape.size())) {
      return absl::InvalidArgumentError(absl::StrCat(
          "layout: a digit of dimension ", digit.dim, " of ", shape.size()));
    }
    if (digit.div < 1 || digit.extent < 1) {
      return absl::InvalidArgumentError(absl::StrCat(
          "layout: dimension ", digit.dim, " has a digit / ", digit.div, " % ",
          digit.extent, "; both must be at least 1"));
    }
    if (__builtin_mul_overflow(elements, digit.extent, &elements)) {
      return absl::InvalidArgumentError(
          "layout: more elements than an int64 counts");
    }
    if (digit.extent == 1) continue;
    if (digit.div != covered[digit.dim]) {
      return absl::InvalidArgumentError(absl::StrCat(
          "layout: dimension ", digit.dim, " has a digit / ", digit.div,
          " where its lower digits cover ", covered[digit.dim]));
    }
    covered[digit.dim] *= digit.extent;
  }
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] < 0 || pad_before[d] < 0 || pad_after[d] < 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          "layout: dimension ", d, " has a negative extent or padding"));
    }
    int64_t range = shape[d] + pad_before[d] + pad_after[d];
    if (covered[d] < range) {
      return absl::InvalidArgumentError(
          absl::StrCat("layout: the digits of dimension ", d, " cover ",
                       covered[d], " of ", range, " elements"));
    }
  }
  Layout layout;
  layout.shape_ = std::move(shape);
  layout.pad_before_ = std::move(pad_before);
  layout.pad_after_ = std::move(pad_after);
  layout.digits_ = std::move(digits);
  layout.fill_ = fill;
  layout.SetDenseStrides();
  return layout;
}

absl::StatusOr<Layout> Layout::Strided(std::vector<int64_t> shape,
                                       std::vector<int64_t> pad_before,
                                       std::vector<int64_t> pad_after,
                                       std::vector<Digit> digits,
                                       std::vector<int64_t> strides,
                                       int64_t base, int64_t physical_elements,
                                       Fill fill) {
  if (strides.size() != digits.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "layout: ", digits.size(), " digits but ", strides.size(), " strides"));
  }
  absl::StatusOr<Layout> layout =
      Create(std::move(shape), std::move(pad_before), std::move(pad_after),
             std::move(digits), fill);
  if (!layout.ok()) return layout;
  // By stride: each digit must step over all that smaller ones reach.
  std::vector<std::pair<int64_t, int64_t>> reach;  // stride, last position
  for (size_t i = 0; i < strides.size(); ++i) {
    const Digit& digit = layout->digits_[i];
    if (strides[i] < 1) {
      return absl::InvalidArgumentError("layout: strides must be at least 1");
    }
    const int64_t range = layout->shape_[digit.dim] +
                          layout->pad_before_[digit.dim] +
                          layout->pad_after_[digit.dim];
    const int64_t used = std::min(digit.extent, CeilDiv(range, digit.div));
    if (used > 1) reach.emplace_back(strides[i], used - 1);
  }
  std::sort(reach.begin(), reach.end());
  int64_t end = 0;
  for (const auto& [stride, last] : reach) {
    if (stride <= end)
      return absl::InvalidArgumentError("layout: elements overlap");
    int64_t step;
    if (__builtin_mul_overflow(stride, last, &step) ||
        __builtin_add_overflow(end, step, &end)) {
      return absl::InvalidArgumentError(
          "layout: more elements than an int64 counts");
    }
  }
  if (base < 0 || base >= physical_elements ||
      end >= physical_elements - base) {
    return absl::InvalidArgumentError(absl::StrCat("layout: elements ", base,
                                                   " to ", base, " + ", end,
                                                   " of ", physical_elements));
  }
  layout->strides_ = std::move(strides);
  layout->base_ = base;
  layout->physical_elements_ = physical_elements;
  return layout;
}

bool Layout::is_row_major() const {
  const Layout plain = RowMajor(shape_);
  if (physical_elements_ != plain.physical_elements_) return false;
  for (size_t i = 0; i < digits_.size(); ++i) {
    if (digits_[i].extent > 1 && strides_[i] != plain.strides_[digits_[i].dim])
      return false;
  }
  return base_ == 0;
}

bool Layout::is_dense() const {
  Layout dense = *this;
  dense.SetDenseStrides();
  return *this == dense;
}

int64_t Layout::Offset(absl::Span<const int64_t> logical) const {
  TW_CHECK_EQ(logical.size(), shape_.size());
  int64_t offset = base_;
  for (size_t i = 0; i < digits_.size(); ++i) {
    const Digit& digit = digits_[i];
    int64_t x = logical[digit.dim] + pad_before_[digit.dim];
    offset +=
        FloorModulo(FloorDivide(x, digit.div), digit.extent) * strides_[i];
  }
  return offset;
}

Expr Layout::Offset(absl::Span<const Expr> logical) const {
  TW_CHECK_EQ(logical.size(), shape_.size());
  Expr offset = Expr::Int(base_);
  for (size_t i = 0; i < digits_.size(); ++i) {
    const Digit& digit = digits_[i];
    if (digit.extent == 1) continue;
    Expr value = logical[digit.dim] + Expr::Int(pad_before_[digit.dim]);
    value = FloorDiv(value, Expr::Int(digit.div));
    // The outermost digit needs no mod: legal indices never leave it.
    int64_t range =
        shape_[digit.dim] + pad_before_[digit.dim] + pad_after_[digit.dim];
    if (digit.extent < CeilDiv(range, digit.div))
      value = FloorMod(value, Expr::Int(digit.extent));
    offset = offset + value * Expr::Int(strides_[i]);
  }
  return offset;
}

Layout Layout::Rolling(int dim, int64_t extent) const {
  int digits = 0;
  for (const Digit& digit : digits_) {
    if (digit.dim == dim && digit.extent > 1) {
      TW_CHECK_EQ(digit.div, 1);
      ++digits;
    }
  }
  TW_CHECK(digits == 1 && pad_before_[dim] == 0 && pad_after_[dim] == 0)
      << "dimension " << dim << " of " << ToString() << " cannot roll";
  Layout layout = *this;
  layout.shape_[dim] = extent;
  return layout;
}

int64_t Layout::Places(int dim) const {
  int64_t places = 1;
  for (const Digit& digit : digits_) {
    if (digit.dim == dim) places *= digit.extent;
  }
  return places;
}

Layout Layout::From(int64_t first) const {
  TW_CHECK(first >= 0 && first <= base_);
  int64_t last = base_ - first;
  Layout part = *this;
  std::vector<bool> moves(digits_.size());
  for (size_t i = 0; i < digits_.size(); ++i) {
    const Digit& digit = digits_[i];
    const int64_t range =
        shape_[digit.dim] + pad_before_[digit.dim] + pad_after_[digit.dim];
    const int64_t used = std::min(digit.extent, CeilDiv(range, digit.div));
    moves[i] = used > 1;
    if (moves[i]) last += (used - 1) * strides_[i];
  }
  part.base_ = base_ - first;
  part.physical_elements_ = last + 1;
  for (size_t i = 0; i < digits_.size(); ++i) {
    if (!moves[i]) part.strides_[i] = part.physical_elements_;
  }
  return part;
}

void Layout::Pack(const HostTensor& plain, absl::Span<char> packed) const {
  TW_CHECK(plain.shape() == shape_)
      << "packing a tensor of another shape than " << ToString();
  const int64_t size = SizeBytes(plain.dtype());
  TW_CHECK_EQ(static_cast<int64_t>(packed.size()), physical_elements() * size);
  WithSize(size, [&](auto bytes) {
    ForEachRun(*this, [&](int64_t index, int64_t offset,
                          const std::vector<int64_t>& along) {
      const char* const from = plain.data() + index * bytes;
      char* const to = packed.data() + offset * bytes;
      for (size_t i = 0; i < along.size(); ++i)
        std::memcpy(to + along[i] * bytes, from + i * bytes, bytes);
    });
  });
}

HostTensor Layout::Unpack(DType dtype, absl::Span<const char> packed) const {
  const int64_t size = SizeBytes(dtype);
  TW_CHECK_EQ(static_cast<int64_t>(packed.size()), physical_elements() * size);
  HostTensor plain(dtype, shape_);
  WithSize(size, [&](auto bytes) {
    ForEachRun(*this, [&](int64_t index, int64_t offset,
                          const std::vector<int64_t>& along) {
      char* const to = plain.data() + index * bytes;
      const char* const from = packed.data() + offset * bytes;
      for (size_t i = 0; i < along.size(); ++i)
        std::memcpy(to + i * bytes, from + along[i] * bytes, bytes);
    });
  });
  return plain;
}

}  // namespace tilewright
