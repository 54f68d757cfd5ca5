#include "frontends/onnx/ops/attention/attention_spec.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "base/status_macros.h"
#include "frontends/onnx/graph/tensor_proto.h"
#include "frontends/onnx/ops/common.h"

namespace tilewright {
namespace {

// Queries, keys or values as [batch, heads, tokens, size].
struct Heads {
  int64_t batch, heads, tokens, size;
};

absl::StatusOr<Heads> ReadHeads(const OpContext& op, int i,
                                const char* attribute) {
  const Shape& shape = op.shape(i);
  const int64_t given = op.Int(attribute, 0);
  if (shape.size() == 4) {
    if (given != 0 && given != shape[1]) {
      return op.Error("attribute ", Quoted(attribute), " is ", given,
                      " where shape ", ShapeText(shape), " has ", shape[1],
                      " heads");
    }
    return Heads{shape[0], shape[1], shape[2], shape[3]};
  }
  if (given < 1 || shape[2] % given != 0) {
    return op.Error("the ", shape[2], " features of ", ShapeText(shape),
                    " do not divide into ", given, " heads; set attribute ",
                    Quoted(attribute));
  }
  return Heads{shape[0], given, shape[1], shape[2] / given};
}

absl::Status ReadSizes(const OpContext& op, AttentionSpec& spec) {
  const int rank = op.rank(kQuery);
  if ((rank != 3 && rank != 4) || op.rank(kKey) != rank ||
      op.rank(kValue) != rank) {
    return op.Error(
        "queries, keys and values have shapes ", ShapeText(op.shape(kQuery)),
        ", ", ShapeText(op.shape(kKey)), " and ", ShapeText(op.shape(kValue)),
        " where all need three or all four dimensions");
  }
  spec.is_flat = rank == 3;
  TW_ASSIGN_OR_RETURN(const Heads q, ReadHeads(op, kQuery, "q_num_heads"));
  TW_ASSIGN_OR_RETURN(const Heads k, ReadHeads(op, kKey, "kv_num_heads"));
  TW_ASSIGN_OR_RETURN(const Heads v, ReadHeads(op, kValue, "kv_num_heads"));
  if (q.batch != k.batch || q.size != k.size || k.batch != v.batch ||
      k.heads != v.heads || k.tokens != v.tokens) {
    return op.Error("shapes ", ShapeText(op.shape(kQuery)), ", ",
                    ShapeText(op.shape(kKey)), " and ",
                    ShapeText(op.shape(kValue)),
                    " of queries, keys and values do not fit each other");
  }
  if (q.heads % k.heads != 0) {
    return op.Error("the ", q.heads,
                    " heads of the queries are no multiple of the keys' ",
                    k.heads);
  }
  spec.batch = q.batch;
  spec.heads = q.heads, spec.kv_heads = k.heads;
  spec.queries = q.tokens, spec.keys = k.tokens;
  spec.size = q.size, spec.value_size = v.size;
  return absl::OkStatus();
}

absl::Status ReadPast(const OpContext& op, AttentionSpec& spec) {
  if (op.has_input(kPastKey) != op.has_input(kPastValue)) {
    return op.Error("past_key and past_value go together; give both or none");
  }
  if (!op.has_input(kPastKey)) return absl::OkStatus();
  const Shape& key = op.shape(kPastKey);
  const int64_t past = key.size() == 4 ? key[2] : 0;
  const Shape wanted_key = {spec.batch, spec.kv_heads, past, spec.size};
  const Shape wanted_value = {spec.batch, spec.kv_heads, past, spec.value_size};
  if (key != wanted_key || op.shape(kPastValue) != wanted_value) {
    return op.Error("past_key and past_value have shapes ", ShapeText(key),
                    " and ", ShapeText(op.shape(kPastValue)), " where ",
                    ShapeText(wanted_key), " and ", ShapeText(wanted_value),
                    " are needed");
  }
  spec.past = past;
  spec.keys += past;
  return absl::OkStatus();
}

absl::Status CheckMask(const OpContext& op, const AttentionSpec& spec) {
  if (!op.has_input(kMask)) return absl::OkStatus();
  const Shape& mask = op.shape(kMask);
  const Shape scores = spec.ScoresShape();
  bool fits =
      !mask.empty() && mask.size() <= scores.size() && mask.back() <= spec.keys;
  for (size_t k = 2; fits && k <= mask.size(); ++k) {
    const int64_t extent = mask[mask.size() - k];
    fits = extent == 1 || extent == scores[scores.size() - k];
  }
  if (fits) return absl::OkStatus();
  return op.Error("the mask of shape ", ShapeText(mask),
                  " does not broadcast to the scores' ", ShapeText(scores));
}

absl::Status CheckValidLengths(const OpContext& op, const AttentionSpec& spec) {
  if (!op.has_input(kValidLengths)) return absl::OkStatus();
  if (op.has_input(kPastKey)) {
    return op.Error("nonpad_kv_seqlen and past_key exclude each other");
  }
  if (op.shape(kValidLengths) == Shape{spec.batch}) return absl::OkStatus();
  return op.Error("nonpad_kv_seqlen has shape ",
                  ShapeText(op.shape(kValidLengths)), " where ",
                  ShapeText({spec.batch}), " is needed");
}

absl::Status CheckTypes(const OpContext& op) {
  const auto same = [&](int i, int as) {
    return !op.has_input(i) || op.dtype(i) == op.dtype(as);
  };
  if (same(kKey, kQuery) && same(kPastKey, kQuery) && same(kPastValue, kValue))
    return absl::OkStatus();
  return op.Error(
      "queries and keys, and values and past values, are not of one "
      "type each");
}

// The element type in which 'softmax_precision' asks for the softmax; at
// least `acc` is used.
absl::StatusOr<DType> SoftmaxPrecision(const OpContext& op, DType acc) {
  if (!op.HasAttribute("softmax_precision")) return acc;
  const int64_t code = op.Int("softmax_precision", 0);
  const std::optional<DType> dtype = FromOnnxType(code);
  if (dtype && IsFloat(*dtype)) return *dtype;
  return op.Error("attribute 'softmax_precision' is ", code,
                  "; it must be the number of a float type");
}

absl::Status ReadOptions(const OpContext& op, AttentionSpec& spec) {
  spec.scale = 1 / std::sqrt(static_cast<double>(spec.size));
  if (op.HasAttribute("scale")) spec.scale = op.Float("scale", 1);
  if (!(spec.scale >= 0)) {
    return op.Error("attribute 'scale' is ", spec.scale,
                    "; it must not be negative");
  }
  spec.softcap = std::max(0.0F, op.Float("softcap", 0));
  spec.is_causal = op.Int("is_causal", 0) != 0;
  spec.shown = static_cast<AttentionScores>(op.Int("qk_matmul_output_mode", 0));
  TW_ASSIGN_OR_RETURN(const DType precision, SoftmaxPrecision(op, spec.acc));
  for (const DType dtype : {op.dtype(kQuery), op.dtype(kValue), precision}) {
    if (dtype == DType::kFloat64) spec.acc = dtype;
  }
  return absl::OkStatus();
}

}  // namespace

Shape AttentionSpec::OutputShape() const {
  if (is_flat) return {batch, queries, heads * value_size};
  return {batch, heads, queries, value_size};
}

absl::StatusOr<AttentionSpec> ReadAttention(const OpContext& op) {
  AttentionSpec spec;
  TW_RETURN_IF_ERROR(CheckTypes(op));
  TW_RETURN_IF_ERROR(ReadSizes(op, spec));
  TW_RETURN_IF_ERROR(ReadPast(op, spec));
  TW_RETURN_IF_ERROR(CheckMask(op, spec));
  TW_RETURN_IF_ERROR(CheckValidLengths(op, spec));
  TW_RETURN_IF_ERROR(ReadOptions(op, spec));
  return spec;
}

}  // namespace tilewright
