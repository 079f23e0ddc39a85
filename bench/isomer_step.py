#!/usr/bin/env python3
"""Training steps in the built-in runtime, for training.py.

    isomer_step.py STEP.onnx THREADS DATA

DATA is a folder with a .npy file for each input. Reads lines; for each, runs as many steps as it says and prints the loss of the
last one. A step passes its new parameters and state to the next one.
"""

import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "build/python"))

import isomer  # noqa: E402


def main() -> None:
    step, threads, data = sys.argv[1:4]
    session = isomer.Session(step, engine="onednn", threads=int(threads))
    values = {path.stem: np.load(path) for path in pathlib.Path(data).glob("*.npy")}
    for line in sys.stdin:
        for _ in range(int(line)):
            outputs = session.run(values)
            values.update((name.removeprefix("new/"), value) for name, value in outputs.items() if name.startswith("new/"))
        sys.stdout.write(f"{float(outputs['loss'])}\n")  # at once: the process may be stopped after any write
        sys.stdout.flush()


if __name__ == "__main__":
    main()
