// Hyperbolic functions and inverses beside the C++ library's, in double. Every
// operation is rounded as kernels do, which the interpreter of graphs does not.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/status/statusor.h"
#include "frontends/onnx/import_model.h"
#include "frontends/onnx/model_builder.h"
#include "gtest/gtest.h"
#include "tilegraph/expr/dtype.h"
#include "tilegraph/expr/expr.h"
#include "tilegraph/expr/host_tensor.h"
#include "tilegraph/interpret/interpreter.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright {
namespace {

// A prime number of floats between two that are tried.
constexpr uint32_t kStep = 16411;

struct Function {
  const char* op;
  double (*exact)(double);
};

constexpr Function kFunctions[] = {{"Sinh", std::sinh},   {"Cosh", std::cosh},
                                   {"Asinh", std::asinh}, {"Acosh", std::acosh},
                                   {"Atanh", std::atanh}, {"Asin", std::asin},
                                   {"Acos", std::acos},   {"Atan", std::atan}};

float FromBits(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

// Floats from all of them, some of each neighbourhood where another formula
// begins or the result ends, and special ones.
std::vector<float> Arguments() {
  std::vector<float> values;
  for (uint64_t bits = 0; bits <= UINT32_MAX; bits += kStep)
    values.push_back(FromBits(static_cast<uint32_t>(bits)));
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const float around :
       {0.0F, 1.0F, 0x1p-24F, 0x1p-12F, 0.5F, 2.0F, 85.5F, 88.72284F, 89.41599F,
        0x1p60F, std::numeric_limits<float>::max()}) {
    float below = around, above = around;
    for (int i = 0; i < 200; ++i) {
      for (const float value : {below, -below, above, -above})
        values.push_back(value);
      below = std::nextafter(below, -kInfinity);
      above = std::nextafter(above, kInfinity);
    }
  }
  values.push_back(std::numeric_limits<float>::quiet_NaN());
  return values;
}

// How many units in the last place of a float `found` is off; where both are
// NaN, or one infinity, or a zero of one sign: none.
double Units(float found, double exact) {
  const auto rounded = static_cast<float>(exact);
  if (std::isnan(exact) || std::isnan(found))
    return std::isnan(exact) && std::isnan(found) ? 0 : INFINITY;
  if (exact == 0)
    return found == 0 && std::signbit(found) == std::signbit(exact) ? 0
                                                                    : INFINITY;
  if (found == rounded) return 0;
  if (std::isinf(found) || std::isinf(rounded)) return INFINITY;
  const float size = std::fabs(rounded);
  const double unit =
      static_cast<double>(std::nextafter(size, INFINITY)) - size;
  return std::fabs(found - exact) / unit;
}

// One element of a node with one input: what its expression makes of it.
class Composition {
 public:
  // Of inputs of this type, of onnx::TensorProto's.
  Composition(const std::string& op, int type) {
    ModelBuilder b(22);
    b.Input("x", {2}, type).Output("y", {2}, type).Node(op, {"x"}, {"y"});
    const absl::StatusOr<ImportedModel> model = ImportModelProto(b.model());
    EXPECT_TRUE(model.ok()) << model.status();
    if (!model.ok()) return;
    const Tensor& y = model->graph.tensor(model->outputs[0].tensor);
    EXPECT_FALSE(y.compute.combiner.has_value()) << op;
    Append(y.compute.body[0]);
  }

  double Of(double x) {
    for (size_t i = 0; i < steps_.size(); ++i) {
      const Step& step = steps_[i];
      if (step.op == Op::kLoad) {
        values_[i] = {x, 0};
      } else if (step.op != Op::kConst) {
        operands_.clear();
        for (const size_t operand : step.operands)
          operands_.push_back(values_[operand]);
        values_[i] = EvaluateOp(step.op, step.dtype, step.operand_dtype,
                                operands_, /*single=*/true);
      }
    }
    return values_.empty() ? NAN : values_.back().f;
  }

 private:
  struct Step {
    Op op;
    DType dtype, operand_dtype;
    std::vector<size_t> operands;
  };
  struct Hash {
    size_t operator()(const Expr& e) const { return e.hash(); }
  };

  // The number of its step; equal expressions have one.
  size_t Append(const Expr& e) {
    const auto known = numbers_.find(e);
    if (known != numbers_.end()) return known->second;
    Step step = {e.op(), e.dtype(), e.dtype(), {}};
    Scalar value;
    if (e.op() == Op::kConst) {
      value = IsFloat(e.dtype()) ? Scalar{e.float_value(), 0}
                                 : Scalar{0, e.int_value()};
    } else if (e.op() != Op::kLoad) {
      for (const Expr& operand : e.operands())
        step.operands.push_back(Append(operand));
      step.operand_dtype = e.operands().back().dtype();
    }
    steps_.push_back(step);
    values_.push_back(value);
    return numbers_[e] = steps_.size() - 1;
  }

  std::unordered_map<Expr, size_t, Hash> numbers_;
  std::vector<Step> steps_;
  std::vector<Scalar> values_, operands_;
};

TEST(TrigonometricTest, FloatsErrByFewUnits) {
  const std::vector<float> arguments = Arguments();
  for (const Function& function : kFunctions) {
    Composition composition(function.op, onnx::TensorProto::FLOAT);
    double most = 0;
    float worst = 0;
    for (const float x : arguments) {
      const double units =
          Units(static_cast<float>(composition.Of(x)), function.exact(x));
      if (units > most) {
        most = units;
        worst = x;
      }
    }
    EXPECT_LE(most, 4) << function.op << " of " << worst;
    RecordProperty(function.op, std::to_string(most));
  }
}

TEST(TrigonometricTest, DoublesErrByAHundredTrillionth) {
  for (const Function& function : kFunctions) {
    Composition composition(function.op, onnx::TensorProto::DOUBLE);
    for (double size = 1e-20; size < 1e20; size *= 1.003) {
      for (const double x : {size, -size}) {
        const double found = composition.Of(x), exact = function.exact(x);
        if (std::isfinite(exact)) {
          EXPECT_NEAR(found, exact, 1e-14 * std::fabs(exact))
              << function.op << " of " << x;
        } else {
          EXPECT_EQ(std::isnan(found), std::isnan(exact))
              << function.op << " of " << x;
        }
      }
    }
  }
}

// Coefficients that were rounded to halves would err by more than this.
TEST(TrigonometricTest, HalvesAreComputedAsFloats) {
  for (const Function& function : kFunctions) {
    Composition composition(function.op, onnx::TensorProto::FLOAT16);
    for (double x = -10; x <= 10; x += 0x1p-5) {
      const double found = composition.Of(x), exact = function.exact(x);
      if (std::isfinite(exact)) {
        EXPECT_NEAR(found, exact, 0x1.01p-11 * std::fabs(exact))
            << function.op << " of " << x;
      } else {
        EXPECT_EQ(std::isnan(found), std::isnan(exact))
            << function.op << " of " << x;
      }
    }
  }
}

}  // namespace
}  // namespace tilewright
