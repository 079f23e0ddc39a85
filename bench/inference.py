#!/usr/bin/env python3
"""Compares the latency of benchmark networks in the built-in runtime with that in other runtimes.

    bench/inference.py --torch VENV/bin/python --networks all --optimize 45 --out docs/measurements/inference-1-thread
    bench/inference.py --runtimes "onednn --streams 2" "onednn --threads 2" --out docs/measurements/streams

The first runtime is compared with the fastest of the others. Each is `onednn`, `ort`, `openvino` or `pytorch`, with --threads and
--streams if they differ from this program's --threads, and with --pause SECONDS if it waits before each run. Each has a process
of its own, which runs for --seconds when it has its turn and is stopped otherwise; in every round, all have one turn, in an order
that is drawn anew. A ratio is of two turns of one round; the table gives the median of all rounds of all processes with an
interval. This program's Python needs numpy, onnxruntime and openvino. Finished rows are kept in the JSON file, so that an
interrupted run goes on where it stopped.
"""

from __future__ import annotations

import argparse
import json
import math
import pathlib
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import textwrap

import numpy as np
from cores import Cores, shared_text
from table import ROOT, isomer, processor
from turns import Program, engine_version, interval, optimized, random_data, returned_input

LARGEST_DIFFERENCE = 1e-3  # of outputs that are still the same
TITLES = {"onednn": "built-in runtime", "ort": "ONNX Runtime", "openvino": "OpenVINO", "pytorch": "PyTorch"}
OPTIMIZED = "optimized"


def title(runtime: str) -> str:
    """"onednn --streams 2" is "built-in runtime (2 streams)"."""
    name, *options = runtime.split()
    pairs = (f"{number} {option.removeprefix('--')}" for option, number in zip(options[::2], options[1::2]))
    text = ", ".join(pair.removesuffix("s") if pair.startswith("1 ") else pair for pair in pairs)
    return TITLES[name] + (f" ({text})" if text else "")


def python_of(name: str, args: argparse.Namespace) -> str:
    return args.torch if name == "pytorch" else sys.executable


def program(runtime: str, model: pathlib.Path, folder: pathlib.Path, args: argparse.Namespace) -> Program:
    name = runtime.split()[0]
    return Program(python_of(name, args), ROOT / "bench/inference_run.py", name, model, folder / "data.npz", folder / "outputs.npz",
                   *options_of(runtime, args))


def turn(program: Program, seconds: float) -> float:
    program.begin(str(seconds))
    program.go_on()
    return program.answer


def version(runtime: str, args: argparse.Namespace) -> str:
    name = runtime.split()[0]
    if name == "onednn":
        return engine_version(name)
    module = {"ort": "onnxruntime", "pytorch": "torch"}.get(name, name)
    command = [python_of(name, args), "-c", f"import {module}; print({module}.__version__)"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip().split("-")[0]


def outputs(file: pathlib.Path) -> tuple[list[np.ndarray], str]:
    """The outputs that a program wrote, and in which form it runs the network."""
    with np.load(file) as arrays:
        return [arrays[name] for name in arrays if name != "form"], str(arrays["form"])


def difference(values: list[np.ndarray], others: list[np.ndarray]) -> float:
    """The largest of any element, relative to the largest element of its output. Ends this program if it is too large."""
    found = 0.0
    for a, b in zip(values, others, strict=True):
        if a.shape != b.shape or not np.isfinite(a).all() or not np.isfinite(b).all():
            sys.exit(f"outputs differ: {a.shape} and {b.shape}, or numbers without bounds")
        found = max(found, float(abs(a - b).max() / max(abs(b).max(), 1e-30)))
    if found > LARGEST_DIFFERENCE:
        sys.exit(f"outputs differ by {found} of the largest element")
    return found


def options_of(runtime: str, args: argparse.Namespace) -> list[str]:
    """The options of a runtime; --threads is this program's unless it is among them."""
    options = runtime.split()[1:]
    return options if "--threads" in options else ["--threads", str(args.threads), *options]


def limit(network: pathlib.Path, options: list[str], profile_db: pathlib.Path) -> float:
    """Microseconds of the network if each of its kernels in the built-in runtime ran at the measured peak of the processor."""
    costs = isomer("inspect", str(network), "--engine", "onednn", *options, "--costs", "--profile-db", str(profile_db))["costs"]
    return sum(kernel["us"] * kernel["of_peak"] for kernel in costs["by_kernel"] if kernel["of_peak"] is not None)


def uses_cores(runtimes: list[str], args: argparse.Namespace) -> bool:
    """Whether a runtime has several threads."""
    options = [options_of(runtime, args) for runtime in runtimes]
    return any(int(one[one.index(name) + 1]) > 1 for one in options for name in ("--threads", "--streams") if name in one)


def row_of(name: str, args: argparse.Namespace, folder: pathlib.Path) -> dict:
    network, better = folder / "network.onnx", folder / "optimized.onnx"
    isomer("models", name, "-o", str(network), "--batch", str(args.batch))
    np.savez(folder / "data.npz", **random_data(network))
    own, *others = args.runtimes
    row: dict = {"network": name, "versions": args.versions, "forms": []}
    if args.optimize > 0:
        row["search"] = optimized(network, better, args.optimize, "--engine", own.split()[0], *options_of(own, args))
    if own.split()[0] == "onednn" and "--streams" not in own and "--pause" not in own:  # costs are without either
        row["limit"] = limit(network, options_of(own, args), folder / f"{name}.db")
    models = {runtime: (runtime, network) for runtime in args.runtimes}
    if args.optimize > 0 and not returned_input(row["search"]):
        models[OPTIMIZED] = (own, better)
    rounds: list[list[dict[str, float]]] = []  # by process
    order = random.Random(0)
    cores = Cores() if uses_cores(args.runtimes, args) else None

    def measured(key: str) -> float:
        if not cores:
            return turn(programs[key], args.seconds)
        return cores.undisturbed(lambda: turn(programs[key], args.seconds))

    for _ in range(args.processes):
        programs, values, forms = {}, {}, {}
        for key, (runtime, model) in models.items():
            programs[key] = program(runtime, model, folder, args)
            turn(programs[key], 0)  # loads the network while no other program runs
            values[key], forms[key] = outputs(folder / "outputs.npz")
        row["forms"].append({key: form for key, form in forms.items() if form})
        row["differences"] = {key: difference(values[key], values[others[0]]) for key in models if key != others[0]}
        rounds.append([{key: measured(key) for key in order.sample(list(programs), len(programs))} for _ in range(args.rounds)])
        for one in programs.values():
            one.close()
    if cores:
        cores.close()
        row["cores"] = cores.counts()
    row["rounds"] = rounds
    row["microseconds"] = {key: statistics.median(one[key] for found in rounds for one in found) for key in models}
    row["best"] = min(others, key=row["microseconds"].get)
    for key in (own, OPTIMIZED):
        if key in models:
            row["ratio" if key == own else "ratio_optimized"] = interval(
                [[one[row["best"]] / one[key] for one in found] for found in rounds])
    return row


def geometric(ratios: list[float]) -> float:
    return math.exp(statistics.fmean(map(math.log, ratios)))


def heading(data: dict) -> list[str]:
    own, *others = data["runtimes"]
    # Runtimes with options have their own numbers of threads.
    threads = "" if all(" " in runtime for runtime in data["runtimes"]) else (
        f"{data['threads']} thread{'s' if data['threads'] > 1 else ''}, ")
    versions = dict.fromkeys(f"{TITLES[runtime.split()[0]]} {row['versions'][runtime]}"
                             for runtime in data["runtimes"] for row in data["rows"])
    text = (f"{data['processor']}, f32. {', '.join(versions)}. Medians of {data['rounds']} turns of {data['seconds']:g} s in each "
            f"of {data['processes']} processes, in milliseconds. A ratio is the latency of the fastest other runtime (bold) over "
            f"that of the {title(own)}, with a 95% interval that includes the medians of all processes; above 1, the {title(own)} "
            "is faster.")
    if any("search" in row for row in data["rows"]):
        text += (f" The column `{OPTIMIZED}` is what `isomer optimize` makes of the network for the {title(own)}; the ratio after "
                 "it compares that with the fastest other runtime on the original network. Where the search returned the input, "
                 "that ratio is the first one.")
    if shared := shared_text(data["rows"], "turns"):
        text += " " + shared
    if any(runtime.split()[0] == "pytorch" for runtime in others):
        text += (" PyTorch is the faster of eager mode and frozen TorchScript, with images in the faster of two layouts, in which "
                 "they are given; torch.compile is not used.")
    if any("limit" in row for row in data["rows"]):
        text += (f" The column `of peak` is the latency that the kernels of the {title(own)} would have at the measured peak of "
                 "the processor's arithmetic or memory, whichever takes longer, over their latency; Winograd's and Strassen's "
                 "algorithms need fewer operations than are counted.")
    text += f" The last column is the largest difference from outputs of {title(others[0])}, relative to the largest element."
    return [f"# Inference, {threads}batch {data['batch']}", "", *textwrap.wrap(text, 120), ""]


def against_peers(rows: list[dict], own: str, others: list[str]) -> str:
    """A line with the ratios against other engines, for a table that also has other settings of the own one; else empty."""
    peers = [runtime for runtime in others if runtime.split()[0] != own.split()[0]]
    if not peers or len(peers) == len(others):
        return ""

    def summary(key: str) -> str:
        ratios = [min(us[peer] for peer in peers) / us.get(key, us[own]) for us in (row["microseconds"] for row in rows)]
        return f"{geometric(ratios):.2f}; smallest: {min(ratios):.2f}"

    line = f"\nCompared only with other engines, ratios of the medians: {summary(own)}."
    return line + (f" With the optimized networks: {summary(OPTIMIZED)}." if any("search" in row for row in rows) else "")


def markdown(data: dict) -> str:
    own, *others = data["runtimes"]
    rows = data["rows"]
    searched = any("search" in row for row in rows)
    lines = heading(data)
    limited = any("limit" in row for row in rows)
    columns = ["network", *map(title, others), title(own), *(["of peak"] if limited else []), "ratio",
               *([OPTIMIZED, "ratio", "search"] if searched else []), "difference"]
    lines += ["| " + " | ".join(columns) + " |", "|---|" + "---:|" * (len(others) + 1 + limited) + "---|" +
              ("---:|---|---|" if searched else "") + "---:|"]
    for row in rows:
        ms = {key: f"{value / 1000:.2f}" for key, value in row["microseconds"].items()}
        ms[row["best"]] = f"**{ms[row['best']]}**"
        share = [f"{row['limit'] / row['microseconds'][own]:.0%}" if "limit" in row else ""] if limited else []
        cells = [row["network"], *(ms[key] for key in others), ms[own], *share,
                 "{:.2f} [{:.2f}, {:.2f}]".format(*row["ratio"])]
        if searched:
            search = row.get("search")
            better = OPTIMIZED in ms
            cells += [ms[OPTIMIZED] if better else "the input" if search else "",
                      "{:.2f} [{:.2f}, {:.2f}]".format(*row["ratio_optimized" if better else "ratio"]) if search else "",
                      f"{search['seconds']:.0f} s, {search['stop_reason']}" if search else ""]
        cells.append(f"{max(row['differences'].values()):.0e}")
        lines.append("| " + " | ".join(cells) + " |")
    ratios = [row["ratio"][0] for row in rows]
    lines += ["", f"Geometric mean of the ratios: {geometric(ratios):.2f}; smallest: {min(ratios):.2f}."]
    if searched:
        final = [row.get("ratio_optimized", row["ratio"])[0] for row in rows]
        lines[-1] += f" With the optimized networks: {geometric(final):.2f}; smallest: {min(final):.2f}."
    peers = against_peers(rows, own, others)
    return "\n".join([*lines, peers] if peers else lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runtimes", nargs="+", default=["onednn", "ort", "openvino", "pytorch"])
    parser.add_argument("--torch", help="a Python that has torch and onnx, for pytorch")
    parser.add_argument("--networks", nargs="+", default=["all"])
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=0.3, help="of each turn")
    parser.add_argument("--rounds", type=int, default=6, help="of turns of each process")
    parser.add_argument("--processes", type=int, default=3, help="that run each program, one after the other")
    parser.add_argument("--optimize", type=float, default=0, metavar="SECONDS",
                        help="also run what `isomer optimize` makes of the network for the first runtime in so many seconds")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="path of the files without .json and .md")
    args = parser.parse_args()
    if len(args.runtimes) < 2:
        parser.error("--runtimes: a comparison needs two")
    if any(runtime.split()[0] == "pytorch" for runtime in args.runtimes) and not args.torch:
        parser.error("pytorch needs --torch")
    if args.processes < 1 or args.processes * args.rounds < 9:
        parser.error("--processes, --rounds: an interval needs 9 turns in all")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    data = {"processor": processor(), "runtimes": args.runtimes,
            **{key: getattr(args, key) for key in ("threads", "batch", "seconds", "rounds", "processes", "optimize")}, "rows": []}
    kept = args.out.with_suffix(".json")
    if kept.exists():
        before = json.loads(kept.read_text())
        if any(before.get(key) != data[key] for key in data if key != "rows"):
            parser.error(f"{kept} is of another machine or setting; remove it, or give another --out")
        data["rows"] = before["rows"]
    names = [entry["name"] for entry in isomer("models")["models"]] if args.networks == ["all"] else args.networks
    args.versions = {runtime: version(runtime, args) for runtime in args.runtimes}
    done = {row["network"] for row in data["rows"]}
    for name in names:
        if name in done:
            continue
        with tempfile.TemporaryDirectory(prefix="isomer-inference-") as folder:
            row = row_of(name, args, pathlib.Path(folder))
        data["rows"].append(row)
        ratios = (row[key] for key in ("ratio", "ratio_optimized") if key in row)
        print(name, *("{:.2f} [{:.2f}, {:.2f}]".format(*ratio) for ratio in ratios), flush=True)
        kept.write_text(json.dumps(data, indent=1) + "\n")
        args.out.with_suffix(".md").write_text(markdown(data))


if __name__ == "__main__":
    main()
