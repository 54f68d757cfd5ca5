// The command line of a benchmark: options bound to variables, and what is
// left.
#ifndef TILEWRIGHT_BENCH_OPTIONS_OPTIONS_H_
#define TILEWRIGHT_BENCH_OPTIONS_OPTIONS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace tilewright::bench {

// A variable keeps what it holds where its option is not given.
class OptionParser {
 public:
  // --name
  void Flag(std::string name, bool* given);
  // --name=VALUE
  void Text(std::string name, std::string* value);
  void Number(std::string name, int* value, int least);
  void Number(std::string name, int64_t* value, int64_t least);
  void Number(std::string name, double* value, double least);  // in decimals
  // --name=1,2,3
  void List(std::string name, std::vector<int64_t>* values, int64_t least);
  void List(std::string name, std::vector<int>* values, int least);
  // --name=VALUE, for `take` to verify; its message follows the name.
  void Value(std::string name,
             std::function<absl::Status(absl::string_view)> take);

  // Returns the arguments that are no options, in order. InvalidArgument names
  // the argument that is wrong, and for an unknown option all there are.
  absl::StatusOr<std::vector<std::string>> Parse(
      absl::Span<const std::string> arguments) const;

 private:
  struct Option {
    std::string name;
    std::function<void()> flag;  // or:
    std::function<absl::Status(absl::string_view)> take;
  };
  std::vector<Option> options_;
};

// A path as the user means it who stands in `working_directory`; null: as it
// is. `bazel run` starts programs elsewhere, and says so in
// $BUILD_WORKING_DIRECTORY.
std::string UserPath(absl::string_view path, const char* working_directory);

// For main: what Run returns becomes the exit status, an error is printed after
// `program`. A command line that does not parse: 2, with `usage`.
int ReportUsage(absl::string_view usage, const absl::Status& status);
int ReportStatus(absl::string_view program, const absl::Status& status);

}  // namespace tilewright::bench

#endif  // TILEWRIGHT_BENCH_OPTIONS_OPTIONS_H_
