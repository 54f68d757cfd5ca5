// What an Attention node computes: its sizes and options, checked.
#ifndef TILEWRIGHT_FRONTENDS_ONNX_OPS_ATTENTION_ATTENTION_SPEC_H_
#define TILEWRIGHT_FRONTENDS_ONNX_OPS_ATTENTION_ATTENTION_SPEC_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "frontends/onnx/graph/op_context.h"

namespace tilewright {

// The inputs of Attention, by position.
enum AttentionInput {
  kQuery,
  kKey,
  kValue,
  kMask,
  kPastKey,
  kPastValue,
  kValidLengths,  // since opset 24: of the keys of each batch
};

// What output 3 shows, as attribute 'qk_matmul_output_mode' numbers it in ONNX
// 1.20. A later release exchanges 1 and 2 without a new opset.
enum class AttentionScores {
  kScaled = 0,
  kMasked = 1,
  kCapped = 2,
  kWeights = 3,
};

struct AttentionSpec {
  int64_t batch = 1;
  int64_t heads = 1, kv_heads = 1;  // the first a multiple of the second
  int64_t queries = 1;
  int64_t past = 0, keys = 1;        // of the keys: earlier ones; all
  int64_t size = 1, value_size = 1;  // features of a head
  // Whether queries, keys, values and output 0 are [batch, tokens, heads *
  // size] rather than [batch, heads, tokens, size].
  bool is_flat = false;
  double scale = 1;
  double softcap = 0;  // 0: none
  bool is_causal = false;
  AttentionScores shown = AttentionScores::kScaled;
  DType acc = DType::kFloat32;  // in which everything is computed

  Shape ScoresShape() const { return {batch, heads, queries, keys}; }
  Shape OutputShape() const;
};

// InvalidArgument where shapes, types and attributes contradict each other.
absl::StatusOr<AttentionSpec> ReadAttention(const OpContext& op);

}  // namespace tilewright

#endif  // TILEWRIGHT_FRONTENDS_ONNX_OPS_ATTENTION_ATTENTION_SPEC_H_
