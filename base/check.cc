#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace tilewright {
namespace check_internal {

Failure::Failure(const char* file, int line, const std::string& what) {
  stream_ << file << ":" << line << ": " << what << " ";
}

Failure::~Failure() {
  std::string line = stream_.str();
  line.erase(line.find_last_not_of(' ') + 1);
  line += "\n";
  std::fputs(line.c_str(), stderr);
  std::fflush(stderr);
  std::abort();
}

std::unique_ptr<std::string> CheckOk(const absl::Status& status,
                                     const char* text) {
  if (status.ok()) return nullptr;
  return std::make_unique<std::string>(std::string("check failed: ") + text +
                                       " is " + status.ToString());
}

}  // namespace check_internal
}  // namespace tilewright
