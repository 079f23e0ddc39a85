"""Runs a Python package's engine for Isomer, in a process of its own. noise_filter.py and the engine's own part (ort/worker.py,
for one) stand behind this one in the same program.

Isomer starts this script with a socket as its standard input and speaks with it there. A message, either way, is: length
of the header and of the payload (two little-endian uint64), the header (JSON), the payload (bytes). The elements of tensors
travel in the payload one after the other; a tensor's spec in the header is {"name", "dtype", "dims", "bytes"}, where dtype
is ONNX's number, and for strings also {"lengths"}, in bytes, of each element. Every request gets one answer: what is asked
for, or {"error": why}.
"""

import sys

sys.path = [folder for folder in sys.path if folder]  # a json.py in the user's folder must not shadow Python's own

import gc
import json
import os
import struct
import time

# Other files that the engine writes go into Isomer's temporary folder.
sys.path = [os.path.abspath(folder) for folder in sys.path]
os.environ["TMPDIR"] = sys.argv[1]
os.chdir(sys.argv[1])

STRING = 8
NUMPY = {
    1: "float32", 2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 6: "int32", 7: "int64", 9: "bool", 10: "float16",
    11: "float64", 12: "uint32", 13: "uint64",
}  # fmt: skip
NUMBER = {name: number for number, name in NUMPY.items()}


def take_channel():
    """The socket, under another number: whatever a library prints to standard output goes to standard error."""
    reader = os.fdopen(os.dup(0), "rb")
    writer = os.fdopen(os.dup(0), "wb")
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    return reader, writer


def receive(reader):
    """The next message, or None when Isomer is gone."""
    lengths = reader.read(16)
    if len(lengths) < 16:
        return None
    header, payload = struct.unpack("<QQ", lengths)
    return json.loads(reader.read(header)), reader.read(payload)


def send(writer, header, payload=()):
    text = json.dumps(header).encode()
    writer.write(struct.pack("<QQ", len(text), sum(len(part) for part in payload)))
    writer.write(text)
    for part in payload:
        writer.write(part)
    writer.flush()


def aligned(data):
    """A copy of bytes at an address that is a multiple of 64, as the engines' own allocators give."""
    room = np.empty(len(data) + 64, dtype=np.uint8)
    start = -room.ctypes.data % 64
    buffer = room[start : start + len(data)]
    buffer[:] = np.frombuffer(data, dtype=np.uint8)
    return buffer


def array_of(spec, data):
    """The tensor of a spec, as an array."""
    if spec["dtype"] == STRING:
        return string_array(spec, data)
    if spec["dtype"] not in NUMPY:
        raise ValueError(f"input '{spec['name']}': NumPy has no such element type")
    return aligned(data).view(NUMPY[spec["dtype"]]).reshape(spec["dims"])


def spec_of(name, array):
    """The spec and the payload of an array."""
    dtype = STRING if array.dtype.kind in "OU" else NUMBER.get(array.dtype.name)
    if dtype is None:
        raise ValueError(f"output '{name}' is {array.dtype}")
    spec, data = string_spec(array) if dtype == STRING else ({}, np.ascontiguousarray(array).tobytes())
    return {"name": name, "dtype": dtype, "dims": array.shape, "bytes": len(data), **spec}, data


def string_array(spec, data):
    elements = []
    at = 0
    for length in spec["lengths"]:
        elements.append(data[at : at + length].decode("utf-8", "surrogateescape"))
        at += length
    array = np.empty(len(elements), dtype=object)
    array[:] = elements
    return array.reshape(spec["dims"])


def string_spec(array):
    elements = [str(s).encode("utf-8", "surrogateescape") for s in array.reshape(-1)]
    return {"lengths": [len(s) for s in elements]}, b"".join(elements)


class Worker:
    """Answers requests. An engine's own part derives from it; it gives `open`, which loads the model of a request, and `bind`,
    which takes inputs from a payload for what `open` gave: an object that can `run`, tell the `outputs` of that, and knows
    the `end` of what it took."""

    def __init__(self):
        self.sessions = {}
        self.kept = np.empty(0, dtype=np.float32)
        self.filter = None

    def noise_filter(self, request):
        """Knows all probes so far."""
        if self.filter is None:
            self.filter = NoiseFilter(request["threads"])
        return self.filter

    def far(self, size):
        """An array of about so many bytes. Reading it evicts what was read before. Its memory is kept, because the system takes
        longer to give it than a reader to read it."""
        count = int(size) // 4
        if self.kept.size < count:
            self.kept = np.ones(count, dtype=np.float32)
        return self.kept[:count]

    def load(self, request, payload):
        self.sessions[request["id"]] = self.open(request)
        return {}, []

    def unload(self, request, payload):
        self.sessions.pop(request["id"], None)
        return {}, []

    def run(self, request, payload):
        bound = self.bind(self.sessions[request["id"]], request["inputs"], payload)
        bound.run()
        specs, data = bound.outputs()
        return {"outputs": specs}, data

    def time(self, request, payload):
        """Nanoseconds of every run of every session. The sessions run in turn, and every round begins with another."""
        bound = []
        at = 0
        for session, specs in zip(request["ids"], request["inputs"]):
            bound.append(self.bind(self.sessions[session], specs, payload, at))
            at = bound[-1].end
        for _ in range(request["warmup"]):
            for one in bound:
                one.run()
        gc.collect()
        gc.disable()
        try:
            return {"nanoseconds": interleave(bound, request)}, []
        finally:
            gc.enable()


def interleave(bound, request):
    clock = time.perf_counter_ns
    samples = [[] for _ in bound]
    end = clock() + int(request["seconds"] * 1e9)
    done = 0
    while done < request["max_runs"] and (done < request["min_runs"] or clock() < end):
        for turn in range(len(bound)):
            which = (done + turn) % len(bound)
            run = bound[which].run
            start = clock()
            run()
            samples[which].append(clock() - start)
        done += 1
    return samples


def random_array(shape, dtype, random):
    """Some elements for an operand of a kernel."""
    dtype = np.dtype(dtype)
    if dtype.kind == "f":
        return random.random(shape, dtype=np.float32).astype(dtype)
    return random.integers(0, 2, shape).astype(dtype)


def serve(start):
    """Answers until Isomer is gone. `start` imports what is needed, and gives the version of the engine and a Worker."""
    global np
    reader, writer = take_channel()
    try:
        import numpy as np

        version, worker = start()
    except ImportError as error:
        send(writer, {"missing": str(error)})
        return
    send(writer, {"version": version})
    while (message := receive(reader)) is not None:
        request, payload = message
        try:
            answer, parts = getattr(worker, request["op"])(request, payload)
        except Exception as error:  # whatever the engine says, Isomer passes on
            answer, parts = {"error": str(error).strip() or type(error).__name__}, []
        send(writer, answer, parts)
