// tilewright run MODEL
#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/random.h"
#include "base/status_macros.h"
#include "runtime/format/element_type.h"
#include "runtime/session.h"
#include "tilegraph/interpreter.h"
#include "tools/commands.h"
#include "tools/json.h"
#include "tools/model_io.h"
#include "tools/model_source.h"
#include "tools/tensor_files.h"
#include "tools/usage.h"
#include "tools/user_path.h"

namespace tilewright::tools {
namespace {

constexpr int kCheckedPoints = 256;  // per output
constexpr double kCheckTolerance =
    1e-4;  // of the output's largest value at the checked points

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

std::string FileName(std::string name) {
  std::replace_if(
      name.begin(), name.end(),
      [](char c) { return c == '/' || c == ':' || c == '\0'; }, '_');
  return name.empty() || name[0] == '.' ? absl::StrCat("_", name) : name;
}

absl::Status WriteOutputs(const std::string& folder, const Program& program,
                          const std::vector<HostTensor>& outputs) {
  mkdir(folder.c_str(), 0777);  // if it fails, writing says why
  for (size_t i = 0; i < outputs.size(); ++i) {
    TW_RETURN_IF_ERROR(WriteNpy(
        absl::StrCat(folder, "/",
                     FileName(program.outputs(static_cast<int>(i)).name()),
                     ".npy"),
        outputs[i]));
  }
  return absl::OkStatus();
}

// Corners and random points; all of them where there are few.
std::vector<int64_t> PointsToCheck(int64_t elements) {
  std::vector<int64_t> points;
  if (elements <= kCheckedPoints) {
    for (int64_t i = 0; i < elements; ++i) points.push_back(i);
    return points;
  }
  points = {0, elements - 1};
  Random random(1);
  while (static_cast<int>(points.size()) < kCheckedPoints)
    points.push_back(random.UniformInt(0, elements - 1));
  return points;
}

// Against the reference interpreter. DataLoss if an output differs.
absl::Status CheckOutputs(const ImportedModel& model,
                          const std::vector<HostTensor>& inputs,
                          const std::vector<HostTensor>& outputs) {
  std::map<TensorId, HostTensor> by_tensor;
  for (size_t i = 0; i < inputs.size(); ++i)
    by_tensor[model.inputs[i].tensor] = inputs[i];
  TW_ASSIGN_OR_RETURN(const auto reference,
                      Interpreter::Create(model.graph, by_tensor, {}));
  for (size_t o = 0; o < outputs.size(); ++o) {
    const std::vector<int64_t>& shape = outputs[o].shape();
    const bool is_float = IsFloat(outputs[o].dtype());
    double largest = 0, error = 0;
    for (const int64_t point : PointsToCheck(outputs[o].num_elements())) {
      std::vector<int64_t> index(shape.size());
      int64_t rest = point;
      for (int d = static_cast<int>(shape.size()) - 1; d >= 0; --d)
        index[d] = rest % shape[d], rest /= shape[d];
      TW_ASSIGN_OR_RETURN(const Scalar want,
                          reference->At(model.outputs[o].tensor, index));
      const Scalar got = outputs[o].Get(point);
      if (!is_float) {
        error = std::max(error, got.i == want.i ? 0.0 : 1.0);
      } else if (!(std::isnan(got.f) && std::isnan(want.f)) &&
                 got.f != want.f) {
        error = std::isfinite(got.f - want.f)
                    ? std::max(error, std::abs(got.f - want.f))
                    : INFINITY;
      }
      if (std::isfinite(want.f)) largest = std::max(largest, std::abs(want.f));
    }
    std::printf(
        "check %s: largest error %.3g at %lld points, largest value %.3g\n",
        model.outputs[o].name.c_str(), error,
        static_cast<long long>(PointsToCheck(outputs[o].num_elements()).size()),
        largest);
    if (error > (is_float ? kCheckTolerance * largest : 0)) {
      return absl::DataLossError(
          absl::StrCat("output '", model.outputs[o].name,
                       "' differs from the reference by ", error));
    }
  }
  return absl::OkStatus();
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
  TW_ASSIGN_OR_RETURN(
      const std::vector<HostTensor> inputs,
      MakeInputs(program, std::move(given),
                 static_cast<uint64_t>(line.GetInt("seed", 0))));
  TW_ASSIGN_OR_RETURN(const std::unique_ptr<Session> session,
                      Session::Create(source.model));
  TW_ASSIGN_OR_RETURN(const std::vector<HostTensor> outputs,
                      RunOnce(*session, inputs));
  if (line.Has("output-dir"))
    TW_RETURN_IF_ERROR(
        WriteOutputs(UserPath(line.Get("output-dir")), program, outputs));
  Json json;
  json.Open('[');
  for (size_t i = 0; i < outputs.size(); ++i) {
    const TensorSpec& spec = program.outputs(static_cast<int>(i));
    if (!line.Has("json")) Print(spec, outputs[i]);
    json.Open('{')
        .Key("name")
        .Text(spec.name())
        .Key("type")
        .Text(Name(spec.element_type()))
        .Key("shape")
        .Open('[');
    for (const int64_t extent : spec.shape()) json.Int(extent);
    json.Close(']').Close('}');
  }
  if (line.Has("json")) std::printf("%s\n", json.Close(']').text().c_str());
  return line.Has("check") ? CheckOutputs(*source.imported, inputs, outputs)
                           : absl::OkStatus();
}

}  // namespace tilewright::tools
