#include "sketch/replay/winograd_form.h"

#include <utility>

namespace tilewright::sketch {

WinogradForm MakeWinogradForm(const Workload& workload,
                              const WinogradConvolution& convolution, int m) {
  RewrittenGraph rewritten = ToWinograd(workload.graph, convolution, m);
  WinogradForm form{{std::move(rewritten.graph), {}}, {}, 0, m};
  form.originals.assign(form.workload.graph.size(), -1);
  for (size_t id = 0; id < rewritten.ids.size(); ++id)
    form.originals[rewritten.ids[id]] = static_cast<TensorId>(id);
  for (const auto& [id, layout] : workload.layouts)
    form.workload.layouts.emplace(rewritten.ids[id], layout);
  for (const auto& [id, known] : workload.zeros)
    form.workload.zeros.emplace(rewritten.ids[id], known);
  form.filters = rewritten.ids[convolution.weights];
  return form;
}

}  // namespace tilewright::sketch
