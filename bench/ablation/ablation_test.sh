#!/bin/bash
# ablation_test.sh ABLATION TILEWRIGHT: small models through the whole ablation: rows, figures, resuming, failures.
set -u
readonly ablation="$PWD/$1" tilewright="$PWD/$2" testdata="$PWD/testdata" work="${TEST_TMPDIR:?}"
failures=0

check() {
  local what="$1"
  shift
  "$@" || { echo "FAIL: $what"; failures=$((failures + 1)); }
}

ablate() {
  python3 "$ablation" --tilewright="$tilewright" --threads=1 --turns=1 --seconds=0.01 "$@" >"$work/table" 2>"$work/stderr"
}

mkdir -p "$work/odd" "$work/mobilenet" "$work/broken"
cp -L "$testdata/mlp_odd/model.onnx" "$work/odd/"
cp -L "$testdata/mobilenet_v2_small/model.onnx" "$work/mobilenet/"
echo nonsense >"$work/broken/model.onnx"
readonly runs="$work/runs.jsonl"

# A model that fails is named; the others are measured.
ablate "$work/odd" "$work/broken" "$work/mobilenet" --out="$runs"
[[ $? == 1 ]] || { echo "FAIL: a broken model does not give 1: $(cat "$work/stderr")"; failures=$((failures + 1)); }
check "the broken model is not named" grep -q 'ablation: broken: ' "$work/stderr"
check "no row of times" grep -qE '^\| odd \| 1 \| 1 \| [0-9.]+ \| .* to [0-9.]+ \|$' "$work/table"
check "no second row" grep -qE '^\| mobilenet \| 1 \| ' "$work/table"
check "no mean" grep -q '^- 1 thread, none / register: geometric mean [0-9.]*, lowest' "$work/table"
check "no second mean" grep -q '^- 1 thread, register / tilegraph: geometric mean [0-9.]*, lowest' "$work/table"
check "no row of facts" grep -qE '^\| mobilenet \| [0-9]+ / [0-9]+ / [0-9]+ \| ' "$work/table"
python3 - "$runs" <<'P' || { echo "FAIL: facts"; failures=$((failures + 1)); }
import json, sys
records = [json.loads(line) for line in open(sys.argv[1])]
facts = {r["key"][0]: r["value"] for r in records if r["key"][1] == "facts"}
turns = [r for r in records if r["key"][1] == "turn"]
assert set(facts) == {"odd", "mobilenet"}, set(facts)
assert len(turns) == 2, len(turns)
of = facts["mobilenet"]
assert of["none"]["launches"] > of["register"]["launches"] >= of["tilegraph"]["launches"], of
assert of["none"]["intermediate_bytes"] > of["register"]["intermediate_bytes"] > 0, of
assert all(run["ms"] > 0 for t in turns for run in t["value"].values())
P

# Called again: nothing is measured twice, and half a line at the end is no harm.
cp "$runs" "$work/before"
printf '{"stamp": [' >>"$runs"
check "a second call fails" ablate "$work/odd" "$work/mobilenet" --out="$runs"
check "a second call measures again" cmp -s "$runs" "$work/before"
check "a second call has no rows" grep -q '^| odd | 1 |' "$work/table"

# A turn that is missing is made up for.
grep -v '"mobilenet", "turn", 1, 0' "$work/before" >"$runs"
check "a third call fails" ablate "$work/odd" "$work/mobilenet" --out="$runs"
check "the missing turn was not measured" grep -q '"mobilenet", "turn", 1, 0' "$runs"
check "another turn was measured again" test "$(grep -c '"odd", "turn"' "$runs")" == 1

# Another binary, fusions by measuring, a table in a file; half the turns run at first.
variants() {
  ablate "$work/odd" --out="$work/variants.jsonl" --connect=register --before="$tilewright" --records="$work/records.db" \
    --table="$work/table.md" "$@"
}
check "variants fail" variants
check "no column of variants" grep -q '^| model | threads | turns | before ms | median | register ms | median | measured ms |' "$work/table.md"
check "no mean of variants" grep -q '^- 1 thread, before / register: ' "$work/table.md"
check "no facts of variants" grep -qE '^\| odd \| [0-9]+ / [0-9]+ / [0-9]+ \| [0-9/ ]+ \| - / 0 / [0-9]+ \|' "$work/table.md"
check "nothing was measured for fusions" test -s "$work/records.db"
check "further turns fail" variants --turns=3
check "no quartiles of three turns" grep -qE '^\| odd \| 1 \| 3 \| ' "$work/table.md"

# Where no time is left nothing is run, and what was measured is told.
cp "$runs" "$work/before"
check "a call without time fails" ablate "$work/odd" "$work/mobilenet" --out="$runs" --turns=100 --minutes=0
check "a call without time measures" cmp -s "$runs" "$work/before"
check "a call without time has no rows" grep -q '^| mobilenet | 1 | 1 |' "$work/table"
ablate "$work/odd" --out="$work/none.jsonl" --minutes=0
[[ $? == 1 ]] || { echo "FAIL: a model for which there is no time does not give 1"; failures=$((failures + 1)); }

ablate "$work/odd" --out="$runs" --connect=register
[[ $? == 2 ]] || { echo "FAIL: one mode alone does not give 2"; failures=$((failures + 1)); }

echo "$failures failures"
exit $((failures > 0))
