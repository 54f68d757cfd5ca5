#!/bin/bash
# All that this project wants to know of an NVIDIA GPU, in at most eight minutes.
#
#   bench/gpu/on_gpu.sh GPU_CHECK OUT MODEL.tw... [-- VARIANT.tw...]
#
# GPU_CHECK is //tools:gpu_check, built anywhere; MODELs are compiled for the GPU
# (bench/models/repeat_weights.py makes them small to copy), VARIANTs of one kernel
# (product_variants.py). OUT gets tables, what each kernel took as JSON lines, and
# outputs for drawn inputs. What is not done in its time is left out.
set -u
if (( $# < 3 )); then
  sed -n '2,11s/^# \{0,1\}//p' "$0"
  exit 2
fi
check=$1
out=$2
shift 2
models=()
while (( $# > 0 )) && [[ $1 != -- ]]; do
  models+=("$1")
  shift
done
shift
variants=("$@")
mkdir -p "$out/outputs"

# part SECONDS NAME FLAGS...: into OUT/NAME.md.
part() {
  local seconds=$1 name=$2
  shift 2
  timeout "$seconds" "$check" "$@" > "$out/$name.md" 2> "$out/$name.err"
  echo "$name: status $?, after $SECONDS s"
}

# What compiles on the host: the suite in shards, of which NVRTC takes half a minute
# for one case alone, and PyTorch.  Nothing is timed meanwhile.
shards=8
for (( shard = 0; shard < shards; ++shard )); do
  GTEST_TOTAL_SHARDS=$shards GTEST_SHARD_INDEX=$shard \
    part 110 "conformance_$shard" --only=conformance &
done
torch=$(dirname "$0")/../models/torch_times.py
if python3 -c 'import torch' 2> /dev/null; then
  (cd "$(dirname "$torch")" && exec python3 torch_times.py --deadline=110 resnet18 \
    bert_base vit_s nerf_mlp mlp64 vgg16) > "$out/torch.md" 2> "$out/torch.err" &
fi
wait
part 80 models --only=models --seconds=0.1 --details="$out/models.jsonl" \
  --outputs="$out/outputs" "${models[@]}"
if (( ${#variants[@]} > 0 )); then
  part 70 variants --only=models --seconds=0.02 --details="$out/variants.jsonl" "${variants[@]}"
fi
part 60 products --only=products --samples=15
part 90 generated --only=generated --samples=20
part 60 hand_written --only=hand-written --no-modes --samples=20
exit 0
