// Names of tensors as a table of a model can show them: exporters write whole
// paths, of which most is the same for all.
#ifndef TILEWRIGHT_TOOLS_PROFILE_SHORT_NAMES_H_
#define TILEWRIGHT_TOOLS_PROFILE_SHORT_NAMES_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace tilewright::tools {

// For each name, the shortest end, in whole parts between slashes, that no
// other of them has: "/layers.0/attention/query/Add_output_0" is "query/Add"
// where there is one query, and "layers.0/attention/query/Add" beside layers.1.
// "_output_0" is left out where names differ without it. Different names stay
// different.
std::vector<std::string> ShortNames(const std::vector<std::string>& names);

// Columns that UTF-8 text takes, one for each code point.
int Columns(absl::string_view text);

// `text` if it has that many columns at most, else its end after an ellipsis:
// paths differ there. REQUIRES: columns >= 1.
std::string LastColumns(absl::string_view text, int columns);

}  // namespace tilewright::tools

#endif  // TILEWRIGHT_TOOLS_PROFILE_SHORT_NAMES_H_
