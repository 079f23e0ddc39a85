"""Re-runs two experiments of MetaFlow (SysML 2019) on the roofline cost: Table 3 and Figure 10.

    bench/metaflow.py [--program build/isomer] [--seconds 600] --out docs/measurements/metaflow

Table 3: MetaFlow's algorithm 1 (alpha = 1.05) against exhaustive search, without a split. Figure 10: algorithm 1 for a row of
alphas, in parts of at most 30 operators. All searches of a network begin with the same graph, in which batch normalizations are
folded, and use the rules of rulesets/benchmark.rules without limits on steps or growth. Costs are those of the default roofline,
so all figures but the seconds are the same on every machine. A search that a limit ended is marked "cut off".
"""

import argparse
import hashlib
import json
import pathlib
import subprocess
import tempfile

import table

RULES = pathlib.Path(__file__).resolve().parent.parent / "rulesets" / "benchmark.rules"
FOLDING = ["fold-batch-norm", "fold-batch-norm-bias"]
PUBLISHED = {"alexnet": (5.0, 0.1), "vgg16": (138, 0.2), "inception-e-1": (768, 0.29), "resnet18": (11160, 0.99)}
ALPHAS = [1, 1.02, 1.05, 1.1, 1.2]
CURVES = ["inception-v3", "squeezenet"]


def folding_rules(program: pathlib.Path, path: pathlib.Path) -> pathlib.Path:
    """The built-in rules for batch normalizations as a file: `rules show` prints a rule and then its verdict."""
    shown = [subprocess.run([program, "rules", "show", rule], check=True, capture_output=True, text=True).stdout for rule in FOLDING]
    path.write_text("\n\n".join(text.rsplit("\n\n", 1)[0] for text in shown) + "\n")
    return path


def folded(program: pathlib.Path, network: str, folder: pathlib.Path) -> pathlib.Path:
    """A network without batch normalizations. They cost nothing on a device that fuses them, so bytes are the objective."""
    model, out = folder / f"{network}.onnx", folder / f"{network}.folded.onnx"
    subprocess.run([program, "models", network, "-o", model], check=True, capture_output=True)
    rules = folding_rules(program, folder / "folding.rules")
    subprocess.run([program, "optimize", model, "-o", out, "--engine", "roofline", "--search", "greedy", "--rules", rules,
                    "--objective", "bytes", "--min-speedup", "1"], check=True, capture_output=True)
    return out


def search(program: pathlib.Path, model: pathlib.Path, seconds: float, split: int, graphs: int, *options: str) -> dict:
    command = [program, "optimize", model, "--dry-run", "--json", "--engine", "roofline", "--rules", RULES, "--max-uphill", "0",
               "--max-growth", "0", "--split", str(split), "--max-candidates", str(graphs), "--time-budget", str(seconds), *options]
    report = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return {"before_us": report["cost"]["before_us"], "cost_us": report["cost"]["after_us"],
            **{key: report["search"][key] for key in ("seconds", "candidates", "duplicates", "stop_reason")}}


def table_3(program: pathlib.Path, folder: pathlib.Path, seconds: float) -> list[dict]:
    rows = []
    for network in PUBLISHED:
        model = folded(program, network, folder)
        rows.append({"network": network,
                     "exhaustive": search(program, model, seconds, 0, 10**9, "--search", "enumerate"),
                     "backtracking": search(program, model, seconds, 0, 10**9, "--search", "backtrack", "--alpha", "1.05")})
        print(rows[-1], flush=True)
    return rows


def figure_10(program: pathlib.Path, folder: pathlib.Path, seconds: float) -> list[dict]:
    rows = []
    for network in CURVES:
        model = folded(program, network, folder)
        for alpha in ALPHAS:
            found = search(program, model, seconds, 30, 10000, "--search", "backtrack", "--alpha", str(alpha))
            rows.append({"network": network, "alpha": alpha, **found})
            print(rows[-1], flush=True)
    return rows


def ended(found: dict) -> str:
    return "" if found["stop_reason"] == "exhausted" else " (cut off)"


def agreement(all_: dict, some: dict) -> str:
    """Whether backtracking found the optimum. A search that was cut off does not know it."""
    if ended(all_) or ended(some):
        return "not known"
    return "yes" if abs(all_["cost_us"] - some["cost_us"]) < 1e-6 else "no"


def markdown(data: dict) -> str:
    lines = [f"{data['processor']}, one thread; costs of the default roofline; rules {data['rules']} (SHA-256, first 16 digits).", "",
             "Table 3: exhaustive search and algorithm 1 (alpha = 1.05), from graphs with folded batch normalizations. The first two",
             "columns of seconds are published, for other substitutions and costs.", "",
             "| network | published exhaustive, s | published backtracking, s | exhaustive, s | graphs | cost, us | backtracking, s | graphs | "
             "cost, us | optimum |", "|---|---:|---:|---:|---:|---:|---:|---:|---:|---|"]
    for row in data["table_3"]:
        all_, some, (published_all, published) = row["exhaustive"], row["backtracking"], PUBLISHED[row["network"]]
        lines.append(f"| {row['network']} | {published_all} | {published} | {all_['seconds']:.2f}{ended(all_)} | "
                     f"{all_['candidates']} | {all_['cost_us']:.1f} | {some['seconds']:.2f}{ended(some)} | {some['candidates']} | "
                     f"{some['cost_us']:.1f} | {agreement(all_, some)} |")
    lines += ["", "Figure 10: algorithm 1 in parts of at most 30 operators, 10,000 graphs for each part. The published figure is of",
              "Inception-v3.", "", "| network | alpha | before, us | after, us | s | graphs |", "|---|---:|---:|---:|---:|---:|"]
    for row in data["figure_10"]:
        lines.append(f"| {row['network']} | {row['alpha']} | {row['before_us']:.1f} | {row['cost_us']:.1f} | "
                     f"{row['seconds']:.2f}{ended(row)} | {row['candidates']} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=pathlib.Path, default=pathlib.Path("build/isomer"))
    parser.add_argument("--seconds", type=float, default=600, help="that one search may take")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="PATH without ending: PATH.json and PATH.md")
    args = parser.parse_args()
    program = args.program.resolve()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        data = {"processor": table.processor(), "rules": hashlib.sha256(RULES.read_bytes()).hexdigest()[:16],
                "table_3": table_3(program, folder, args.seconds), "figure_10": figure_10(program, folder, args.seconds)}
    args.out.with_suffix(".json").write_text(json.dumps(data, indent=1) + "\n")
    args.out.with_suffix(".md").write_text(markdown(data))


if __name__ == "__main__":
    main()
