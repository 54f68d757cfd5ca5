#!/bin/bash
# official_cases_test.sh TILEWRIGHT: ONNX's own cases, each compiled for this machine and run by kernels. They are looked
# for in $TILEWRIGHT_ONNX_CASES, then where Debian's libonnx-testdata puts them.
set -u
readonly debian=/usr/share/libonnx-testdata/data
readonly cases="${TILEWRIGHT_ONNX_CASES:-$debian}"
# The number of passing cases of Debian's ONNX 1.12.
readonly least_passed=870

if [[ ! -d "$cases" ]]; then
  echo "SKIPPED: no folder $cases; install libonnx-testdata or set TILEWRIGHT_ONNX_CASES"
  exit 0
fi
"$1" conformance "$cases" >"${TEST_TMPDIR:?}/log"
status=$?
cat "$TEST_TMPDIR/log"
passed="$(sed -n 's/^\([0-9]*\) passed, .*/\1/p' "$TEST_TMPDIR/log")"
if [[ "$cases" == "$debian" && "${passed:-0}" -lt "$least_passed" ]]; then
  echo "FAIL: only ${passed:-0} pass, which were $least_passed"
  status=1
fi
exit "$status"
