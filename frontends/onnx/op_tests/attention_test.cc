// Attention against plain loops over the formulas of its definition.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "frontends/onnx/import_model.h"
#include "frontends/onnx/model_builder.h"
#include "frontends/onnx/op_tests/op_testing.h"
#include "gtest/gtest.h"

namespace tilewright {
namespace {

using Shape = std::vector<int64_t>;

constexpr const char* kOutputs[] = {"y", "present_key", "present_value",
                                    "scores"};

struct Case {
  int64_t heads = 2, kv_heads = 2, queries = 3, keys = 4, past = 0;
  int64_t size = 2, value_size = 3;
  bool is_flat = false;
  Shape mask;  // empty: none
  bool is_mask_bool = false;
  std::vector<float> lengths;  // of the keys of each batch; empty: all
  bool is_causal = false;
  float scale = 0, softcap = 0;  // 0: not set
  int mode = 0;                  // of output 3

  int64_t all() const { return past + keys; }
};

constexpr int64_t kBatch = 2;

Given Random(std::mt19937& random, const Shape& shape) {
  std::uniform_real_distribution<float> uniform(-2, 2);
  Given given{shape, {}};
  for (int64_t i = 0; i < Total(shape); ++i)
    given.values.push_back(uniform(random));
  return given;
}

Shape ShapeOf(const Case& c, int64_t heads, int64_t tokens, int64_t size) {
  if (c.is_flat) return {kBatch, tokens, heads * size};
  return {kBatch, heads, tokens, size};
}

struct Inputs {
  Given q, k, v, mask, past_key, past_value;
};

Inputs RandomInputs(const Case& c) {
  std::mt19937 random(3);
  Inputs in;
  in.q = Random(random, ShapeOf(c, c.heads, c.queries, c.size));
  in.k = Random(random, ShapeOf(c, c.kv_heads, c.keys, c.size));
  in.v = Random(random, ShapeOf(c, c.kv_heads, c.keys, c.value_size));
  if (!c.mask.empty()) in.mask = Random(random, c.mask);
  if (c.is_mask_bool) {
    // Each query sees the first key.
    for (size_t i = 0; i < in.mask.values.size(); ++i) {
      in.mask.values[i] =
          in.mask.values[i] > 0 || i % c.mask.back() == 0 ? 1 : 0;
    }
  }
  if (c.past > 0) {
    in.past_key = Random(random, {kBatch, c.kv_heads, c.past, c.size});
    in.past_value = Random(random, {kBatch, c.kv_heads, c.past, c.value_size});
  }
  return in;
}

// An element of queries, keys or values.
float At(const Given& x, int64_t b, int64_t h, int64_t token, int64_t i) {
  const Shape& s = x.shape;
  if (s.size() == 4)
    return x.values[((b * s[1] + h) * s[2] + token) * s[3] + i];
  return x.values[(b * s[1] + token) * s[2] + h + i];
}

class Reference {
 public:
  Reference(const Case& c, const Inputs& in) : c_(c), in_(in) {}

  // Output `i`, row-major.
  Outcome Output(int i) const {
    switch (i) {
      case 0:
        return {ShapeOf(c_, c_.heads, c_.queries, c_.value_size), Mixed()};
      case 1:
        return {{kBatch, c_.kv_heads, c_.all(), c_.size},
                Present(&Reference::Key, c_.size)};
      case 2:
        return {{kBatch, c_.kv_heads, c_.all(), c_.value_size},
                Present(&Reference::Value, c_.value_size)};
      default:
        return {{kBatch, c_.heads, c_.queries, c_.all()}, Shown()};
    }
  }

 private:
  // Heads of flat inputs lie `size` features apart.
  float Key(int64_t b, int64_t h, int64_t j, int64_t i) const {
    if (j < c_.past) return At(in_.past_key, b, h, j, i);
    return At(in_.k, b, c_.is_flat ? h * c_.size : h, j - c_.past, i);
  }
  float Value(int64_t b, int64_t h, int64_t j, int64_t i) const {
    if (j < c_.past) return At(in_.past_value, b, h, j, i);
    return At(in_.v, b, c_.is_flat ? h * c_.value_size : h, j - c_.past, i);
  }
  int64_t Shared(int64_t h) const { return h / (c_.heads / c_.kv_heads); }

  double Scaled(int64_t b, int64_t h, int64_t i, int64_t j) const {
    double sum = 0;
    for (int64_t d = 0; d < c_.size; ++d) {
      sum += static_cast<double>(
                 At(in_.q, b, c_.is_flat ? h * c_.size : h, i, d)) *
             Key(b, Shared(h), j, d);
    }
    return sum * (c_.scale != 0 ? c_.scale : 1 / std::sqrt(c_.size));
  }
  double Capped(int64_t b, int64_t h, int64_t i, int64_t j) const {
    const double scaled = Scaled(b, h, i, j);
    return c_.softcap == 0 ? scaled
                           : c_.softcap * std::tanh(scaled / c_.softcap);
  }
  double Masked(int64_t b, int64_t h, int64_t i, int64_t j) const {
    double score = Capped(b, h, i, j);
    bool allowed = true;
    int64_t offset = c_.past;
    if (!c_.lengths.empty()) {
      const auto length = static_cast<int64_t>(c_.lengths[b]);
      allowed = j < length;
      offset = length - c_.queries;
    }
    if (c_.is_causal && j > i + offset) allowed = false;
    if (!c_.mask.empty() && j >= c_.mask.back()) {
      allowed = false;
    } else if (!c_.mask.empty()) {
      const int64_t index[] = {b, h, i, j};
      int64_t at = 0;
      for (size_t d = 0; d < c_.mask.size(); ++d) {
        const int64_t own = index[4 - c_.mask.size() + d];
        at = at * c_.mask[d] + (c_.mask[d] == 1 ? 0 : own);
      }
      if (c_.is_mask_bool) {
        allowed = allowed && in_.mask.values[at] != 0;
      } else {
        score += in_.mask.values[at];
      }
    }
    return allowed ? score : -INFINITY;
  }
  std::vector<double> Weights(int64_t b, int64_t h, int64_t i) const {
    std::vector<double> row;
    for (int64_t j = 0; j < c_.all(); ++j) row.push_back(Masked(b, h, i, j));
    const double max = *std::max_element(row.begin(), row.end());
    double sum = 0;
    for (double& value : row) sum += value = std::exp(value - max);
    for (double& value : row) value /= sum;
    return row;
  }

  Values Mixed() const {
    Values y(kBatch * c_.heads * c_.queries * c_.value_size);
    for (int64_t b = 0; b < kBatch; ++b) {
      for (int64_t h = 0; h < c_.heads; ++h) {
        for (int64_t i = 0; i < c_.queries; ++i) {
          const std::vector<double> weights = Weights(b, h, i);
          for (int64_t d = 0; d < c_.value_size; ++d) {
            double sum = 0;
            for (int64_t j = 0; j < c_.all(); ++j)
              sum += weights[j] * Value(b, Shared(h), j, d);
            const int64_t row = c_.is_flat
                                    ? (b * c_.queries + i) * c_.heads + h
                                    : (b * c_.heads + h) * c_.queries + i;
            y[row * c_.value_size + d] = static_cast<float>(sum);
          }
        }
      }
    }
    return y;
  }
  Values Present(float (Reference::*element)(int64_t, int64_t, int64_t, int64_t)
                     const,
                 int64_t size) const {
    Values y;
    for (int64_t b = 0; b < kBatch; ++b) {
      for (int64_t h = 0; h < c_.kv_heads; ++h) {
        for (int64_t j = 0; j < c_.all(); ++j) {
          for (int64_t i = 0; i < size; ++i)
            y.push_back((this->*element)(b, h, j, i));
        }
      }
    }
    return y;
  }
  Values Shown() const {
    Values y;
    for (int64_t b = 0; b < kBatch; ++b) {
      for (int64_t h = 0; h < c_.heads; ++h) {
        for (int64_t i = 0; i < c_.queries; ++i) {
          const std::vector<double> weights = Weights(b, h, i);
          for (int64_t j = 0; j < c_.all(); ++j) {
            y.push_back(static_cast<float>(c_.mode == 0   ? Scaled(b, h, i, j)
                                           : c_.mode == 1 ? Masked(b, h, i, j)
                                           : c_.mode == 2 ? Capped(b, h, i, j)
                                                          : weights[j]));
          }
        }
      }
    }
    return y;
  }

  const Case& c_;
  const Inputs& in_;
};

// A model of one node whose output is output `wanted`, and its inputs.
ModelBuilder Model(const Case& c, const Inputs& in, int wanted,
                   std::vector<Given>& given) {
  ModelBuilder b(24);
  std::vector<std::string> names;
  const auto add = [&](const std::string& name, const Given& value, int type) {
    if (value.values.empty()) {
      names.emplace_back();
      return;
    }
    given.push_back(value);
    b.Input(name, value.shape);
    names.push_back(name);
    if (type == onnx::TensorProto::FLOAT) return;
    names.back() += ".cast";
    b.Node("Cast", {name}, {names.back()}).Int("to", type);
  };
  constexpr int kFloat = onnx::TensorProto::FLOAT;
  add("q", in.q, kFloat);
  add("k", in.k, kFloat);
  add("v", in.v, kFloat);
  add("mask", in.mask, c.is_mask_bool ? onnx::TensorProto::BOOL : kFloat);
  add("past_key", in.past_key, kFloat);
  add("past_value", in.past_value, kFloat);
  add("lengths", {{kBatch}, c.lengths}, onnx::TensorProto::INT64);
  std::vector<std::string> outputs(wanted + 1);
  outputs[0] = kOutputs[0];
  outputs[wanted] = kOutputs[wanted];
  NodeBuilder node = b.Node("Attention", names, outputs);
  if (c.is_flat) {
    node.Int("q_num_heads", c.heads).Int("kv_num_heads", c.kv_heads);
  }
  if (c.is_causal) node.Int("is_causal", 1);
  if (c.scale != 0) node.Float("scale", c.scale);
  if (c.softcap != 0) node.Float("softcap", c.softcap);
  if (c.mode != 0) node.Int("qk_matmul_output_mode", c.mode);
  b.Output(kOutputs[wanted]);
  return b;
}

void Check(const Case& c, int output = 0) {
  const Inputs in = RandomInputs(c);
  const Outcome expected = Reference(c, in).Output(output);
  std::vector<Given> given;
  ModelBuilder model = Model(c, in, output, given);
  SCOPED_TRACE(kOutputs[output]);
  ExpectNear(RunModel(model, given), expected.shape, expected.values);
}

TEST(AttentionTest, HeadsAreADimensionOrAmongTheFeatures) {
  for (const bool is_flat : {false, true}) {
    Case c;
    c.is_flat = is_flat;
    Check(c);
    c.heads = 6;  // three for each of the keys
    Check(c);
    c.kv_heads = 1;
    Check(c);
  }
}

TEST(AttentionTest, ScaleAndSoftcapChangeTheScores) {
  Case c;
  c.scale = 0.3F;
  Check(c);
  c.softcap = 0.5F;
  Check(c);
}

TEST(AttentionTest, MasksBroadcastAndMayEndEarly) {
  const std::vector<Shape> masks = {{4},          {3, 4},       {2, 1, 4},
                                    {2, 2, 3, 4}, {2, 1, 1, 4}, {3, 2}};
  for (const Shape& mask : masks) {
    for (const bool is_bool : {false, true}) {
      Case c;
      c.mask = mask;
      c.is_mask_bool = is_bool;
      Check(c);
      c.is_causal = true;
      c.softcap = 0.5F;
      Check(c);
    }
  }
}

TEST(AttentionTest, CausalQueriesAreTheLastTokensBehindThePast) {
  for (const bool is_flat : {false, true}) {
    Case c;
    c.is_flat = is_flat;
    c.is_causal = true;
    Check(c);
    c.past = 5;
    for (const int output : {0, 1, 2}) Check(c, output);
  }
}

TEST(AttentionTest, PresentKeysAndValuesOfFlatInputsHaveHeads) {
  Case c;
  c.is_flat = true;
  for (const int output : {1, 2}) Check(c, output);
}

TEST(AttentionTest, LengthsSayWhichKeysAreValid) {
  Case c;
  c.lengths = {4, 2};
  Check(c);
  c.lengths = {4, 3};
  c.is_causal = true;
  Check(c);
}

TEST(AttentionTest, EachModeShowsAnotherStageOfTheScores) {
  Case c;
  c.mask = {3, 4};
  c.softcap = 0.5F;
  for (c.mode = 0; c.mode <= 3; ++c.mode) Check(c, 3);
}

TEST(AttentionTest, RowsWithEveryKeyMaskedAreNotANumber) {
  Case c;
  c.lengths = {4, 1};  // the first two queries of the second come before all
  c.is_causal = true;
  const Inputs in = RandomInputs(c);
  const Outcome expected = Reference(c, in).Output(0);
  EXPECT_TRUE(std::any_of(expected.values.begin(), expected.values.end(),
                          [](float y) { return std::isnan(y); }));
  Check(c);
}

// The error of a node with such inputs, attributes and constants.
void ExpectRefused(const std::vector<Shape>& inputs, const Attributes& set,
                   const std::string& words) {
  ModelBuilder b(24);
  std::vector<std::string> names;
  for (const Shape& shape : inputs) {
    names.push_back(shape.empty() ? "" : "x" + std::to_string(names.size()));
    if (!shape.empty()) b.Input(names.back(), shape);
  }
  set(b.Node("Attention", names, {"y"}));
  b.Output("y");
  const absl::Status status = ImportModelProto(b.model()).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  EXPECT_NE(std::string(status.message()).find(words), std::string::npos)
      << status;
}

TEST(AttentionTest, WhatDoesNotFitIsRefused) {
  const Shape x = {1, 2, 3, 4};
  const auto heads = [](int64_t q, int64_t kv) {
    return
        [=](NodeBuilder n) { n.Int("q_num_heads", q).Int("kv_num_heads", kv); };
  };
  ExpectRefused({x, x, {1, 3, 8}}, None, "all need three or all four");
  ExpectRefused({{1, 3, 8}, {1, 3, 8}, {1, 3, 8}}, None,
                "set attribute 'q_num_heads'");
  ExpectRefused({{1, 3, 8}, {1, 3, 8}, {1, 3, 8}}, heads(2, 3),
                "set attribute 'kv_num_heads'");
  ExpectRefused({x, x, x}, heads(4, 2), "'q_num_heads' is 4");
  ExpectRefused({x, {1, 2, 3, 5}, x}, None, "do not fit each other");
  ExpectRefused({{1, 3, 3, 4}, x, x}, None, "the 3 heads of the queries");
  ExpectRefused({x, x, x, {2, 3}}, None, "the mask of shape [2, 3]");
  ExpectRefused({x, x, x, {3, 4}}, None, "the mask of shape [3, 4]");
  ExpectRefused({x, x, x, {}, x}, None, "give both or none");
  ExpectRefused({x, x, x, {}, x, {1, 2, 2, 4}}, None,
                "[1, 2, 3, 4] and [1, 2, 3, 4] are needed");
  ExpectRefused(
      {x, x, x}, [](NodeBuilder n) { n.Float("scale", -1); }, "'scale' is -1");
  ExpectRefused(
      {x, x, x}, [](NodeBuilder n) { n.Int("softmax_precision", 7); },
      "'softmax_precision' is 7");
  ExpectRefused(
      {x, x, x}, [](NodeBuilder n) { n.Int("qk_matmul_output_mode", 4); },
      "between 0 and 3");
}

}  // namespace
}  // namespace tilewright
