#!/bin/bash
# The constants of the H100's spec are what fit.py makes of the times that were
# measured there, and a fit without a family still predicts it.
set -u
fit=$1
times=$2
counts=$3
spec=$4
failed=0
out=$(python3 "$fit" "$times" "$counts") || { echo "FAILED: fit.py"; exit 1; }
has() {
  grep -Eq -- "$1" <<< "$2" || { echo "FAILED: no '$1' in:"; echo "$2"; failed=1; }
}
has "^39 kernels: .*'overlap_exponent': 1.5, 'l2_bytes_per_us': 5500000.0, 'launch_us': 0.9, 'latency_us': 0.6" "$out"
has '^of all: median 11 %' "$out"
has '^left out: median 13 %' "$out"
has '^\| product, 2048, fp32 \| 459.00 \| ' "$out"
constants=$(grep -E '^ *(overlap_exponent|launch_ns|aggregate_read_bytes_per_s|latency_ns):' "$spec")
has '^  overlap_exponent: 1.5$' "$constants"
has '^  aggregate_read_bytes_per_s: 5500000000000$' "$constants"
has '^  launch_ns: 900$' "$constants"
has '^  latency_ns: 600$' "$constants"

# Times of other kernels than were counted are no fit.
: > "$TEST_TMPDIR/empty.md"
if python3 "$fit" "$TEST_TMPDIR/empty.md" "$counts" > "$TEST_TMPDIR/out" 2>&1 ||
  ! grep -q 'have no kernel in common' "$TEST_TMPDIR/out"; then
  echo "FAILED: nothing was said of an empty table"
  failed=1
fi
exit $failed
