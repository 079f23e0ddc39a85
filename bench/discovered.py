#!/usr/bin/env python3
"""How much of the cost reduction of the written rules the discovered rules reach by themselves, network by network.

    bench/discovered.py --engine roofline --out docs/measurements/discovered      # writes discovered.json and discovered.md
    bench/discovered.py --engine onednn --time-budget 15 --out docs/measurements/discovered-onednn

Both rule sets get the same budget and one and the same database of kernels, which a first pair of runs warms where costs are
measured. The reduction is that of the report: cost.before_us less cost.after_us; what the engine does by itself is in both.
`--rules FILE` takes the tactics of that file: discovered.rules has none, so the written tactics apply only to the written
rules. A network whose search fails (for lack of memory, say: --memory) has a row without figures.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import resource
import subprocess
import tempfile

import table

ROOT = table.ROOT
NETWORKS = ["sru", "nasrnn", "bert-base", "resnext50", "inception-v3", "squeezenet"]
RULES = {"written": ROOT / "rulesets/written.rules", "discovered": ROOT / "rulesets/discovered.rules"}


def optimized(model: pathlib.Path, rules: pathlib.Path, args: argparse.Namespace, database: pathlib.Path) -> dict:
    """What `isomer optimize` promises with one rule set."""
    report = table.isomer(
        "optimize", str(model), "--dry-run", "--engine", args.engine, "--threads", str(args.threads),
        "--time-budget", str(args.time_budget), "--profile-db", str(database), "--rules", str(rules),
    )
    cost = report["cost"]
    return {
        "before_us": cost["before_us"],
        "after_us": cost["after_us"],
        "speedup": (report["measured"] or {}).get("speedup"),
        "improved": report["improved"],
        "stop_reason": report["search"]["stop_reason"],
        "steps": [step["rule"] for step in report["steps"]] if report["improved"] else [],
    }


def tried(model: pathlib.Path, rules: pathlib.Path, args: argparse.Namespace, database: pathlib.Path) -> dict:
    try:
        return optimized(model, rules, args, database)
    except (RuntimeError, subprocess.SubprocessError) as error:
        return {"before_us": None, "after_us": None, "steps": [], "error": str(error).splitlines()[0]}


def reduction(entry: dict) -> float | None:
    if entry["before_us"] is None or entry["after_us"] is None:
        return None
    return 1 - entry["after_us"] / entry["before_us"]


def fraction(row: dict) -> float | None:
    """Nothing where the written rules bring nothing, or a kernel could not be measured."""
    written, discovered = reduction(row["written"]), reduction(row["discovered"])
    return discovered / written if written is not None and discovered is not None and written > 1e-9 else None


def percent(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.1f}%"


def short_name(rule: str) -> str:
    """`0f3a12` of discovered-0f3a12..., `0f3a12-add` of discovered-0f3a12...-add, a rule of a family."""
    digits = rule.removeprefix("discovered-")
    return digits[:6] + digits[16:]


def markdown(data: dict) -> str:
    lines = [
        f"{data['processor']}, {data['threads']} thread(s), engine `{data['engine']}`, {data['time_budget']:g} s for each search.",
        "Costs in microseconds: of the network, and after `isomer optimize --rules FILE`. The last columns are the parts of the",
        "cost that either rule set takes away, and how much of the former the latter reaches (blank where there is nothing to).",
        "",
        "| network | cost | written | discovered | written | discovered | reached | discovered rules used |",
        "|---|---:|---:|---:|---:|---:|---:|---|",
    ]
    for row in data["rows"]:
        written, discovered = row["written"], row["discovered"]
        costs = [written["before_us"], written["after_us"], discovered["after_us"]]
        cells = [row["name"], *("" if cost is None else f"{cost:.1f}" for cost in costs)]
        cells += [percent(reduction(written)), percent(reduction(discovered)), percent(fraction(row))]
        cells.append(", ".join(f"`{short_name(rule)}`" for rule in dict.fromkeys(discovered["steps"])))
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", nargs="+", default=NETWORKS)
    parser.add_argument("--engine", default="roofline", choices=["roofline", "onednn", "ort"])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--time-budget", type=float, default=30)
    parser.add_argument("--out", type=pathlib.Path, required=True, help="PATH without ending: PATH.json and PATH.md")
    parser.add_argument("--memory", type=float, default=8, help="GB that a search may take")
    args = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (int(args.memory * 1e9), int(args.memory * 1e9)))
    data: dict = {"processor": table.processor(), "threads": args.threads, "engine": args.engine}
    data |= {"time_budget": args.time_budget, "rows": []}
    for name in args.networks:
        with tempfile.TemporaryDirectory() as temporary:
            folder = pathlib.Path(temporary)
            model = folder / "model.onnx"
            table.isomer("models", name, "-o", str(model))
            runs: dict = {}
            for _ in range(1 if args.engine == "roofline" else 2):
                runs = {key: tried(model, rules, args, folder / "profile.db") for key, rules in RULES.items()}
        data["rows"].append({"name": name, **runs})
        print(f"{name}: {percent(fraction(data['rows'][-1])) or 'nothing to reach'}", flush=True)
        args.out.with_suffix(".json").write_text(json.dumps(data, indent=1) + "\n")
        args.out.with_suffix(".md").write_text(markdown(data))


if __name__ == "__main__":
    try:
        main()
    except subprocess.SubprocessError as error:
        raise SystemExit(str(error)) from error
