#include "backends/spec/spec_fingerprint.h"

#include <string>

#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"

namespace tilewright {

Fingerprint FullFingerprint(const DeviceSpec& spec) {
  std::string bytes;
  {
    google::protobuf::io::StringOutputStream stream(&bytes);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    spec.SerializeToCodedStream(&coded);
  }
  return Fingerprint::Of(bytes);
}

Fingerprint StructureFingerprint(const DeviceSpec& spec) {
  DeviceSpec structure = spec;
  structure.clear_name();
  for (MemoryLevel& level : *structure.mutable_levels()) {
    level.clear_read_bytes_per_s();
    level.clear_write_bytes_per_s();
    level.clear_aggregate_read_bytes_per_s();
    level.clear_aggregate_write_bytes_per_s();
    level.clear_latency_ns();
    level.clear_sources();
  }
  ComputeUnit& unit = *structure.mutable_unit();
  for (PeakRate& peak : *unit.mutable_peaks()) {
    peak.clear_core_ops_per_s();
    peak.clear_sources();
  }
  for (MatrixUnit& matrix : *unit.mutable_matrix_units()) matrix.clear_sources();
  unit.mutable_async_copy()->clear_sources();
  unit.clear_launch_ns();
  unit.clear_barrier_ns();
  unit.clear_sources();
  return FullFingerprint(structure);
}

}  // namespace tilewright
