#!/bin/bash
# tilewright_bench on good and bad flags. What it measures is nobody's test.
set -u
readonly bench="$PWD/$1"
readonly work="${TEST_TMPDIR:?}"
failures=0

fail() {
  echo "FAIL: $*"
  failures=$((failures + 1))
}

quick=(--benchmark_min_time=0.0001 --benchmark_repetitions=1)
"$bench" "${quick[@]}" '--benchmark_filter=^(peak/f32|bandwidth/read/(8192|393216)/|latency/8192|cost/)' \
  --spec-out="$work/host.textproto" --report="$work/host.html" --json >"$work/stdout" 2>"$work/stderr" ||
  fail "a run fails: $(cat "$work/stderr")"
python3 - "$work/stdout" <<'END' || fail "--json is not what it should be"
import json, sys
facts = json.load(open(sys.argv[1]))
assert {p["dtype"] for p in facts["peaks"]} == {"f32"}
assert {p["bytes"] for p in facts["bandwidths"]} == {8192, 393216}
assert [p["bytes"] for p in facts["latencies"]] == [8192]
assert {"launch", "process", "thread"} <= {c["name"] for c in facts["costs"]}
for c in facts["costs"]:
    assert c["ns"] > 0, c
END
grep -q 'detail: "tilewright_bench .*--spec-out=.*, 20[0-9][0-9]-' "$work/host.textproto" || fail "the spec names no source"
grep -q 'kind: MEASURED' "$work/host.textproto" || fail "the spec has nothing measured"
grep -q '"ops_per_s"' "$work/host.html" || fail "the page has no data"

"$bench" --benchmark_list_tests >"$work/stdout" || fail "--benchmark_list_tests fails"
for name in peak/f64/1_thread bandwidth/stream/ latency/ retention cost/launch variation/f32/cpu interference/dram; do
  grep -q "^$name" "$work/stdout" || fail "no benchmark $name"
done
"$bench" --version | grep -q '^tilewright_bench [0-9]' || fail "--version"
"$bench" --help | grep -q -- '--spec-out' || fail "--help"
for wrong in --spec --threads=none --benchmark_nothing=1 file; do
  "$bench" "$wrong" >"$work/stdout" 2>"$work/stderr"
  [[ $? == 2 ]] || fail "$wrong does not exit 2"
  [[ $(wc -l <"$work/stderr") == 1 ]] || fail "$wrong: $(cat "$work/stderr")"
done
"$bench" "${quick[@]}" --benchmark_filter=cost/fork --spec-out=/nowhere/x >"$work/stdout" 2>"$work/stderr"
[[ $? == 1 ]] || fail "an unwritable spec does not exit 1"
grep -q '/nowhere/x' "$work/stderr" || fail "an unwritable spec is not named"

echo "$failures failures"
exit $((failures > 0))
