#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/cts/cases.h"
#include "backends/cts/compare.h"
#include "backends/cts/values.h"
#include "backends/kernel_ir/builder.h"
#include "base/random.h"
#include "base/status_macros.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tilewright::cts {
namespace {

using backends::Device;
using backends::DeviceBuffer;
using kernel_ir::kNoReg;
using kernel_ir::Reg;
using kernel_ir::Role;
using kernel_ir::ScalarBuilder;
using kernel_ir::ScalarKernel;

constexpr int64_t kRow = 24;

// Each task sums prefixes of its row in scratch, then stores them reversed:
// wrong if tasks share scratch, run twice or not at all.
ScalarKernel RowKernel(int64_t tasks) {
  ScalarBuilder b("rows", tasks);
  const int in =
      b.AddArgument("in", DType::kFloat32, Role::kInput, tasks * kRow);
  const int out =
      b.AddArgument("out", DType::kFloat32, Role::kOutput, tasks * kRow);
  const int first = b.AddScratch("first", DType::kFloat32, kRow);
  const int second = b.AddScratch("second", DType::kFloat64, kRow);
  const Reg row = b.Mul(b.task(), b.Int(kRow));
  const Reg sum = b.Variable(DType::kFloat32, 1, "sum");
  b.Assign(sum, b.Float(0));
  const Reg i = b.BeginFor(0, kRow);
  b.AssignOp(sum, Op::kAdd, {sum, b.Load(in, b.Add(row, i), 0)});
  b.Store(first, i, 0, sum);
  b.Store(second, b.Sub(b.Int(kRow - 1), i), 0, b.Cast(DType::kFloat64, sum));
  b.EndFor();
  const Reg j = b.BeginFor(0, kRow, 8);
  b.Store(out, b.Add(row, j), 0,
          b.Sub(b.Cast(DType::kFloat32, b.Load(second, j, 0, 8)),
                b.Load(first, j, 0, 8)));
  b.EndFor();
  return std::move(b).Finish();
}

void ExpectTasks(const Backend& backend, int num_threads) {
  for (int64_t tasks : {1, 2, 3, 64, 1000}) {
    Random random(static_cast<uint64_t>(tasks));
    ExpectSameAsInterpreter(backend,
                            {{RowKernel(tasks),
                              {SomeBytes(DType::kFloat32, tasks * kRow, random),
                               Pattern(tasks * kRow * 4)}}},
                            num_threads);
  }
}

// A device with all that a launch needs on it.
struct Loaded {
  std::unique_ptr<Device> device;
  std::unique_ptr<backends::DeviceModule> module;
  std::unique_ptr<backends::DeviceKernel> kernel;
};

absl::StatusOr<Loaded> LoadOn(const Backend& backend,
                              const ScalarKernel& kernel, int num_threads) {
  Loaded loaded;
  TW_ASSIGN_OR_RETURN(const auto codegen, backend.codegen());
  TW_ASSIGN_OR_RETURN(loaded.device, backend.device(num_threads));
  TW_ASSIGN_OR_RETURN(const backends::Module module, codegen->Emit({kernel}));
  TW_ASSIGN_OR_RETURN(loaded.module,
                      loaded.device->LoadModule(module.bytes, module.target));
  TW_ASSIGN_OR_RETURN(loaded.kernel,
                      loaded.device->GetKernel(*loaded.module, kernel.name));
  return loaded;
}

// Runs RowKernel(tasks) in device memory and returns the output.
absl::StatusOr<std::string> RunRows(Loaded& loaded, const ScalarKernel& kernel,
                                    const std::string& input) {
  const auto size = static_cast<int64_t>(input.size());
  TW_ASSIGN_OR_RETURN(const auto stream, loaded.device->CreateStream());
  TW_ASSIGN_OR_RETURN(const auto in, loaded.device->Allocate(size));
  TW_ASSIGN_OR_RETURN(const auto out, loaded.device->Allocate(size));
  TW_RETURN_IF_ERROR(stream->Copy(in->address(), input.data(), size));
  TW_RETURN_IF_ERROR(stream->Fill(out->address(), 0xff, size));
  void* const args[] = {in->address(), out->address()};
  TW_RETURN_IF_ERROR(stream->Launch(*loaded.kernel, args, kernel.num_tasks,
                                    kernel.scratch_bytes));
  std::string output(input.size(), '\0');
  TW_RETURN_IF_ERROR(stream->Copy(&output[0], out->address(), size));
  TW_RETURN_IF_ERROR(stream->Synchronize());
  return output;
}

void ExpectSameBits(const Backend& backend) {
  constexpr int64_t kTasks = 500;
  const ScalarKernel kernel = RowKernel(kTasks);
  Random random(1);
  const std::string input = SomeBytes(DType::kFloat32, kTasks * kRow, random);
  std::string reference;
  for (int threads : {1, 2, 5}) {
    TW_ASSERT_OK_AND_ASSIGN(Loaded loaded, LoadOn(backend, kernel, threads));
    for (int round = 0; round < 30; ++round) {
      TW_ASSERT_OK_AND_ASSIGN(const std::string output,
                              RunRows(loaded, kernel, input));
      if (reference.empty()) reference = output;
      ASSERT_EQ(output, reference) << threads << " threads, round " << round;
    }
  }
}

void ExpectConcurrentStreams(const Backend& backend) {
  constexpr int64_t kTasks = 200;
  const ScalarKernel kernel = RowKernel(kTasks);
  TW_ASSERT_OK_AND_ASSIGN(Loaded loaded, LoadOn(backend, kernel, 3));
  std::vector<std::string> differences(4);
  std::vector<std::thread> sessions;
  for (int session = 0; session < 4; ++session) {
    sessions.emplace_back([&, session] {
      Random random(static_cast<uint64_t>(session));
      const std::string input =
          SomeBytes(DType::kFloat32, kTasks * kRow, random);
      const absl::StatusOr<std::string> first = RunRows(loaded, kernel, input);
      for (int round = 0; round < 50; ++round) {
        const absl::StatusOr<std::string> again =
            RunRows(loaded, kernel, input);
        if (!again.ok() || !first.ok()) {
          differences[session] = again.status().ToString();
        } else if (*again != *first) {
          differences[session] = absl::StrCat("round ", round, " differs");
        }
      }
    });
  }
  for (std::thread& session : sessions) session.join();
  for (const std::string& difference : differences) EXPECT_EQ(difference, "");
}

void ExpectNoTasks(const Backend& backend) {
  ScalarKernel kernel = RowKernel(1);
  TW_ASSERT_OK_AND_ASSIGN(Loaded loaded, LoadOn(backend, kernel, 2));
  kernel.num_tasks = 0;
  const std::string input(kRow * 4, '\0');
  TW_ASSERT_OK_AND_ASSIGN(const std::string output,
                          RunRows(loaded, kernel, input));
  EXPECT_EQ(output, std::string(kRow * 4, '\xff'));
}

// Launches beside each other, some without tasks, write what they write alone.
void ExpectLaunchesTogether(const Backend& backend) {
  const ScalarKernel kernel = RowKernel(40);
  TW_ASSERT_OK_AND_ASSIGN(Loaded loaded, LoadOn(backend, kernel, 3));
  TW_ASSERT_OK_AND_ASSIGN(const auto stream, loaded.device->CreateStream());
  const int64_t size = 40 * kRow * 4;
  Random random(1);
  const std::string input = SomeBytes(DType::kFloat32, 40 * kRow, random);
  TW_ASSERT_OK_AND_ASSIGN(const std::string wanted,
                          RunRows(loaded, kernel, input));
  TW_ASSERT_OK_AND_ASSIGN(const auto in, loaded.device->Allocate(size));
  ASSERT_THAT(stream->Copy(in->address(), input.data(), size), IsOk());
  const std::vector<int64_t> tasks = {3, 0, 40, 1, 17};
  std::vector<std::unique_ptr<DeviceBuffer>> outputs;
  std::vector<std::vector<void*>> args;
  std::vector<backends::KernelLaunch> launches;
  for (const int64_t count : tasks) {
    TW_ASSERT_OK_AND_ASSIGN(outputs.emplace_back(),
                            loaded.device->Allocate(size));
    ASSERT_THAT(stream->Fill(outputs.back()->address(), 0xff, size), IsOk());
    args.push_back({in->address(), outputs.back()->address()});
    launches.push_back(
        {loaded.kernel.get(), args.back(), count, kernel.scratch_bytes});
  }
  ASSERT_THAT(stream->LaunchTogether(launches), IsOk());
  for (size_t i = 0; i < tasks.size(); ++i) {
    std::string output(static_cast<size_t>(size), '\0');
    ASSERT_THAT(stream->Copy(&output[0], outputs[i]->address(), size), IsOk());
    ASSERT_THAT(stream->Synchronize(), IsOk());
    const size_t written = static_cast<size_t>(tasks[i] * kRow * 4);
    EXPECT_EQ(output.substr(0, written), wanted.substr(0, written)) << i;
    EXPECT_EQ(output.substr(written),
              std::string(output.size() - written, '\xff'))
        << i;
  }
}

void ExpectMemory(const Backend& backend) {
  TW_ASSERT_OK_AND_ASSIGN(const auto device, backend.device(1));
  TW_ASSERT_OK_AND_ASSIGN(const auto stream, device->CreateStream());
  Random random(1);
  for (int64_t size : {0, 1, 100, 1 << 20}) {
    const std::string bytes = SomeBytes(DType::kUInt8, size, random);
    TW_ASSERT_OK_AND_ASSIGN(const auto a, device->Allocate(size));
    TW_ASSERT_OK_AND_ASSIGN(const auto b, device->Allocate(size));
    EXPECT_EQ(a->size_bytes(), size);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(a->address()) % 64, 0u);
    ASSERT_THAT(stream->Copy(a->address(), bytes.data(), size), IsOk());
    ASSERT_THAT(stream->Copy(b->address(), a->address(), size), IsOk());
    ASSERT_THAT(stream->Fill(a->address(), 3, size), IsOk());
    std::string back(static_cast<size_t>(size), '\0');
    ASSERT_THAT(stream->Copy(&back[0], b->address(), size), IsOk());
    ASSERT_THAT(stream->Synchronize(), IsOk());
    EXPECT_EQ(back, bytes);
  }
  EXPECT_EQ(device->Allocate(int64_t{1} << 60).status().code(),
            absl::StatusCode::kResourceExhausted);
}

// Rows out of one matrix into another and back, whatever lies between them.
void ExpectCopiedRows(const Backend& backend) {
  constexpr char kUntouched = 9;
  TW_ASSERT_OK_AND_ASSIGN(const auto device, backend.device(1));
  TW_ASSERT_OK_AND_ASSIGN(const auto stream, device->CreateStream());
  Random random(2);
  struct Case {
    int64_t bytes, rows, host_stride, device_stride;
  };
  for (const auto& [bytes, rows, host_stride, device_stride] :
       {Case{12, 5, 12, 20}, Case{1, 40, 7, 3}, Case{64, 1, 64, 64},
        Case{100, 3, 100, 100}, Case{8, 4, 8, -8}, Case{4, 0, 4, 4}}) {
    const int64_t size = 1024, half = size / 2;
    const std::string input = SomeBytes(DType::kUInt8, size, random);
    TW_ASSERT_OK_AND_ASSIGN(const auto buffer, device->Allocate(size));
    char* const middle = static_cast<char*>(buffer->address()) + half;
    ASSERT_THAT(stream->Fill(buffer->address(), kUntouched, size), IsOk());
    ASSERT_THAT(stream->CopyRows(middle, device_stride, input.data(),
                                 host_stride, bytes, rows),
                IsOk());
    std::string there(static_cast<size_t>(size), '\0');
    std::string back(static_cast<size_t>(size), kUntouched);
    ASSERT_THAT(stream->Copy(&there[0], buffer->address(), size), IsOk());
    ASSERT_THAT(stream->CopyRows(&back[0], host_stride, middle, device_stride,
                                 bytes, rows),
                IsOk());
    ASSERT_THAT(stream->Synchronize(), IsOk());
    std::string wanted_there(static_cast<size_t>(size), kUntouched);
    std::string wanted_back = wanted_there;
    for (int64_t row = 0; row < rows; ++row) {
      const std::string run = input.substr(row * host_stride, bytes);
      wanted_there.replace(half + row * device_stride, bytes, run);
      wanted_back.replace(row * host_stride, bytes, run);
    }
    EXPECT_EQ(there, wanted_there) << rows << " rows of " << bytes;
    EXPECT_EQ(back, wanted_back) << rows << " rows of " << bytes;
  }
}

// Captured work does nothing at first, then what it would have done, on what
// buffers hold when it is replayed.
void ExpectCapture(const Backend& backend) {
  constexpr int64_t kTasks = 60;
  const ScalarKernel kernel = RowKernel(kTasks);
  TW_ASSERT_OK_AND_ASSIGN(Loaded loaded, LoadOn(backend, kernel, 2));
  TW_ASSERT_OK_AND_ASSIGN(const auto stream, loaded.device->CreateStream());
  const int64_t size = kTasks * kRow * 4;
  TW_ASSERT_OK_AND_ASSIGN(const auto in, loaded.device->Allocate(size));
  TW_ASSERT_OK_AND_ASSIGN(const auto middle, loaded.device->Allocate(size));
  TW_ASSERT_OK_AND_ASSIGN(const auto out, loaded.device->Allocate(size));
  TW_ASSERT_OK_AND_ASSIGN(const auto host, loaded.device->AllocateHost(size));
  void* const args[] = {middle->address(), out->address()};
  const auto work = [&]() -> absl::Status {
    TW_RETURN_IF_ERROR(stream->Copy(middle->address(), in->address(), size));
    TW_RETURN_IF_ERROR(stream->Fill(out->address(), 0xff, size));
    TW_RETURN_IF_ERROR(
        stream->Launch(*loaded.kernel, args, kTasks, kernel.scratch_bytes));
    return stream->Copy(host->address(), out->address(), size);
  };
  ASSERT_THAT(stream->Fill(out->address(), 1, size), IsOk());
  TW_ASSERT_OK_AND_ASSIGN(const auto captured, stream->Capture(work));
  std::string output(static_cast<size_t>(size), '\0');
  ASSERT_THAT(stream->Copy(&output[0], out->address(), size), IsOk());
  ASSERT_THAT(stream->Synchronize(), IsOk());
  EXPECT_EQ(output, std::string(output.size(), '\1'));
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    Random random(seed);
    const std::string input = SomeBytes(DType::kFloat32, kTasks * kRow, random);
    TW_ASSERT_OK_AND_ASSIGN(const std::string wanted,
                            RunRows(loaded, kernel, input));
    ASSERT_THAT(stream->Copy(in->address(), input.data(), size), IsOk());
    ASSERT_THAT(captured == nullptr ? work() : stream->Replay(*captured),
                IsOk());
    ASSERT_THAT(stream->Synchronize(), IsOk());
    EXPECT_EQ(
        std::string(static_cast<const char*>(host->address()), output.size()),
        wanted)
        << seed;
  }
  // An error of what was to be captured comes back, and the stream goes on.
  EXPECT_THAT(
      stream->Capture([] { return absl::AbortedError("stopped"); }),
      testing::AnyOf(StatusIs(absl::StatusCode::kAborted, "stopped"), IsOk()));
  ASSERT_THAT(stream->Fill(out->address(), 2, size), IsOk());
  EXPECT_THAT(stream->Synchronize(), IsOk());
}

// What waits for another stream reads what that wrote.
void ExpectWaiting(const Backend& backend) {
  constexpr int64_t kTasks = 300;
  const ScalarKernel kernel = RowKernel(kTasks);
  TW_ASSERT_OK_AND_ASSIGN(Loaded loaded, LoadOn(backend, kernel, 2));
  TW_ASSERT_OK_AND_ASSIGN(const auto writer, loaded.device->CreateStream());
  TW_ASSERT_OK_AND_ASSIGN(const auto reader, loaded.device->CreateStream());
  const int64_t size = kTasks * kRow * 4;
  TW_ASSERT_OK_AND_ASSIGN(const auto in, loaded.device->Allocate(size));
  TW_ASSERT_OK_AND_ASSIGN(const auto out, loaded.device->Allocate(size));
  TW_ASSERT_OK_AND_ASSIGN(const auto host, loaded.device->AllocateHost(size));
  EXPECT_EQ(host->size_bytes(), size);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(host->address()) % 64, 0u);
  void* const args[] = {in->address(), out->address()};
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    Random random(seed);
    const std::string input = SomeBytes(DType::kFloat32, kTasks * kRow, random);
    TW_ASSERT_OK_AND_ASSIGN(const std::string wanted,
                            RunRows(loaded, kernel, input));
    ASSERT_THAT(writer->Copy(in->address(), input.data(), size), IsOk());
    for (int i = 0; i < 10; ++i) {
      ASSERT_THAT(
          writer->Launch(*loaded.kernel, args, kTasks, kernel.scratch_bytes),
          IsOk());
    }
    ASSERT_THAT(reader->WaitFor(*writer), IsOk());
    ASSERT_THAT(reader->Copy(host->address(), out->address(), size), IsOk());
    // The next round writes what this one reads.
    ASSERT_THAT(writer->WaitFor(*reader), IsOk());
    ASSERT_THAT(writer->Fill(out->address(), 0xff, size), IsOk());
    ASSERT_THAT(reader->Synchronize(), IsOk());
    EXPECT_EQ(std::string(static_cast<const char*>(host->address()),
                          static_cast<size_t>(size)),
              wanted)
        << seed;
  }
  ASSERT_THAT(writer->Synchronize(), IsOk());
}

// Twice the work takes longer, and what the work returns comes back.
void ExpectTimer(const Backend& backend) {
  constexpr int64_t kTasks = 2000;
  const ScalarKernel kernel = RowKernel(kTasks);
  TW_ASSERT_OK_AND_ASSIGN(Loaded loaded, LoadOn(backend, kernel, 1));
  TW_ASSERT_OK_AND_ASSIGN(const auto stream, loaded.device->CreateStream());
  const int64_t size = kTasks * kRow * 4;
  TW_ASSERT_OK_AND_ASSIGN(const auto in, loaded.device->Allocate(size));
  TW_ASSERT_OK_AND_ASSIGN(const auto out, loaded.device->Allocate(size));
  ASSERT_THAT(stream->Fill(in->address(), 0, size), IsOk());
  void* const args[] = {in->address(), out->address()};
  const auto time = [&](int launches) {
    int64_t best = INT64_MAX;
    for (int round = 0; round < 5; ++round) {
      const absl::StatusOr<int64_t> ns =
          loaded.device->TimeNs(*stream, [&]() -> absl::Status {
            for (int i = 0; i < launches; ++i) {
              TW_RETURN_IF_ERROR(stream->Launch(*loaded.kernel, args, kTasks,
                                                kernel.scratch_bytes));
            }
            return absl::OkStatus();
          });
      EXPECT_THAT(ns, IsOk());
      if (ns.ok()) best = std::min(best, *ns);
    }
    return best;
  };
  const int64_t one = time(1);
  EXPECT_GT(one, 0);
  EXPECT_GT(time(8), 3 * one);
  EXPECT_THAT(loaded.device->TimeNs(
                  *stream, [] { return absl::AbortedError("stopped"); }),
              StatusIs(absl::StatusCode::kAborted, "stopped"));
}

}  // namespace

std::vector<Case> LaunchCases() {
  return {
      {"TasksOnOneThread", [](const Backend& b) { ExpectTasks(b, 1); }},
      {"TasksOnTwoThreads", [](const Backend& b) { ExpectTasks(b, 2); }},
      {"TasksOnFiveThreads", [](const Backend& b) { ExpectTasks(b, 5); }},
      {"SameBitsForAnyNumberOfThreads", ExpectSameBits},
      {"StreamsOfSeveralSessionsShareADevice", ExpectConcurrentStreams},
      {"NoTasksWriteNothing", ExpectNoTasks},
      {"LaunchesTogetherWriteWhatTheyWriteAlone", ExpectLaunchesTogether},
      {"MemoryIsAlignedCopiedAndFilled", ExpectMemory},
      {"RowsAreCopied", ExpectCopiedRows},
      {"CapturedWorkRunsWhenItIsReplayed", ExpectCapture},
      {"StreamsWaitForEachOther", ExpectWaiting},
      {"TheTimerGrowsWithTheWork", ExpectTimer},
  };
}

}  // namespace tilewright::cts
