#include "tilegraph/analysis/families.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/string_view.h"
#include "tilegraph/analysis/access.h"
#include "tilegraph/analysis/row_space.h"
#include "tilegraph/expr/expr_vars.h"
#include "tilegraph/expr/index_eval.h"

namespace tilewright {
namespace {

bool IsZero(const Expr& e) {
  if (e.op() != Op::kConst) return false;
  return IsFloat(e.dtype()) ? e.float_value() == 0 : e.int_value() == 0;
}

// The load behind casts and guards; empty if there is none.
Expr LoadOf(const Expr& factor) {
  if (factor.op() == Op::kLoad) return factor;
  if (factor.op() == Op::kCast) return LoadOf(factor.operand(0));
  if (factor.op() == Op::kSelect && IsZero(factor.operand(2)))
    return LoadOf(factor.operand(1));
  if (factor.op() == Op::kSelect && IsZero(factor.operand(1)))
    return LoadOf(factor.operand(2));
  return Expr();
}

Expr Product(const Expr& body) {
  if (body.op() == Op::kCast) return Product(body.operand(0));
  return body.op() == Op::kMul ? body : Expr();
}

// The operands of a sum of products of two loads.
std::optional<std::pair<Expr, Expr>> OperandsOf(const Tensor& tensor) {
  const Compute& compute = tensor.compute;
  if (tensor.kind != TensorKind::kCompute || !compute.combiner ||
      compute.combiner->kind() != Combiner::Kind::kSum)
    return std::nullopt;
  const Expr product = Product(compute.body[0]);
  if (!product) return std::nullopt;
  std::pair<Expr, Expr> operands = {LoadOf(product.operand(0)),
                                    LoadOf(product.operand(1))};
  if (!operands.first || !operands.second) return std::nullopt;
  return operands;
}

// By axis: whether an index of the load moves with it.
std::vector<bool> AxesOf(const Expr& load, size_t axes) {
  std::vector<bool> moves(axes, false);
  for (const Expr& index : load.operands()) {
    Visit(index, [&](const Expr& e) {
      if (e.op() == Op::kVar) moves[e.var_id()] = true;
    });
  }
  return moves;
}

// The same but for remainders, which only choose among a few, as among the taps
// of a transposed convolution.
void AddAxesBeyondRemainders(const Expr& index, std::vector<bool>& moves) {
  if (index.op() == Op::kFloorMod) return;
  if (index.op() == Op::kVar) moves[index.var_id()] = true;
  for (const Expr& operand : index.operands())
    AddAxesBeyondRemainders(operand, moves);
}

size_t AxesIn(const Compute& compute) {
  return compute.axes.size() + compute.reduce_axes.size();
}

int64_t ExtentOf(const Compute& compute, size_t axis) {
  const size_t spatial = compute.axes.size();
  return (axis < spatial ? compute.axes[axis]
                         : compute.reduce_axes[axis - spatial])
      .extent.value();
}

// Whether the pixel moves nothing but phases of it.
bool MovesPhaseOnly(const Expr& index, int pixel) {
  if (index.op() == Op::kVar) return index.var_id() != pixel;
  if (index.op() == Op::kFloorMod) return true;
  return std::all_of(
      index.operands().begin(), index.operands().end(),
      [&](const Expr& operand) { return MovesPhaseOnly(operand, pixel); });
}

bool CanBeFilter(const Expr& load, int spatial) {
  bool channels = false;
  for (const Expr& index : load.operands()) {
    channels |= Mentions(index, ConvolutionRoles::kChannels);
    if (Mentions(index, ConvolutionRoles::kImages)) return false;
    for (int pixel = 2; pixel < spatial; ++pixel) {
      if (!MovesPhaseOnly(index, pixel)) return false;
    }
  }
  return channels;
}

// The dimension of the channels, if the load can be the data.
std::optional<int> DataChannels(const Expr& load, int spatial) {
  if (static_cast<int>(load.operands().size()) != spatial) return std::nullopt;
  std::vector<bool> moved(spatial, false);
  std::optional<int> channels;
  for (int d = 0; d < spatial; ++d) {
    bool places = false;
    for (int axis = 0; axis < spatial; ++axis) {
      if (axis == ConvolutionRoles::kChannels ||
          !Mentions(load.operand(d), axis))
        continue;
      if (moved[axis] || places) return std::nullopt;
      moved[axis] = places = true;
    }
    if (places) continue;
    if (channels) return std::nullopt;
    channels = d;
  }
  return channels;
}

// Whether the elements that the load reads change with the axis alone, from
// some of its places on: the first of all axes, and the last.
bool Moves(const Compute& compute, const Expr& load, size_t axis) {
  for (const bool last : {false, true}) {
    std::vector<int64_t> place(AxesIn(compute), 0);
    for (size_t i = 0; last && i < place.size(); ++i)
      place[i] = ExtentOf(compute, i) - 1;
    const std::vector<int64_t> here = place;
    for (int64_t at = 0; at < ExtentOf(compute, axis); ++at) {
      place[axis] = at;
      for (const Expr& index : load.operands()) {
        const LoadAt unknown = [](const Expr&, absl::Span<const int64_t>) {
          return int64_t{0};
        };
        if (EvalIndex(index, place, unknown) != EvalIndex(index, here, unknown))
          return true;
      }
    }
  }
  return false;
}

absl::Status Wrong(const Tensor& tensor, std::string_view what) {
  return absl::InternalError(
      absl::StrCat("roles in '", tensor.name, "': ", ToAbsl(what)));
}

}  // namespace

std::string_view Name(ComputeFamily family) {
  constexpr std::string_view kNames[] = {
      "input",         "padding",
      "concatenation", "transpose or gather",
      "elementwise",   "convolution",
      "contraction",   "depthwise or grouped convolution",
      "pooling",       "row reduction",
      "reduction"};
  return kNames[static_cast<int>(family)];
}

ComputeFamily FamilyOf(const TensorGraph& graph, TensorId id) {
  const Tensor& tensor = graph.tensor(id);
  const Compute& compute = tensor.compute;
  if (tensor.kind != TensorKind::kCompute) return ComputeFamily::kInput;
  if (!compute.combiner) {
    if (AsZeroPadding(graph, id)) return ComputeFamily::kPadding;
    if (AsConcatenation(graph, id)) return ComputeFamily::kConcatenation;
    const std::vector<TensorId>& inputs = graph.Inputs(id);
    const bool in_place = std::all_of(
        inputs.begin(), inputs.end(),
        [&](TensorId input) { return ReadsElementwise(graph, id, input); });
    const bool moves = compute.body[0].op() == Op::kLoad || AsMove(graph, id);
    return moves && !in_place ? ComputeFamily::kMove
                              : ComputeFamily::kElementwise;
  }
  const bool slides = SlidesWindow(compute);
  if (ReusesOperands(compute))
    return slides ? ComputeFamily::kConvolution : ComputeFamily::kContraction;
  if (slides)
    return OperandsOf(tensor) ? ComputeFamily::kDepthwise
                              : ComputeFamily::kPooling;
  return IsRowReduction(graph, id) ? ComputeFamily::kRowReduction
                                   : ComputeFamily::kReduction;
}

std::vector<std::vector<bool>> LoadedAxes(const Compute& compute) {
  std::vector<std::vector<bool>> loads;
  for (const Expr& body : compute.body) {
    Visit(body, [&](const Expr& e) {
      if (e.op() != Op::kLoad) return;
      std::vector<bool>& moves = loads.emplace_back(AxesIn(compute), false);
      for (const Expr& index : e.operands())
        AddAxesBeyondRemainders(index, moves);
    });
  }
  return loads;
}

bool ReusesOperands(const Compute& compute) {
  const std::vector<std::vector<bool>> loads = LoadedAxes(compute);
  const auto lacks = [&](const std::vector<bool>& a,
                         const std::vector<bool>& b) {
    for (size_t d = 0; d < compute.axes.size(); ++d) {
      if (!a[d] && b[d] && compute.axes[d].extent.value() > 1) return true;
    }
    return false;
  };
  for (const auto& a : loads) {
    for (const auto& b : loads) {
      if (lacks(a, b) && lacks(b, a)) return true;
    }
  }
  return false;
}

bool SlidesWindow(const Compute& compute) {
  bool slides = false;
  for (const Expr& body : compute.body) {
    Visit(body, [&](const Expr& load) {
      if (load.op() != Op::kLoad) return;
      for (const Expr& index : load.operands()) {
        bool spatial = false, reduced = false;
        Visit(index, [&](const Expr& e) {
          if (e.op() != Op::kVar) return;
          const size_t axis = static_cast<size_t>(e.var_id());
          const bool is_spatial = axis < compute.axes.size();
          spatial |= is_spatial;
          reduced |= !is_spatial && ExtentOf(compute, axis) > 1;
        });
        slides |= spatial && reduced;
      }
    });
  }
  return slides;
}

std::optional<ContractionRoles> AsContraction(const TensorGraph& graph,
                                              TensorId id) {
  const auto operands = OperandsOf(graph.tensor(id));
  if (!operands || operands->first.dtype() != operands->second.dtype())
    return std::nullopt;
  const Compute& compute = graph.tensor(id).compute;
  ContractionRoles roles;
  roles.a = operands->first;
  roles.b = operands->second;
  roles.dtype = roles.a.dtype();
  const std::vector<bool> in_a = AxesOf(roles.a, AxesIn(compute));
  const std::vector<bool> in_b = AxesOf(roles.b, AxesIn(compute));
  for (size_t axis = 0; axis < AxesIn(compute); ++axis) {
    if (ExtentOf(compute, axis) == 1) continue;
    if (axis >= compute.axes.size()) {
      if (!in_a[axis] || !in_b[axis]) return std::nullopt;
    } else if (in_a[axis] && in_b[axis]) {
      roles.batch.push_back(static_cast<int>(axis));
    } else if (in_a[axis]) {
      roles.rows.push_back(static_cast<int>(axis));
    } else if (in_b[axis]) {
      roles.columns.push_back(static_cast<int>(axis));
    }
  }
  if (roles.rows.empty() || roles.columns.empty()) return std::nullopt;
  return roles;
}

std::optional<ConvolutionRoles> AsConvolution(const TensorGraph& graph,
                                              TensorId id) {
  const auto operands = OperandsOf(graph.tensor(id));
  const int spatial = static_cast<int>(graph.tensor(id).shape.size());
  if (!operands || spatial < 3) return std::nullopt;
  for (const bool filter_first : {false, true}) {
    const auto& [first, second] = *operands;
    const Expr& data = filter_first ? second : first;
    const Expr& filter = filter_first ? first : second;
    const std::optional<int> channels = DataChannels(data, spatial);
    if (channels && CanBeFilter(filter, spatial))
      return ConvolutionRoles{data, filter, *channels,
                              !Mentions(data, ConvolutionRoles::kChannels)};
  }
  return std::nullopt;
}

absl::Status VerifyRoles(const TensorGraph& graph, TensorId id,
                         const ContractionRoles& roles) {
  const Tensor& tensor = graph.tensor(id);
  const Compute& compute = tensor.compute;
  for (size_t axis = 0; axis < AxesIn(compute); ++axis) {
    const bool in_a = Moves(compute, roles.a, axis),
               in_b = Moves(compute, roles.b, axis);
    const auto is_in = [&](const std::vector<int>& axes) {
      return std::count(axes.begin(), axes.end(), static_cast<int>(axis));
    };
    const auto rows = is_in(roles.rows), columns = is_in(roles.columns),
               batch = is_in(roles.batch);
    if (rows + columns + batch > (axis < compute.axes.size() ? 1 : 0))
      return Wrong(tensor, "an axis has several, or is none of the output");
    if (axis >= compute.axes.size()) continue;
    if (in_a && rows + batch == 0)
      return Wrong(tensor, "an axis that moves a is no row and no batch");
    if (in_b && columns + batch == 0)
      return Wrong(tensor, "an axis that moves b is no column and no batch");
  }
  return absl::OkStatus();
}

absl::Status VerifyRoles(const TensorGraph& graph, TensorId id,
                         const ConvolutionRoles& roles) {
  const Tensor& tensor = graph.tensor(id);
  const Compute& compute = tensor.compute;
  if (Moves(compute, roles.filter, ConvolutionRoles::kImages))
    return Wrong(tensor, "each image has a filter");
  if (roles.dense && Moves(compute, roles.data, ConvolutionRoles::kChannels))
    return Wrong(tensor, "it is not dense");
  const Expr channels = Expr::Load(roles.data.source(), roles.data.dtype(),
                                   {roles.data.operand(roles.data_channels)});
  for (size_t axis = 0; axis < compute.axes.size(); ++axis) {
    if (axis != ConvolutionRoles::kChannels && Moves(compute, channels, axis))
      return Wrong(tensor, "an image or a pixel moves the data's channels");
  }
  return absl::OkStatus();
}

}  // namespace tilewright
