#include "frontends/onnx/schema/type_rules.h"

#include <map>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace tilewright {
namespace {

constexpr TypeSet kBool = Bit(DType::kBool);
constexpr TypeSet kI16 = Bit(DType::kInt16);
constexpr TypeSet kI32 = Bit(DType::kInt32);
constexpr TypeSet kI64 = Bit(DType::kInt64);
constexpr TypeSet kU16 = Bit(DType::kUInt16);
constexpr TypeSet kU32 = Bit(DType::kUInt32);
constexpr TypeSet kU64 = Bit(DType::kUInt64);
constexpr TypeSet kF16 = Bit(DType::kFloat16);
constexpr TypeSet kBf16 = Bit(DType::kBFloat16);
constexpr TypeSet kF32 = Bit(DType::kFloat32);
constexpr TypeSet kF64 = Bit(DType::kFloat64);
constexpr TypeSet kByte = Bit(DType::kInt8) | Bit(DType::kUInt8);
constexpr TypeSet kIndex = kI32 | kI64;
constexpr TypeSet kUnsigned = Bit(DType::kUInt8) | kU16 | kU32 | kU64;
constexpr TypeSet kInteger = kUnsigned | Bit(DType::kInt8) | kI16 | kIndex;

// Older definitions lack bf16.
constexpr TypeSet kOldFloat = kF16 | kF32 | kF64;
constexpr TypeSet kFloat = kOldFloat | kBf16;
constexpr TypeSet kOldWide = kIndex | kU32 | kU64 | kOldFloat;
constexpr TypeSet kWide = kOldWide | kBf16;
constexpr TypeSet kOldSigned = Bit(DType::kInt8) | kI16 | kIndex | kOldFloat;
constexpr TypeSet kSigned = kOldSigned | kBf16;
constexpr TypeSet kOldNumber = kOldWide | kByte | kI16 | kU16;
constexpr TypeSet kNumber = kOldNumber | kBf16;
constexpr TypeSet kOld = kOldNumber | kBool;
constexpr TypeSet kAll = kNumber | kBool;

// An operator of ai.onnx from one opset until its next row: the types of its
// inputs. After the last one that is given, inputs have the types of that.
struct TypeRule {
  const char* ops;  // may be several, separated by spaces
  int since;
  TypeSet inputs[9];
};

constexpr TypeRule kRules[] = {
    {"Not", 6, {kBool}},
    {"Upsample", 6, {kBool | kIndex | kOldFloat}},
    {"Equal", 6, {kBool | kIndex}},
    {"Cast Concat DepthToSpace Identity Shape Size Slice SpaceToDepth Split "
     "Squeeze Transpose Unsqueeze",
     6,
     {kOld}},
    {"Gather", 6, {kOld, kIndex}},
    {"Reshape Tile", 6, {kOld, kI64}},
    {"And Or Xor", 6, {kBool}},
    {"AveragePool Ceil Clip Dropout Elu Exp Flatten Floor GlobalAveragePool "
     "GlobalLpPool GlobalMaxPool HardSigmoid Hardmax LRN LeakyRelu Log "
     "LogSoftmax LpNormalization LpPool Max MaxPool Mean Min Pad Reciprocal "
     "Relu Selu Sigmoid Softmax Softplus Softsign Sqrt Sum Tanh",
     6,
     {kOldFloat}},
    {"Greater Less MatMul PRelu Pow", 6, {kOldFloat}},
    {"Conv ConvTranspose Gemm InstanceNormalization", 6, {kOldFloat}},
    {"BatchNormalization", 6, {kOldFloat}},
    {"ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean "
     "ReduceMin ReduceProd ReduceSum ReduceSumSquare",
     6,
     {kOldWide}},
    {"Add Div Mul Sub", 6, {kOldWide}},
    {"Neg", 6, {kOldSigned}},
    {"Abs ArgMax ArgMin", 6, {kOldNumber}},
    {"TopK", 6, {kOldFloat}},
    {"Upsample", 7, {kOld}},
    {"Acos Asin Atan Cos Sin Tan", 7, {kOldFloat}},
    {"RNN GRU LSTM",
     7,
     {kOldFloat, kOldFloat, kOldFloat, kOldFloat, kI32, kOldFloat}},
    {"Expand", 8, {kOld, kI64}},
    {"EyeLike Flatten", 9, {kOld}},
    {"Upsample", 9, {kOld, kF32}},
    {"Scatter", 9, {kOld, kIndex, kOld}},
    {"Where", 9, {kBool, kOld}},
    {"Acosh Asinh Atanh Cosh IsNaN MeanVarianceNormalization Sinh",
     9,
     {kOldFloat}},
    {"MatMul PRelu", 9, {kOldWide}},
    {"Gemm", 9, {kOldWide}},
    {"ConstantOfShape", 9, {kI64}},
    {"Erf Shrink Sign", 9, {kOldNumber}},
    {"Greater Less", 9, {kOldNumber}},
    {"OneHot", 9, {kOldNumber, kOldNumber, kOld}},
    {"Resize", 10, {kOld, kF32}},
    {"Slice", 10, {kOld, kIndex}},
    {"ThresholdedRelu", 10, {kOldFloat}},
    {"MaxUnpool", 9, {kOldFloat, kI64}},
    {"IsInf", 10, {kF32 | kF64}},
    {"QuantizeLinear", 10, {kI32 | kF32, kF32, kByte}},
    {"RoiAlign", 10, {kOldFloat, kOldFloat, kI64}},
    {"Mod", 10, {kOldNumber}},
    {"TopK", 10, {kOldFloat, kI64}},
    {"ReverseSequence", 10, {kOld, kI64}},
    {"DequantizeLinear", 10, {kByte | kI32, kF32, kByte | kI32}},
    {"QLinearMatMul",
     10,
     {kByte, kF32, kByte, kByte, kF32, kByte, kF32, kByte}},
    {"QLinearConv",
     10,
     {kByte, kF32, kByte, kByte, kF32, kByte, kF32, kByte, kI32}},
    {"ConvInteger MatMulInteger", 10, {kByte}},
    {"Equal", 11, {kOld}},
    {"Resize", 11, {kOld, kOldFloat, kF32, kI64}},
    {"GatherElements", 11, {kOld, kIndex}},
    {"ScatterElements", 11, {kOld, kIndex, kOld}},
    {"GatherND", 11, {kOld, kI64}},
    {"TopK", 11, {kOldNumber, kI64}},
    {"ScatterND", 11, {kOld, kI64, kOld}},
    {"DynamicQuantizeLinear", 11, {kF32}},
    {"Det Round", 11, {kOldFloat}},
    {"Clip", 11, {kOldFloat}},
    {"BitShift", 11, {kUnsigned}},
    {"Range", 11, {kI16 | kIndex | kF32 | kF64}},
    {"CumSum", 11, {kIndex | kU32 | kU64 | kF32 | kF64, kIndex}},
    {"Pad", 11, {kOldNumber, kI64, kOldNumber}},
    {"Dropout", 12, {kOldFloat, kOldFloat, kBool}},
    {"NegativeLogLikelihoodLoss SoftmaxCrossEntropyLoss",
     12,
     {kOldFloat, kIndex, kOldFloat}},
    {"Celu", 12, {kF32}},
    {"Pow", 12, {kIndex | kOldFloat, kOldNumber}},
    {"Einsum Max Min", 12, {kOldNumber}},
    {"GreaterOrEqual LessOrEqual", 12, {kOldNumber}},
    {"Clip", 12, {kOldNumber}},
    {"ReduceMax ReduceMin", 12, {kByte | kOldWide}},
    {"MaxPool", 12, {kByte | kOldFloat}},
    {"Cast Concat DepthToSpace Flatten Identity Shape Size SpaceToDepth "
     "Transpose",
     13,
     {kAll}},
    {"Equal", 13, {kAll}},
    {"Resize", 13, {kAll, kOldFloat, kF32, kI64}},
    {"Gather GatherElements", 13, {kAll, kIndex}},
    {"ScatterElements", 13, {kAll, kIndex, kAll}},
    {"Slice", 13, {kAll, kIndex}},
    {"Expand GatherND Reshape Split Squeeze Tile Unsqueeze", 13, {kAll, kI64}},
    {"Pad ScatterND", 13, {kAll, kI64, kAll}},
    {"Ceil Exp Floor Hardmax IsNaN LRN Log LogSoftmax Mean "
     "MeanVarianceNormalization Reciprocal Relu Sigmoid Softmax Sqrt Sum Tanh",
     13,
     {kFloat}},
    {"Dropout", 13, {kFloat, kOldFloat, kBool}},
    {"SoftmaxCrossEntropyLoss", 13, {kFloat, kIndex, kFloat}},
    {"Pow", 13, {kIndex | kFloat, kOldNumber}},
    {"ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMean ReduceProd "
     "ReduceSumSquare",
     13,
     {kWide}},
    {"Add Div MatMul Mul Sub", 13, {kWide}},
    {"Gemm", 13, {kWide}},
    {"ReduceSum", 13, {kWide, kI64}},
    {"Neg", 13, {kSigned}},
    {"Abs ArgMax ArgMin Erf Max Min Sign", 13, {kNumber}},
    {"Greater Less Mod", 13, {kNumber}},
    {"Clip", 13, {kNumber}},
    {"ReduceMax ReduceMin", 13, {kByte | kWide}},
    {"Trilu", 14, {kAll, kI64}},
    {"BatchNormalization", 14, {kFloat}},
    {"HardSwish", 14, {kOldFloat}},
    {"CumSum", 14, {kWide, kIndex}},
    {"Relu", 14, {kSigned}},
    {"Add Div Mul Sub", 14, {kNumber}},
    {"CastLike", 15, {kAll}},
    {"Pow", 15, {kIndex | kFloat, kNumber}},
    {"Where", 16, {kBool, kAll}},
    {"LeakyRelu", 16, {kFloat}},
    {"PRelu", 16, {kWide}},
    {"GreaterOrEqual LessOrEqual", 16, {kNumber}},
    {"GridSample", 16, {kOld}},
    {"LayerNormalization", 17, {kFloat}},
    {"BlackmanWindow HammingWindow HannWindow", 17, {kIndex}},
    {"MelWeightMatrix", 17, {kIndex, kIndex, kIndex, kFloat}},
    {"DFT", 17, {kFloat, kIndex}},
    {"STFT", 17, {kFloat, kIndex, kFloat, kIndex}},
    // By the documents: the library that is installed ends with opset 17.
    {"ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMean ReduceProd "
     "ReduceSumSquare",
     18,
     {kWide, kI64}},
    {"ReduceMax ReduceMin", 18, {kByte | kWide, kI64}},
    {"Pad", 18, {kAll, kI64, kAll, kIndex}},
    {"CenterCropPad", 18, {kAll, kIndex}},
    {"GroupNormalization", 18, {kFloat}},
    {"BitwiseAnd BitwiseNot BitwiseOr BitwiseXor", 18, {kInteger}},
    {"Mish", 18, {kOldFloat}},
    {"Col2Im", 18, {kAll, kI64}},
    {"DeformConv", 19, {kOldFloat}},
    {"DequantizeLinear", 19, {kByte | kI32, kF16 | kBf16 | kF32, kByte | kI32}},
    {"QuantizeLinear",
     19,
     {kI32 | kF16 | kBf16 | kF32, kI32 | kF16 | kBf16 | kF32, kByte}},
    {"Gelu IsInf", 20, {kFloat}},
    {"GridSample", 20, {kOld, kOldFloat}},
    {"AffineGrid", 20, {kFloat, kI64}},
    {"DFT", 20, {kFloat, kIndex, kI64}},
    {"ReduceMax ReduceMin", 20, {kBool | kByte | kWide, kI64}},
    {"DequantizeLinear",
     21,
     {kByte | kI16 | kU16 | kI32, kF16 | kBf16 | kF32,
      kByte | kI16 | kU16 | kI32}},
    {"QuantizeLinear",
     21,
     {kI32 | kF16 | kBf16 | kF32, kI32 | kF16 | kBf16 | kF32,
      kByte | kI16 | kU16}},
    {"QLinearMatMul",
     21,
     {kByte, kF16 | kBf16 | kF32, kByte, kByte, kF16 | kBf16 | kF32, kByte,
      kF16 | kBf16 | kF32, kByte}},
    {"Acos Acosh Asin Asinh Atan Atanh AveragePool Conv ConvTranspose Cos Cosh "
     "DeformConv Det Elu GlobalAveragePool GlobalLpPool GlobalMaxPool "
     "HardSigmoid HardSwish InstanceNormalization LpNormalization LpPool Mish "
     "Round Selu Sin Sinh Softplus Softsign Tan ThresholdedRelu",
     22,
     {kFloat}},
    {"Dropout", 22, {kFloat, kFloat, kBool}},
    {"RNN GRU LSTM", 22, {kFloat, kFloat, kFloat, kFloat, kI32, kFloat}},
    {"EyeLike", 22, {kAll}},
    {"GridSample", 22, {kAll, kFloat}},
    {"MaxPool", 22, {kByte | kFloat}},
    {"MaxUnpool", 22, {kFloat, kI64}},
    {"RoiAlign", 22, {kFloat, kFloat, kI64}},
    {"NegativeLogLikelihoodLoss", 22, {kFloat, kIndex, kFloat}},
    {"RMSNormalization", 23, {kFloat}},
    {"RotaryEmbedding",
     23,
     {kF16 | kBf16 | kF32, kF16 | kBf16 | kF32, kF16 | kBf16 | kF32, kI64}},
    {"Attention",
     23,
     {kFloat, kFloat, kFloat, kBool | kFloat, kFloat, kFloat, kI64}},
    {"Swish", 24, {kFloat}},
    {"TensorScatter", 24, {kAll, kAll, kI64}},
    {"TopK", 24, {kNumber, kI64}},
};

using RulesByOp = std::map<std::string, std::vector<const TypeRule*>>;

RulesByOp SplitRules() {
  RulesByOp result;
  for (const TypeRule& rule : kRules) {
    for (const std::string& op :
         std::vector<std::string>(absl::StrSplit(rule.ops, ' ')))
      result[op].push_back(&rule);
  }
  return result;
}

}  // namespace

TypeSet TypesOf(const std::string& op, int64_t opset, int input) {
  static const RulesByOp& rules = *new RulesByOp(SplitRules());
  const auto at = rules.find(op);
  if (at == rules.end()) return kAll;
  TypeSet types = kAll;
  for (const TypeRule* rule : at->second) {
    if (opset < rule->since) break;
    for (int i = 0; i <= input && rule->inputs[i] != 0; ++i)
      types = rule->inputs[i];
  }
  return types;
}

std::string TypesText(TypeSet types) {
  std::vector<std::string> names;
  for (int d = 0; d <= static_cast<int>(DType::kFloat64); ++d) {
    const DType dtype = static_cast<DType>(d);
    if (types & Bit(dtype)) names.emplace_back(Name(dtype));
  }
  std::string text;
  for (size_t i = 0; i < names.size(); ++i) {
    absl::StrAppend(&text,
                    i == 0                  ? ""
                    : i + 1 == names.size() ? " or "
                                            : ", ",
                    names[i]);
  }
  return text;
}

}  // namespace tilewright
