#ifndef TILEWRIGHT_TOOLS_USER_PATH_H_
#define TILEWRIGHT_TOOLS_USER_PATH_H_

#include <string>

namespace tilewright::tools {

// `path` as given, against the folder the user stands in (under `bazel run`
// that is $BUILD_WORKING_DIRECTORY).
std::string UserPath(const std::string& path);

// "resnet18/model.onnx" of ".../resnet18/model.onnx": what a page is called.
std::string TitleOf(const std::string& path);

}  // namespace tilewright::tools

#endif  // TILEWRIGHT_TOOLS_USER_PATH_H_
