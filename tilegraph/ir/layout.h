// Layout: an index map logical -> physical, one type for edge tensors (NCHW16c
// with a zero halo), packed constants (panels), cache_read panels and local
// tiles. Expressions, regions and the interpreter stay logical; traffic and
// lowering read layouts.
//
// Each physical dimension is a digit of one logical one: ((logical[dim] +
// pad_before[dim]) floordiv div) mod extent. Physical dimensions are row-major,
// outermost first. NCHW16c with a halo of one pixel: digits {n}, {c div 16},
// {h}, {w}, {c mod 16}, pad_before 0 0 1 1.
//
// A strided layout is a part of a larger buffer, or another tensor's buffer
// seen in other dimensions: its digits have strides of their own and start at
// a base (layout_view.h makes them).
#ifndef TILEWRIGHT_TILEGRAPH_IR_LAYOUT_H_
#define TILEWRIGHT_TILEGRAPH_IR_LAYOUT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "tilegraph/expr/expr.h"
#include "tilegraph/expr/host_tensor.h"

namespace tilewright {

class Layout {
 public:
  struct Digit {
    int dim;
    int64_t div = 1;
    int64_t extent = 1;
    friend bool operator==(const Digit& a, const Digit& b) {
      return a.dim == b.dim && a.div == b.div && a.extent == b.extent;
    }
  };
  enum class Fill : uint8_t { kUndefined, kZero };  // what padded lanes hold

  Layout() = default;
  static Layout RowMajor(absl::Span<const int64_t> shape);
  // Splits `dim` by `block` and puts the inner part last; extents that do not
  // divide are padded. E.g. BlockedLast(shape, 1, 16) is NCHW16c.
  static Layout BlockedLast(absl::Span<const int64_t> shape, int dim,
                            int64_t block);
  // Adds a halo: the logical range grows, reads in [-before, extent + after)
  // are legal. `fill` says what they give.
  Layout WithHalo(absl::Span<const int64_t> before,
                  absl::Span<const int64_t> after, Fill fill) const;
  // Any digits. InvalidArgument if they do not cover the shape exactly once
  // (padding allowed).
  static absl::StatusOr<Layout> Create(std::vector<int64_t> shape,
                                       std::vector<int64_t> pad_before,
                                       std::vector<int64_t> pad_after,
                                       std::vector<Digit> digits, Fill fill);
  // Digit i moves by strides[i] > 0 elements; index -pad_before is element
  // `base` of `physical_elements`. The dense layout where that is one.
  // InvalidArgument also if elements overlap or leave the buffer.
  static absl::StatusOr<Layout> Strided(std::vector<int64_t> shape,
                                        std::vector<int64_t> pad_before,
                                        std::vector<int64_t> pad_after,
                                        std::vector<Digit> digits,
                                        std::vector<int64_t> strides,
                                        int64_t base, int64_t physical_elements,
                                        Fill fill);

  // The same buffer for `extent` elements along `dim`, which take turns: i and
  // i + Places(dim) share a place. For local buffers; prints, does not parse
  // back. REQUIRES: one digit of `dim`, of div 1.
  Layout Rolling(int dim, int64_t extent) const;
  // How many elements along `dim` have a place of their own.
  int64_t Places(int dim) const;

  const std::vector<int64_t>& shape() const { return shape_; }
  const std::vector<int64_t>& pad_before() const { return pad_before_; }
  const std::vector<int64_t>& pad_after() const { return pad_after_; }
  const std::vector<Digit>& digits() const { return digits_; }
  Fill fill() const { return fill_; }
  // Every element lies where RowMajor puts it.
  bool is_row_major() const;
  // Not strided: the digits alone say where everything lies.
  bool is_dense() const;
  // Elements of the physical buffer, padding included.
  int64_t physical_elements() const { return physical_elements_; }
  // Elements between neighbours of physical dimension `i`.
  int64_t stride(int i) const { return strides_[i]; }
  // Where index -pad_before lies; 0 if dense.
  int64_t base() const { return base_; }

  int64_t Offset(absl::Span<const int64_t> logical) const;
  // The same as an expression; simplify it under the ranges of its variables.
  Expr Offset(absl::Span<const Expr> logical) const;

  // The same elements in a smaller buffer: this one's from element `first` to
  // the last that the layout reaches. REQUIRES: 0 <= first <= base().
  Layout From(int64_t first) const;

  // Packs a plain tensor, without touching what is padding, and back.
  // REQUIRES: shapes agree; `packed` has the bytes of physical_elements().
  void Pack(const HostTensor& plain, absl::Span<char> packed) const;
  HostTensor Unpack(DType dtype, absl::Span<const char> packed) const;

  // "[n, c/16, h, w, c%16] pad(0,0,1,1 | 0,0,1,1)=zero" with dimensions named
  // d0, d1, ..., and if strided "[d0*64, d1*16] at 3 of 1024"; parses back.
  std::string ToString() const;
  static absl::StatusOr<Layout> Parse(std::string_view text);
  friend bool operator==(const Layout& a, const Layout& b) {
    return a.shape_ == b.shape_ && a.pad_before_ == b.pad_before_ &&
           a.pad_after_ == b.pad_after_ && a.digits_ == b.digits_ &&
           a.strides_ == b.strides_ && a.base_ == b.base_ &&
           a.physical_elements_ == b.physical_elements_ && a.fill_ == b.fill_;
  }
  friend bool operator!=(const Layout& a, const Layout& b) { return !(a == b); }

 private:
  std::vector<int64_t> shape_, pad_before_, pad_after_;
  std::vector<Digit> digits_;
  std::vector<int64_t> strides_;  // by digit
  int64_t base_ = 0;
  int64_t physical_elements_ = 1;
  Fill fill_ = Fill::kUndefined;

  void SetDenseStrides();
};

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_IR_LAYOUT_H_
