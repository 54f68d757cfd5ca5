#include "search/replayed_features.h"

#include "absl/status/statusor.h"
#include "base/status_macros.h"
#include "costmodel/features/store_features.h"
#include "sketch/replay/replay.h"

namespace tilewright::search {

Features ReplayedStoreFeatures() {
  return [](const sketch::Workload& workload, const sketch::Schedule& schedule)
             -> absl::StatusOr<costmodel::FeatureMatrix> {
    TW_ASSIGN_OR_RETURN(const sketch::BlockTree tree,
                        sketch::Replay(workload, schedule));
    return costmodel::StoreFeatures(tree);
  };
}

}  // namespace tilewright::search
