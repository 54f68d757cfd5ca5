#include "sketch/simt/shared_rows.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "sketch/simt/operand_order.h"
#include "sketch/trace/schedule.h"
#include "sketch/tree/block_tree.h"
#include "tilegraph/expr/dtype.h"
#include "tilegraph/ir/layout.h"
#include "tilegraph/ir/row_swizzle.h"

namespace tilewright::sketch {
namespace {

constexpr int64_t kChunkBytes = 16;      // what a thread moves at once
constexpr int64_t kBankTurnBytes = 128;  // 32 banks of four

const Buffer& StoredBy(GrowingTrace& trace, const std::string& block) {
  return trace.tree().buffers[trace.FindBlockNamed(block)->dst[0]];
}

}  // namespace

void PadRows(GrowingTrace& trace, const std::string& block, int64_t padding) {
  if (padding == 0) return;
  const Buffer& buffer = StoredBy(trace, block);
  const std::vector<int64_t>& shape = buffer.layout.shape();
  const std::vector<int64_t> before(shape.size(), 0);
  std::vector<int64_t> after = before;
  const int row = RowDim(buffer);
  if (row < 0) return;
  after[row] = padding;
  std::vector<Layout::Digit> digits;
  for (size_t d = 0; d < shape.size(); ++d)
    digits.push_back({static_cast<int>(d), 1, shape[d] + after[d]});
  const absl::StatusOr<Layout> layout = Layout::Create(
      shape, before, after, std::move(digits), Layout::Fill::kUndefined);
  if (layout.ok()) trace.writer().SetLayout(buffer.name, layout->ToString());
}

void SwizzleRows(GrowingTrace& trace, const std::string& block, int64_t steps) {
  const Buffer& buffer = StoredBy(trace, block);
  const std::vector<int64_t>& shape = buffer.layout.shape();
  const int64_t element_bytes = SizeBytes(buffer.dtype);
  RowSwizzle swizzle;
  swizzle.chunk_elements = kChunkBytes / element_bytes;
  if (shape.empty() || shape.back() % swizzle.chunk_elements != 0) return;
  const int64_t chunks = shape.back() / swizzle.chunk_elements;
  while (swizzle.steps * 2 <= steps && chunks % (swizzle.steps * 2) == 0)
    swizzle.steps *= 2;
  if (swizzle.none()) return;
  swizzle.rows_per_step =
      std::max<int64_t>(1, kBankTurnBytes / (shape.back() * element_bytes));
  trace.writer().Annotate(trace.writer().Block(block),
                          absl::StrCat("swizzle=", swizzle.ToString()));
}

}  // namespace tilewright::sketch
