#!/usr/bin/env python3
"""Runs `isomer rules generate` for graphs of 1 to 4 operators and compares the figures with those that TASO's authors printed.

    bench/discovery.py --out docs/measurements        # writes discovery.json and discovery.md
    bench/discovery.py --add --universes matrix --operators 5      # measures these rows (again), and keeps the others

Each row is a process of its own, so that its peak of memory is its own, and the seconds are those of the whole process. Rules
are made, and then verified, in further processes that are not timed, where that does not take too long (--rules-up-to). Graphs
of 5 operators are gone through in passes (--passes), each of which holds a part of the largest graphs; what takes longer than
--limit is reported as not finished.
"""

from __future__ import annotations

import argparse
import collections
import json
import pathlib
import subprocess
import tempfile
import time

import table

ROOT = pathlib.Path(__file__).resolve().parent.parent
ISOMER = ROOT / "build/isomer"
STAGES = {
    "equal to an earlier one": "equal",
    "on fresh inputs, in other sizes": "confirmed",
    "input tensor renaming": "renamed",
    "common subgraph": "general",
    "implied by others": "independent",
}
PUBLISHED = """\
TASO (dissertation, Table 2.3 and section 2.9): 28744 candidates of up to 4 operators, 17346 after input tensor renaming,
743 after common subgraphs, in about 5 minutes; it enumerates no 5 operators for lack of memory. Its public generator, on one
core of a machine like this one: up to 3 operators, 16.4 million graphs, 114 s, 7.1 GB, 619 rules."""


def verdicts(universe: str, operators: int, threads: int, folder: pathlib.Path) -> dict:
    """How many of the rules of graphs of so many operators are proved, tested and unknown."""
    found = folder / "found.rules"
    command = [ISOMER, "rules", "generate", "--universe", universe, "--max-operators", str(operators)]
    subprocess.run([*command, "--threads", str(threads), "--output", found], check=True, capture_output=True)
    done = subprocess.run(
        [ISOMER, "rules", "verify", "--rules", found, "--threads", str(threads), "--json"], capture_output=True, text=True
    )
    counts = collections.Counter(rule["verdict"] for rule in json.loads(done.stdout)["rules"])
    return {verdict: counts[verdict] for verdict in ("proved", "tested", "unknown", "refuted")}


def measured(universe: str, operators: int, args: argparse.Namespace) -> dict:
    command = [ISOMER, "rules", "generate", "--universe", universe, "--max-operators", str(operators)]
    command += ["--threads", str(args.threads), "--json"]
    if operators == 5:
        command += ["--passes", str(args.passes)]
    row: dict = {"universe": universe, "operators": operators}
    start = time.monotonic()
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=args.limit)
    except subprocess.TimeoutExpired:
        return {**row, "seconds": args.limit, "finished": False}
    report = json.loads(done.stdout)
    row["seconds"] = round(time.monotonic() - start, 2)
    row["peak_rss_bytes"] = report["peak_rss_bytes"]
    row["graphs"] = 0
    for entry in report["universes"][0]["counts"]:
        if entry["stage"].startswith("graphs of "):
            row["graphs"] += entry["remaining"]
        else:
            row[STAGES[entry["stage"]]] = entry["remaining"]
    return row


COLUMNS = {
    "universe": "universe",
    "operators": "operators",
    "graphs": "graphs",
    "candidates": "equal",
    "confirmed": "confirmed",
    "renamed": "renamed",
    "common subgraph": "general",
    "independent": "independent",
    "proved": "proved",
    "tested": "tested",
    "unknown": "unknown",
}


def markdown(data: dict) -> str:
    lines = [
        f"{data['processor']}, {data['threads']} threads. `isomer rules generate --universe NAME --max-operators N`: graphs of",
        "up to N operators, those that equal an earlier one (candidates), what each pruning leaves, and, where they were made,",
        "the verdicts on the rules that this gives (both directions, rules with two outputs among them). `taso` is TASO's set of",
        "operators; `matrix` and `convolution` are its halves without constants, strides and relus inside of convolutions. No graph",
        "has both matrices and images.",
        "",
        "| " + " | ".join(COLUMNS) + " | seconds | peak, MB |",
        "|---|" + "---:|" * (len(COLUMNS) + 1),
    ]
    for row in data["rows"]:
        cells = [str(row.get(key, "")) for key in COLUMNS.values()]
        if row.get("finished", True):
            cells += [f"{row['seconds']:.1f}", f"{row['peak_rss_bytes'] / 1e6:.0f}"]
        else:
            cells += [f"not finished in {row['seconds']:.0f}", ""]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n\n" + PUBLISHED + "\n"


def put(rows: list[dict], row: dict) -> None:
    """In place of the row of the same graphs, in the order of TASO's set (matrices first) and size."""
    key = lambda each: (each["universe"] != "matrix", each["universe"], each["operators"])  # noqa: E731
    rows[:] = sorted([each for each in rows if key(each) != key(row)] + [row], key=key)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--universes", nargs="+", default=["matrix", "convolution"])
    parser.add_argument("--operators", nargs="+", type=int, default=[1, 2, 3, 4])
    parser.add_argument("--add", action="store_true", help="to the rows that the files have")
    parser.add_argument("--rules-up-to", type=int, default=2)
    parser.add_argument("--passes", type=int, default=16)
    parser.add_argument("--limit", type=float, default=3600, help="seconds for a row")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "docs/measurements")
    args = parser.parse_args()
    json_file = args.out / "discovery.json"
    args.out.mkdir(parents=True, exist_ok=True)
    data: dict = {"processor": table.processor(), "threads": args.threads, "rows": []}
    if args.add:
        data["rows"] = json.loads(json_file.read_text())["rows"]
    with tempfile.TemporaryDirectory() as folder:
        for universe in args.universes:
            for operators in args.operators:
                row = measured(universe, operators, args)
                if operators <= args.rules_up_to:
                    row |= verdicts(universe, operators, args.threads, pathlib.Path(folder))
                print(row, flush=True)
                put(data["rows"], row)
                json_file.write_text(json.dumps(data, indent=1) + "\n")
                (args.out / "discovery.md").write_text(markdown(data))


if __name__ == "__main__":
    main()
