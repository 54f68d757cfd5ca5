#!/bin/bash
# The daemon's page in headless Chromium, while a tiny model is tuned: the job, its curves, the worker and the events are there, and the page reports no error.
set -u
readonly tilewright="$PWD/$1" tilewrightd="$PWD/$2"
readonly model="$PWD/testdata/tiny/gemm_relu/model.onnx"
browser=$(command -v chromium || command -v google-chrome) || {
  echo "SKIPPED: no program is called chromium"
  exit 0
}
readonly work="$(mktemp -d /tmp/tilewrightd_XXXXXX)" # a socket's path is short
export XDG_RUNTIME_DIR="$work" HOME="$work"
readonly address="unix:$work/socket"
failures=0
fail() {
  echo "FAIL: $*"
  failures=$((failures + 1))
}
end() {
  kill -9 $(jobs -p) 2>/dev/null
  wait 2>/dev/null
  rm -rf "$work"
}
trap end EXIT

"$tilewrightd" serve --listen="$address" --state="$work/state" --web=127.0.0.1:0 2>"$work/daemon.log" &
"$tilewrightd" worker --daemon="$address" --name='desk <1>' 2>"$work/worker.log" &
for _ in $(seq 100); do
  url=$(sed -n 's/.*page at \(http[^ ]*\)?token.*/\1/p' "$work/daemon.log")
  [[ -n $url ]] && break
  sleep 0.1
done
[[ -n $url ]] || { cat "$work/daemon.log"; exit 1; }
"$tilewright" tune "$model" --records="$work/tuned.db" --trials=16 --connect=register --daemon="$address" >"$work/tune" 2>&1 || fail "tune: $(cat "$work/tune")"

look() {
  timeout 60 "$browser" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --user-data-dir="$work/profile" \
    --enable-logging=stderr --virtual-time-budget=5000 --dump-dom "$1" >"$work/dom" 2>"$work/browser.log"
}
look "$url?token=$(cat "$work/state/web_token")" || fail "the browser ends with $?: $(tail -5 "$work/browser.log")"
for expected in 'data-shown="yes"' 'data-job="1"' '16 of 16 measured' 'class="state done"' 'data-workload=' 'desk &lt;1&gt;' 'worker_came' 'polyline'; do
  grep -qF -- "$expected" "$work/dom" || fail "the page lacks $expected: $(tail -c 3000 "$work/dom")"
done
grep -q 'CONSOLE.*\(Error\|error\|Refused\)' "$work/browser.log" && fail "the page reports: $(grep CONSOLE "$work/browser.log")"
rm -rf "$work/profile"
look "$url"
grep -q 'No token' "$work/dom" || fail "a stranger sees: $(head -c 500 "$work/dom")"

[[ $failures == 0 ]] || exit 1
echo "passed"
