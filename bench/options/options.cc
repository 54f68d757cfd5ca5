#include "bench/options/options.h"

#include <cstdio>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace tilewright::bench {
namespace {

bool Read(absl::string_view text, double* value) {
  return absl::SimpleAtod(text, value);
}
template <typename Integer>
bool Read(absl::string_view text, Integer* value) {
  return absl::SimpleAtoi(text, value);
}

template <typename T>
absl::Status ReadNumber(absl::string_view text, T least, T* value) {
  T read;
  if (!Read(text, &read) || !(read >= least))
    return absl::InvalidArgumentError(
        absl::StrCat("'", text, "' is no number from ", least, " on"));
  *value = read;
  return absl::OkStatus();
}

template <typename T>
absl::Status ReadList(absl::string_view text, T least, std::vector<T>* values) {
  std::vector<T> read;
  for (const absl::string_view part : absl::StrSplit(text, ',')) {
    absl::Status status = ReadNumber(part, least, &read.emplace_back());
    if (!status.ok()) return status;
  }
  *values = std::move(read);
  return absl::OkStatus();
}

}  // namespace

void OptionParser::Flag(std::string name, bool* given) {
  options_.push_back({std::move(name), [given] { *given = true; }, nullptr});
}
void OptionParser::Text(std::string name, std::string* value) {
  Value(std::move(name), [value](absl::string_view text) {
    *value = std::string(text);
    return absl::OkStatus();
  });
}
void OptionParser::Number(std::string name, int* value, int least) {
  Value(std::move(name), [value, least](absl::string_view text) {
    return ReadNumber(text, least, value);
  });
}
void OptionParser::Number(std::string name, int64_t* value, int64_t least) {
  Value(std::move(name), [value, least](absl::string_view text) {
    return ReadNumber(text, least, value);
  });
}
void OptionParser::Number(std::string name, double* value, double least) {
  Value(std::move(name), [value, least](absl::string_view text) {
    return ReadNumber(text, least, value);
  });
}
void OptionParser::List(std::string name, std::vector<int64_t>* values,
                        int64_t least) {
  Value(std::move(name), [values, least](absl::string_view text) {
    return ReadList(text, least, values);
  });
}
void OptionParser::List(std::string name, std::vector<int>* values, int least) {
  Value(std::move(name), [values, least](absl::string_view text) {
    return ReadList(text, least, values);
  });
}
void OptionParser::Value(std::string name,
                         std::function<absl::Status(absl::string_view)> take) {
  options_.push_back({std::move(name), nullptr, std::move(take)});
}

absl::StatusOr<std::vector<std::string>> OptionParser::Parse(
    absl::Span<const std::string> arguments) const {
  std::vector<std::string> rest;
  for (const std::string& argument : arguments) {
    if (!absl::StartsWith(argument, "-")) {
      rest.push_back(argument);
      continue;
    }
    const Option* found = nullptr;
    absl::string_view value;
    for (const Option& option : options_) {
      value = argument;
      if (!absl::ConsumePrefix(&value, absl::StrCat("--", option.name)))
        continue;
      if (option.flag ? value.empty() : absl::ConsumePrefix(&value, "="))
        found = &option;
      if (found) break;
    }
    if (found == nullptr) {
      std::string known;
      for (const Option& option : options_)
        absl::StrAppend(&known, " --", option.name, option.flag ? "" : "=");
      return absl::InvalidArgumentError(
          absl::StrCat("unknown flag ", argument, "; known:", known));
    }
    if (found->flag) {
      found->flag();
      continue;
    }
    const absl::Status status = found->take(value);
    if (!status.ok())
      return absl::InvalidArgumentError(
          absl::StrCat("--", found->name, ": ", status.message()));
  }
  return rest;
}

std::string UserPath(absl::string_view path, const char* working_directory) {
  return working_directory == nullptr || absl::StartsWith(path, "/")
             ? std::string(path)
             : absl::StrCat(working_directory, "/", path);
}

int ReportUsage(absl::string_view usage, const absl::Status& status) {
  std::fprintf(stderr, "%s\nusage: %s\n", std::string(status.message()).c_str(),
               std::string(usage).c_str());
  return 2;
}

int ReportStatus(absl::string_view program, const absl::Status& status) {
  if (status.ok()) return 0;
  std::fprintf(stderr, "%s: %s\n", std::string(program).c_str(),
               std::string(status.message()).c_str());
  return 1;
}

}  // namespace tilewright::bench
