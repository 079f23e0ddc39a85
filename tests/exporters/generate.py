"""Makes the models of one or more exporters and saves them in models/.

    python generate.py EXPORTER...            in the environment of requirements/EXPORTER.txt
    python generate.py EXPORTER --only NAME   only this model; the others keep their files

An exporter is a file here that has EXPORTER, the text for models.json, and models(), which returns a list of corpus.Model.
Large tensors of models that would take more than LARGEST bytes, before they are packed, are replaced by their seed and statistics.
"""

from __future__ import annotations

import argparse
import importlib
import lzma
import sys
import traceback

import corpus
from table import FOLDER, table, write_table  # first: it makes strip importable

import strip

LARGEST = 100_000


def save(made: corpus.Model, exporter: str) -> dict:
    """Makes one model, saves it, and returns its table entry."""
    model = made.build()
    strip.strip_notes(model, keep=True)
    if model.ByteSize() > LARGEST:
        strip.strip_weights(model)
    data = lzma.compress(model.SerializeToString(deterministic=True), preset=9 | lzma.PRESET_EXTREME)
    (FOLDER / f"{made.name}.onnx.xz").write_bytes(data)
    return corpus.entry_of(made, model, exporter)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("exporters", nargs="+")
    parser.add_argument("--only", action="append", help="only this model; may be repeated")
    options = parser.parse_args()
    FOLDER.mkdir(exist_ok=True)
    failed = 0
    for name in options.exporters:
        module = importlib.import_module(name)
        for made in module.models():
            if options.only and made.name not in options.only:
                continue
            try:
                entry = save(made, module.EXPORTER)
            except Exception:  # one failed export must not stop the others
                traceback.print_exc(limit=-3)
                print(f"{made.name}: FAILED", flush=True)
                failed += 1
                continue
            write_table(table() | {made.name: entry})
            size = (FOLDER / f"{made.name}.onnx.xz").stat().st_size
            print(f"{made.name}: opset {entry['opset']}, {size} bytes", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
