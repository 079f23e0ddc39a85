# ONNX Runtime for Isomer. engine/worker/worker.py stands before this part in the same program.

import ctypes

# Its uploads would run while models are timed.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")

BITS = {
    1: 32, 2: 8, 3: 8, 4: 16, 5: 16, 6: 32, 7: 64, 9: 8, 10: 16, 11: 64, 12: 32, 13: 64, 14: 64, 15: 128, 16: 16,
    17: 8, 18: 8, 19: 8, 20: 8, 21: 4, 22: 4, 23: 4, 24: 8, 25: 2, 26: 2, 27: 6, 28: 6,
}  # fmt: skip
ORT_TYPES = {f"tensor({ort_name})": name for ort_name, name in (
    ("float", "float32"), ("double", "float64"), ("float16", "float16"), ("bool", "bool"), ("int8", "int8"),
    ("int16", "int16"), ("int32", "int32"), ("int64", "int64"), ("uint8", "uint8"), ("uint16", "uint16"),
    ("uint32", "uint32"), ("uint64", "uint64"),
)}  # fmt: skip


# What a provider has to be told, lest it take all cores or compute in fewer bits.
PROVIDER_OPTIONS = {
    "OpenVINOExecutionProvider": lambda request: {
        "device_type": "CPU", "num_of_threads": str(request["threads"]), "num_streams": "1", "precision": "FP32"
    },
    "CUDAExecutionProvider": lambda request: {"use_tf32": "0"},
}  # fmt: skip


class Bound:
    """A session with its inputs bound."""

    def __init__(self, session, specs, payload, at=0):
        self.session = session
        self.binding = session.io_binding()
        self.buffers = []  # what is bound must stay alive
        for spec in specs:
            data = payload[at : at + spec["bytes"]]
            at += spec["bytes"]
            self.buffers.append(aligned(data))
            address = self.buffers[-1].ctypes.data
            self.binding.bind_input(spec["name"], "cpu", 0, spec["dtype"], spec["dims"], address)
        for output in session.get_outputs():
            self.binding.bind_output(output.name, "cpu")
        self.end = at

    def run(self):
        self.session.run_with_iobinding(self.binding)

    def outputs(self):
        """Specs and payload of the last run's outputs."""
        specs, payload = [], []
        for output, value in zip(self.session.get_outputs(), self.binding.get_outputs()):
            if not value.is_tensor():
                raise ValueError(f"output '{output.name}' is a {value.data_type()}, not a tensor")
            spec, data = read_tensor(value)
            spec["name"] = output.name
            specs.append(spec)
            payload.append(data)
        return specs, payload


class Fed:
    """A session with arrays to feed it: what ONNX Runtime wants where an input is a string, which cannot be bound."""

    def __init__(self, session, specs, payload, at=0):
        self.session = session
        self.feeds = {}
        for spec in specs:
            data = payload[at : at + spec["bytes"]]
            at += spec["bytes"]
            self.feeds[spec["name"]] = array_of(spec, data)
        self.end = at

    def run(self):
        self.results = self.session.run(None, self.feeds)

    def outputs(self):
        specs, payload = [], []
        for output, value in zip(self.session.get_outputs(), self.results):
            if not isinstance(value, np.ndarray):
                raise ValueError(f"output '{output.name}' is not a tensor")
            spec, data = spec_of(output.name, value)
            specs.append(spec)
            payload.append(data)
        return specs, payload


def read_tensor(value):
    dims = list(value.shape())
    count = 1
    for dim in dims:
        count *= dim
    dtype = value.element_type()
    if dtype == STRING:
        spec, data = string_spec(value.numpy())
        return {"dtype": dtype, "dims": dims, "bytes": len(data), **spec}, data
    size = (count * BITS[dtype] + 7) // 8
    data = ctypes.string_at(value.data_ptr(), size) if size else b""
    return {"dtype": dtype, "dims": dims, "bytes": size}, data


class OrtWorker(Worker):
    def __init__(self):
        super().__init__()
        self.warmed, self.warmings = None, 0

    def open(self, request):
        return open_session(request)

    def bind(self, session, specs, payload, at=0):
        strings = any(spec["dtype"] == STRING for spec in specs)
        return (Fed if strings else Bound)(session, specs, payload, at)

    def providers(self, request, payload):
        return {"providers": ort.get_available_providers()}, []

    def kernels(self, request, payload):
        """For each of several models that run in turn, the time that ONNX Runtime reports for its nodes, in microseconds, for
        every run: of all nodes but reorders and those of the harness, or only of the operator "count"; or an error. After two
        turns to warm up, the bytes "evicted" are read before each turn. Before each run, the operands are touched, as if a
        kernel before had just made them; and a small model is run, so that ONNX Runtime's own code is as near as it is
        between two nodes. Turns that other load disturbed do not count, or are corrected if it lasts. Stops after "left"
        seconds; what has hardly run until then has an error."""
        clock = time.perf_counter
        stop = clock() + request["left"]
        self.prepare(request)
        far = self.far(request["evicted"])
        turn = [TimedInTurn(request, number) for number in range(len(request["kernels"]))]
        for one in turn:
            one.attempt(one.open, stop)

        def take_turns():
            for one in turn:
                one.attempt(lambda: (self.warm(), one.run()), stop)

        for _ in range(request["warmup"]):
            take_turns()

        def evict_and_take_turns():
            # Only reads: between two uses of a weight, a model touches other weights, which are clean.
            far.max(initial=0)
            take_turns()

        noise_filter = self.noise_filter(request)
        passed, slowdowns = 0, []  # of each turn; None if it does not count
        while clock() < stop and any(one.error is None for one in turn):
            done = sum(slowdown is not None for slowdown in slowdowns)
            if done >= request["max_runs"] or (done >= request["min_runs"] and passed >= request["seconds"]):
                break
            if done >= request["min_long_runs"] and passed >= request["long_seconds"]:
                break
            slowdown, seconds = noise_filter.watch(evict_and_take_turns, stop)
            slowdowns.append(slowdown)
            passed += 0 if slowdown is None else seconds
        return {"kernels": [one.answer(slowdowns) for one in turn]}, []

    def prepare(self, request):
        """Opens the small model. Nothing reads its profile, so it is opened again before that becomes large."""
        if self.warmed is not None and self.warmings >= 5000:
            os.remove(self.warmed.session.end_profiling())
            self.warmed = None
        if self.warmed is None:
            self.warmings = 0
            self.warmed = Kernel(open_session({**request, "path": request["warming"]}, profile=request["profile"] + "_warming"))

    def warm(self):
        self.warmings += 1
        self.warmed.run()

    def overhead(self, request, payload):
        """Microseconds of every run of a model, and those that ONNX Runtime reports for its nodes when it is asked."""
        plain, profiled = Kernel(open_session(request)), Kernel(open_session(request, profile=request["profile"]))
        whole = []
        for _ in range(request["runs"]):
            start = time.perf_counter_ns()
            plain.run()
            whole.append((time.perf_counter_ns() - start) / 1000)
            profiled.run()
        nodes = [times for _, times in profiled.reported().values()]
        return {"whole": whole, "reported": [sum(of_run) for of_run in zip(*nodes)]}, []


class TimedInTurn:
    """One of the models of a request. Without an error, it can run."""

    def __init__(self, request, number):
        self.request = request
        self.each = request["kernels"][number]
        self.profile = f"{request['profile']}_{number}"
        self.kernel = None
        self.error = None
        self.runs = 0

    def attempt(self, step, stop):
        """Does a step unless an earlier one failed or no time is left. Keeps only the message of an exception, which itself would
        keep all sessions of the request alive."""
        if self.error is not None or time.perf_counter() >= stop:
            return
        try:
            step()
        except Exception as error:
            self.error = str(error).strip() or type(error).__name__

    def open(self):
        self.kernel = Kernel(open_session({**self.request, **self.each}, profile=self.profile))

    def run(self):
        self.kernel.touch()
        self.kernel.run()
        self.runs += 1

    def answer(self, slowdowns):
        nodes = [] if self.kernel is None else [us for event, us in self.kernel.reported().values() if self.counts(event)]
        slowdowns = slowdowns[: max(self.runs - self.request["warmup"], 0)]
        done = sum(slowdown is not None for slowdown in slowdowns)
        if self.error is None and done < self.request["min_long_runs"]:
            self.error = "no time is left to measure it"
        if self.error is not None:
            return {"error": self.error}
        runs = [sum(of_run) for of_run in zip(*nodes)][self.request["warmup"] :]
        return {"us": [us / slow for us, slow in zip(runs, slowdowns) if slow is not None], "launches": len(nodes)}

    def counts(self, event):
        """Whether an event belongs to the kernel."""
        operator = event["args"]["op_name"]
        if self.each["count"]:
            return operator == self.each["count"]
        reorders = ("ReorderInput", "ReorderOutput")
        return operator not in reorders and not event["name"].startswith(self.request["harness"])


class Kernel:
    """A session with random inputs and with outputs of its own, where their extents are known."""

    def __init__(self, session):
        self.session = session
        self.binding = session.io_binding()
        self.pairs = []  # a source and what is bound
        self.outputs = []
        random = np.random.default_rng(1)
        for value in session.get_inputs():
            dtype = np.dtype(ORT_TYPES[value.type])
            source = random_array(value.shape, dtype, random)
            operand = aligned(source.tobytes()).view(dtype).reshape(value.shape)
            self.pairs.append((source, operand))
            self.binding.bind_input(value.name, "cpu", 0, dtype, value.shape, operand.ctypes.data)
        for value in session.get_outputs():
            dtype = ORT_TYPES.get(value.type)
            if dtype is None or not all(isinstance(extent, int) for extent in value.shape):
                self.binding.bind_output(value.name, "cpu")
                continue
            size = int(np.prod(value.shape, dtype=np.int64)) * np.dtype(dtype).itemsize
            result = aligned(bytes(size))
            self.outputs.append(result)
            self.binding.bind_output(value.name, "cpu", 0, np.dtype(dtype), value.shape, result.ctypes.data)

    def touch(self):
        for result in self.outputs:
            result.fill(0)
        for source, operand in self.pairs:
            np.copyto(operand, source)

    def run(self):
        self.session.run_with_iobinding(self.binding)

    def reported(self):
        """By node: an event, and the microseconds of every run. Ends the profile."""
        path = self.session.end_profiling()
        with open(path, encoding="utf-8") as file:
            events = json.load(file)
        os.remove(path)
        nodes = {}
        for event in events:
            if event.get("cat") == "Node" and event["name"].endswith("_kernel_time"):
                nodes.setdefault(event["args"]["node_index"], (event, []))[1].append(event["dur"])
        return nodes


def open_session(request, profile=None):
    options = ort.SessionOptions()
    options.log_severity_level = 3
    levels = ort.GraphOptimizationLevel
    options.graph_optimization_level = levels.ORT_ENABLE_ALL if request["optimize"] else levels.ORT_DISABLE_ALL
    options.execution_mode = ort.ExecutionMode.ORT_SEQUENTIAL
    options.intra_op_num_threads = request["threads"]
    options.inter_op_num_threads = 1
    # The threads of one session must not spin while the next session is timed.
    options.add_session_config_entry("session.force_spinning_stop", "1")
    if profile is not None:
        options.enable_profiling = True
        options.profile_file_prefix = profile
    provider = request["provider"]
    if provider in ("CUDAExecutionProvider", "TensorrtExecutionProvider") and hasattr(ort, "preload_dlls"):
        ort.preload_dlls()  # CUDA and cuDNN from Python packages
    given = PROVIDER_OPTIONS.get(provider, lambda _: {})(request)
    session = ort.InferenceSession(request["path"], options, providers=[(provider, given)])
    # Where a provider cannot start (a library or a device is missing), ONNX Runtime goes on without it.
    if provider not in session.get_providers():
        raise ValueError(f"{provider} does not start; ONNX Runtime has only {', '.join(session.get_providers())}")
    return session


def start():
    global ort
    import onnxruntime as ort

    ort.set_default_logger_severity(3)
    return ort.__version__, OrtWorker()


serve(start)
