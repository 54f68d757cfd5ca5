#include "absl/strings/str_cat.h"
#include "tools/profile/print.h"

namespace tilewright::tools {
namespace {

constexpr int kProcess = 1;
constexpr int kLaunches = 0;  // the track of the launches
int TrackOf(int worker) { return 1 + worker; }

// "M": what the viewer calls a process or a track, and where it puts it.
void AppendName(absl::string_view what, int track, absl::string_view name,
                Json& json) {
  json.Open('{').Key("ph").Text("M").Key("pid").Int(kProcess);
  json.Key("tid").Int(track).Key("name").Text(what);
  json.Key("args").Open('{').Key("name").Text(name).Close('}').Close('}');
}

// Opens an "X" event, a span; whoever calls adds the fields of "args".
void OpenSpan(int track, absl::string_view name, int64_t start_ns,
              int64_t end_ns, int64_t origin_ns, Json& json) {
  json.Open('{').Key("ph").Text("X").Key("pid").Int(kProcess);
  json.Key("tid").Int(track).Key("name").Text(name);
  json.Key("ts").Number(static_cast<double>(start_ns - origin_ns) * 1e-3);
  json.Key("dur").Number(static_cast<double>(end_ns - start_ns) * 1e-3);
  json.Key("args").Open('{');
}
void CloseSpan(Json& json) { json.Close('}').Close('}'); }

}  // namespace

std::string ProfileTrace(const Profile& profile, absl::string_view title) {
  Json json;
  json.Open('{').Key("displayTimeUnit").Text("ns");
  json.Key("traceEvents").Open('[');
  AppendName("process_name", kLaunches, title, json);
  AppendName("thread_name", kLaunches, "launches", json);
  for (int worker = 0; worker < profile.threads; ++worker) {
    AppendName("thread_name", TrackOf(worker),
               worker == 0 ? std::string("thread 0, launching")
                           : absl::StrCat("thread ", worker),
               json);
  }
  const int64_t origin_ns =
      profile.trace.empty() ? 0 : profile.trace.front().start_ns;
  for (const TracedLaunch& launch : profile.trace) {
    const KernelProfile& kernel = profile.kernels[launch.kernel];
    OpenSpan(kLaunches,
             absl::StrCat(kernel.name, kernel.operators.empty() ? "" : " ",
                          kernel.operators),
             launch.start_ns, launch.end_ns, origin_ns, json);
    json.Key("step").Int(launch.step).Key("label").Text(kernel.label);
    json.Key("what").Text(kernel.shape_and_schedule);
    CloseSpan(json);
    for (const cpu::TaskRecord& piece : launch.pieces) {
      OpenSpan(TrackOf(piece.worker), kernel.name, piece.start_ns, piece.end_ns,
               origin_ns, json);
      json.Key("tasks").Text(absl::StrCat(
          piece.task_begin, " to ", piece.task_end - 1, " of ", kernel.tasks));
      json.Key("cpu_us").Number(static_cast<double>(piece.cpu_ns) * 1e-3);
      CloseSpan(json);
    }
  }
  return json.Close(']').Close('}').text() + "\n";
}

}  // namespace tilewright::tools
