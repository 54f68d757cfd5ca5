// tilewright run MODEL
#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/option_parser.h"
#include "base/status_macros.h"
#include "measure/inputs/input_sets.h"
#include "runtime/format/element_type.h"
#include "runtime/session.h"
#include "tools/check_run.h"
#include "tools/commands/commands.h"
#include "tools/commands/model_source.h"
#include "tools/commands/usage.h"
#include "tools/model_io.h"
#include "tools/page/json.h"
#include "tools/tensor_files.h"

namespace tilewright::tools {
namespace {

absl::StatusOr<std::map<std::string, HostTensor>> GivenInputs(
    const CommandLine& line, const Program& program) {
  std::map<std::string, HostTensor> given;
  if (line.Has("data")) {
    TW_ASSIGN_OR_RETURN(const std::vector<HostTensor> tensors,
                        ReadDataSet(UserPath(line.Get("data")), "input"));
    if (static_cast<int>(tensors.size()) != program.inputs_size()) {
      return absl::InvalidArgumentError(
          absl::StrCat(line.Get("data"), ": has ", tensors.size(),
                       " files input_N.pb, the model has ",
                       program.inputs_size(), " inputs"));
    }
    for (size_t i = 0; i < tensors.size(); ++i)
      given[program.inputs(static_cast<int>(i)).name()] = tensors[i];
  }
  for (const std::string& text : line.All("input")) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos)
      return Usage(
          absl::StrCat("--input=", text, ": expected --input=NAME=FILE"));
    TW_ASSIGN_OR_RETURN(given[text.substr(0, equals)],
                        ReadTensor(UserPath(text.substr(equals + 1))));
  }
  return given;
}

void Print(const TensorSpec& spec, const HostTensor& tensor) {
  std::string values;
  for (int64_t i = 0; i < std::min<int64_t>(tensor.num_elements(), 4); ++i) {
    const Scalar value = tensor.Get(i);
    absl::StrAppend(&values, i ? " " : "",
                    IsFloat(tensor.dtype()) ? absl::StrFormat("%.6g", value.f)
                                            : absl::StrCat(value.i));
  }
  std::printf("%s: %s  %s%s\n", spec.name().c_str(), ToString(spec).c_str(),
              values.c_str(), tensor.num_elements() > 4 ? " ..." : "");
}

void AppendOutputs(const Program& program, Json& json) {
  json.Open('[');
  for (const TensorSpec& spec : program.outputs()) {
    json.Open('{').Key("name").Text(spec.name());
    json.Key("type").Text(Name(spec.element_type()));
    json.Key("shape").Open('[');
    for (const int64_t extent : spec.shape()) json.Int(extent);
    json.Close(']').Close('}');
  }
  json.Close(']');
}

}  // namespace

absl::Status RunCommand(const CommandLine& line) {
  TW_ASSIGN_OR_RETURN(const std::string path, OnlyModel(line));
  TW_ASSIGN_OR_RETURN(const Source source, LoadSource(line, path));
  TellPlannedForFewer(source);
  const Program& program = source.model->program();
  TW_ASSIGN_OR_RETURN(auto given, GivenInputs(line, program));
  if (line.Has("seed") &&
      static_cast<int>(given.size()) == program.inputs_size())
    return Usage(
        "--seed has no effect where every input is given: leave it out");
  std::map<std::string, measure::IntegerRange> ranges;
  // Only the graph knows them, and a .tw has none: without --check both draw
  // the same.
  if (line.Has("check")) ranges = DrawnFrom(*source.imported);
  TW_ASSIGN_OR_RETURN(
      const std::vector<HostTensor> inputs,
      MakeInputs(program, std::move(given),
                 static_cast<uint64_t>(line.GetInt("seed", 0)), ranges));
  TW_ASSIGN_OR_RETURN(const std::unique_ptr<Session> session,
                      Session::Create(source.model));
  TW_ASSIGN_OR_RETURN(const std::vector<HostTensor> outputs,
                      RunOnce(*session, inputs));
  if (line.Has("output-dir"))
    TW_RETURN_IF_ERROR(
        WriteOutputs(UserPath(line.Get("output-dir")), program, outputs));
  std::optional<measure::RunVerdict> check;
  if (line.Has("check")) {
    TW_ASSIGN_OR_RETURN(check, CheckRun(source, *session, inputs, outputs));
  }
  if (line.Has("json")) {
    Json json;
    if (check) json.Open('{').Key("outputs");
    AppendOutputs(program, json);
    if (check) AppendCheck(*check, json.Key("check"));
    if (check) json.Close('}');
    std::printf("%s\n", json.text().c_str());
  } else {
    for (size_t i = 0; i < outputs.size(); ++i)
      Print(program.outputs(static_cast<int>(i)), outputs[i]);
    if (check)
      std::printf("%s", CheckText(*check, line.Has("level-cap")).c_str());
  }
  if (!check || check->reason.empty()) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat(path, ": --check: ", check->reason));
}

}  // namespace tilewright::tools
