#include "frontends/onnx/schema/attribute_rules.h"

#include <map>
#include <set>

#include "absl/strings/str_split.h"

namespace tilewright {
namespace {

using Type = Attribute::Type;

constexpr Presence kRequired = Presence::kRequired;
constexpr int kEver = 1000;

constexpr AttributeDomain kInt = {Type::kInt};
constexpr AttributeDomain kPositive = {Type::kInt, 1};
constexpr AttributeDomain kNatural = {Type::kInt, 0};
constexpr AttributeDomain kFlag = {Type::kInt, 0, 1};
constexpr AttributeDomain kInts = {Type::kInts};
constexpr AttributeDomain kPositives = {Type::kInts, 1};
constexpr AttributeDomain kNaturals = {Type::kInts, 0};
constexpr AttributeDomain kFloat = {Type::kFloat};
constexpr AttributeDomain kFloats = {Type::kFloats};
constexpr AttributeDomain kText = {Type::kString};
constexpr AttributeDomain kTensor = {Type::kTensor};
constexpr AttributeDomain kGraph = {Type::kGraph};
constexpr AttributeDomain kOther = {Type::kOther};
constexpr AttributeDomain Words(const char* words) {
  return {Type::kString, INT64_MIN, INT64_MAX, words};
}

constexpr const char* kConvolutions =
    "Conv ConvInteger QLinearConv ConvTranspose";
constexpr const char* kPools = "AveragePool LpPool MaxPool";
constexpr const char* kReductions =
    "ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean "
    "ReduceMin ReduceProd ReduceSumSquare";

constexpr const char* kRecurrent = "RNN GRU LSTM";

// `op` and `name` may be several, separated by spaces.
constexpr AttributeRule kRules[] = {
    // Windows.
    {kConvolutions, "auto_pad", Words("NOTSET SAME_UPPER SAME_LOWER VALID")},
    {kConvolutions, "dilations", kPositives},
    {kConvolutions, "group", kPositive},
    {kConvolutions, "kernel_shape", kPositives},
    {kConvolutions, "pads", kNaturals},
    {kConvolutions, "strides", kPositives},
    {"DeformConv", "dilations kernel_shape strides", kPositives, 19},
    {"DeformConv", "pads", kNaturals, 19},
    {"DeformConv", "group offset_group", kPositive, 19},
    {"Col2Im", "dilations strides", kPositives, 18},
    {"Col2Im", "pads", kNaturals, 18},
    {"ConvTranspose", "output_padding", kNaturals},
    {"ConvTranspose", "output_shape", kNaturals},
    {kPools, "auto_pad", Words("NOTSET SAME_UPPER SAME_LOWER VALID")},
    {kPools, "kernel_shape", kPositives, 2, kEver, kRequired},
    {kPools, "pads", kNaturals},
    {kPools, "strides", kPositives},
    {"AveragePool", "count_include_pad", kFlag, 7},
    {"AveragePool", "ceil_mode", kFlag, 10},
    {"AveragePool", "dilations", kPositives, 19},
    {"GlobalLpPool LpPool", "p", kPositive, 2},
    {"LpPool", "ceil_mode", kFlag, 18},
    {"LpPool", "dilations", kPositives, 18},
    {"MaxPool", "storage_order", kFlag, 8},
    {"MaxPool", "ceil_mode", kFlag, 10},
    {"MaxPool", "dilations", kPositives, 10},
    {"MaxUnpool", "kernel_shape", kPositives, 9, kEver, kRequired},
    {"MaxUnpool", "pads", kNaturals},
    {"MaxUnpool", "strides", kPositives},

    // Reductions and positions.
    {kReductions, "keepdims", kFlag},
    {kReductions, "axes", kInts, 1, 18},
    {kReductions, "noop_with_empty_axes", kFlag, 18},
    {"ReduceSum", "keepdims", kFlag},
    {"ReduceSum", "axes", kInts, 1, 13},
    {"ReduceSum", "noop_with_empty_axes", kFlag, 13},
    {"ArgMax ArgMin", "axis", kInt},
    {"ArgMax ArgMin", "keepdims", kFlag},
    {"ArgMax ArgMin", "select_last_index", kFlag, 12},
    {"CumSum", "exclusive reverse", kFlag},
    {"TopK", "axis", kInt},
    {"TopK", "k", kPositive, 1, 10, kRequired},
    {"TopK", "largest sorted", kFlag, 11},
    {"Softmax LogSoftmax Hardmax", "axis", kInt},

    // Normalisations and losses.
    {"BatchNormalization", "epsilon momentum", kFloat},
    {"BatchNormalization", "is_test", kFlag, 1, 7},
    {"BatchNormalization", "spatial", kFlag, 1, 9},
    {"BatchNormalization", "training_mode", kFlag, 14},
    {"InstanceNormalization", "epsilon", kFloat},
    {"LayerNormalization RMSNormalization", "axis stash_type", kInt},
    {"LayerNormalization RMSNormalization", "epsilon", kFloat},
    {"GroupNormalization", "epsilon", kFloat},
    {"GroupNormalization", "num_groups", kPositive, 18, kEver, kRequired},
    {"GroupNormalization", "stash_type", kInt, 21},
    {"MeanVarianceNormalization", "axes", kInts, 9},
    {"LRN", "alpha beta bias", kFloat},
    {"LRN", "size", kPositive, 1, kEver, kRequired},
    {"LpNormalization", "axis", kInt},
    {"LpNormalization", "p", {Type::kInt, 1, 2}},
    {"NegativeLogLikelihoodLoss SoftmaxCrossEntropyLoss", "ignore_index", kInt},
    {"NegativeLogLikelihoodLoss SoftmaxCrossEntropyLoss", "reduction",
     Words("none sum mean")},

    // Attention.
    {"Attention", "is_causal", kFlag, 23},
    {"Attention", "q_num_heads kv_num_heads", kPositive, 23},
    {"Attention", "scale softcap", kFloat, 23},
    {"Attention", "softmax_precision", kInt, 23},
    {"Attention", "qk_matmul_output_mode", {Type::kInt, 0, 3}, 23},
    {"RotaryEmbedding", "interleaved", kFlag, 23},
    {"RotaryEmbedding", "num_heads rotary_embedding_dim", kNatural, 23},

    // Signals.
    {"BlackmanWindow HammingWindow HannWindow", "periodic", kFlag, 17},
    {"BlackmanWindow HammingWindow HannWindow MelWeightMatrix",
     "output_datatype", kInt, 17},
    {"DFT", "axis", kInt, 17, 20},
    {"DFT", "inverse onesided", kFlag, 17},
    {"STFT", "onesided", kFlag, 17},

    // Recurrent networks.
    {kRecurrent, "activation_alpha activation_beta", kFloats},
    {kRecurrent, "activations", {Type::kStrings}},
    {kRecurrent, "clip", kFloat},
    {kRecurrent, "direction", Words("forward reverse bidirectional")},
    {kRecurrent, "hidden_size", kPositive},
    {kRecurrent, "layout", kFlag, 14},
    {"GRU", "linear_before_reset", kInt},
    {"LSTM", "input_forget", kFlag},
    {"ReverseSequence", "batch_axis time_axis", {Type::kInt, 0, 1}, 10},

    // Elementwise.
    {"Add Sub Mul Div And Or Xor", "axis", kInt, 1, 7},
    {"Add Sub Mul Div And Or Xor", "broadcast", kFlag, 1, 7},
    {"Mod", "fmod", kFlag},
    {"BitShift", "direction", Words("LEFT RIGHT"), 11, kEver, kRequired},
    {"IsInf", "detect_negative detect_positive", kFlag},
    {"Clip", "min max", kFloat, 1, 11},
    {"Celu Elu LeakyRelu Swish ThresholdedRelu", "alpha", kFloat},
    {"HardSigmoid", "alpha beta", kFloat},
    {"Selu", "alpha gamma", kFloat},
    {"Shrink", "bias lambd", kFloat},
    {"Gelu", "approximate", Words("none tanh")},
    {"Cast", "to", kInt, 6, kEver, kRequired},
    {"Cast CastLike", "saturate", kFlag, 19},
    {"Cast CastLike", "round_mode", Words("up down nearest"), 24},
    {"Dropout", "ratio", kFloat, 1, 12},
    {"Dropout", "is_test", kFlag, 1, 7},
    {"Dropout", "seed", kInt, 12},
    {"QuantizeLinear DequantizeLinear", "axis", kInt, 13},
    {"QuantizeLinear DequantizeLinear", "block_size", kNatural, 21},
    {"QuantizeLinear", "saturate", kFlag, 19},
    {"QuantizeLinear", "output_dtype", kNatural, 21},
    {"QuantizeLinear", "precision", kNatural, 23},
    {"DequantizeLinear", "output_dtype", kNatural, 23},

    // Products.
    {"Gemm", "alpha beta", kFloat},
    {"Gemm", "transA transB", kFlag},
    {"Gemm", "broadcast", kFlag, 1, 7},
    {"Einsum", "equation", kText, 12, kEver, kRequired},

    // Shapes and moves.
    {"Concat", "axis", kInt, 4, kEver, kRequired},
    {"Flatten Gather GatherElements OneHot Scatter ScatterElements Split",
     "axis", kInt},
    {"GatherND", "batch_dims", kNatural, 12},
    {"TensorScatter", "axis", kInt, 24},
    {"TensorScatter", "mode", Words("linear circular"), 24},
    {"ScatterElements ScatterND", "reduction", Words("none add mul"), 16, 18},
    {"ScatterElements ScatterND", "reduction", Words("none add mul max min"),
     18},
    {"Reshape", "allowzero", kFlag, 14},
    {"Shape", "start end", kInt, 15},
    {"Squeeze", "axes", kInts, 1, 13},
    {"Unsqueeze", "axes", kInts, 1, 13, kRequired},
    {"Transpose", "perm", kNaturals},
    {"Trilu", "upper", kFlag},
    {"EyeLike", "dtype k", kInt},
    {"DepthToSpace SpaceToDepth", "blocksize", kPositive, 1, kEver, kRequired},
    {"DepthToSpace", "mode", Words("DCR CRD"), 11},
    {"Slice", "starts ends", kInts, 1, 10, kRequired},
    {"Slice", "axes", kInts, 1, 10},
    {"Split", "split", kNaturals, 1, 13},
    {"Split", "num_outputs", kPositive, 18},
    {"Pad", "mode", Words("constant reflect edge"), 1, 19},
    {"Pad", "mode", Words("constant reflect edge wrap"), 19},
    {"Pad", "pads", kInts, 2, 11, kRequired},
    {"Pad", "value", kFloat, 1, 11},
    {"CenterCropPad", "axes", kInts, 18},
    {"Upsample", "mode", Words("nearest linear bilinear")},
    {"Upsample", "scales", kFloats, 7, 9, kRequired},
    {"Resize", "mode", Words("nearest linear"), 10, 11},
    {"Resize", "mode", Words("nearest linear cubic"), 11},
    {"Resize", "coordinate_transformation_mode",
     Words("half_pixel pytorch_half_pixel align_corners asymmetric "
           "tf_half_pixel_for_nn tf_crop_and_resize"),
     11, 13},
    {"Resize", "coordinate_transformation_mode",
     Words("half_pixel pytorch_half_pixel align_corners asymmetric "
           "tf_crop_and_resize"),
     13, 19},
    {"Resize", "coordinate_transformation_mode",
     Words("half_pixel half_pixel_symmetric pytorch_half_pixel align_corners "
           "asymmetric tf_crop_and_resize"),
     19},
    {"Resize", "nearest_mode",
     Words("round_prefer_floor round_prefer_ceil floor ceil"), 11},
    {"Resize", "cubic_coeff_a extrapolation_value", kFloat, 11},
    {"Resize", "exclude_outside", kFlag, 11},
    {"Resize", "antialias", kFlag, 18},
    {"Resize", "axes", kInts, 18},
    {"Resize", "keep_aspect_ratio_policy",
     Words("stretch not_larger not_smaller"), 18},
    {"AffineGrid", "align_corners", kFlag, 20},
    {"GridSample", "align_corners", kFlag, 16},
    {"GridSample", "mode", Words("bilinear nearest bicubic"), 16, 20},
    {"GridSample", "mode", Words("linear nearest cubic"), 20},
    {"GridSample", "padding_mode", Words("zeros border reflection"), 16},
    {"RoiAlign", "mode", Words("avg max"), 10},
    {"RoiAlign", "output_height output_width", kPositive, 10},
    {"RoiAlign", "sampling_ratio", kNatural, 10},
    {"RoiAlign", "spatial_scale", kFloat, 10},
    {"RoiAlign", "coordinate_transformation_mode",
     Words("half_pixel output_half_pixel"), 16},
    {"Constant", "value", kTensor, 1, 11, kRequired},
    {"Constant", "value", kTensor, 11},
    {"Constant", "sparse_value", kOther, 11},
    {"Constant", "value_float", kFloat, 12},
    {"Constant", "value_floats", kFloats, 12},
    {"Constant", "value_int", kInt, 12},
    {"Constant", "value_ints", kInts, 12},
    {"Constant", "value_string", kText, 12},
    {"Constant", "value_strings", {Type::kStrings}, 12},
    {"ConstantOfShape", "value", kTensor},
    {"If", "then_branch else_branch", kGraph, 1, kEver, kRequired},
    {"Loop Scan SequenceMap", "body", kGraph, 1, kEver, kRequired},
    {"ConcatFromSequence", "axis", kInt, 11, kEver, kRequired},
    {"ConcatFromSequence", "new_axis", kFlag, 11},
    {"SequenceEmpty", "dtype", kInt, 11},
    {"SplitToSequence", "axis", kInt, 11},
    {"SplitToSequence", "keepdims", kFlag, 11},
    {"Scan", "num_scan_inputs", kPositive, 8, kEver, kRequired},
    {"Scan", "scan_input_axes scan_output_axes", kInts, 9},
    {"Scan",
     "scan_input_directions scan_output_directions",
     {Type::kInts, 0, 1},
     9},
    {"Scan", "directions", {Type::kInts, 0, 1}, 8, 9},
};

std::vector<std::string> Split(const char* names) {
  return absl::StrSplit(names, ' ');
}

using RulesByOp = std::map<std::string, std::vector<AttributeRule>>;

// A rule for each operator and attribute that those above name together.
RulesByOp SplitRules() {
  RulesByOp result;
  auto& names = *new std::set<std::string>;  // live for ever
  const auto keep = [&](const std::string& name) {
    return names.insert(name).first->c_str();
  };
  for (const AttributeRule& rule : kRules) {
    for (const std::string& op : Split(rule.op)) {
      for (const std::string& name : Split(rule.name)) {
        AttributeRule one = rule;
        one.op = keep(op);
        one.name = keep(name);
        result[op].push_back(one);
      }
    }
  }
  return result;
}

}  // namespace

std::vector<const AttributeRule*> RulesOf(const std::string& op,
                                          int64_t opset) {
  static const RulesByOp& rules = *new RulesByOp(SplitRules());
  std::vector<const AttributeRule*> result;
  const auto at = rules.find(op);
  if (at == rules.end()) return result;
  for (const AttributeRule& rule : at->second) {
    if (opset >= rule.since && opset < rule.until) result.push_back(&rule);
  }
  return result;
}

}  // namespace tilewright
