// A search as a page that needs nothing else: curves of every kernel, winners,
// and which decisions changed. It is made from a trace (tune_report.h), of a
// run that is over, was ended, or still goes on.
#ifndef TILEWRIGHT_TOOLS_TUNE_TUNE_PAGE_H_
#define TILEWRIGHT_TOOLS_TUNE_TUNE_PAGE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tilewright::tools {

// `trace`: JSON lines. A last line that a killed run left in part is passed
// over; InvalidArgument names any other line that is no JSON object, and says
// so of a trace that does not begin with the event "run".
absl::StatusOr<std::string> TunePage(absl::string_view trace);

// From the trace in one file, by the paths of a user, into another. Errors also
// of reading and writing.
absl::Status WriteTunePage(const std::string& trace, const std::string& page);

}  // namespace tilewright::tools

#endif  // TILEWRIGHT_TOOLS_TUNE_TUNE_PAGE_H_
