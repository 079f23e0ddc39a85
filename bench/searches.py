#!/usr/bin/env python3
"""What each search makes of each network by one and the same costs, and whether `auto` is as good as the best of them.

    bench/searches.py --out docs/measurements/searches                             # roofline: searches.json and searches.md
    bench/searches.py --engine onednn --time-budget 120 --out docs/measurements/searches-onednn

Every search begins with the same graph and has the same budget. The costs of an engine's kernels come from one database for
each network: a first run of all searches fills it, and the runs of the table measure only what that did not need.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import tempfile
import time

import table

NETWORKS = (
    "resnet50 bert-8 bert-base resnext50 nasrnn inception-v3 sru nasnet-a nasnet-mobile squeezenet googlenet inception-e-2 rnntc nmt "
    "densenet121"
).split()
SEARCHES = {
    "greedy": ["--search", "greedy"],
    "backtrack": ["--search", "backtrack"],
    "beam": ["--search", "beam"],
    "sample": ["--search", "sample"],
    "saturate, greedy": ["--search", "saturate", "--extract", "greedy"],
    "saturate, exact": ["--search", "saturate", "--extract", "exact"],
    "auto": ["--search", "auto"],
}
COMPLETE = ("exhausted", "growth limit")


def run(model: pathlib.Path, search: list[str], args: argparse.Namespace, database: pathlib.Path, threads: int = 1) -> dict:
    options = ["--engine", args.engine, "--time-budget", str(args.time_budget), "--dry-run", *search]
    options += ["--search-threads", str(threads)]
    if args.engine != "roofline":
        options += ["--costs-only", "--profile-db", str(database)]
    began = time.monotonic()
    report = table.isomer("optimize", str(model), *options)
    return {
        "before_us": report["cost"]["before_us"],
        "after_us": report["cost"]["after_us"],
        "seconds": time.monotonic() - began,
        "stop_reason": report["search"]["stop_reason"],
        "candidates": report["search"]["candidates"],
        "peak_rss_bytes": report["search"]["peak_rss_bytes"],
    }


def best_of_others(row: dict) -> float:
    return min(found["after_us"] for search, found in row["searches"].items() if search != "auto")


def cell(found: dict) -> str:
    """The cost, and what ended the search unless it was complete."""
    reason = found["stop_reason"]
    mark = "" if reason in COMPLETE else " t" if reason == "time budget" else " l"
    return f"{found['after_us']:.1f}{mark}"


def markdown(data: dict) -> str:
    lines = [
        f"{data['processor']}, one thread, engine `{data['engine']}`, at most {data['time_budget']:g} s for each search. Costs in",
        "microseconds: of the network, and of the result of each search. `t`: the time ended the search. `l`: another limit ended it",
        "in at least one part (candidates, nodes of an e-graph, an extraction). `auto / best` compares `auto` with the best of the",
        "others. The last columns are the seconds of the complete commands; the very last one is of `auto` on two threads.",
        "",
        "| network | cost | " + " | ".join(SEARCHES) + " | auto / best | s of others | s of auto | on two threads |",
        "|---|" + "---:|" * (len(SEARCHES) + 5),
    ]
    for row in data["rows"]:
        found = row["searches"]
        others = [one["seconds"] for search, one in found.items() if search != "auto"]
        cells = [row["name"], f"{found['auto']['before_us']:.1f}", *(cell(found[search]) for search in SEARCHES)]
        cells += [f"{found['auto']['after_us'] / best_of_others(row):.4f}", f"{min(others):.1f} to {max(others):.1f}"]
        cells += [f"{found['auto']['seconds']:.1f}", f"{row['auto_on_two_threads']['seconds']:.1f}"]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", nargs="+", default=NETWORKS)
    parser.add_argument("--engine", default="roofline", choices=["roofline", "onednn", "ort"])
    parser.add_argument("--time-budget", type=float, default=120, help="seconds of one search")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="PATH without ending: PATH.json and PATH.md")
    args = parser.parse_args()
    data: dict = {"processor": table.processor(), "engine": args.engine, "time_budget": args.time_budget, "rows": []}
    for name in args.networks:
        with tempfile.TemporaryDirectory() as temporary:
            folder = pathlib.Path(temporary)
            table.isomer("models", name, "-o", str(folder / "model.onnx"))
            found: dict = {}
            for _ in range(1 if args.engine == "roofline" else 2):
                for search, options in SEARCHES.items():
                    found[search] = run(folder / "model.onnx", options, args, folder / "profile.db")
            two = run(folder / "model.onnx", SEARCHES["auto"], args, folder / "profile.db", threads=2)
        data["rows"].append({"name": name, "searches": found, "auto_on_two_threads": two})
        print(f"{name}: auto / best of the others {found['auto']['after_us'] / best_of_others(data['rows'][-1]):.4f}", flush=True)
        args.out.with_suffix(".json").write_text(json.dumps(data, indent=1) + "\n")
        args.out.with_suffix(".md").write_text(markdown(data))


if __name__ == "__main__":
    main()
