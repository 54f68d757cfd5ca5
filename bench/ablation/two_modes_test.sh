#!/bin/bash
# two_modes_test.sh TWO_MODES TILEWRIGHT: small models in two modes: rows, equal files, the control, failures.
set -u
readonly program="$PWD/$1" tilewright="$PWD/$2" testdata="$PWD/testdata" work="${TEST_TMPDIR:?}"
failures=0

check() {
  local what="$1"
  shift
  "$@" || { echo "FAIL: $what"; failures=$((failures + 1)); }
}

compare() {
  python3 "$program" --tilewright="$tilewright" --threads=1 --rounds=2 --seconds=0.01 "$@" >"$work/table" 2>"$work/stderr"
}

mkdir -p "$work/gemm" "$work/mobilenet" "$work/broken"
cp -L "$testdata/tiny/gemm_relu/model.onnx" "$work/gemm/"
cp -L "$testdata/mobilenet_v2_small/model.onnx" "$work/mobilenet/"
echo nonsense >"$work/broken/model.onnx"

# A model that fails is named; the others are measured.
compare "$work/mobilenet" "$work/broken" --connect=none,register
[[ $? == 1 ]] || { echo "FAIL: a broken model does not give 1: $(cat "$work/stderr")"; failures=$((failures + 1)); }
check "the broken model is not named" grep -q 'two_modes: broken: ' "$work/stderr"
check "no row" grep -qE '^\| mobilenet \| 1 \| 2 \| [0-9.]+ \| [0-9.]+ \| [0-9.]+ \| [0-9.]+ \| [0-9.]+ \|$' "$work/table"
check "no control" grep -qE '^\| control: mobilenet \| 1 \| 2 \| ' "$work/table"
check "no mean" grep -qE '^- 1 thread: geometric mean of 1 models [0-9.]+ \([0-9.]+ to [0-9.]+\); with 0 of equal files' "$work/table"

# Equal files are not measured: there is nothing to fuse.
compare "$work/gemm" --connect=register,register-again
[[ $? == 2 ]] || { echo "FAIL: a mode that does not exist does not give 2"; failures=$((failures + 1)); }
compare "$work/gemm" --connect=register,tilegraph --cost=time
[[ $? == 2 ]] || { echo "FAIL: a flag that does not exist does not give 2"; failures=$((failures + 1)); }
check "a comparison fails" compare "$work/gemm" --connect=register,tilegraph
check "equal files are not told" grep -qE '^- 1 thread, equal files: gemm$' "$work/table"
check "equal files are measured" test "$(grep -c '^| gemm ' "$work/table")" == 0

echo "$failures failures"
exit $((failures > 0))
