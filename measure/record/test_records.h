// Valid records for tests.
#ifndef TILEWRIGHT_MEASURE_RECORD_TEST_RECORDS_H_
#define TILEWRIGHT_MEASURE_RECORD_TEST_RECORDS_H_

#include <string>
#include <string_view>

#include "measure/record/record.pb.h"

namespace tilewright::measure {

// The key of any text, whether a workload's or not.
WorkloadKey KeyOfText(std::string_view text);

// Verified, every field set; equal arguments, equal records.
Record TestRecord(std::string_view workload_text, double median_ns);
// It failed.
Record FailedTestRecord(std::string_view workload_text,
                        Measurement::Outcome outcome);

// The device that all of them name.
std::string TestDevice();

}  // namespace tilewright::measure

#endif  // TILEWRIGHT_MEASURE_RECORD_TEST_RECORDS_H_
