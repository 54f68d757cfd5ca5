#include "tilegraph/layout.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "tilegraph/interval.h"

namespace tilewright {
namespace {

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Calls fn(row-major index, physical offset) for every logical element of the
// plain tensor, in order.
template <typename Fn>
void ForEachElement(const Layout& layout, const Fn& fn) {
  const std::vector<int64_t>& shape = layout.shape();
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
  std::vector<int64_t> at(shape.size(), 0);
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return;
  for (int64_t index = 0;; ++index) {
    int64_t offset = 0;
    for (size_t d = 0; d < shape.size(); ++d) offset += part[d][at[d]];
    fn(index, offset);
    size_t d = shape.size();
    while (d > 0 && ++at[d - 1] == shape[d - 1]) at[--d] = 0;
    if (d == 0) return;
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
  return layout;
}

Layout Layout::BlockedLast(absl::Span<const int64_t> shape, int dim,
                           int64_t block) {
  TW_CHECK(dim >= 0 && dim < static_cast<int>(shape.size()))
      << "no dimension " << dim;
  TW_CHECK_GT(block, 0);
  Layout layout = RowMajor(shape);
  layout.digits_[dim] = {dim, block, CeilDiv(shape[dim], block)};
  layout.digits_.push_back({dim, 1, block});
  return layout;
}

Layout Layout::WithHalo(absl::Span<const int64_t> before,
                        absl::Span<const int64_t> after, Fill fill) const {
  TW_CHECK_EQ(before.size(), shape_.size());
  TW_CHECK_EQ(after.size(), shape_.size());
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
  return layout;
}

bool Layout::is_row_major() const { return *this == RowMajor(shape_); }

int64_t Layout::physical_elements() const {
  int64_t product = 1;
  for (const Digit& digit : digits_) product *= digit.extent;
  return product;
}

int64_t Layout::stride(int i) const {
  int64_t product = 1;
  for (size_t j = i + 1; j < digits_.size(); ++j) product *= digits_[j].extent;
  return product;
}

int64_t Layout::Offset(absl::Span<const int64_t> logical) const {
  TW_CHECK_EQ(logical.size(), shape_.size());
  int64_t offset = 0;
  for (const Digit& digit : digits_) {
    int64_t x = logical[digit.dim] + pad_before_[digit.dim];
    offset = offset * digit.extent +
             FloorModulo(FloorDivide(x, digit.div), digit.extent);
  }
  return offset;
}

Expr Layout::Offset(absl::Span<const Expr> logical) const {
  TW_CHECK_EQ(logical.size(), shape_.size());
  Expr offset = Expr::Int(0);
  int64_t stride = physical_elements();
  for (const Digit& digit : digits_) {
    stride /= digit.extent;
    if (digit.extent == 1) continue;
    Expr value = logical[digit.dim] + Expr::Int(pad_before_[digit.dim]);
    value = FloorDiv(value, Expr::Int(digit.div));
    // The outermost digit needs no mod: legal indices never leave it.
    int64_t range =
        shape_[digit.dim] + pad_before_[digit.dim] + pad_after_[digit.dim];
    if (digit.extent < CeilDiv(range, digit.div))
      value = FloorMod(value, Expr::Int(digit.extent));
    offset = offset + value * Expr::Int(stride);
  }
  return offset;
}

std::string Layout::Pack(const HostTensor& plain) const {
  TW_CHECK(plain.shape() == shape_)
      << "packing a tensor of another shape than " << ToString();
  const int64_t size = SizeBytes(plain.dtype());
  std::string packed(static_cast<size_t>(physical_elements() * size), '\0');
  ForEachElement(*this, [&](int64_t index, int64_t offset) {
    std::memcpy(&packed[static_cast<size_t>(offset * size)],
                plain.data() + index * size, static_cast<size_t>(size));
  });
  return packed;
}

HostTensor Layout::Unpack(DType dtype, absl::Span<const char> packed) const {
  const int64_t size = SizeBytes(dtype);
  TW_CHECK_EQ(static_cast<int64_t>(packed.size()), physical_elements() * size);
  HostTensor plain(dtype, shape_);
  ForEachElement(*this, [&](int64_t index, int64_t offset) {
    std::memcpy(plain.data() + index * size, packed.data() + offset * size,
                static_cast<size_t>(size));
  });
  return plain;
}

}  // namespace tilewright
