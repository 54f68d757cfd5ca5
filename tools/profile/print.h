// A profile as a table, as JSON, as a trace and as a page.
#ifndef TILEWRIGHT_TOOLS_PROFILE_PRINT_H_
#define TILEWRIGHT_TOOLS_PROFILE_PRINT_H_

#include <limits>
#include <string>

#include "absl/strings/string_view.h"
#include "tools/page/json.h"
#include "tools/profile/profile.h"

namespace tilewright::tools {

// A line per kernel in 120 columns, the longest first, of `most_kernels` at
// most, then totals. Without times, of all kernels, where nothing was run.
std::string ProfileTable(const Profile& profile,
                         int most_kernels = std::numeric_limits<int>::max());

// Appends one object with all that a Profile holds, but the trace.
void AppendProfile(const Profile& profile, Json& json);

// Chrome's trace event format, which Perfetto opens: a track for the launches
// and one for each thread's tasks.
std::string ProfileTrace(const Profile& profile, absl::string_view title);

// A page that needs nothing else: roofline plot, timeline, sortable table.
// profile_page.html with the JSON in it.
std::string ProfilePage(const Profile& profile, absl::string_view title);

}  // namespace tilewright::tools

#endif  // TILEWRIGHT_TOOLS_PROFILE_PRINT_H_
