#!/usr/bin/env python3
"""Optimizes models with Isomer, onnxsim and OnnxSlim and times each result against the original on ONNX Runtime.

--engine onednn or openvino: optimizes and times on that engine instead, without the peers (ISOMER_PYTHON: a Python that has
the package openvino).

    python3 -m venv .venv-bench && .venv-bench/bin/pip install -r requirements.txt -r bench/requirements.txt
    .venv-bench/bin/python bench/table.py --models all --out docs/measurements      # writes results.json and results.md

A model is timed in turn with its original, run by run, in one process, both loaded four times in either order; the table
gives the median over the loads of the median ratio of neighbouring runs (above 1: faster than the original) with its 95% interval,
the seconds of the search and the largest resident memory of the process that ran it.
--exported adds the graphs of tests/exported. Finished rows are kept in the JSON file, so that an interrupted run goes on
where it stopped. --only-peers adds the columns of onnxsim and OnnxSlim to the rows of a file that has none: a ratio is
against the original on the same machine, so that columns may be measured apart.

--earlier PROGRAM adds the ratio and the search of an earlier version of Isomer. --roofline adds the ratio of the graph that the
costs of the described device choose, a sum over its kernels as TASO's. Both versions begin with an empty profile database for
each model with --cold.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import platform
import subprocess
import sys
import tempfile
from collections.abc import Iterator

ROOT = pathlib.Path(__file__).resolve().parent.parent
ISOMER = ROOT / "build/isomer"
PEERS = {"onnxsim": "onnxsim", "onnxslim": "OnnxSlim"}  # modules, and the names that tables show
ENGINES = {
    "ort": "ONNX Runtime {} at its highest level",
    "onednn": "built-in runtime on oneDNN {}",
    "openvino": "OpenVINO {}",
}


def isomer(*args: str, timeout: float = 1800, program: pathlib.Path = ISOMER) -> dict:
    """A command's JSON report. Raises with its message when it fails."""
    done = subprocess.run([program, *args, "--json"], capture_output=True, text=True, timeout=timeout)
    if done.returncode == 2 or not done.stdout:
        raise RuntimeError(done.stderr.strip() or f"exit code {done.returncode}")
    return json.loads(done.stdout)


def peer(name: str, source: pathlib.Path, target: pathlib.Path) -> None:
    """Runs onnxsim or onnxslim as its users do, with default options."""
    subprocess.run([sys.executable, "-m", name, str(source), str(target)], check=True, capture_output=True, timeout=900)


def common_args(shapes: list[str], args: argparse.Namespace) -> list[str]:
    return ["--engine", args.engine, "--threads", str(args.threads), *(arg for shape in shapes for arg in ("--shape", shape))]


def timed(original: pathlib.Path, other: pathlib.Path, shapes: list[str], args: argparse.Namespace) -> dict:
    """Ratio with interval of the paired runs, and how far the outputs are apart."""
    common = common_args(shapes, args)
    bench = isomer("bench", str(original), str(other), "--seconds", str(args.seconds), *common)
    compare = isomer("compare", str(original), str(other), *common)
    worst = max((row.get("max_rel") or 0.0 for row in compare["outputs"]), default=0.0)
    return {
        "before_us": bench["models"][0]["median_us"],
        "after_us": bench["models"][1]["median_us"],
        "ratio": bench["ratio"],
        "ci95": bench["ci95"],
        "max_rel": worst,
    }


def bench_alone(model: pathlib.Path, shapes: list[str], args: argparse.Namespace) -> float:
    return isomer("bench", str(model), "--seconds", "1", *common_args(shapes, args))["models"][0]["median_us"]


def budget(args: argparse.Namespace) -> list[str]:
    return [] if args.time_budget is None else ["--time-budget", str(args.time_budget)]


def optimized(
    model: pathlib.Path, shapes: list[str], args: argparse.Namespace, target: pathlib.Path, program: pathlib.Path = ISOMER
) -> dict:
    """What one version of Isomer makes of a model: the search, and how the result is timed against the original."""
    cold = ["--profile-db", str(target.with_suffix(".db"))] if args.cold else []
    report = isomer(
        "optimize", str(model), "-o", str(target), "--force", *budget(args), *cold, *common_args(shapes, args), program=program
    )
    return {
        "engine_version": report["engine_version"],
        "measured": report["measured"],
        "steps": [step["rule"] for step in report["steps"]] if report["improved"] else [],
        "improved": report["improved"],
        "search_seconds": report["search"]["seconds"],
        "stop_reason": report["search"]["stop_reason"],
        "candidates": report["search"]["candidates"],
        "peak_rss_bytes": report["search"]["peak_rss_bytes"],
        # An input that came back byte for byte is not timed against itself.
        "isomer": timed(model, target, shapes, args) if report["improved"] else None,
    }


def by_roofline(model: pathlib.Path, shapes: list[str], args: argparse.Namespace, target: pathlib.Path) -> dict | None:
    extents = [arg for shape in shapes for arg in ("--shape", shape)]
    options = ["--force", "--engine", "roofline", *budget(args), *extents]
    report = isomer("optimize", str(model), "-o", str(target), *options)
    return timed(model, target, shapes, args) if report["improved"] else None


def row_of(name: str, model: pathlib.Path, shapes: list[str], args: argparse.Namespace, folder: pathlib.Path) -> dict:
    row: dict = {"name": name, **optimized(model, shapes, args, folder / "isomer.onnx")}
    measured = row.pop("measured")
    # The latency of the original in the run that the ratio is from; where there is none, from the search.
    before_us = row["isomer"]["before_us"] if row["isomer"] else (measured or {}).get("before_us")
    row["before_us"] = bench_alone(model, shapes, args) if before_us is None else before_us
    if args.earlier:
        earlier = optimized(model, shapes, args, folder / "earlier.onnx", args.earlier)
        row["earlier"] = earlier["isomer"]
        row |= {f"earlier_{key}": earlier[key] for key in ("search_seconds", "stop_reason")}
    if args.roofline:
        row["roofline"] = by_roofline(model, shapes, args, folder / "roofline.onnx")
    if not args.no_peers and args.engine == "ort":
        row.update(peer_columns(model, shapes, args, folder))
    return row


def peer_columns(model: pathlib.Path, shapes: list[str], args: argparse.Namespace, folder: pathlib.Path) -> dict:
    columns: dict = {}
    for tool in PEERS:
        target = folder / f"{tool}.onnx"
        try:
            peer(tool, model, target)
            columns[tool] = timed(model, target, shapes, args)
        except (RuntimeError, subprocess.SubprocessError) as error:
            columns[tool] = {"error": str(error).splitlines()[0][:120]}
    return columns


def cell(entry: dict | None, none: str = "") -> str:
    if entry is None:
        return none
    if "error" in entry:
        return "failed"
    return f"{entry['ratio']:.3f} [{entry['ci95'][0]:.3f}, {entry['ci95'][1]:.3f}]"


def number(row: dict, key: str, unit: float, form: str) -> str:
    """Blank in rows of older files, which lack the key."""
    return format(row[key] / unit, form) if key in row else ""


def seconds(row: dict, version: str = "") -> str:
    """The seconds of a search; with a star if its time limit ended it."""
    cut_off = row.get(f"{version}stop_reason") == "time budget"
    return number(row, f"{version}search_seconds", 1, ".1f") + ("*" if cut_off else "")


def heading(data: dict) -> list[str]:
    lines = [
        f"{data['processor']}, {data['threads']} thread(s), {data['engine']}.",
        "Ratio of latencies, original / optimized, of paired runs over four loads, with 95% interval; above 1 is faster.",
    ]
    if any("search_seconds" in row for row in data["rows"]):
        lines.append("Search and peak are the seconds of Isomer's search and the most memory that its process held.")
    if any("stop_reason" in row for row in data["rows"]):
        lines.append("A star marks searches that their time limit ended.")
    if any("earlier" in row for row in data["rows"]):
        cold = " Each search began without costs of kernels." if data.get("cold") else ""
        lines.append(f"Earlier: the version before, which searched right after this one.{cold}")
    if any("roofline" in row for row in data["rows"]):
        lines.append("Roofline: the graph that the costs of a described GPU choose (`--engine roofline`), timed on this engine.")
    if "peers" in data:
        peers = data["peers"]
        lines.append(
            f"onnxsim and OnnxSlim were measured by themselves, against the originals too: {peers['processor']}, "
            f"ONNX Runtime {peers['engine_version']}."
        )
        if any(tool not in row for row in data["rows"] for tool in PEERS):
            lines.append("Where a cell of theirs is blank, no interval narrower than 10% has been measured yet.")
    return lines


def markdown(data: dict) -> str:
    peers = [tool for tool in PEERS if any(tool in row for row in data["rows"])]
    titles = {"isomer": "Isomer", "earlier": "earlier", "roofline": "roofline", **PEERS}
    timed_columns = ["isomer", *(key for key in ("earlier", "roofline") if any(key in row for row in data["rows"])), *peers]
    earlier = ["earlier"] if "earlier" in timed_columns else []
    columns = ["model", "original, ms", *(titles[key] for key in timed_columns), "largest relative difference", "search, s"]
    columns += [*("earlier, s" for _ in earlier), "peak, MB", "substitutions"]
    rules = ["---", "---:", *("---" for _ in timed_columns), "---:", "---:", *("---:" for _ in earlier), "---:", "---"]
    lines = [*heading(data), "", "| " + " | ".join(columns) + " |", "|" + "|".join(rules) + "|"]
    for row in data["rows"]:
        own = row["isomer"]
        cells = [
            row["name"],
            f"{row['before_us'] / 1000:.2f}",
            *(cell(row[key], "" if key in PEERS else "1 (the input)") if key in row else "" for key in timed_columns),
            format(own["max_rel"], ".0e") if own else "0",
            seconds(row),
            *(seconds(row, "earlier_") for _ in earlier),
            number(row, "peak_rss_bytes", 1e6, ".0f"),
            ", ".join(dict.fromkeys(row["steps"])),
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def exported() -> list[tuple[str, list[str]]]:
    """Names of the exported graphs, smallest first, with the extents to run them with where they have symbols."""
    rows = json.loads((ROOT / "tests/exported/graphs.json").read_text())
    return [
        (row["name"], [f"{i['name']}:{','.join(map(str, i['shape']))}" for i in row["inputs"] if i["axes"] != i["shape"]])
        for row in sorted(rows, key=lambda row: row["weights"])
    ]


def write(name: str, network: bool, path: pathlib.Path) -> None:
    """Writes a benchmark network or an exported graph."""
    if network:
        isomer("models", name, "-o", str(path))
        return
    restore = ROOT / "tests/exported/restore.py"
    subprocess.run([sys.executable, str(restore), name, "-o", str(path)], check=True, capture_output=True)


def processor() -> str:
    lines = pathlib.Path("/proc/cpuinfo").read_text().split("\n\n")[0].splitlines()
    fields = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines)}
    if "model name" not in fields:
        return platform.processor()
    return f"{fields['model name']} (family {fields['cpu family']}, model {fields['model']})"


def width(column: dict) -> float:
    return column["ci95"][1] / column["ci95"][0] - 1 if "ci95" in column else 0.0


def add_peers(rows: list[dict], networks: set[str], args: argparse.Namespace) -> Iterator[dict]:
    """Adds the peers' columns to the rows that have none or too wide ones, and yields these one by one."""
    shapes_of = dict(exported())
    for row in rows:
        if all(tool in row and width(row[tool]) <= args.widest for tool in PEERS):
            continue
        with tempfile.TemporaryDirectory() as temporary:
            folder = pathlib.Path(temporary)
            model = folder / "original.onnx"
            try:
                write(row["name"], row["name"] in networks, model)
            except (RuntimeError, subprocess.SubprocessError) as error:
                print(f"{row['name']}: {error}", file=sys.stderr)
                continue
            row.update(peer_columns(model, shapes_of.get(row["name"], []), args, folder))
        yield row


def save(data: dict, out: pathlib.Path) -> None:
    out.with_suffix(".json").write_text(json.dumps(data, indent=1) + "\n")
    out.with_suffix(".md").write_text(markdown(data))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="*", default=[], help="benchmark networks, or 'all'")
    parser.add_argument("--exported", action="store_true", help="the graphs of tests/exported too")
    parser.add_argument("--engine", default="ort", choices=ENGINES)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=3, help="timing of each pair")
    parser.add_argument("--time-budget", type=float, help="of each search; else Isomer decides when more time does not pay")
    parser.add_argument("--no-peers", action="store_true")
    parser.add_argument("--earlier", type=pathlib.Path, metavar="PROGRAM", help="an earlier version of build/isomer")
    parser.add_argument("--roofline", action="store_true", help="time the graph that the described device prefers")
    parser.add_argument("--cold", action="store_true", help="begin each search with an empty profile database")
    parser.add_argument("--only-peers", action="store_true", help="add the peers' columns to the rows of --out")
    parser.add_argument("--widest", type=float, default=float("inf"), metavar="W",
                        help="with --only-peers: measure columns again whose intervals are wider than W (0.05: 5%%)")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="PATH without ending: PATH.json and PATH.md")
    args = parser.parse_args()

    out = args.out.with_suffix(".json")
    data = {"processor": processor(), "threads": args.threads, "cold": args.cold, "rows": []}
    if out.exists():
        data = json.loads(out.read_text())
    names = args.models
    networks = [entry["name"] for entry in isomer("models")["models"]]
    if names == ["all"]:
        names = networks
    if args.only_peers:
        data["peers"] = {"processor": processor(), "engine_version": __import__("onnxruntime").__version__}
        for row in add_peers(data["rows"], set(networks), args):
            save(data, args.out)
            print(f"{row['name']}: {cell(row['onnxsim'])}, {cell(row['onnxslim'])}", flush=True)
        return 0
    done = {row["name"] for row in data["rows"]}
    for name, shapes in [*((name, []) for name in names), *(exported() if args.exported else [])]:
        if name in done:
            continue
        with tempfile.TemporaryDirectory() as temporary:
            folder = pathlib.Path(temporary)
            model = folder / "original.onnx"
            try:
                write(name, name in names, model)
                row = row_of(name, model, shapes, args, folder)
            except (RuntimeError, subprocess.SubprocessError) as error:
                print(f"{name}: {error}", file=sys.stderr)
                continue
        data.setdefault("engine", ENGINES[args.engine].format(row["engine_version"]))
        data["rows"].append(row)
        save(data, args.out)
        print(f"{name}: {cell(row['isomer']) or 'the input'}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
