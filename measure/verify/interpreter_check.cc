#include "measure/verify/interpreter_check.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "tilegraph/interpret/interpreter.h"

namespace tilewright::measure {
namespace {

// The same graph with its constants as placeholders, so that they can be given
// other values. Ids stay.
TensorGraph WithoutConstants(const TensorGraph& graph) {
  TensorGraph out;
  for (const Tensor& tensor : graph.tensors()) {
    if (tensor.kind == TensorKind::kCompute) {
      out.AddCompute(tensor.name, tensor.dtype, tensor.compute, tensor.hint);
    } else {
      out.AddPlaceholder(tensor.name, tensor.dtype, tensor.shape);
    }
  }
  out.SetOutputs({graph.outputs().begin(), graph.outputs().end()});
  return out;
}

bool Agree(const ReferenceTensor& expected, int64_t position, Scalar found,
           double unit) {
  const double e = expected.bound.empty() ? 0 : expected.bound[position];
  if (!std::isfinite(e)) return true;
  if (!IsFloat(expected.dtype))
    return expected.integer[position] == found.i || e > 0;
  const double r = expected.value[position];
  if (std::isnan(r)) return std::isnan(found.f);
  if (r == found.f) return true;
  // Both computed in double: the bound, scaled from the kernel's precision to
  // that of double, with room for the order of sums.
  constexpr double kRoom = 16;
  return std::fabs(r - found.f) <= kRoom * (0x1p-53 / unit) * e + 0x1p-1000;
}

}  // namespace

std::vector<std::vector<int64_t>> SamplePoints(
    const std::vector<int64_t>& shape, int count, Random& random) {
  constexpr int64_t kTile = 16;
  const int rank = static_cast<int>(shape.size());
  std::vector<std::vector<int64_t>> points;
  const int corners = std::min(1 << std::min(rank, 10), count / 4);
  for (int corner = 0; corner < corners; ++corner) {
    std::vector<int64_t> point(rank);
    for (int d = 0; d < rank; ++d)
      point[d] = (corner >> d) & 1 ? shape[d] - 1 : 0;
    points.push_back(std::move(point));
  }
  while (static_cast<int>(points.size()) < count) {
    const size_t kind = points.size() % 3;
    const size_t edge = rank > 0 ? random.Index(rank) : 0;
    std::vector<int64_t> point(rank);
    for (int d = 0; d < rank; ++d) {
      const int64_t last_tile = std::max<int64_t>(0, shape[d] - kTile);
      point[d] = random.UniformInt(kind == 1 ? last_tile : 0, shape[d] - 1);
      if (kind == 2 && static_cast<size_t>(d) == edge)
        point[d] = random.Bernoulli(0.5) ? 0 : shape[d] - 1;
    }
    points.push_back(std::move(point));
  }
  return points;
}

absl::Status CompareWithInterpreter(
    const TensorGraph& graph, const InputSet& inputs,
    const std::map<TensorId, ReferenceTensor>& expected, double unit,
    Random& random) {
  const TensorGraph open = WithoutConstants(graph);
  TW_ASSIGN_OR_RETURN(std::unique_ptr<Interpreter> interpreter,
                      Interpreter::Create(open, inputs, {}));
  for (const auto& [id, tensor] : expected) {
    const int64_t first_step = interpreter->steps();
    int compared = 0;
    for (const std::vector<int64_t>& point :
         SamplePoints(tensor.shape, kPointsPerOutput, random)) {
      if (compared++ >= kLeastPoints &&
          interpreter->steps() - first_step > kMostSteps)
        break;
      TW_ASSIGN_OR_RETURN(const Scalar found, interpreter->At(id, point));
      int64_t position = 0;
      for (size_t d = 0; d < point.size(); ++d)
        position = position * tensor.shape[d] + point[d];
      if (Agree(tensor, position, found, unit)) continue;
      return absl::InternalError(absl::StrCat(
          "the verifier's reference and the interpreter disagree at '",
          graph.tensor(id).name, "' [", absl::StrJoin(point, ", "), "]: ",
          IsFloat(tensor.dtype)
              ? absl::StrCat(tensor.value[position], " and ", found.f)
              : absl::StrCat(tensor.integer[position], " and ", found.i),
          "; this is a bug in Tilewright"));
    }
  }
  return absl::OkStatus();
}

}  // namespace tilewright::measure
