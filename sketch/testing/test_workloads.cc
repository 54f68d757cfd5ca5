#include "sketch/testing/test_workloads.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/random.h"
#include "base/status_macros.h"
#include "sketch/tree/block_tree_interpreter.h"
#include "tilegraph/analysis/known_zeros.h"
#include "tilegraph/interpret/interpreter.h"

namespace tilewright::sketch {
namespace {

Expr V(int id) { return Expr::Var(id, absl::StrCat("x", id)); }
Expr F(double value) { return Expr::Float(value); }
Expr Make(Op op, Expr a, Expr b) {
  return Expr::Make(op, {std::move(a), std::move(b)});
}

std::shared_ptr<const HostTensor> DrawConstant(std::vector<int64_t> shape,
                                               uint64_t seed) {
  auto tensor = std::make_shared<HostTensor>(DType::kFloat32, std::move(shape));
  Random random(seed);
  for (int64_t i = 0; i < tensor->num_elements(); ++i)
    tensor->Set(i, Scalar{static_cast<double>(random.UniformInt(-3, 3)), 0});
  return tensor;
}

Compute Map(std::vector<Axis> axes, Expr body) {
  Compute compute;
  compute.axes = std::move(axes);
  compute.body = {std::move(body)};
  return compute;
}

Compute Reduce(std::vector<Axis> axes, std::vector<Axis> reduce_axes,
               Combiner combiner, std::vector<Expr> body) {
  Compute compute;
  compute.axes = std::move(axes);
  compute.reduce_axes = std::move(reduce_axes);
  compute.combiner = combiner;
  compute.body = std::move(body);
  return compute;
}

const Combiner kSum(Combiner::Kind::kSum, DType::kFloat32);
const Combiner kMax(Combiner::Kind::kMax, DType::kFloat32);

// X[.., y - pad, x - pad] inside, `outside` beyond; 4-d.
TensorId AddPad(TensorGraph& g, TensorId x, int64_t c, int64_t h, int64_t w,
                int64_t pad, double outside) {
  Expr y = V(2) - Expr::Int(pad), z = V(3) - Expr::Int(pad);
  Expr inside = Make(Op::kAnd,
                     Make(Op::kAnd, Make(Op::kGe, y, Expr::Int(0)),
                          Make(Op::kLt, y, Expr::Int(h))),
                     Make(Op::kAnd, Make(Op::kGe, z, Expr::Int(0)),
                          Make(Op::kLt, z, Expr::Int(w))));
  return g.AddCompute(
      "P", DType::kFloat32,
      Map({{"n", 1}, {"c", c}, {"h", h + 2 * pad}, {"w", w + 2 * pad}},
          Expr::Make(Op::kSelect,
                     {inside, g.Load(x, {V(0), V(1), y, z}), F(outside)})));
}

// The absolute error that a right tree's result may have: filters of F(4, 3)
// are rounded to f32. Inputs and weights are integers, and so are the errors of
// wrong trees.
double Tolerance(const BlockTree& tree) {
  return std::any_of(tree.buffers.begin(), tree.buffers.end(),
                     [](const Buffer& buffer) { return buffer.winograd > 2; })
             ? 1e-3
             : 0;
}

}  // namespace

Workload GemmRelu(int64_t m, int64_t n, int64_t k) {
  Workload workload;
  TensorGraph& g = workload.graph;
  TensorId a = g.AddPlaceholder("A", DType::kFloat32, {m, k});
  TensorId b = g.AddConstant("B", DrawConstant({k, n}, 1));
  TensorId bias = g.AddConstant("b", DrawConstant({n}, 2));
  TensorId t = g.AddCompute("T", DType::kFloat32,
                            Reduce({{"m", m}, {"n", n}}, {{"k", k}}, kSum,
                                   {Make(Op::kMul, g.Load(a, {V(0), V(2)}),
                                         g.Load(b, {V(2), V(1)}))}));
  Expr sum = Make(Op::kAdd, g.Load(t, {V(0), V(1)}), g.Load(bias, {V(1)}));
  TensorId y =
      g.AddCompute("Y", DType::kFloat32,
                   Map({{"m", m}, {"n", n}}, Make(Op::kMax, sum, F(0))));
  g.SetOutputs({y});
  return workload;
}

Workload ConvPadRelu(int64_t ic, int64_t oc, int64_t h, int64_t w,
                     int64_t kernel, int64_t stride, int64_t pad) {
  Workload workload;
  TensorGraph& g = workload.graph;
  TensorId x = g.AddPlaceholder("X", DType::kFloat32, {1, ic, h, w});
  TensorId weights =
      g.AddConstant("W", DrawConstant({oc, ic, kernel, kernel}, 3));
  TensorId p = AddPad(g, x, ic, h, w, pad, 0);
  int64_t oh = (h + 2 * pad - kernel) / stride + 1,
          ow = (w + 2 * pad - kernel) / stride + 1;
  std::vector<Axis> out = {{"n", 1}, {"oc", oc}, {"oh", oh}, {"ow", ow}};
  Expr load = g.Load(p, {V(0), V(4), V(2) * Expr::Int(stride) + V(5),
                         V(3) * Expr::Int(stride) + V(6)});
  TensorId c = g.AddCompute(
      "C", DType::kFloat32,
      Reduce(
          out, {{"ic", ic}, {"kh", kernel}, {"kw", kernel}}, kSum,
          {Make(Op::kMul, load, g.Load(weights, {V(1), V(4), V(5), V(6)}))}));
  TensorId y = g.AddCompute(
      "Y", DType::kFloat32,
      Map(out, Make(Op::kMax, g.Load(c, {V(0), V(1), V(2), V(3)}), F(0))));
  g.SetOutputs({y});
  return workload;
}

Workload HaloConvRelu(int64_t ic, int64_t oc, int64_t h, int64_t w,
                      int64_t kernel, int64_t stride, int64_t dilation,
                      int64_t before, int64_t after) {
  const int64_t rows = h + before + after, columns = w + before + after,
                span = (kernel - 1) * dilation + 1;
  Workload workload;
  TensorGraph& g = workload.graph;
  TensorId x = g.AddPlaceholder("X", DType::kFloat32, {1, ic, rows, columns});
  if (before + after > 0)
    workload.zeros[x] = {{0, 0, before, before}, {0, 0, after, after}};
  TensorId weights =
      g.AddConstant("W", DrawConstant({oc, ic, kernel, kernel}, 3));
  std::vector<Axis> out = {{"n", 1},
                           {"oc", oc},
                           {"oh", (rows - span) / stride + 1},
                           {"ow", (columns - span) / stride + 1}};
  const auto at = [&](int output, int tap) {
    return V(output) * Expr::Int(stride) + V(tap) * Expr::Int(dilation);
  };
  TensorId c = g.AddCompute(
      "C", DType::kFloat32,
      Reduce(out, {{"ic", ic}, {"kh", kernel}, {"kw", kernel}}, kSum,
             {Make(Op::kMul, g.Load(x, {V(0), V(4), at(2, 5), at(3, 6)}),
                   g.Load(weights, {V(1), V(4), V(5), V(6)}))}));
  TensorId y = g.AddCompute(
      "Y", DType::kFloat32,
      Map(out, Make(Op::kMax, g.Load(c, {V(0), V(1), V(2), V(3)}), F(0))));
  g.SetOutputs({y});
  return workload;
}

Workload MaxPool(int64_t c, int64_t h, int64_t w, int64_t kernel,
                 int64_t stride, int64_t pad) {
  Workload workload;
  TensorGraph& g = workload.graph;
  TensorId x = g.AddPlaceholder("X", DType::kFloat32, {1, c, h, w});
  TensorId p =
      AddPad(g, x, c, h, w, pad, -std::numeric_limits<double>::infinity());
  int64_t oh = (h + 2 * pad - kernel) / stride + 1,
          ow = (w + 2 * pad - kernel) / stride + 1;
  std::vector<Axis> out = {{"n", 1}, {"c", c}, {"oh", oh}, {"ow", ow}};
  Expr load = g.Load(p, {V(0), V(1), V(2) * Expr::Int(stride) + V(4),
                         V(3) * Expr::Int(stride) + V(5)});
  TensorId m =
      g.AddCompute("M", DType::kFloat32,
                   Reduce(out, {{"kh", kernel}, {"kw", kernel}}, kMax, {load}));
  TensorId y = g.AddCompute(
      "Y", DType::kFloat32,
      Map(out, Make(Op::kMul, g.Load(m, {V(0), V(1), V(2), V(3)}), F(2))));
  g.SetOutputs({y});
  return workload;
}

Workload Softmax(int64_t r, int64_t c) {
  Workload workload;
  TensorGraph& g = workload.graph;
  TensorId x = g.AddPlaceholder("X", DType::kFloat32, {r, c});
  std::vector<Axis> rows = {{"r", r}}, all = {{"r", r}, {"c", c}};
  TensorId m =
      g.AddCompute("M", DType::kFloat32,
                   Reduce(rows, {{"k", c}}, kMax, {g.Load(x, {V(0), V(1)})}));
  Expr shifted = Make(Op::kSub, g.Load(x, {V(0), V(1)}), g.Load(m, {V(0)}));
  TensorId e = g.AddCompute("E", DType::kFloat32,
                            Map(all, Expr::Make(Op::kExp, {shifted})));
  TensorId s =
      g.AddCompute("S", DType::kFloat32,
                   Reduce(rows, {{"k", c}}, kSum, {g.Load(e, {V(0), V(1)})}));
  TensorId y = g.AddCompute(
      "Y", DType::kFloat32,
      Map(all, Make(Op::kDiv, g.Load(e, {V(0), V(1)}), g.Load(s, {V(0)}))));
  g.SetOutputs({y});
  return workload;
}

Workload HalfSum(int64_t r, int64_t c) {
  Workload workload;
  TensorGraph& g = workload.graph;
  TensorId x = g.AddPlaceholder("X", DType::kFloat16, {r, c});
  TensorId s = g.AddCompute(
      "S", DType::kFloat16,
      Reduce({{"r", r}}, {{"k", c}}, kSum,
             {Expr::Cast(DType::kFloat32, g.Load(x, {V(0), V(1)}))}));
  Expr load = g.Load(s, {V(0)});
  TensorId y = g.AddCompute("Y", DType::kFloat16,
                            Map({{"r", r}}, Make(Op::kMul, load, load)));
  g.SetOutputs({y});
  return workload;
}

Workload ArgMax(int64_t r, int64_t c) {
  Workload workload;
  TensorGraph& g = workload.graph;
  TensorId x = g.AddPlaceholder("X", DType::kFloat32, {r, c});
  Compute compute = Reduce({{"r", r}}, {{"k", c}},
                           Combiner(Combiner::Kind::kArgMax, DType::kFloat32),
                           {g.Load(x, {V(0), V(1)}), V(1)});
  compute.result = 1;
  TensorId i = g.AddCompute("I", DType::kInt64, compute);
  TensorId y = g.AddCompute("Y", DType::kInt64,
                            Map({{"r", r}}, g.Load(i, {V(0)}) + Expr::Int(1)));
  g.SetOutputs({y});
  return workload;
}

Workload TwoOutputs(int64_t m, int64_t n) {
  Workload workload;
  TensorGraph& g = workload.graph;
  std::vector<Axis> axes = {{"m", m}, {"n", n}};
  TensorId x = g.AddPlaceholder("X", DType::kFloat32, {m, n});
  TensorId u =
      g.AddCompute("U", DType::kFloat32,
                   Map(axes, Make(Op::kMul, g.Load(x, {V(0), V(1)}), F(2))));
  TensorId v =
      g.AddCompute("V", DType::kFloat32,
                   Map(axes, Make(Op::kAdd, g.Load(u, {V(0), V(1)}), F(1))));
  TensorId y = g.AddCompute("Y", DType::kFloat32,
                            Map(axes, Make(Op::kMul, g.Load(v, {V(0), V(1)}),
                                           g.Load(u, {V(0), V(1)}))));
  g.SetOutputs({v, y});
  return workload;
}

Workload TwoGemms(int64_t m, int64_t n, int64_t k, int64_t p) {
  Workload workload;
  TensorGraph& g = workload.graph;
  TensorId a = g.AddPlaceholder("A", DType::kFloat32, {m, k});
  TensorId b = g.AddConstant("B", DrawConstant({k, n}, 4));
  TensorId c = g.AddConstant("C", DrawConstant({n, p}, 5));
  TensorId t1 = g.AddCompute("T1", DType::kFloat32,
                             Reduce({{"m", m}, {"n", n}}, {{"k", k}}, kSum,
                                    {Make(Op::kMul, g.Load(a, {V(0), V(2)}),
                                          g.Load(b, {V(2), V(1)}))}));
  TensorId t2 = g.AddCompute("T2", DType::kFloat32,
                             Reduce({{"m", m}, {"p", p}}, {{"n", n}}, kSum,
                                    {Make(Op::kMul, g.Load(t1, {V(0), V(2)}),
                                          g.Load(c, {V(2), V(1)}))}));
  g.SetOutputs({t2});
  return workload;
}

Workload DrawWorkload(uint64_t seed) {
  Random random(seed);
  auto extent = [&] {
    constexpr int64_t kExtents[] = {1, 2, 3, 5, 7, 8, 13, 16, 17};
    return kExtents[random.Index(9)];
  };
  auto small = [&] { return random.UniformInt(1, 3); };
  switch (random.Index(8)) {
    case 0:
      return GemmRelu(extent(), extent(), extent());
    case 1:
      return ConvPadRelu(small(), extent(), 3 + extent() % 9, 3 + extent() % 9,
                         small(), small(), random.UniformInt(0, 2));
    case 2:
      return MaxPool(extent(), 3 + extent() % 9, 3 + extent() % 9, small(),
                     small(), random.UniformInt(0, 1));
    case 3:
      return Softmax(extent(), extent());
    case 4:
      return HalfSum(extent(), extent());
    case 5:
      return ArgMax(extent(), extent());
    case 6:
      return TwoOutputs(extent(), extent());
    default:
      return TwoGemms(extent(), extent(), extent(), extent());
  }
}

absl::Status CheckTree(const BlockTree& tree, const Workload& workload,
                       uint64_t seed) {
  Random random(seed);
  std::map<TensorId, HostTensor> inputs;
  for (const Tensor& tensor : workload.graph.tensors()) {
    if (tensor.kind != TensorKind::kPlaceholder) continue;
    HostTensor value(tensor.dtype, tensor.static_shape());
    for (int64_t i = 0; i < value.num_elements(); ++i) {
      int64_t drawn = random.UniformInt(-4, 4);
      value.Set(i, Scalar{static_cast<double>(drawn), drawn});
    }
    inputs.emplace(tensor.id, std::move(value));
  }
  FillKnownZeros(workload.zeros, inputs);
  TW_ASSIGN_OR_RETURN(std::unique_ptr<Interpreter> reference,
                      Interpreter::Create(workload.graph, inputs, {}));
  const double tolerance = Tolerance(tree);
  for (bool last_task_first : {false, true}) {
    BlockTreeRunOptions options;
    options.last_task_first = last_task_first;
    using Outputs = std::map<TensorId, HostTensor>;
    TW_ASSIGN_OR_RETURN(Outputs outputs,
                        RunBlockTree(tree, workload, inputs, options));
    for (TensorId id : workload.graph.outputs()) {
      TW_ASSIGN_OR_RETURN(HostTensor expected, reference->Evaluate(id));
      if (outputs.count(id) == 0)
        return absl::InternalError(
            absl::StrCat(workload.graph.tensor(id).name, " is not computed"));
      for (int64_t i = 0; i < expected.num_elements(); ++i) {
        Scalar want = expected.Get(i), got = outputs.at(id).Get(i);
        bool equal = IsFloat(expected.dtype())
                         ? (want.f == got.f ||
                            (std::isnan(want.f) && std::isnan(got.f)) ||
                            std::abs(want.f - got.f) <=
                                1e-6 * std::abs(want.f) + tolerance)
                         : want.i == got.i;
        if (!equal) {
          return absl::InternalError(absl::StrCat(
              workload.graph.tensor(id).name, " element ", i, " is ", got.f,
              "|", got.i, ", not ", want.f, "|", want.i));
        }
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace tilewright::sketch
