#!/bin/bash
# The command line on good and bad input: results, exit status, and exactly one clear line for everything that is wrong.
set -u
readonly tilewright="$PWD/$1"
readonly testdata="$PWD/testdata"
readonly work="${TEST_TMPDIR:?}"
failures=0
cases=0

fail() {
  echo "FAIL: $*"
  failures=$((failures + 1))
}

# expect_error STATUS "WORD WORD ..." ARGS...: exit status, one line on stderr, every word in it.
expect_error() {
  local status="$1" words="$2" word
  shift 2
  cases=$((cases + 1))
  timeout 60 "$tilewright" "$@" >"$work/stdout" 2>"$work/stderr"
  local got=$?
  [[ $got == "$status" ]] || fail "'$*' exits $got, expected $status: $(head -c 400 "$work/stderr")"
  [[ $(wc -l <"$work/stderr") == 1 ]] || fail "'$*' prints $(wc -l <"$work/stderr") lines: $(head -c 800 "$work/stderr")"
  for word in $words; do
    grep -qF -- "$word" "$work/stderr" || fail "'$*' does not mention '$word': $(cat "$work/stderr")"
  done
}

expect_ok() {
  cases=$((cases + 1))
  timeout 120 "$tilewright" "$@" >"$work/stdout" 2>"$work/stderr" || fail "'$*' fails: $(cat "$work/stderr")"
}

expect_output() {
  grep -qE -- "$1" "$work/stdout" || fail "expected '$1' in: $(head -c 800 "$work/stdout")"
}

# The files in the runfiles are symbolic links, which external data must not be.
mkdir -p "$work/testdata/bad" "$work/testdata/mlp_odd"
cp -rL "$testdata/mlp_odd/." "$work/testdata/mlp_odd/"
for file in "$testdata"/bad/*; do
  [[ $(basename "$file") == link.bin ]] || cp -L "$file" "$work/testdata/bad/"
done
ln -s /etc/hostname "$work/testdata/bad/link.bin"

# Malformed models: every row of expected.tsv.
while IFS=$'\t' read -r file what words; do
  expect_error 1 "$file $words" compile "$work/testdata/bad/$file" -o "$work/bad.tw"
  [[ ! -e "$work/bad.tw" ]] || fail "$file ($what) left an output"
done <"$testdata/bad/expected.tsv"

# Good models.
readonly model="$testdata/tiny/gemm_relu/model.onnx"
expect_ok compile "$model" -o "$work/good.tw"
expect_ok compile "$model" -o "$work/again.tw" --json
expect_output '"kernels": 1'
cmp -s "$work/good.tw" "$work/again.tw" || fail "two compilations differ"
expect_ok run "$work/good.tw" --data="$testdata/tiny/gemm_relu/test_data_set_0" --output-dir="$work/out"
[[ -n $(find "$work/out" -name '*.npy') ]] || fail "--output-dir stays empty"
expect_ok run "$model" --check
expect_ok run "$model" --check --flush-denormals
expect_output '^check: right: [0-9]+ elements of 1 tensors, largest error'
expect_ok run "$model" --check --json
python3 -c 'import json, sys; run = json.load(open(sys.argv[1])); assert run["check"]["right"] and run["outputs"][0]["name"], run' "$work/stdout" ||
  fail "run --check --json is not one object: $(cat "$work/stdout")"
expect_error 2 "--check .onnx" run "$work/good.tw" --check
# GPU text, run without a GPU; a .tw says where it wants to run.
for dialect in cuda hip; do
  expect_ok run "$model" --check --target="emulator:$dialect"
  expect_output '^check: right: [0-9]+ elements of 1 tensors, largest error'
done
expect_ok compile "$model" -o "$work/emulated.tw" --target=emulator:cuda
expect_output '^k0 .*: [0-9]+ blocks? of [0-9]+ threads, [0-9]+ bytes shared$'
expect_ok inspect "$model" --target=emulator:cuda --what=why
expect_output "blocks? of [0-9]+ threads, [0-9]+ bytes shared, by generator 'simt'"
# Its decisions are the plan's, and a person may change them.
expect_ok inspect "$model" --target=emulator:cuda --what=decisions
expect_output '^block.step = '
sed 's/^block.vector = .*/block.vector = 1/; s/^block.step = .*/block.step = 3/' "$work/stdout" >"$work/blocks.txt"
expect_ok run "$model" --check --target=emulator:cuda --decisions="$work/blocks.txt"
expect_output '^check: right: [0-9]+ elements of 1 tensors, largest error'
expect_ok run "$work/emulated.tw" --data="$testdata/tiny/gemm_relu/test_data_set_0"
expect_ok inspect "$work/good.tw"
expect_output 'launch k0 tasks='
for what in graph plan why decisions schedule kernel source roofline; do
  expect_ok inspect "$model" --what=$what
  [[ -s "$work/stdout" ]] || fail "inspect --what=$what prints nothing"
done
expect_ok inspect "$model" --connect=tilegraph --report="$work/plan.html"
grep -q 'data-groups="0"' "$work/plan.html" || fail "inspect --report draws no group"
expect_ok inspect "$model" --what=why --report="$work/plan.svg"
python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' "$work/plan.svg" || fail "plan.svg is no XML"
expect_error 2 "--what=plan" inspect "$model" --what=kernel --report="$work/x.html"
expect_ok inspect "$testdata/mlp64_small/model.onnx" --connect=tilegraph --connect-search=edges --json
expect_ok inspect "$testdata/mlp64_small/model.onnx" --connect=tilegraph --connect-search=greedy --cost=traffic --json
python3 -c 'import json, sys; assert json.load(open(sys.argv[1]))["plan"]["groups"]' "$work/stdout" ||
  fail "inspect --json has no groups"
expect_error 2 "expected time or traffic" inspect "$model" --cost=bytes
expect_error 2 "expected edges or greedy" inspect "$model" --connect=tilegraph --connect-search=paper
expect_ok inspect "$model" --spec=cuda:sm_80
expect_output 'for a100 .*'
expect_output 'threads'
expect_ok inspect "$testdata/mlp64_small/model.onnx" --spec=ipu_mk2 --what=why --group=0
expect_output '^group 0.* in tiles of'
expect_output 'limited by'
expect_output 'edges in '
expect_error 1 "--group=99 groups 0 to" inspect "$testdata/mlp64_small/model.onnx" --spec=v100 --what=why --group=99
expect_ok benchmark "$model" --seconds=0.1 --json
expect_output '"min_ms": .*"median_ms": .*"p90_ms": .*"p99_ms": .*"cpu_ms": .*"gflops": .*"roofline_percent": .*"threads": .*"runs": '
expect_ok benchmark "$work/good.tw" --seconds=0.1 --profile
expect_output '^k0 .* compute|^k0 .* l[123]|^k0 .* dram'
expect_ok benchmark "$testdata/mlp64_small/model.onnx" --connect=none --seconds=0 --profile
(($(grep -cE '^k[0-9]' "$work/stdout") <= 20)) || fail "--profile prints more than 20 kernels"
expect_error 2 "--profile=most all" benchmark "$model" --profile=most
expect_ok benchmark "$model" --seconds=0.1 --threads=2 --json --trace="$work/trace.json" --report="$work/report.html"
expect_output '"profile": .*"limits": .*"kernels": .*"roofline_percent"'
python3 -c 'import json, sys; json.load(open(sys.argv[1])); json.load(open(sys.argv[2]))' "$work/stdout" "$work/trace.json" ||
  fail "--json or --trace prints no JSON"
grep -q 'k0' "$work/report.html" || fail "--report does not name the kernel"
expect_ok inspect "$work/good.tw" --what=roofline --threads=2
expect_output '^k0 '
expect_ok conformance "$testdata/tiny"
expect_output '^[0-9]+ passed, 0 failed, 0 skipped$'
expect_ok devices
expect_ok --version
expect_output '^tilewright [0-9]'

# Decisions: what is printed reads back; edited, it changes the kernel, and the results stay right.
expect_ok inspect "$model" --what=decisions
cp "$work/stdout" "$work/decisions.txt"
expect_output '^unroll = auto .*, became [1-9]'
expect_output '^prefetch = auto .*, became (none|[0-9]+ lines)$'
expect_ok inspect "$model" --what=kernel
cp "$work/stdout" "$work/kernel.txt"
expect_ok inspect "$model" --what=kernel --decisions="$work/decisions.txt"
cmp -s "$work/stdout" "$work/kernel.txt" || fail "printed decisions give another kernel"
sed 's/^tile = .*/tile = vectors 1, rows 5, outer_rows 1/' "$work/decisions.txt" >"$work/edited.txt"
expect_ok inspect "$model" --what=kernel --decisions="$work/edited.txt"
cmp -s "$work/stdout" "$work/kernel.txt" && fail "another tile gives the same kernel"
expect_ok run "$model" --check --decisions="$work/edited.txt"
expect_ok compile "$model" -o "$work/edited.tw" --decisions="$work/edited.txt"
expect_ok compile "$model" -o "$work/edited2.tw" --decisions="$work/edited.txt"
cmp -s "$work/edited.tw" "$work/edited2.tw" || fail "two compilations with decisions differ"
expect_ok inspect "$work/edited.tw"
expect_output 'schedule from .*edited.txt'
expect_ok inspect "$model" --what=decisions --json
python3 -c 'import json, sys; kernels = json.load(open(sys.argv[1]))["kernels"]; assert kernels[0]["decisions"][0]["size"] > 1, kernels' "$work/stdout" ||
  fail "inspect --what=decisions --json has no sizes"
python3 -c 'import json, sys; kernels = json.load(open(sys.argv[1]))["kernels"]; assert [int(d["became"]) for d in kernels[0]["decisions"] if d["name"] == "unroll"][0] > 0, kernels' "$work/stdout" ||
  fail "inspect --what=decisions --json does not say what auto became"
sed 's/^unroll = auto/unroll = 2/' "$work/decisions.txt" >"$work/edited.txt"
expect_ok inspect "$model" --what=decisions --decisions="$work/edited.txt"
expect_output '^unroll = 2 .* values$'
sed 's/^tile = .*/tile = vectors 9, rows 9, outer_rows 1/' "$work/decisions.txt" >"$work/wrong.txt"
expect_error 1 "wrong.txt tile vectors rows 9" compile "$model" -o "$work/x.tw" --decisions="$work/wrong.txt"
sed 's/^tile = /tiel = /' "$work/decisions.txt" >"$work/wrong.txt"
expect_error 1 "wrong.txt 'tiel' no decision contraction tile" compile "$model" -o "$work/x.tw" --decisions="$work/wrong.txt"
echo 'tile = 1' >"$work/wrong.txt"
expect_error 1 "wrong.txt:1 FINGERPRINT" compile "$model" -o "$work/x.tw" --decisions="$work/wrong.txt"
expect_error 1 "nowhere.txt" compile "$model" -o "$work/x.tw" --decisions="$work/nowhere.txt"
expect_error 1 "nowhere.db" compile "$model" -o "$work/x.tw" --records="$work/nowhere.db"

# Tuning records.
readonly lines="$PWD/tools/records.jsonl"
readonly db="$work/a.db"
expect_ok records import "$db" "$lines"
expect_output '4 records added, 0 were there'
expect_ok records import "$db" "$lines" --json
expect_output '"added": 0, "present": 4'
expect_ok records ls "$db"
expect_output '^[0-9a-f]{12} +cpu_x86_64_v4 +3 +2 +1 +12.3 us  .*\[64, 32\].*reduces 128'
readonly workload=$(sed -n 2p "$work/stdout" | cut -c 1-8)
expect_ok records best "$db" --workload="$workload"
expect_output 'median 12.3 us'
expect_output '^    .*group_tile %0 by \[5, 13\]'
[[ $(grep -c ' on cpu' "$work/stdout") == 1 ]] || fail "'records best --workload' shows others too"
expect_ok records ls "$db" --json
expect_output '"verified": 2, "failed": 1, "best_median_ns": 12345, '
expect_ok records stats "$db" --json
expect_output '^\{"records": 4, "tasks": 2, "verified": 3, "failed": 1\}$'
expect_ok records export "$db" -o "$work/all.jsonl"
cmp -s "$work/all.jsonl" "$lines" || fail "export is not what was imported"
expect_ok records export "$db" --verified
cp "$work/stdout" "$work/verified.jsonl"
[[ $(wc -l <"$work/stdout") == 3 ]] || fail "'records export --verified' gives $(wc -l <"$work/stdout") lines"
expect_ok records import "$work/b.db" - <"$work/verified.jsonl"
expect_ok records merge "$work/b.db" "$db" "$db"
expect_output '1 records added, 7 were there'
expect_error 2 "records ls best gibberish" records gibberish "$db"
expect_error 2 "DB FROM" records merge "$db"
expect_error 1 "none.db" records ls "$work/none.db"
expect_error 1 "fingerprint zz" records best "$db" --workload=zz
expect_error 1 "none.db" records merge "$work/new.db" "$work/none.db"
[[ ! -e "$work/new.db" ]] || fail "a merge of nothing leaves a store"
expect_error 1 "$(basename "$model")" records stats "$model"
echo '{"seed": "1"}' >"$work/bad.jsonl"
expect_error 1 "bad.jsonl line 1" records import "$db" "$work/bad.jsonl"

# Tuning: what is measured is in the store; the same command finds all of it there.
readonly tuned="$work/tuned.db"
expect_ok tune "$model" --records="$tuned" --trials=8 --trace="$work/tune.jsonl" --connect=register
expect_output 'by rule .* us.*8 trials'
[[ $(wc -l <"$work/tune.jsonl") -ge 1 ]] || fail "--trace stays empty"
expect_ok tune "$model" --records="$tuned" --trials=8 --json --connect=register
grep -qF '8 results were in' "$work/stderr" || fail "a second 'tune' measures again: $(cat "$work/stderr")"
expect_output '"trials": 8'
# A page of it, from the trace; of a trace that a killed run left in part, too.
expect_ok inspect "$work/tune.jsonl" --report="$work/tune.html"
grep -q '"event": "finals"' "$work/tune.html" || fail "the page holds no finals"
truncate -s -20 "$work/tune.jsonl"
expect_ok inspect "$work/tune.jsonl" --report="$work/torn.html"
expect_error 2 "--report=FILE.html" inspect "$work/tune.jsonl"
expect_error 1 "bad.jsonl: first" inspect "$work/bad.jsonl" --report="$work/x.html"
# A run that is killed goes on: nothing that was recorded is measured again.
readonly killed="$work/killed.db"
"$tilewright" tune "$model" --records="$killed" --trials=40 --connect=register --trace="$work/killed.jsonl" >/dev/null 2>&1 &
readonly tuning=$!
for _ in $(seq 300); do
  [[ $(grep -c round "$work/killed.jsonl" 2>/dev/null) -ge 4 ]] && break
  sleep 0.1
done
kill -9 "$tuning"
wait "$tuning" 2>/dev/null || true
expect_ok records stats "$killed" --json
readonly kept=$(sed -E 's/.*"records": ([0-9]+).*/\1/' "$work/stdout")
[[ $kept -ge 4 ]] || fail "a killed 'tune' keeps $kept records"
expect_ok tune "$model" --records="$killed" --trials=40 --connect=register
grep -qE "$kept results were in" "$work/stderr" || fail "a killed 'tune' measures again: $(tail -1 "$work/stderr")"
for policy in tilegraph template sketch; do
  expect_ok tune "$model" --records="$work/$policy.db" --trials=6 --policy="$policy" --keep-bits --connect=register
done
expect_ok compile "$model" -o "$work/tuned.tw" --records="$tuned" --connect=register
expect_ok run "$model" --check --records="$tuned" --connect=register
expect_error 2 "--records=DB" tune "$model"
expect_error 2 ".onnx" tune "$work/good.tw" --records="$tuned"
expect_error 2 "evolution annealing" tune "$model" --records="$tuned" --optimizer=evolutoin
expect_error 1 "$(basename "$model")" tune "$model" --records="$model"

# Fused by what was measured, once; then by the records alone.
readonly mlp="$testdata/mlp_odd/model.onnx" fusions="$work/fusions.db"
fuse() { # OUT ARGS...
  expect_ok compile "$mlp" -o "$1" --connect=tilegraph --records="$fusions" "${@:2}"
}
expect_error 1 "fusions.db" compile "$mlp" -o "$work/x.tw" --connect=tilegraph --records="$fusions"
[[ ! -e "$fusions" ]] || fail "compile without --measure makes a store"
fuse "$work/first.tw" --measure
grep -qE '^measuring: [1-9][0-9]* kernels measured, 0 known' "$work/stderr" ||
  fail "compile --measure measures nothing: $(cat "$work/stderr")"
expect_ok records stats "$fusions" --json
expect_output '"records": [1-9]'
cp "$work/stdout" "$work/stats"
fuse "$work/second.tw" --measure
grep -qE ' 0 kernels measured, [1-9][0-9]* known' "$work/stderr" ||
  fail "what was measured is measured again: $(cat "$work/stderr")"
cmp -s "$work/first.tw" "$work/second.tw" || fail "equal records give another plan"
fuse "$work/second.tw"
grep -qE '^fusions by records: times of [1-9][0-9]* kernels known' "$work/stderr" ||
  fail "records are not read: $(cat "$work/stderr")"
cmp -s "$work/first.tw" "$work/second.tw" || fail "equal records give another plan"
expect_ok run "$mlp" --check --connect=tilegraph --records="$fusions"
# The cost model decides where there is no record.
expect_ok records import "$work/empty.db" - </dev/null
expect_ok compile "$mlp" -o "$work/empty.tw" --connect=tilegraph --records="$work/empty.db"
expect_ok compile "$mlp" -o "$work/model.tw"
cmp -s "$work/empty.tw" "$work/model.tw" || fail "an empty store gives another plan than none"
expect_ok compile "$mlp" -o "$work/x.tw" --connect=tilegraph --target=cpu:x86-64-v3 --records="$fusions"
expect_ok records stats "$fusions" --json
cmp -s "$work/stdout" "$work/stats" || fail "compile without --measure writes records"
expect_error 1 "$(basename "$mlp")" compile "$mlp" -o "$work/x.tw" --connect=tilegraph --records="$mlp"

# Plans for a number of threads.
readonly rows="$testdata/mlp64_small/model.onnx"
for threads in 1 1 64; do
  expect_ok compile "$rows" -o "$work/for$threads.tw" --threads=$threads --json
  expect_output "\"planned_threads\": $threads,"
  [[ ! -e "$work/before" ]] || [[ $threads == 64 ]] || cmp -s "$work/before" "$work/for1.tw" || fail "two plans for 1 thread differ"
  cp "$work/for$threads.tw" "$work/before"
done
tasks() { "$tilewright" inspect "$1" | sed -nE 's/^(launch|beside) .* tasks=([0-9]+) .*/\2/p' | awk '{ all += $1 } END { print all }'; }
(($(tasks "$work/for64.tw") > $(tasks "$work/for1.tw"))) || fail "a plan for 64 threads has no more tasks than one for 1"
expect_ok inspect "$work/for64.tw"
expect_output 'planned for 64 threads'
expect_ok run "$work/for1.tw" --threads=3 --output-dir="$work/threads3"
[[ $(cat "$work/stderr") == "tilewright: planned for 1 thread, run with 3: compile with --threads=3" ]] ||
  fail "run does not tell that a .tw was planned for fewer threads: $(cat "$work/stderr")"
expect_ok run "$work/for1.tw" --threads=2 --output-dir="$work/threads2"
[[ ! -s "$work/stderr" ]] || fail "2 threads for 1 are not far fewer: $(cat "$work/stderr")"
diff -r "$work/threads2" "$work/threads3" || fail "bits depend on the number of threads"
expect_ok benchmark "$work/for1.tw" --threads=3 --seconds=0 --json
expect_output '"threads": 3, "planned_threads": 1,'
expect_output '"denormals_flushed": false'
grep -q 'compile with --threads=3' "$work/stderr" || fail "benchmark does not tell of fewer threads"
expect_ok benchmark "$rows" --threads=3 --seconds=0 --flush-denormals --json
expect_output '"threads": 3, "planned_threads": 3,'
expect_output '"denormals_flushed": true'
[[ ! -s "$work/stderr" ]] || fail "an .onnx is not planned for its threads: $(cat "$work/stderr")"

# Bad usage.
expect_error 2 "benhcmark benchmark" benhcmark "$model"
expect_error 2 "--thread --threads" run "$model" --thread=2
expect_error 2 "--daemon" compile "$model" -o "$work/x.tw" --daemon=unix:x
expect_error 2 "-o" compile "$model"
expect_error 2 "one model" run
expect_error 2 ".onnx" compile "$work/good.tw" -o "$work/x.tw"

printf '\x93NUMPY\x01\x00\x46\x00' >"$work/given.npy"
printf "%-69s\n" "{'descr': '<f4', 'fortran_order': False, 'shape': (64, 32), }" >>"$work/given.npy"
head -c 8192 /dev/zero >>"$work/given.npy"
expect_ok run "$model" --input=A="$work/given.npy"

# Flags that would do nothing. Those that hang on the command line alone are in command_line_test.
for flag in --cost=traffic --connect-search=greedy; do
  expect_error 2 "${flag%%=*} --connect=tilegraph" compile "$model" -o "$work/x.tw" --connect=register $flag
done
for flag in --target=cpu --spec=unit --connect=none --dim=n=1 --bind=A=1 --allow=winograd4 --level-cap=dram:1M; do
  expect_error 2 "${flag%%=*} no effect .tw" run "$work/good.tw" $flag
  expect_error 2 "${flag%%=*} no effect .tw" benchmark "$work/good.tw" $flag
done
expect_error 2 "--threads=-7 1 to 4096" compile "$model" -o "$work/x.tw" --threads=-7
expect_error 2 "--threads=0 1 to 4096" run "$model" --threads=0
expect_error 2 "--seconds=-1 0 to" benchmark "$model" --seconds=-1
expect_error 2 "--seed every input" run "$model" --seed=1 --input=A="$work/given.npy"
expect_error 2 "--group --what=why" inspect "$model" --group=0
expect_error 1 "--group=7 0 to 0" inspect "$model" --what=why --group=7
expect_error 2 "--allow=bf16 cpu:x86-64-v4 products --target=cpu:x86-64-v4-bf16" compile "$model" -o "$work/x.tw" --target=cpu:x86-64-v4 --allow=bf16
expect_ok compile "$model" -o "$work/x.tw" --target=cpu:x86-64-v4-bf16 --allow=bf16
expect_error 2 "--allow=winograd2 winograd4" compile "$model" -o "$work/x.tw" --allow=winograd2
expect_error 2 "v4-amx AMX v4-bf16" compile "$model" -o "$work/x.tw" --target=cpu:x86-64-v4-amx
expect_error 2 "--target=gpu cpu:x86-64-v2" compile "$model" -o "$work/x.tw" --target=gpu
if [[ ! -e /dev/nvidiactl ]]; then
  expect_error 1 "NVIDIA driver" compile "$model" -o "$work/x.tw" --target=cuda
  expect_error 1 "NVIDIA driver" tune "$model" --records="$work/gpu.db" --target=cuda
fi
for flag in --threads=2 --allow=winograd4 --cost=traffic --level-cap=dram:1M --what=schedule; do
  expect_error 2 "${flag%%=*} no effect cuda:sm_80" inspect "$model" --spec=cuda:sm_80 --connect=tilegraph $flag
done

# Bad inputs of a good model.
expect_error 1 "nosuch A" run "$model" --input=nosuch="$work/out/$(ls "$work/out" | head -1)"
expect_error 1 "float32[64, 32]" run "$model" --input=A="$work/out/$(ls "$work/out" | head -1)"
printf '\x93NUMPY\x01\x00\x46\x00' >"$work/integers.npy"
printf "%-69s\n" "{'descr': '<i4', 'fortran_order': False, 'shape': (64, 32), }" >>"$work/integers.npy"
head -c 8192 /dev/zero >>"$work/integers.npy"
expect_error 1 "float32[64, 32] int32[64, 32]" run "$model" --input=A="$work/integers.npy"
expect_error 1 "nowhere.npy" run "$model" --input=A="$work/nowhere.npy"
expect_error 1 "nowhere.onnx" run "$work/nowhere.onnx"

# Damaged compiled models.
readonly size=$(stat -c %s "$work/good.tw")
for keep in 0 4 100 135 136 1000 $((size / 2)) $((size - 1)); do
  head -c "$keep" "$work/good.tw" >"$work/cut.tw"
  expect_error 1 "cut.tw" run "$work/cut.tw"
done
for at in 0 12 20 40 121 200 $((size - 1)); do
  cp "$work/good.tw" "$work/flipped.tw"
  byte=$(od -An -tu1 -j "$at" -N 1 "$work/good.tw" | tr -d ' ')
  printf "\\x$(printf %x $((byte ^ 1)))" | dd of="$work/flipped.tw" bs=1 seek="$at" conv=notrunc status=none
  expect_error 1 "flipped.tw" run "$work/flipped.tw"
done
cp "$work/good.tw" "$work/version.tw"
printf '\x07' | dd of="$work/version.tw" bs=1 seek=8 conv=notrunc status=none
expect_error 1 "version 7" run "$work/version.tw"
if ! grep -qw amx_tile /proc/cpuinfo; then
  expect_ok compile "$model" -o "$work/amx.tw" --spec=cpu_x86_64_v4_amx
  expect_error 1 "amx" run "$work/amx.tw"
fi

echo "$cases cases, $failures failures"
exit $((failures > 0))
