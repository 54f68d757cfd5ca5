#include "tools/user_path.h"

#include <cstdlib>

namespace tilewright::tools {

std::string UserPath(const std::string& path) {
  const char* folder = std::getenv("BUILD_WORKING_DIRECTORY");
  if (folder == nullptr || path.empty() || path[0] == '/') return path;
  return std::string(folder) + "/" + path;
}

std::string TitleOf(const std::string& path) {
  return path.substr(path.rfind('/', path.rfind('/') - 1) + 1);
}

}  // namespace tilewright::tools
