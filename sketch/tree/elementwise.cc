#include "sketch/tree/elementwise.h"

namespace tilewright::sketch {
namespace {

bool IsIdentity(absl::Span<const Expr> indices) {
  for (size_t i = 0; i < indices.size(); ++i) {
    if (indices[i].op() != Op::kVar ||
        indices[i].var_id() != static_cast<int>(i))
      return false;
  }
  return true;
}

}  // namespace

bool IsElementwiseIn(const Block& consumer, const Block& producer, int buffer) {
  bool elementwise = producer.axes.size() == consumer.axes.size();
  for (size_t i = 0; elementwise && i < producer.axes.size(); ++i)
    elementwise = producer.axes[i].extent == consumer.axes[i].extent;
  for (const Expr& body : consumer.body) {
    Visit(body, [&](const Expr& e) {
      if (e.op() == Op::kLoad && e.source() == buffer)
        elementwise = elementwise && IsIdentity(e.operands());
    });
  }
  return elementwise;
}

}  // namespace tilewright::sketch
