#!/bin/bash
# A tiny model is tuned by a daemon and a worker on this CPU, which are killed on the way: the run ends well, every record is there once.
set -u
readonly tilewright="$PWD/$1" tilewrightd="$PWD/$2"
readonly model="$PWD/testdata/tiny/gemm_relu/model.onnx"
readonly work="$(mktemp -d /tmp/tilewrightd_XXXXXX)" # a socket's path is short
export XDG_RUNTIME_DIR="$work" # where a worker locks the CPU
readonly address="unix:$work/socket"
failures=0

fail() {
  echo "FAIL: $*"
  failures=$((failures + 1))
}

daemon=
worker=
start_daemon() {
  "$tilewrightd" serve --listen="$address" --state="$work/state" --lease=3 \
    --models --tilewright="$tilewright" --web=127.0.0.1:0 --log="$work/events" 2>>"$work/daemon.log" &
  daemon=$!
}
start_worker() {
  "$tilewrightd" worker --daemon="$address" --name="w$1" 2>>"$work/worker.log" &
  worker=$!
}
end() {
  kill -9 "$daemon" "$worker" 2>/dev/null
  wait 2>/dev/null
  rm -rf "$work"
}
trap end EXIT

# wait_for SECONDS COMMAND...: until it succeeds.
wait_for() {
  local tries=$(($1 * 10))
  shift
  while ! "$@"; do
    tries=$((tries - 1))
    [[ $tries -gt 0 ]] || return 1
    sleep 0.1
  done
}
# The column MEASURED of the first job is at least so much.
measured() {
  [[ $("$tilewrightd" jobs --daemon="$address" 2>/dev/null | awk 'NR == 2 {print $3}') -ge $1 ]] 2>/dev/null
}

# What is wrong is said in one line.
expect_error() {
  local status="$1" words="$2"
  shift 2
  "$@" >"$work/out" 2>"$work/err"
  local got=$?
  [[ $got == "$status" ]] || fail "'$*' exits $got, expected $status: $(cat "$work/err")"
  grep -qF -- "$words" "$work/err" || fail "'$*' does not say '$words': $(cat "$work/err")"
}
expect_error 1 "give unix:PATH" "$tilewrightd" serve --listen=0.0.0.0:7000 --state="$work/state"
expect_error 1 "give unix:PATH" "$tilewright" tune "$model" --records="$work/x.db" --daemon=localhost:7000
expect_error 1 "--state=DIR is missing" "$tilewrightd" serve --listen="$address"
expect_error 2 "did you mean" "$tilewrightd" wroker --daemon="$address"
expect_error 1 "give 127.0.0.1:PORT" "$tilewrightd" serve --listen="$address" --state="$work/x" --web=0.0.0.0:80
expect_error 1 "say where it is with --tilewright" "$tilewrightd" serve --listen="$address" --state="$work/x" --models --tilewright=/none
expect_error 1 "is 'tilewrightd serve' running" "$tilewrightd" jobs --daemon="$address"

start_daemon
start_worker 1
"$tilewright" tune "$model" --records="$work/tuned.db" --trials=40 --connect=register --daemon="$address" >"$work/tune.out" 2>"$work/tune.err" &
tuning=$!
wait_for 120 measured 4 || fail "nothing is measured: $(cat "$work"/*.log "$work/tune.err")"
expect_error 1 "another daemon has it" "$tilewrightd" serve --listen="unix:$work/other" --state="$work/state"
expect_error 1 "another worker measures on cpu" "$tilewrightd" worker --daemon="$address"
kill -9 "$daemon"
wait "$daemon" 2>/dev/null
start_daemon
wait_for 120 measured 8 || fail "nothing goes on after the daemon was killed: $(cat "$work"/*.log)"
kill -9 "$worker"
wait "$worker" 2>/dev/null
start_worker 2
wait "$tuning" || fail "tune fails: $(cat "$work/tune.err")"
grep -qE 'by rule .* us.*40 trials' "$work/tune.out" || fail "tune says: $(cat "$work/tune.out")"

"$tilewrightd" jobs --daemon="$address" >"$work/jobs"
grep -qE '^ *1 done +40 +40 +0 ' "$work/jobs" || fail "the job is not done: $(cat "$work/jobs")"
# Records of the farm: each once, as often as they are asked for: the 40 that workers measured, and the client's comparisons.
"$tilewright" records export "$work/tuned.db" | grep -c '"turns":\|"model":' >"$work/compared"
all=$((40 + $(cat "$work/compared")))
for expected in "$all records added, 0 were there" "0 records added, $all were there"; do
  "$tilewrightd" export --daemon="$address" --records="$work/farm.db" >"$work/export" || fail "export fails"
  grep -qxF "$expected" "$work/export" || fail "export says '$(cat "$work/export")', not '$expected'"
done
"$tilewright" records stats "$work/farm.db" --json >"$work/stats"
grep -q "\"records\": $all" "$work/stats" || fail "the farm's records: $(cat "$work/stats")"
"$tilewrightd" export --daemon="$address" --records="$work/none.db" --workload=0123 | grep -qxF "0 records added, 0 were there" || fail "records of no workload"
# The client has them too; whoever compiles with the daemon's makes the same file.
"$tilewright" run "$model" --check --records="$work/tuned.db" --connect=register >"$work/run" 2>&1 || fail "run: $(cat "$work/run")"
"$tilewright" compile "$model" --records="$work/tuned.db" --connect=register -o "$work/own.tw" >"$work/out" 2>&1 || fail "compile: $(cat "$work/out")"
"$tilewright" compile "$model" --records="$work/fetched.db" --daemon="$address" --connect=register -o "$work/farm.tw" >"$work/out" 2>&1 || fail "compile --daemon: $(cat "$work/out")"
grep -qF "$all records of the daemon are new in" "$work/out" || fail "compile --daemon says: $(cat "$work/out")"
cmp "$work/own.tw" "$work/farm.tw" || fail "compile --daemon makes another model"
expect_error 2 "needs --records=DB" "$tilewright" compile "$model" --daemon="$address" -o "$work/x.tw"

# A model that the daemon tunes and compiles itself.
"$tilewrightd" submit --daemon="$address" "$model" --trials=8 --priority=3 --wait >"$work/submit" 2>&1 || fail "submit: $(cat "$work/submit") $("$tilewrightd" models --daemon="$address")"
"$tilewrightd" fetch --daemon="$address" 1 -o "$work/model.tw" || fail "fetch fails"
"$tilewright" run "$work/model.tw" >"$work/run" 2>&1 || fail "a fetched model: $(cat "$work/run")"
expect_error 1 "you have no model 2" "$tilewrightd" fetch --daemon="$address" 2 -o "$work/x.tw"
echo "no model" >"$work/bad.onnx"
"$tilewrightd" submit --daemon="$address" "$work/bad.onnx" --wait >"$work/out" 2>&1 && fail "no model is tuned"
grep -q "model 2: tilewright: .*bad.onnx" "$work/out" || fail "what is no model: $(cat "$work/out")"
grep -q '"event": "worker_came"' "$work/events" || fail "the log: $(cat "$work/events")"

# Ctrl-C cancels the job.
"$tilewright" tune "$model" --records="$work/cancelled.db" --trials=100000 --seed=5 --connect=register --daemon="$address" >"$work/tune.out" 2>"$work/tune.err" &
tuning=$!
third_job() { [[ $("$tilewrightd" jobs --daemon="$address" | awk 'NR == 4 {print $3}') -ge 1 ]] 2>/dev/null; }
wait_for 60 third_job || fail "the last job does not start: $(cat "$work/tune.err")"
kill -INT "$tuning"
wait "$tuning" || fail "an interrupted tune fails: $(cat "$work/tune.err")"
"$tilewrightd" jobs --daemon="$address" | grep -qE '^ *3 cancelled' || fail "the job is not cancelled: $("$tilewrightd" jobs --daemon="$address")"
# A worker that is asked to stop gives back what it has, and ends well.
kill -TERM "$worker"
wait "$worker" || fail "a worker that is stopped fails: $(cat "$work/worker.log")"
kill -TERM "$daemon"
wait "$daemon" || fail "a daemon that is stopped fails: $(cat "$work/daemon.log")"
[[ ! -e "$work/socket" ]] || fail "the socket stays"

[[ $failures == 0 ]] || exit 1
echo "passed"
