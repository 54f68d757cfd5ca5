#ifndef TILEWRIGHT_SEARCH_REPLAYED_FEATURES_H_
#define TILEWRIGHT_SEARCH_REPLAYED_FEATURES_H_

#include "search/space.h"

namespace tilewright::search {

// Ansor's features of the replayed schedule, one row a store
// (costmodel/features/store_features.h). What does not replay is refused.
Features ReplayedStoreFeatures();

}  // namespace tilewright::search

#endif  // TILEWRIGHT_SEARCH_REPLAYED_FEATURES_H_
