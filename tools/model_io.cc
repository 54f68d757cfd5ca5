#include "tools/model_io.h"

#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/random.h"
#include "base/status_macros.h"
#include "compiler/element_types.h"
#include "runtime/format/element_type.h"
#include "tilegraph/expr/new_tensor.h"
#include "tools/npy.h"

namespace tilewright::tools {
namespace {

std::string Describe(const HostTensor& tensor) {
  return absl::StrCat(Name(ToElementType(tensor.dtype())), "[",
                      absl::StrJoin(tensor.shape(), ", "), "]");
}

double AsDouble(DType dtype, Scalar value) {
  return IsFloat(dtype) ? value.f : static_cast<double>(value.i);
}

absl::StatusOr<HostTensor> TensorFor(const TensorSpec& spec,
                                     absl::string_view what) {
  return NewTensor(
      ToDType(spec.element_type()), {spec.shape().begin(), spec.shape().end()},
      absl::StrCat(what, " '", spec.name(), "' of ", ToString(spec)));
}

std::string FileName(std::string name) {
  std::replace_if(
      name.begin(), name.end(),
      [](char c) { return c == '/' || c == ':' || c == '\0'; }, '_');
  return name.empty() || name[0] == '.' ? absl::StrCat("_", name) : name;
}

}  // namespace

absl::StatusOr<HostTensor> RandomTensor(const TensorSpec& spec, uint64_t seed,
                                        measure::IntegerRange range) {
  if (spec.element_type() == ToElementType(DType::kBool)) range = {0, 1};
  Random random(seed);
  TW_ASSIGN_OR_RETURN(HostTensor tensor, TensorFor(spec, "input"));
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    if (IsFloat(tensor.dtype())) {
      tensor.Set(i, {random.Normal(), 0});
    } else {
      tensor.Set(i, {0, random.UniformInt(range.least, range.most)});
    }
  }
  return tensor;
}

absl::Status CheckTensor(const TensorSpec& spec, const HostTensor& tensor) {
  const bool same = ToElementType(tensor.dtype()) == spec.element_type() &&
                    std::equal(spec.shape().begin(), spec.shape().end(),
                               tensor.shape().begin(), tensor.shape().end());
  if (same) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("input '", spec.name(),
                                                 "' must be ", ToString(spec),
                                                 ", got ", Describe(tensor)));
}

absl::StatusOr<std::vector<HostTensor>> MakeInputs(
    const Program& program, std::map<std::string, HostTensor> given,
    uint64_t seed, const std::map<std::string, measure::IntegerRange>& ranges) {
  std::vector<HostTensor> inputs;
  for (const TensorSpec& spec : program.inputs()) {
    const auto found = given.find(spec.name());
    if (found == given.end()) {
      const auto range = ranges.find(spec.name());
      TW_ASSIGN_OR_RETURN(
          HostTensor tensor,
          RandomTensor(spec, seed + inputs.size(),
                       range == ranges.end() ? kSmallIntegers : range->second));
      inputs.push_back(std::move(tensor));
      continue;
    }
    TW_RETURN_IF_ERROR(CheckTensor(spec, found->second));
    inputs.push_back(std::move(found->second));
    given.erase(found);
  }
  if (given.empty()) return inputs;
  const std::string known = absl::StrJoin(
      program.inputs(), ", ", [](std::string* out, const TensorSpec& spec) {
        absl::StrAppend(out, "'", spec.name(), "'");
      });
  return absl::InvalidArgumentError(
      absl::StrCat("the model has no input '", given.begin()->first,
                   "'; it has ", known.empty() ? "none" : known));
}

absl::StatusOr<std::vector<HostTensor>> RunOnce(
    Session& session, const std::vector<HostTensor>& inputs) {
  std::vector<const void*> from;
  for (const HostTensor& input : inputs) from.push_back(input.data());
  std::vector<HostTensor> outputs;
  for (const TensorSpec& spec : session.model().program().outputs()) {
    TW_ASSIGN_OR_RETURN(HostTensor tensor, TensorFor(spec, "output"));
    outputs.push_back(std::move(tensor));
  }
  std::vector<void*> to;
  for (HostTensor& output : outputs) to.push_back(output.data());
  TW_RETURN_IF_ERROR(session.Run(from, to));
  return outputs;
}

absl::StatusOr<DrawnRun> DrawRun(std::shared_ptr<const Model> model,
                                 uint64_t seed) {
  DrawnRun run;
  TW_ASSIGN_OR_RETURN(run.session, Session::Create(std::move(model)));
  TW_ASSIGN_OR_RETURN(run.inputs,
                      MakeInputs(run.session->model().program(), {}, seed));
  TW_ASSIGN_OR_RETURN(run.outputs, RunOnce(*run.session, run.inputs));
  for (const HostTensor& input : run.inputs) run.from.push_back(input.data());
  for (HostTensor& output : run.outputs) run.to.push_back(output.data());
  return run;
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

Comparison Compare(const HostTensor& got, const HostTensor& want) {
  if (got.dtype() != want.dtype() || got.shape() != want.shape()) {
    return {INFINITY, false,
            absl::StrCat("is ", Describe(got), ", expected ", Describe(want))};
  }
  double largest = 0;
  for (int64_t i = 0; i < want.num_elements(); ++i) {
    const double r = AsDouble(want.dtype(), want.Get(i));
    if (std::isfinite(r)) largest = std::max(largest, std::abs(r));
  }
  Comparison result;
  for (int64_t i = 0; i < want.num_elements(); ++i) {
    const double r = AsDouble(want.dtype(), want.Get(i)),
                 y = AsDouble(got.dtype(), got.Get(i));
    if (y == r || (std::isnan(y) && std::isnan(r))) continue;
    const double error =
        std::isfinite(y) && std::isfinite(r) ? std::abs(y - r) : INFINITY;
    result.max_abs_error = std::max(result.max_abs_error, error);
    const bool near = error <= 1e-7 + 1e-3 * std::abs(r) ||
                      (IsFloat(want.dtype()) && error <= 2e-5 * largest);
    if (near || !result.conforms) continue;
    result.conforms = false;
    result.reason = absl::StrCat("element ", i, " is ", y, ", expected ", r);
  }
  return result;
}

}  // namespace tilewright::tools
