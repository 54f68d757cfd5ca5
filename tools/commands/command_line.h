// The command line of tilewright: which commands there are, which flags each
// takes, and nothing about what they do.
#ifndef TILEWRIGHT_TOOLS_COMMANDS_COMMAND_LINE_H_
#define TILEWRIGHT_TOOLS_COMMANDS_COMMAND_LINE_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace tilewright::tools {

class CommandLine {
 public:
  // InvalidArgument (exit status 2) for an unknown command, flag or value, with
  // the nearest known one; a missing or superfluous value; a number that is
  // none or out of range; a flag of a part that does not exist yet; a flag that
  // would have no effect (flag_effects.h).
  static absl::StatusOr<CommandLine> Parse(
      const std::vector<std::string>& args);

  const std::string& command() const {
    return command_;
  }  // "version" and "help" for the flags of that name
  const std::vector<std::string>& positional() const { return positional_; }
  bool Has(const std::string& flag) const { return values_.count(flag) > 0; }
  // The last value given.
  std::string Get(const std::string& flag, std::string otherwise = "") const;
  int64_t GetInt(const std::string& flag, int64_t otherwise) const;
  double GetDouble(const std::string& flag, double otherwise) const;
  // Every value given, in order.
  std::vector<std::string> All(const std::string& flag) const;

 private:
  std::string command_;
  std::vector<std::string> positional_;
  std::map<std::string, std::vector<std::string>> values_;
};

// The text that `tilewright --help` prints.
std::string Usage();

}  // namespace tilewright::tools

#endif  // TILEWRIGHT_TOOLS_COMMANDS_COMMAND_LINE_H_
