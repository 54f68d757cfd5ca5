#!/usr/bin/env python3
"""Times the models of the zoo in PyTorch on a GPU, compiled by torch.compile.

    bench/models/torch_times.py [--mode=max-autotune] [--deadline=SECONDS] MODEL...

Prints a row for each model: milliseconds of a run on the device, by events around
replays, inputs and outputs in its memory, fp32 without TF32.  Models compile
side by side, each in a process of its own; none is timed before all have compiled,
or before the deadline, after which those that have not are given up.
"""

import argparse
import multiprocessing
import os
import statistics
import sys
import time
import traceback

WARM_UPS, SAMPLES = 5, 50


def milliseconds(run):
    """Of `run`, on the device: minimum and median."""
    import torch
    samples = []
    for i in range(WARM_UPS + SAMPLES):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        run()
        end.record()
        torch.cuda.synchronize()
        if i >= WARM_UPS:
            samples.append(begin.elapsed_time(end))
    return min(samples), statistics.median(samples)


def captured(run):
    """`run` as one graph: without the host's time between launches."""
    import torch
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(WARM_UPS):
            run()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        run()
    return graph.replay


def serve(name, mode, pipe):
    """Compiles one model, says so, waits, times it, and says what it took."""
    # The models compile side by side: each with few processes of its own.
    os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "3")
    try:
        import torch
        import parameters
        import zoo
        torch.set_num_threads(1)
        torch.set_float32_matmul_precision("highest")
        torch.backends.cudnn.allow_tf32 = False
        torch.backends.cudnn.benchmark = True
        entry = zoo.MODELS[name]
        model = entry.build().eval()
        parameters.draw(model, 0)
        model = model.cuda()
        inputs = [torch.from_numpy(part.draw(parameters.stream(0, part.stream), part.shape)).cuda()
                  for part in entry.inputs]
        with torch.no_grad():
            start = time.time()
            runs = {"eager": lambda: model(*inputs)}
            if mode != "eager":
                compiled = torch.compile(model, mode=mode)
                runs[mode] = lambda: compiled(*inputs)
            for run in runs.values():
                run()
            torch.cuda.synchronize()
            pipe.send(time.time() - start)
            pipe.recv()
            pipe.send({which: milliseconds(captured(run)) for which, run in runs.items()})
    except Exception:  # of the model or the compiler: a row that says so
        pipe.send(traceback.format_exc().strip().splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mode", default="max-autotune-no-cudagraphs",
                        help="of torch.compile, whose own graphs are not used; or eager")
    parser.add_argument("--deadline", type=float, default=600, help="seconds for compiling")
    parser.add_argument("models", nargs="+")
    arguments = parser.parse_args()

    context = multiprocessing.get_context("spawn")
    served = {}
    for name in arguments.models:
        pipe, other = context.Pipe()
        process = context.Process(target=serve, args=(name, arguments.mode, other), daemon=False)
        process.start()
        served[name] = (process, pipe)
    end = time.time() + arguments.deadline
    compiled = {name: pipe.recv() if pipe.poll(max(0, end - time.time())) else "not compiled in time"
                for name, (_, pipe) in served.items()}
    print(f"| model | eager ms | {arguments.mode} ms | compiled in s |\n|---|---|---|---|")
    for name, (process, pipe) in served.items():
        seconds = compiled[name]
        result = seconds
        if not isinstance(seconds, str):
            pipe.send("go")
            result = pipe.recv() if pipe.poll(60) else "not timed within a minute"
        process.kill()
        if isinstance(result, str):
            print(f"| {name} | {result} | | |")
        else:
            columns = [result.get(which, (float("nan"),) * 2)[1] for which in ("eager", arguments.mode)]
            print(f"| {name} | {columns[0]:.4f} | {columns[1]:.4f} | {seconds:.0f} |")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
