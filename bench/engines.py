"""Times networks on two engines in turn and writes a table of their ratios.

    bench/engines.py [--program build/isomer] [--engines ort onednn] [--networks all] [--threads 1] [--rounds 6] [--seconds 1]
                     --out docs/measurements/onednn-1-thread
    bench/engines.py --engines "onednn --threads 2" "onednn --streams 2" --out docs/measurements/streams

In every round each network runs on both engines, one process after the other, so that models are loaded (and plans made) anew
each time; the engine that begins changes from round to round. The ratio of a round is the first engine's median latency over the
second's; the table gives the median of the rounds with the lowest and highest. Outputs are compared on the same random inputs.
Finished rows are kept in the JSON file. An engine may be given with options of `isomer bench`; --threads is for those without.
"""

import argparse
import json
import pathlib
import re
import statistics
import subprocess
import tempfile

NETWORKS = ["resnet50", "squeezenet", "mobilenet-v2", "inception-v3", "densenet121", "bert-base"]


def all_networks(args: argparse.Namespace) -> list[str]:
    return [entry["name"] for entry in isomer(args, "models")["models"]]


def processor() -> str:
    fields = dict(re.findall(r"^(vendor_id|cpu family|model|model name)\s*: (.*)$",
                             pathlib.Path("/proc/cpuinfo").read_text(), re.M))
    return f"{fields['model name']} (family {fields['cpu family']}, model {fields['model']})"


def isomer(args: argparse.Namespace, *command: str) -> dict:
    done = subprocess.run([args.program, *command, "--json"], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def setting(args: argparse.Namespace, engine: str) -> list[str]:
    """The options for an engine, which may be given with some."""
    options = ["--engine", *engine.split()]
    return options if len(options) > 2 else [*options, "--threads", str(args.threads)]


def median_us(args: argparse.Namespace, model: pathlib.Path, engine: str) -> tuple[float, str]:
    report = isomer(args, "bench", str(model), *setting(args, engine), "--seconds", str(args.seconds), "--warmup", "5")
    return report["models"][0]["median_us"], report["engine_version"]


def outputs(args: argparse.Namespace, model: pathlib.Path, engine: str, folder: pathlib.Path) -> list:
    import numpy

    report = isomer(args, "run", str(model), *setting(args, engine), "--output-dir", str(folder / engine))
    return [numpy.load(row["file"]) for row in report["outputs"]]


def largest_difference(args: argparse.Namespace, model: pathlib.Path, folder: pathlib.Path) -> float:
    """Of any element, relative to the largest element of its output."""
    pairs = zip(*(outputs(args, model, engine, folder) for engine in args.engines))
    return max(float(abs(a - b).max() / max(abs(a).max(), 1e-30)) for a, b in pairs)


def row_of(args: argparse.Namespace, network: str) -> dict:
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        model = folder / f"{network}.onnx"
        subprocess.run([args.program, "models", network, "-o", model], check=True, capture_output=True)
        rounds = []
        versions = {}
        for index in range(args.rounds):
            times = {}
            for engine in args.engines if index % 2 == 0 else reversed(args.engines):
                times[engine], versions[engine] = median_us(args, model, engine)
            rounds.append(times)
        return {"network": network, "versions": versions, "rounds": rounds,
                "difference": largest_difference(args, model, folder)}


def markdown(args: argparse.Namespace, rows: list[dict]) -> str:
    first, second = args.engines
    versions = {engine: " and ".join(sorted({row["versions"][engine] for row in rows})) for engine in args.engines}
    threads = "" if all(" " in engine for engine in args.engines) else f", {args.threads} thread(s)"
    lines = [f"{processor()}{threads}. Median latency of {args.rounds} rounds, each with both engines in turn "
             f"and models loaded anew; original graphs, f32. {first} {versions[first]}, {second} {versions[second]}. The ratio is "
             f"{first} / {second}, the median of the rounds with the lowest and highest; above 1, {second} is faster.", "",
             f"| network | {first}, ms | {second}, ms | ratio | largest relative difference |", "|---|---:|---:|---|---:|"]
    for row in rows:
        ratios = [times[first] / times[second] for times in row["rounds"]]
        ms = [statistics.median(times[engine] for times in row["rounds"]) / 1000 for engine in args.engines]
        lines.append(f"| {row['network']} | {ms[0]:.2f} | {ms[1]:.2f} | {statistics.median(ratios):.3f} [{min(ratios):.3f}, "
                     f"{max(ratios):.3f}] | {row['difference']:.0e} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--program", type=pathlib.Path, default=pathlib.Path(__file__).parent.parent / "build/isomer")
    parser.add_argument("--engines", nargs=2, default=["ort", "onednn"])
    parser.add_argument("--networks", nargs="+", default=NETWORKS, help="names, or 'all'")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--out", type=pathlib.Path, required=True, help="path of the files without .json and .md")
    args = parser.parse_args()
    path = args.out.with_suffix(".json")
    rows = json.loads(path.read_text())["rows"] if path.exists() else []
    for network in all_networks(args) if args.networks == ["all"] else args.networks:
        if any(row["network"] == network for row in rows):
            continue
        rows.append(row_of(args, network))
        print(network, [round(times[args.engines[0]] / times[args.engines[1]], 3) for times in rows[-1]["rounds"]], flush=True)
        path.write_text(json.dumps({"processor": processor(), "threads": args.threads, "rows": rows}, indent=1) + "\n")
        args.out.with_suffix(".md").write_text(markdown(args, rows))


if __name__ == "__main__":
    main()
