#!/usr/bin/python3
"""Measures the zoo beside ONNX Runtime and writes both tables of it.

    bench/compare/table.py --zoo=DIR --ort=LIB --runs=RUNS.jsonl [--write]

Models that DIR lacks are exported (bench/models/export.py). Every model is run
by bench/compare with the flags that `tilewright compile` has by default, and
those with many 3x3 convolutions once more with --allow=winograd4. RUNS.jsonl
gets a line for each model and thread count; called again, with the same flags,
commit and machine, only what it lacks is measured. The tables are printed; with
--write they replace what stands between the marks in docs/results/zoo.md and
README.md, both from the same run. --replay measures nothing and takes the last
run in RUNS.jsonl.
"""

import argparse
import datetime
import json
import math
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BEGIN = "<!-- begin of what bench/compare/table.py wrote -->"
END = "<!-- end of what bench/compare/table.py wrote -->"

MODELS = {
    "resnet18": "ResNet-18",
    "resnet50": "ResNet-50",
    "mobilenet_v2": "MobileNetV2",
    "bert_base": "BERT-base, 128 tokens",
    "convnext_tiny": "ConvNeXt-T",
    "swin_t": "Swin-T",
    "vit_s": "ViT-S",
    "nerf_mlp": "NeRF, 8,192 samples",
    "mlp64": "MLP, 7 layers of 64, 65,536 rows",
    "nafnet": "NAFNet, width 32, 128²",
    "conformer": "Conformer",
    "mobilevit_s": "MobileViT-S",
    "restormer": "Restormer",
    "bsrn": "BSRN",
    "unet": "UNet, 64 to 1024 channels, 256²",
    "vgg16": "VGG-16",
}
WINOGRAD4 = ["resnet18", "resnet50", "unet", "vgg16"]

# (family, model) -> name; a range of models is (first, last).
AMD = [(25, (0x10, 0x1f), "Zen 4"), (25, (0x60, 0x7f), "Zen 4"),
       (25, (0xa0, 0xaf), "Zen 4"), (25, (0x00, 0x5f), "Zen 3"),
       (26, (0x00, 0xff), "Zen 5")]
INTEL = [(6, (0x8f, 0x8f), "Sapphire Rapids"), (6, (0xcf, 0xcf), "Emerald Rapids"),
         (6, (0xad, 0xae), "Granite Rapids"), (6, (0x6a, 0x6c), "Ice Lake"),
         (6, (0x55, 0x55), "Skylake or Cascade Lake")]


class Failed(Exception):
    pass


def host_class(cpuinfo):
    """Names the machine and its vector units, from /proc/cpuinfo."""
    fields = {}
    for line in cpuinfo.splitlines():
        key, _, value = line.partition(":")
        fields.setdefault(key.strip(), value.strip())
    flags = set(fields.get("flags", "").split())
    family, model = int(fields["cpu family"]), int(fields["model"])
    vendor = fields.get("vendor_id", "")
    known = {"AuthenticAMD": AMD, "GenuineIntel": INTEL}.get(vendor, [])
    names = [name for f, (first, last), name in known
             if f == family and first <= model <= last]
    maker = {"AuthenticAMD": "AMD", "GenuineIntel": "Intel"}.get(vendor, vendor)
    has = [("AVX-512", "avx512f"), ("AVX-512 VNNI", "avx512_vnni"),
           ("AVX-512 BF16", "avx512_bf16"), ("AMX", "amx_tile")]
    units = [name if flag in flags else f"no {name}" for name, flag in has]
    virtual = ", virtual" if "hypervisor" in flags else ""
    return (f"{maker} {names[0] if names else 'of unknown class'} "
            f"(family {family}, model {model}{virtual}): {', '.join(units)}")


def output_of(*command):
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True,
                          text=True).stdout.strip()


def stamp_of(args):
    """The facts that must be equal for two runs to share a table."""
    commit = output_of("git", "rev-parse", "--short=10", "HEAD")
    if output_of("git", "status", "--porcelain", "--untracked-files=no"):
        commit += ", changed"
    return {
        "commit": commit,
        "host": host_class(pathlib.Path("/proc/cpuinfo").read_text()),
        "cores": os.cpu_count(),
        "threads": args.threads,
        "seconds": args.seconds,
        "huge_pages": args.huge_pages,
    }


def export(args, models):
    missing = [m for m in models
               if not os.path.exists(os.path.join(args.zoo, m, "model.onnx"))]
    if missing:
        subprocess.run([ROOT / "bench/models/export.py", f"--out={args.zoo}",
                        *missing], check=True)


def build(args):
    if args.compare:
        return args.compare
    subprocess.run([ROOT / "bazelw", "build", "-c", "opt", "//bench/compare"],
                   cwd=ROOT, check=True)
    return str(ROOT / "bazel-bin/bench/compare/compare")


def measure(args, binary, model, allow):
    command = [binary, os.path.join(args.zoo, model), f"--ort={args.ort}",
               f"--threads={args.threads}", f"--seconds={args.seconds}",
               f"--huge-pages={args.huge_pages}", "--verify", "--json"]
    if allow:
        command.append(f"--allow={allow}")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        lines = [json.loads(line) for line in done.stdout.splitlines()]
    except json.JSONDecodeError as error:
        raise Failed(f"{model}: {error}") from None
    if len(lines) != len(args.threads.split(",")):
        raise Failed(f"{model}: {done.stderr.strip() or 'no result'}")
    return lines


def measure_all(args, wanted, stamp):
    """Appends what args.runs lacks; gives all lines of this stamp, in order."""
    found = {}
    if os.path.exists(args.runs):
        for text in pathlib.Path(args.runs).read_text().splitlines():
            line = json.loads(text)
            if line["stamp"] == stamp:
                found.setdefault((line["name"], line["allow"]), []).append(line)
    if all(key in found for key in wanted):
        return [line for key in wanted for line in found[key]]
    export(args, sorted({model for model, _ in wanted}))
    binary = build(args)
    failed = []
    for model, allow in wanted:
        if (model, allow) in found:
            continue
        try:
            lines = measure(args, binary, model, allow)
        except Failed as error:
            print(f"table: {error}", file=sys.stderr, flush=True)
            failed.append(model)
            continue
        for line in lines:
            line.update(stamp=stamp, name=model,
                        date=datetime.date.today().isoformat())
            line["model"] = model
            with open(args.runs, "a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
        found[model, allow] = lines
        print("table:", model, allow, *(f"{line['threads']}: {line['speed_of_onnxruntime']:.2f}"
                                 for line in lines), file=sys.stderr, flush=True)
    if failed:
        raise Failed(f"{len(failed)} models failed; the others are in {args.runs}")
    return [line for key in wanted for line in found[key]]


def replay(path):
    """The lines of the last run, in the order of MODELS."""
    lines = [json.loads(text)
             for text in pathlib.Path(path).read_text(encoding="utf-8").splitlines()]
    lines = [line for line in lines if line["stamp"] == lines[-1]["stamp"]]
    order = list(MODELS)
    return sorted(lines, key=lambda line: (
        order.index(line["name"]) if line["name"] in order else len(order),
        line["name"], line["allow"], line["threads"]))


def quoted(line, side):
    """CPU time of one thread, wall time of more, milliseconds."""
    return line[side]["min_cpu_ms" if line["threads"] == 1 else "min_wall_ms"]


def median(line, side):
    return line[side]["median_cpu_ms" if line["threads"] == 1 else "median_wall_ms"]


def quiet(line):
    sides = [line["own"], line["onnxruntime"]]
    return sum(s["quiet_runs"] for s in sides) / sum(s["runs"] for s in sides)


def number(ms):
    return f"{ms:.0f}" if ms >= 1000 else f"{ms:.1f}" if ms >= 10 else f"{ms:.2f}"


def name_of(line):
    return MODELS.get(line["name"], line["name"]) + (
        f", `--allow={line['allow']}`" if line["allow"] else "")


def mean_text(lines, threads):
    plain = {line["name"]: line["speed_of_onnxruntime"] for line in lines
             if line["threads"] == threads and not line["allow"]}
    mean = math.exp(sum(map(math.log, plain.values())) / len(plain))
    lowest = min(plain, key=plain.get)
    return (f"{mean:.2f} at {threads} thread{'s' * (threads > 1)} (lowest "
            f"{plain[lowest]:.2f}, {MODELS.get(lowest, lowest)})")


def provenance(lines):
    """One sentence each on machine, memory, noise."""
    stamp = lines[0]["stamp"]
    dates = sorted({line["date"] for line in lines})
    memory = {"both": "Huge pages for both sides",
              "none": "Huge pages for neither side",
              "own": "Memory as each side takes it"}[stamp["huge_pages"]]
    share = sum(map(quiet, lines)) / len(lines)
    return [
        f"{' to '.join(dict.fromkeys([dates[0], dates[-1]]))}, commit {stamp['commit']}, {stamp['cores']} cores of a shared {stamp['host']}.",
        f"ONNX Runtime {lines[0]['onnxruntime_version']}, all graph optimisations. fp32, batch 1, "
        f"`--connect={lines[0]['connect']}`, nothing tuned; rows that allow less exact kernels say so and are in no mean.",
        f"{memory}. Alternating windows of 0.25 s, {stamp['seconds']:g} s a side; {100 * share:.0f} % of the runs were quiet. CPU time of one thread, "
        "wall time of more, of the quiet runs where there are any, the minimum.",
    ]


def limit_text(line):
    """The limit, that without --allow, and whether it was kept."""
    plain = line.get("plain_error_limit", line["error_limit"])
    return (f"{line['error_limit']:.2e}" + (f" ({plain:.2e})" if line["allow"] else "")
            + ("" if line["verified_ok"] else " EXCEEDED"))


def readme_table(lines, threads):
    rows = {}
    for line in lines:
        rows.setdefault((line["name"], line["allow"]), {})[line["threads"]] = line
    head = ["model"]
    for t in threads:
        head += [f"{t} thread{'s' * (t > 1)}", "ONNX Runtime", "times as fast", "quiet"]
    out = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    for of_model in rows.values():
        cells = [name_of(next(iter(of_model.values())))]
        for t in threads:
            line = of_model[t]
            cells += [number(quoted(line, "own")), number(quoted(line, "onnxruntime")),
                      f"{line['speed_of_onnxruntime']:.2f}", f"{100 * quiet(line):.0f} %"]
        out.append("| " + " | ".join(cells) + " |")
    return out


def details_table(lines, threads):
    out = []
    for t in threads:
        out += ["", f"### {t} thread{'s' * (t > 1)}", "",
                "| model | GFLOP | Tilewright | ONNX Runtime | times as fast | of the peak | quiet runs | MiB in huge pages | compiled in s | error | "
                "ONNX Runtime's | limit |", "|---" * 12 + "|"]
        for line in lines:
            if line["threads"] != t:
                continue
            own, peer = line["own"], line["onnxruntime"]
            out.append("| " + " | ".join([
                name_of(line), f"{line['gflop']:.3f}",
                f"{number(quoted(line, 'own'))} / {number(median(line, 'own'))}",
                f"{number(quoted(line, 'onnxruntime'))} / {number(median(line, 'onnxruntime'))}",
                f"{line['speed_of_onnxruntime']:.2f}", f"{line['peak_percent']:.0f} %",
                f"{own['quiet_runs']} of {own['runs']}, {peer['quiet_runs']} of {peer['runs']}",
                f"{line['huge_bytes'] / 2**20:.0f}, {line['onnxruntime_huge_bytes'] / 2**20:.0f}",
                f"{line['compile_cpu_s']:.2f}", f"{line['error']:.2e}",
                f"{line['onnxruntime_error']:.2e}",
                limit_text(line),
            ]) + " |")
    return out


def texts(lines, threads):
    """(README's, zoo.md's), without the marks."""
    means = "Geometric means " + ", ".join(mean_text(lines, t) for t in threads) + "."
    head = provenance(lines)
    stamp = lines[0]["stamp"]
    command = (f"    bench/compare/table.py --zoo=DIR --ort=LIB --runs=RUNS.jsonl --threads={stamp['threads']} "
               f"--seconds={stamp['seconds']:g} --huge-pages={stamp['huge_pages']} --write")
    readme = ["Milliseconds beside ONNX Runtime in the same run; quiet is the share of runs that nobody disturbed (`bench/compare/README.md`).",
              *head, "", *readme_table(lines, threads), "", means, "All outputs are verified against float64. Made, with `docs/results/zoo.md`, by", "", command]
    zoo = [*head, "Minimum / median. Errors are the largest difference from the float64 reference over its largest element; limits without `--allow` in brackets.", "", command,
           "", means, *details_table(lines, threads)]
    return "\n".join(readme), "\n".join(zoo)


def replace(path, text):
    path = pathlib.Path(path)
    old = path.read_text(encoding="utf-8")
    if old.count(BEGIN) != 1 or old.count(END) != 1:
        raise Failed(f"{path} does not have each of the two marks once: {BEGIN} {END}")
    before, rest = old.split(BEGIN)
    after = rest.split(END)[1]
    path.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}", encoding="utf-8")


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--zoo", help="folder of bench/models/export.py")
    parser.add_argument("--ort", default=os.environ.get("TILEWRIGHT_ORT", ""))
    parser.add_argument("--runs", required=True, help="file of measured lines, kept")
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--winograd4", default=None,
                        help=f"models to run with it as well, default {','.join(WINOGRAD4)}")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--huge-pages", default="none", choices=["both", "none", "own"])
    parser.add_argument("--compare", help="a built bench/compare, instead of building it")
    parser.add_argument("--replay", action="store_true")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--readme", default=ROOT / "README.md")
    parser.add_argument("--details", default=ROOT / "docs/results/zoo.md")
    args = parser.parse_args(arguments)
    if not args.replay and not (args.zoo and args.ort):
        parser.error("--zoo and --ort (or $TILEWRIGHT_ORT) are needed to measure")
    models = args.models.split(",")
    with_winograd4 = (WINOGRAD4 if args.winograd4 is None
                      else [m for m in args.winograd4.split(",") if m])
    wanted = [(model, allow) for model in models
              for allow in (["", "winograd4"] if model in with_winograd4 else [""])]
    lines = replay(args.runs) if args.replay else \
        measure_all(args, wanted, stamp_of(args))
    threads = [int(t) for t in lines[0]["stamp"]["threads"].split(",")]
    readme, details = texts(lines, threads)
    print(readme, details, sep="\n\n")
    if args.write:
        replace(args.readme, readme)
        replace(args.details, details)
    return 0 if all(line["verified_ok"] for line in lines) else 1


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except (Failed, OSError, subprocess.CalledProcessError) as error:
        print(f"table: {error}", file=sys.stderr)
        sys.exit(2)
