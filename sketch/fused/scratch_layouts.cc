#include "sketch/fused/scratch_layouts.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

#include "absl/status/statusor.h"
#include "base/ceil_div.h"
#include "base/check.h"

namespace tilewright::sketch {
namespace {

constexpr int kBlocked = 1;

bool SameOrder(const Layout& a, const Layout& b) {
  return std::equal(a.digits().begin(), a.digits().end(), b.digits().begin(),
                    b.digits().end(),
                    [](const Layout::Digit& x, const Layout::Digit& y) {
                      return x.dim == y.dim && x.div == y.div;
                    });
}

}  // namespace

Layout LayoutInOrder(const ScratchOrder& order,
                     const std::vector<int64_t>& shape) {
  std::vector<Layout::Digit> digits;
  for (const int64_t d : order.dims) {
    const int dim = static_cast<int>(d);
    const int64_t div = dim == kBlocked && order.block > 0 ? order.block : 1;
    digits.push_back({dim, div, CeilDiv(shape[dim], div)});
  }
  if (order.block > 0) digits.push_back({kBlocked, 1, order.block});
  const std::vector<int64_t> none(shape.size(), 0);
  absl::StatusOr<Layout> layout = Layout::Create(
      shape, none, none, std::move(digits), Layout::Fill::kUndefined);
  TW_CHECK(layout.ok()) << layout.status();
  return *std::move(layout);
}

ScratchOrder OrderOf(const Layout& layout) {
  const size_t rank = layout.shape().size();
  ScratchOrder order;
  for (const Layout::Digit& digit : layout.digits()) {
    if (std::count(order.dims.begin(), order.dims.end(), digit.dim) == 0)
      order.dims.push_back(digit.dim);
    if (digit.dim == kBlocked && digit.div > 1) order.block = digit.div;
  }
  if (order.dims.size() == rank &&
      SameOrder(LayoutInOrder(order, layout.shape()), layout))
    return order;
  order.dims.resize(rank);
  std::iota(order.dims.begin(), order.dims.end(), 0);
  order.block = 0;
  return order;
}

}  // namespace tilewright::sketch
