# OpenVINO for Isomer. engine/worker/worker.py stands before this part in the same program.

ELEMENTS = {
    "f32": 1, "u8": 2, "i8": 3, "u16": 4, "i16": 5, "i32": 6, "i64": 7, "string": 8, "boolean": 9, "f16": 10, "f64": 11,
    "u32": 12, "u64": 13, "bf16": 16, "f8e4m3": 17, "f8e5m2": 19, "u4": 21, "i4": 22,
}  # fmt: skip


class Bound:
    """A request with its inputs in place."""

    def __init__(self, model, specs, payload, at=0):
        self.request = model.create_infer_request()
        ports = {name: port for port in model.inputs for name in port.get_names()}
        for spec in specs:
            data = payload[at : at + spec["bytes"]]
            at += spec["bytes"]
            if spec["name"] not in ports:
                raise ValueError(f"the model has no input '{spec['name']}' that can be given")
            port = ports.pop(spec["name"])
            self.request.set_tensor(port, tensor_of(port, spec, data))
            for name in port.get_names():
                ports.pop(name, None)
        if ports:
            raise ValueError(f"input '{min(ports)}' is not given")
        self.end = at

    def run(self):
        self.request.infer(share_inputs=True, share_outputs=True)

    def outputs(self):
        specs, payload = [], []
        for number, port in enumerate(self.request.model_outputs):
            tensor = self.request.get_output_tensor(number)
            name = port.get_any_name() if port.get_names() else str(number)
            kind = tensor.element_type.get_type_name()
            if kind not in ELEMENTS:
                raise ValueError(f"output '{name}' is {kind}")
            spec = {"name": name, "dtype": ELEMENTS[kind], "dims": list(tensor.shape)}
            if spec["dtype"] == STRING:
                lengths, data = string_spec(tensor.str_data)
                spec.update(lengths)
            else:
                data = tensor.data.tobytes()
            specs.append({**spec, "bytes": len(data)})
            payload.append(data)
        return specs, payload


def tensor_of(port, spec, data):
    if spec["dtype"] == STRING:
        return openvino.Tensor(string_array(spec, data).astype(str))
    kind = port.get_element_type()
    tensor = openvino.Tensor(kind, openvino.Shape(spec["dims"]))
    if ELEMENTS.get(kind.get_type_name()) != spec["dtype"] or tensor.byte_size != len(data):
        raise ValueError(f"input '{spec['name']}' does not fit {kind.get_type_name()}{list(spec['dims'])}")
    if data:
        tensor.data.reshape(-1).view(np.uint8)[:] = np.frombuffer(data, dtype=np.uint8)
    return tensor


class OpenvinoWorker(Worker):
    def __init__(self):
        super().__init__()
        self.core = openvino.Core()

    def open(self, request, profiled=False):
        properties = {
            "INFERENCE_NUM_THREADS": request["threads"],
            "NUM_STREAMS": "1",
            # Where the processor has it, bf16 is the default.
            "INFERENCE_PRECISION_HINT": "f32",
            "PERF_COUNT": "YES" if profiled else "NO",
        }
        try:
            return self.core.compile_model(self.core.read_model(request["path"]), "CPU", properties)
        except RuntimeError as error:
            raise ValueError(said(error)) from error

    def bind(self, model, specs, payload, at=0):
        return Bound(model, specs, payload, at)

    def fusions(self, request, payload):
        """The names of the nodes of a model that OpenVINO runs together, for each node of its execution graph."""
        executed = self.open(request).get_runtime_model().get_ordered_ops()
        names = [node.get_rt_info()["originalLayersNames"].value for node in executed]
        return {"fusions": [[name for name in each.split(",") if name] for each in names]}, []

    def kernel(self, request, payload):
        """Microseconds of one run of a model's nodes, without reorders, as OpenVINO reports them: a mean for each of some
        compilations of it. Between two runs, as many bytes as "distance" are touched, then the operands, as if a kernel
        before had just made them. Compilations whose runs other load disturbed do not count, or are corrected if it lasts."""
        far = self.far(max(request["distance"], 1 << 22))
        noise_filter = self.noise_filter(request)
        stop = time.perf_counter() + request["left"]
        kernel, times, runs = None, [], 0

        def compile_and_measure():
            nonlocal kernel
            kernel = Kernel(self.open(request, profiled=True))
            kernel.measure(request, far)

        while len(times) < request["rounds"]:
            slowdown, _ = noise_filter.watch(compile_and_measure, stop)
            if slowdown is not None:
                times.append(kernel.us / slowdown)
                runs += kernel.runs
        return {"us": times, "launches": kernel.launches, "runs": runs}, []

    def overhead(self, request, payload):
        """Microseconds of every run of a model, and those that OpenVINO reports for its nodes when it is asked."""
        plain, profiled = Kernel(self.open(request)), Kernel(self.open(request, profiled=True))
        whole = []
        for _ in range(request["runs"]):
            begin = time.perf_counter_ns()
            plain.run()
            whole.append((time.perf_counter_ns() - begin) / 1000)
            profiled.run()
        return {"whole": whole, "reported": sum(profiled.averages())}, []


class Kernel:
    """A request with random inputs."""

    def __init__(self, model):
        self.request = model.create_infer_request()
        self.pairs = []  # a source and an operand
        random = np.random.default_rng(1)
        for port in model.inputs:
            kind, shape = port.get_element_type(), port.get_partial_shape()
            if shape.is_dynamic:
                raise ValueError(f"the extents {shape} of an operand are not known")
            tensor = openvino.Tensor(kind, shape.to_shape())
            self.pairs.append((random_array(tuple(shape.to_shape()), tensor.data.dtype, random), tensor.data))
            self.request.set_tensor(port, tensor)

    def touch(self):
        for source, operand in self.pairs:
            np.copyto(operand, source)

    def run(self):
        self.request.infer(share_inputs=True, share_outputs=True)

    def averages(self):
        """Microseconds of each node that was run, reorders excepted, as the mean of all runs so far in whole numbers."""
        nodes = [node for node in self.request.profiling_info if node.status == node.Status.EXECUTED]
        return [node.real_time.total_seconds() * 1e6 for node in nodes if node.node_type != "Reorder"]

    def measure(self, request, far):
        """Sets `us`, the mean of some runs, `runs`, their number, and `launches`, the number of nodes in each."""
        done, begin = 0, 0
        clock = time.perf_counter
        end = clock() + request["seconds"]
        min_runs = request["warmup"] + request["min_runs"]
        while done < min_runs or (done < request["max_runs"] and clock() < end):
            if done >= request["warmup"]:
                far.max()
            self.touch()
            self.run()
            done += 1
            if done == request["warmup"]:
                begin = sum(self.averages()) * done
        nodes = self.averages()
        self.launches = len(nodes)
        self.runs = done - request["warmup"]
        self.us = max((sum(nodes) * done - begin) / self.runs, 0)


def said(error):
    """What OpenVINO says, without the places in its sources."""
    lines = [line.strip() for line in str(error).splitlines()]
    lines = [line for line in lines if line and not line.startswith(("Exception from", "Check '", "To facilitate", "Summary"))]
    return " ".join(lines).replace("FrontEnd API failed with OpConversionFailure: ", "")


def start():
    global openvino
    import openvino

    version, build = openvino.get_version().split("-")[:2]
    return f"{version}-{build}", OpenvinoWorker()


serve(start)
