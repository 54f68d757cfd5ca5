// The command line of a program: options bound to variables, and the arguments
// that are left. A value follows its option behind '=' or as the next argument.
#ifndef TILEWRIGHT_BASE_OPTION_PARSER_H_
#define TILEWRIGHT_BASE_OPTION_PARSER_H_

#include <cstdlib>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace tilewright {

class OptionParser {
 public:
  // Verifies a value and keeps it; the message of its error follows
  // "--NAME=VALUE: ".
  using Take = std::function<absl::Status(absl::string_view value)>;

  // `owner`, if any, and `help` are for messages: "'OWNER' has no flag --NAME;
  // HELP". Without `help` the message lists the options.
  explicit OptionParser(std::string owner = "", std::string help = "")
      : owner_(std::move(owner)), help_(std::move(help)) {}

  // A variable keeps what it holds where its option is not given.
  void Flag(std::string name, bool* given);
  void Text(std::string name, std::string* value);
  template <typename T>  // int, int64_t or double
  void Number(std::string name, T* value, double least,
              double most = std::numeric_limits<double>::infinity());
  template <typename T>
  void List(std::string name, std::vector<T>* values, double least);  // 1,2,3
  void Value(std::string name, Take take);
  // Without a value `take` gets an empty one.
  void Optional(std::string name, Take take);

  // Lets -LETTER stand for --NAME.
  void Alias(char letter, std::string name);
  // Keeps arguments that begin with `prefix`, for another parser.
  void PassOn(std::string prefix, std::vector<std::string>* arguments);

  // Returns the arguments that are no options, in order. InvalidArgument names
  // the argument that is wrong, and suggests the nearest option.
  absl::StatusOr<std::vector<std::string>> Parse(
      absl::Span<const std::string> arguments) const;

 private:
  struct Option {
    bool needs_value;
    Take take;
  };
  absl::Status NoOption(const std::string& given) const;

  const std::string owner_, help_;
  std::map<std::string, Option> options_;
  std::map<std::string, std::string> aliases_;  // "-o": "--output"
  std::map<std::string, std::vector<std::string>*> passed_on_;  // by prefix
};

// Reads a number; InvalidArgument says that it is none, or not from `least` to
// `most`. T: int, int64_t or double.
template <typename T>
absl::Status ParseNumber(absl::string_view text, double least, double most,
                         T* number);

// InvalidArgument unless `text` is one of `choices`; names the nearest one.
absl::Status CheckChoice(absl::string_view text,
                         absl::Span<const std::string> choices);

// "; did you mean 'PREFIXtime'?" for the nearest of `known`; empty if none is
// near.
std::string Suggestion(absl::string_view given,
                       absl::Span<const std::string> known,
                       absl::string_view prefix = "");

// A path as the user means it who stands in `working_directory`; null: as it
// is. `bazel run` starts programs elsewhere, and names that folder in
// $BUILD_WORKING_DIRECTORY.
std::string UserPath(
    absl::string_view path,
    const char* working_directory = std::getenv("BUILD_WORKING_DIRECTORY"));

// For main: the exit status of a program. An error is printed after `program`
// (1); a command line that does not parse, with `usage` (2).
int ReportUsage(absl::string_view usage, const absl::Status& status);
int ReportStatus(absl::string_view program, const absl::Status& status);
// Parses, and runs `run` on the arguments that are no options; usage, if there
// are none.
int RunOnArguments(
    absl::string_view program, absl::string_view usage,
    const OptionParser& parser, absl::Span<const std::string> arguments,
    const std::function<absl::Status(const std::vector<std::string>&)>& run);

}  // namespace tilewright

#endif  // TILEWRIGHT_BASE_OPTION_PARSER_H_
