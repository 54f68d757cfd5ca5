#include "tilegraph/rewrite/plain_outputs.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tilegraph/analysis/access.h"
#include "tilegraph/analysis/families.h"
#include "tilegraph/rewrite/bands.h"

namespace tilewright {
namespace {

// Back through elementwise maps of one shape. What moves to the host is a copy
// already.
bool EndsConvolution(const TensorGraph& graph, TensorId id) {
  const Tensor& tensor = graph.tensor(id);
  if (tensor.kind != TensorKind::kCompute || IsBandMove(tensor)) return false;
  if (const auto roles = AsConvolution(graph, id); roles && roles->dense)
    return true;
  if (tensor.compute.combiner || tensor.compute.body.size() != 1) return false;
  const std::vector<TensorId>& inputs = graph.Inputs(id);
  return std::any_of(inputs.begin(), inputs.end(), [&](TensorId input) {
    return ReadsElementwise(graph, id, input) && EndsConvolution(graph, input);
  });
}

// At most a quarter of the lanes would be empty.
bool FillsBlocks(const Tensor& tensor, int64_t block) {
  if (tensor.shape.size() < 3) return false;
  const int64_t channels = tensor.static_shape()[ConvolutionRoles::kChannels];
  const int64_t padded = (channels + block - 1) / block * block;
  return 3 * padded <= 4 * channels;
}

TensorId AddCopy(const Tensor& tensor, TensorId source, TensorGraph& graph) {
  Compute compute;
  std::vector<Expr> index;
  for (size_t d = 0; d < tensor.shape.size(); ++d) {
    const std::string axis = "d" + std::to_string(d);
    compute.axes.push_back({axis, tensor.shape[d]});
    index.push_back(Expr::Var(static_cast<int>(d), axis));
  }
  compute.body = {graph.Load(source, std::move(index))};
  return graph.AddCompute(tensor.name + ".plain", tensor.dtype,
                          std::move(compute), ComputeRole::kPlainCopy);
}

}  // namespace

RewrittenGraph CopyConvolvedOutputs(const TensorGraph& old,
                                    int64_t channel_block) {
  TensorGraph graph;
  std::vector<TensorId> ids;
  for (const Tensor& tensor : old.tensors())
    ids.push_back(CopyTensor(tensor, ids, graph));
  for (const TensorId id :
       std::set<TensorId>(old.outputs().begin(), old.outputs().end())) {
    const Tensor& tensor = old.tensor(id);
    if (channel_block > 0 && EndsConvolution(old, id) &&
        FillsBlocks(tensor, channel_block))
      ids[id] = AddCopy(tensor, ids[id], graph);
  }
  return FinishRewrite(old, std::move(graph), std::move(ids));
}

}  // namespace tilewright
