// Unix archives (ar(5), long names as GNU's): files side by side in one, as ar
// and binutils read them.
#ifndef TILEWRIGHT_BASE_AR_ARCHIVE_H_
#define TILEWRIGHT_BASE_AR_ARCHIVE_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace tilewright {

struct ArMember {
  std::string name;
  std::string bytes;
};

// REQUIRES: names are not empty and have no '/' and no line break; members of
// less than 10 GB. Equal members give equal bytes: without dates and owners.
std::string WriteArArchive(const std::vector<ArMember>& members);

// Whether the bytes begin as an archive does.
bool IsArArchive(std::string_view bytes);

struct ArView {
  std::string name;
  std::string_view bytes;  // into the archive
};

// The members, in their order; those of other programs (tables of symbols)
// are among them under names that begin with '/'. InvalidArgument if the
// archive is cut off or damaged.
absl::StatusOr<std::vector<ArView>> ReadArArchive(std::string_view archive);

}  // namespace tilewright

#endif  // TILEWRIGHT_BASE_AR_ARCHIVE_H_
