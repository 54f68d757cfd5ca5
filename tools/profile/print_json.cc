#include "tools/profile/print.h"

namespace tilewright::tools {
namespace {

void AppendSpread(absl::string_view key, const Spread& spread, Json& json) {
  json.Key(key).Open('{').Key("min").Number(spread.min).Key("median");
  json.Number(spread.median).Close('}');
}

void AppendWork(const Work& work, Json& json) {
  json.Key("flops").Number(work.flops).Key("bytes").Number(work.bytes);
  json.Key("constant_bytes").Number(work.constant_bytes);
}

void AppendBound(const Bound& bound, Json& json) {
  json.Key("bound_us").Number(bound.us).Key("bound_by").Text(bound.by);
}

void AppendLimits(const Limits& limits, Json& json) {
  json.Key("limits").Open('{').Key("source").Text(limits.source);
  json.Key("gflops").Number(limits.gflops).Key("levels").Open('[');
  for (const Limits::Level& level : limits.levels) {
    json.Open('{').Key("name").Text(level.name);
    // Unlimited is null.
    json.Key("capacity_bytes").Number(level.capacity_bytes);
    json.Key("gbytes_per_s").Number(level.gbytes_per_s).Close('}');
  }
  json.Close(']').Close('}');
}

void AppendKernel(const Profile& profile, const KernelProfile& kernel,
                  Json& json) {
  json.Open('{').Key("kernel").Text(kernel.name);
  json.Key("label").Text(kernel.label);
  json.Key("short_name").Text(kernel.short_name);
  json.Key("operators").Text(kernel.operators);
  json.Key("summary").Text(kernel.shape_and_schedule);
  json.Key("schedule").Text(kernel.schedule);
  json.Key("launches").Int(kernel.launches).Key("tasks").Int(kernel.tasks);
  json.Key("code_bytes").Int(kernel.code_bytes);
  json.Key("spills").Int(kernel.spills);
  json.Key("scratch_bytes").Int(kernel.scratch_bytes);
  AppendWork(kernel.work, json);
  AppendBound(kernel.bound, json);
  if (profile.runs > 0) {
    const double us = QuotedUs(profile, kernel);
    AppendSpread("wall_us", kernel.wall_us, json);
    if (!profile.by_device) AppendSpread("cpu_us", kernel.cpu_us, json);
    json.Key("us").Number(us);
    // A copy of a few bytes may take no time that a clock sees.
    const double per_us = us > 0 ? 1 / us : 0;
    json.Key("gflops").Number(kernel.work.flops * per_us * 1e-3);
    json.Key("gbytes_per_s").Number(kernel.work.bytes * per_us * 1e-3);
    json.Key("roofline_percent").Number(RooflinePercent(profile, kernel));
    if (!profile.by_device)
      json.Key("busy_percent").Number(kernel.busy_percent);
  }
  if (kernel.predicted_us > 0)
    json.Key("predicted_us").Number(kernel.predicted_us);
  json.Close('}');
}

}  // namespace

void AppendProfile(const Profile& profile, Json& json) {
  json.Open('{').Key("target").Text(profile.target);
  json.Key("producer").Text(profile.producer);
  json.Key("threads").Int(profile.threads).Key("runs").Int(profile.runs);
  AppendLimits(profile.limits, json);
  AppendWork(profile.work, json);
  AppendBound(profile.bound, json);
  json.Key("kernels_bound_us").Number(profile.kernels_bound_us);
  if (profile.runs > 0) {
    AppendSpread("wall_us", profile.wall_us, json);
    json.Key("roofline_percent")
        .Number(100 * profile.bound.us / profile.wall_us.min);
    json.Key("kernels_roofline_percent")
        .Number(100 * profile.kernels_bound_us / profile.wall_us.min);
    if (!profile.by_device)
      json.Key("busy_percent").Number(profile.busy_percent);
  }
  json.Key("kernels").Open('[');
  for (const KernelProfile& kernel : profile.kernels)
    AppendKernel(profile, kernel, json);
  json.Close(']').Close('}');
}

}  // namespace tilewright::tools
