#!/usr/bin/env python3
"""Runs `isomer rules generate` for graphs of 1 to 4 operators and sets the figures beside those that TASO's authors printed.

    bench/discovery.py --out docs/results        # writes discovery.json and discovery.md

Each row is a process of its own, so that its peak of memory is its own. Rules are made where that does not dominate
(--rules-up-to). The seconds are those of the whole process.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import platform
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
ISOMER = ROOT / "build/isomer"
STAGES = {
    "equal to an earlier one": "equal",
    "on fresh inputs, in other sizes": "confirmed",
    "input tensor renaming": "renamed",
    "common subgraph": "general",
    "implied by others": "independent",
    "rules that hold in general": "rules",
}
PUBLISHED = """\
TASO (dissertation, Table 2.3 and section 2.9): 28744 candidates of up to 4 operators, 17346 after input tensor renaming,
743 after common subgraphs, in about 5 minutes; it enumerates no 5 operators for lack of memory. Its public generator, on one
core of a machine like this one: up to 3 operators, 16.4 million graphs, 114 s, 7.1 GB, 619 rules."""


def processor() -> str:
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor()


def measured(universe: str, operators: int, threads: int, with_rules: bool, folder: pathlib.Path) -> dict:
    command = [ISOMER, "rules", "generate", "--universe", universe, "--max-operators", str(operators)]
    command += ["--threads", str(threads), "--json"]
    if with_rules:
        command += ["--output", str(folder / "found.rules")]
    start = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    seconds = time.monotonic() - start
    report = json.loads(done.stdout)
    row: dict = {"universe": universe, "operators": operators, "seconds": round(seconds, 2)}
    row["peak_rss_bytes"] = report["peak_rss_bytes"]
    row["graphs"] = 0
    for entry in report["universes"][0]["counts"]:
        if entry["stage"].startswith("graphs of "):
            row["graphs"] += entry["remaining"]
        else:
            row[STAGES[entry["stage"]]] = entry["remaining"]
    return row


def markdown(data: dict) -> str:
    lines = [
        f"{data['processor']}, {data['threads']} threads. `isomer rules generate --universe NAME --max-operators N`: graphs of",
        "up to N operators, those that equal an earlier one (candidates), what each pruning leaves, and, where they were made,",
        "the rules that the bounded checker passes (both directions, rules with two outputs among them).",
        "",
        "| universe | operators | graphs | candidates | confirmed | renamed | common subgraph | independent | tested rules "
        "| seconds | peak, MB |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for row in data["rows"]:
        cells = [row["universe"], row["operators"], row["graphs"], row["equal"], row["confirmed"], row["renamed"]]
        cells += [row["general"], row["independent"], row.get("rules", ""), f"{row['seconds']:.1f}"]
        cells.append(f"{row['peak_rss_bytes'] / 1e6:.0f}")
        lines.append("| " + " | ".join(str(cell) for cell in cells) + " |")
    return "\n".join(lines) + "\n\n" + PUBLISHED + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--universes", nargs="+", default=["matrix", "convolution"])
    parser.add_argument("--operators", nargs="+", type=int, default=[1, 2, 3, 4])
    parser.add_argument("--rules-up-to", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "docs/results")
    args = parser.parse_args()
    data: dict = {"processor": processor(), "threads": args.threads, "rows": []}
    with tempfile.TemporaryDirectory() as folder:
        for universe in args.universes:
            for operators in args.operators:
                with_rules = operators <= args.rules_up_to
                row = measured(universe, operators, args.threads, with_rules, pathlib.Path(folder))
                print(row, flush=True)
                data["rows"].append(row)
    args.out.mkdir(parents=True, exist_ok=True)
    (args.out / "discovery.json").write_text(json.dumps(data, indent=1) + "\n")
    (args.out / "discovery.md").write_text(markdown(data))


if __name__ == "__main__":
    main()
