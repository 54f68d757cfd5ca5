#!/bin/bash
# Daemon and worker on two hosts, made of network namespaces, while a client
# tunes; in the middle the cable is cut.
#
#   hosts_apart.sh BIN MODEL.onnx [CUT_SECONDS] [TRIALS]
#
# BIN holds tilewright and tilewrightd; needs root, iproute2 and openssl. Says
# what was measured when, and fails unless every trial was recorded once.
set -euo pipefail

bin="$1" model="$2" cut="${3:-30}" trials="${4:-600}"
home="$(mktemp -d /tmp/hosts_apart_XXXXXX)"

cleanup() {
  kill $(jobs -p) 2>/dev/null || true
  ip netns del tw_daemon 2>/dev/null || true
  ip netns del tw_worker 2>/dev/null || true
  rm -r "$home"
}
trap cleanup EXIT

# An authority, and a certificate for each of two names.
ec="-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes"
cd "$home"
# shellcheck disable=SC2086
openssl req -x509 $ec -days 2 -subj /CN=authority -keyout ca.key -out ca.pem 2>/dev/null
for name in daemon worker.one; do
  mkdir -m 700 "$name"
  # shellcheck disable=SC2086
  openssl req $ec -subj "/CN=$name" -keyout "$name/key.pem" -out "$name/request.pem" 2>/dev/null
  echo subjectAltName=IP:10.93.0.1 >"$name/names"
  openssl x509 -req -days 2 -CA ca.pem -CAkey ca.key -CAcreateserial \
    -extfile "$name/names" -in "$name/request.pem" -out "$name/cert.pem" 2>/dev/null
  cp ca.pem "$name"
  chmod 600 "$name/key.pem"
done

ip netns add tw_daemon
ip netns add tw_worker
ip link add tw_d netns tw_daemon type veth peer name tw_w netns tw_worker
ip -n tw_daemon addr add 10.93.0.1/24 dev tw_d
ip -n tw_worker addr add 10.93.0.2/24 dev tw_w
for end in "tw_daemon tw_d" "tw_worker tw_w"; do
  # shellcheck disable=SC2086
  set -- $end
  ip -n "$1" link set lo up
  ip -n "$1" link set "$2" up
done

ip netns exec tw_daemon "$bin/tilewrightd" serve --state="$home/state" \
  --listen="unix:$home/socket,tcp:10.93.0.1:7070" --tls="$home/daemon" &
ip netns exec tw_worker "$bin/tilewrightd" worker \
  --daemon=tcp:10.93.0.1:7070 --tls="$home/worker.one" &
"$bin/tilewright" tune "$model" --records="$home/tuned.db" --trials="$trials" \
  --daemon="unix:$home/socket" >"$home/tune.log" 2>&1 &
client=$!

# How many candidates the daemon has results of.
measured() {
  "$bin/tilewrightd" jobs --daemon="unix:$home/socket" | awk 'NR == 2 {print $3}'
}

begin=$SECONDS
until [[ "$(measured)" -gt 0 ]]; do sleep 0.5; done
sleep 5
echo "after $((SECONDS - begin)) s: $(measured) measured; the cable is cut for $cut s"
ip -n tw_daemon link set tw_d down
sleep "$cut"
echo "after $((SECONDS - begin)) s: $(measured) measured; it is whole again"
ip -n tw_daemon link set tw_d up
wait "$client"
echo "after $((SECONDS - begin)) s: the client has ended; $(measured) measured"
"$bin/tilewrightd" jobs --daemon="unix:$home/socket"
"$bin/tilewrightd" export --daemon="unix:$home/socket" --records="$home/farm.db"
tail -3 "$home/tune.log"
