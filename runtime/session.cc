#include "runtime/session.h"

#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/allocation.h"
#include "base/status_macros.h"
#include "runtime/format/element_type.h"
#include "runtime/format/moved_bytes.h"

namespace tilewright {
namespace {

bool AtBoundary(const ProgramBuffer& buffer) {
  return buffer.kind() == ProgramBuffer::INPUT ||
         buffer.kind() == ProgramBuffer::OUTPUT;
}

// Fills [to, to + size) for every combination of repeats from `depth` on.
absl::Status ZeroRepeated(backends::Stream& stream, const Zero& zero, char* to,
                          int depth) {
  if (depth == zero.repeats_size())
    return stream.Fill(to, 0, zero.size_bytes());
  const Zero::Repeat& repeat = zero.repeats(depth);
  for (int64_t i = 0; i < repeat.count(); ++i)
    TW_RETURN_IF_ERROR(
        ZeroRepeated(stream, zero, to + i * repeat.stride_bytes(), depth + 1));
  return absl::OkStatus();
}

// The repeat that a stream is asked to do itself: that of most rows. REQUIRES:
// there is one.
int LongestRepeat(const Copy& copy) {
  int longest = 0;
  for (int i = 1; i < copy.repeats_size(); ++i) {
    if (copy.repeats(i).count() > copy.repeats(longest).count()) longest = i;
  }
  return longest;
}

// Copies for every combination of repeats from `depth` on but number `rows`,
// for each of which it copies rows.
absl::Status CopyRepeated(backends::Stream& stream, const Copy& copy, char* to,
                          const char* from, int depth, int rows) {
  if (depth == copy.repeats_size()) {
    const Copy::Repeat& row = copy.repeats(rows);
    return stream.CopyRows(to, row.to_stride_bytes(), from,
                           row.from_stride_bytes(), copy.size_bytes(),
                           row.count());
  }
  if (depth == rows)
    return CopyRepeated(stream, copy, to, from, depth + 1, rows);
  const Copy::Repeat& repeat = copy.repeats(depth);
  for (int64_t i = 0; i < repeat.count(); ++i)
    TW_RETURN_IF_ERROR(
        CopyRepeated(stream, copy, to + i * repeat.to_stride_bytes(),
                     from + i * repeat.from_stride_bytes(), depth + 1, rows));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Session>> Session::Create(
    std::shared_ptr<const Model> model) {
  return CatchExceptions(
      "creating a session", [&]() -> absl::StatusOr<std::unique_ptr<Session>> {
        std::unique_ptr<Session> session(new Session);
        const Program& program = model->program();
        backends::Device& device = model->device();
        TW_RETURN_IF_ERROR(
            CheckMemory(program.arena_bytes(), "the arena of a session"));
        TW_ASSIGN_OR_RETURN(session->arena_,
                            device.Allocate(program.arena_bytes()));
        TW_ASSIGN_OR_RETURN(session->stream_, device.CreateStream());
        if (program.host_bytes() > 0) {
          constexpr std::string_view kPurpose = "the host memory of a session";
          TW_RETURN_IF_ERROR(CheckMemory(program.host_bytes(), kPurpose));
          absl::StatusOr<std::unique_ptr<backends::HostBuffer>> host =
              device.AllocateHost(program.host_bytes());
          if (!host.ok()) return CannotAllocate(program.host_bytes(), kPurpose);
          session->host_ = *std::move(host);
        }
        // Constants are only ever read: VerifyProgram has refused steps that
        // write them.
        char* const constants = const_cast<char*>(model->constants());
        for (const ProgramBuffer& buffer : program.buffers()) {
          if (AtBoundary(buffer))
            session->boundary_buffers_.push_back(
                static_cast<int>(session->bases_.size()));
          char* base = nullptr;
          if (buffer.kind() == ProgramBuffer::CONSTANT)
            base = constants + buffer.offset_bytes();
          if (buffer.kind() == ProgramBuffer::ARENA)
            base = static_cast<char*>(session->arena_->address()) +
                   buffer.offset_bytes();
          if (buffer.kind() == ProgramBuffer::HOST)
            base = static_cast<char*>(session->host_->address()) +
                   buffer.offset_bytes();
          session->bases_.push_back(base);
        }
        for (const Step& step : program.steps()) {
          std::vector<void*> args;
          backends::KernelLaunch launch;
          if (step.has_launch()) {
            const KernelInfo& info = program.kernels(step.launch().kernel());
            launch.kernel = &model->kernel(step.launch().kernel());
            launch.num_tasks = info.num_tasks();
            launch.scratch_bytes = info.scratch_bytes();
            launch.one_thread_ns = info.predicted_ns();
            for (const Place& arg : step.launch().args()) {
              if (AtBoundary(program.buffers(arg.buffer()))) {
                session->boundary_args_.push_back(
                    {static_cast<int>(session->args_.size()),
                     static_cast<int>(args.size()), arg.buffer(),
                     arg.offset_bytes()});
                args.push_back(nullptr);
              } else {
                args.push_back(session->Address(arg));
              }
            }
          }
          session->args_.push_back(std::move(args));
          launch.args = session->args_.back();
          session->launches_.push_back(launch);
          if (step.launch().beside_previous()) {
            ++session->together_.back();
          } else {
            session->together_.push_back(1);
          }
        }
        session->model_ = std::move(model);
        if (!device.unified_memory()) {
          TW_RETURN_IF_ERROR(session->Mirror());
          session->Capture();
        }
        return session;
      });
}

absl::Status Session::Mirror() {
  const Program& program = model_->program();
  const auto allocate = [&](const auto& tensors, auto& buffers,
                            std::vector<void*>& addresses) -> absl::Status {
    for (const TensorSpec& tensor : tensors) {
      TW_ASSIGN_OR_RETURN(buffers.emplace_back(),
                          model_->device().Allocate(SizeBytes(tensor)));
      addresses.push_back(buffers.back()->address());
    }
    return absl::OkStatus();
  };
  std::vector<void*> inputs, outputs;
  TW_RETURN_IF_ERROR(allocate(program.inputs(), inputs_, inputs));
  TW_RETURN_IF_ERROR(allocate(program.outputs(), outputs_, outputs));
  Bind(std::vector<const void*>(inputs.begin(), inputs.end()), outputs);
  return absl::OkStatus();
}

void Session::Bind(absl::Span<const void* const> inputs,
                   absl::Span<void* const> outputs) {
  for (const int i : boundary_buffers_) {
    const ProgramBuffer& buffer = model_->program().buffers(i);
    void* const given = buffer.kind() == ProgramBuffer::INPUT
                            ? const_cast<void*>(inputs[buffer.index()])
                            : outputs[buffer.index()];
    // Inputs are never written: VerifyProgram.
    bases_[i] = static_cast<char*>(given) + buffer.offset_bytes();
  }
  for (const BoundaryArg& arg : boundary_args_)
    args_[arg.step][arg.position] = bases_[arg.buffer] + arg.offset_bytes;
}

absl::Status Session::Begin(absl::Span<const void* const> inputs,
                            absl::Span<void* const> outputs) {
  const Program& program = model_->program();
  if (static_cast<int>(inputs.size()) != program.inputs_size() ||
      static_cast<int>(outputs.size()) != program.outputs_size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the model has ", program.inputs_size(), " inputs and ",
                     program.outputs_size(), " outputs, got ", inputs.size(),
                     " and ", outputs.size()));
  }
  if (model_->device().unified_memory()) {
    Bind(inputs, outputs);
    return absl::OkStatus();
  }
  for (size_t i = 0; i < inputs.size(); ++i)
    TW_RETURN_IF_ERROR(stream_->Copy(inputs_[i]->address(), inputs[i],
                                     inputs_[i]->size_bytes()));
  return absl::OkStatus();
}

absl::Status Session::End(absl::Span<void* const> outputs) {
  for (size_t i = 0; i < outputs_.size(); ++i)
    TW_RETURN_IF_ERROR(stream_->Copy(outputs[i], outputs_[i]->address(),
                                     outputs_[i]->size_bytes()));
  return stream_->Synchronize();
}

absl::Status Session::Read(const Place& place, int64_t size_bytes, void* to) {
  TW_RETURN_IF_ERROR(stream_->Copy(to, Address(place), size_bytes));
  return stream_->Synchronize();
}

absl::Status Session::RunCopy(const Copy& copy) {
  if (CrossesDevice(model_->program(), copy)) moved_bytes_ += BytesOf(copy);
  char* const to = Address(copy.to());
  const char* const from = Address(copy.from());
  if (copy.repeats().empty()) return stream_->Copy(to, from, copy.size_bytes());
  return CopyRepeated(*stream_, copy, to, from, /*depth=*/0,
                      LongestRepeat(copy));
}

absl::Status Session::RunTogether(int i, int count) {
  const Step& step = model_->program().steps(i);
  if (step.has_launch())
    return stream_->LaunchTogether(
        absl::MakeConstSpan(launches_).subspan(i, count));
  if (step.has_copy()) return RunCopy(step.copy());
  return ZeroRepeated(*stream_, step.zero(), Address(step.zero().to()), 0);
}

absl::Status Session::RunAllSteps() {
  int step = 0;
  for (const int count : together_) {
    TW_RETURN_IF_ERROR(RunTogether(step, count));
    step += count;
  }
  return absl::OkStatus();
}

void Session::Capture() {
  absl::StatusOr<std::unique_ptr<backends::CapturedWork>> captured =
      stream_->Capture([this] { return RunAllSteps(); });
  captured_bytes_ = std::exchange(moved_bytes_, 0);
  // What cannot be captured is launched step by step, and fails there if it has
  // to.
  if (captured.ok()) captured_ = *std::move(captured);
}

absl::Status Session::RunOrReplay() {
  if (captured_ == nullptr) return RunAllSteps();
  moved_bytes_ += captured_bytes_;
  return stream_->Replay(*captured_);
}

absl::Status Session::Run(absl::Span<const void* const> inputs,
                          absl::Span<void* const> outputs) {
  TW_RETURN_IF_ERROR(Begin(inputs, outputs));
  TW_RETURN_IF_ERROR(RunOrReplay());
  return End(outputs);
}

absl::Status Session::RunSteps(absl::Span<const void* const> inputs,
                               absl::Span<void* const> outputs,
                               const std::function<void(int step)>& on_step) {
  TW_RETURN_IF_ERROR(Begin(inputs, outputs));
  for (int i = 0; i < static_cast<int>(args_.size()); ++i) {
    TW_RETURN_IF_ERROR(RunTogether(i, 1));
    TW_RETURN_IF_ERROR(stream_->Synchronize());
    on_step(i);
  }
  return End(outputs);
}

absl::Status Session::TimeSteps(
    absl::Span<const void* const> inputs, absl::Span<void* const> outputs,
    const std::function<void(int step, int64_t ns)>& on_step) {
  TW_RETURN_IF_ERROR(Begin(inputs, outputs));
  for (int i = 0; i < static_cast<int>(args_.size()); ++i) {
    TW_ASSIGN_OR_RETURN(
        const int64_t ns,
        model_->device().TimeNs(*stream_, [&] { return RunTogether(i, 1); }));
    on_step(i, ns);
  }
  return End(outputs);
}

absl::StatusOr<int64_t> Session::TimeRun(absl::Span<const void* const> inputs,
                                         absl::Span<void* const> outputs) {
  TW_RETURN_IF_ERROR(Begin(inputs, outputs));
  TW_ASSIGN_OR_RETURN(
      const int64_t ns,
      model_->device().TimeNs(*stream_, [this] { return RunOrReplay(); }));
  TW_RETURN_IF_ERROR(End(outputs));
  return ns;
}

}  // namespace tilewright
