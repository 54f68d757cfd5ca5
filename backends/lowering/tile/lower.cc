#include "backends/lowering/tile/lower.h"

#include <utility>

#include "backends/lowering/tile/whole_inits.h"
#include "backends/lowering/tile/widen_sums.h"
#include "base/status_macros.h"

namespace tilewright::lowering {

absl::StatusOr<kernel_ir::Kernel> Lower(const sketch::BlockTree& tree,
                                        std::string name) {
  TW_ASSIGN_OR_RETURN(kernel_ir::Kernel kernel,
                      BuildTileKernel(tree, std::move(name)));
  SimplifyTileKernel(kernel);
  WidenSums(kernel);
  PartitionTails(kernel);
  SimplifyTileKernel(kernel);
  BeginSumsWhole(kernel);
  TW_RETURN_IF_ERROR(kernel_ir::VerifyTileKernel(kernel));
  return kernel;
}

}  // namespace tilewright::lowering
