#include "search/candidate.h"

namespace tilewright::search {

Fingerprint TraceOf(const sketch::Schedule& schedule) {
  sketch::Schedule trace;
  trace.instructions = schedule.instructions;
  return Fingerprint::Of(trace.ToString());
}

}  // namespace tilewright::search
