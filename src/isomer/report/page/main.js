// Fills the page with its data.

const data = JSON.parse(document.getElementById("data").textContent);
const report = data.report;
const section = (id) => document.getElementById(id);

function note(text) {
  return element("p", { class: "hint" }, text);
}

function bytesText(bytes) {
  const units = ["B", "KiB", "MiB", "GiB"];
  let unit = 0;
  for (; bytes >= 1024 && unit < units.length - 1; ++unit) bytes /= 1024;
  return `${bytes.toFixed(unit === 0 ? 0 : 1)} ${units[unit]}`;
}

/// What the peak memory of the last graph consists of, where a plan tells.
function memoryText(memory) {
  if (!memory) return "peak of live activations, predicted";
  const scratch = memory.scratch_bytes > 0 ? ` (scratch of it up to ${bytesText(memory.scratch_bytes)})` : "";
  return `of activations by the compiled plan: arena ${bytesText(memory.arena_bytes)}${scratch}, inputs ${
    bytesText(memory.input_bytes)}, outputs ${bytesText(memory.output_bytes)}`;
}

/// A figure of the headline: what it is, before and after, and what that means.
function figure(id, name, before, after, more) {
  const value = after === null || after === undefined ? before : `${before} → ${after}`;
  return element("div", { class: "figure", id }, element("span", { class: "name" }, name),
    element("strong", {}, value), element("span", { class: "more" }, more ?? ""));
}

/// Whose costs searches go by.
function costsName() {
  return report.cost.before ? "the costs of kernels" : "a roofline model, because the engine does not report its kernels";
}

function headline() {
  const out = section("headline");
  document.title = `Isomer: ${report.model}`;
  section("title").textContent = report.model;
  section("outcome").textContent = report.outcome;
  section("outcome").className = report.improved ? "improved" : "same";
  const found = data.sides.after !== null;
  if (report.measured) {
    const m = report.measured;
    out.append(figure("latency", "latency, measured", timeText(m.before_us), timeText(m.after_us),
      `${m.speedup.toFixed(3)}× as fast, 95% [${m.ci95.map((bound) => bound.toFixed(3)).join(", ")}]`));
  } else {
    out.append(figure("latency", "latency, measured", "not measured", null,
      !found ? "nothing to compare with the model" : report.device ? "dropped before it was timed" : "no engine ran the models"));
  }
  const before = report.cost.before, after = found ? data.cost_after : null;
  if (before) {
    const pair = (text) => [text(before), after && text(after)];
    out.append(
      figure("predicted", "latency, predicted", ...pair((cost) => timeText(cost.latency_us)),
        after && after.latency_us > 0 ? `${(before.latency_us / after.latency_us).toFixed(3)}×, by the costs of kernels` : ""),
      figure("memory", "memory", ...pair((cost) => bytesText(cost.peak_bytes)), memoryText(found ? data.memory_after : report.memory.before)),
      figure("kernels", "kernels", ...pair((cost) => String(cost.kernels)), "launched in one run"));
  } else {
    out.append(figure("predicted", "latency, predicted", "not known", null, "the engine does not report its kernels"));
  }
  const count = (ops) => Object.values(ops).reduce((sum, n) => sum + n, 0);
  const operators = (side) => side.nodes.filter((node) => node.kind === "op").length;
  out.append(
    figure("operators", "operators", String(count(report.ops.before)),
      found ? String(operators(data.sides.after)) : null, `${data.regions} changed ${data.regions === 1 ? "region" : "regions"}`),
    figure("search", "search", report.search.seconds.toFixed(1) + " s", null,
      `${report.search.algorithm}; ${report.search.candidates} candidates; ended by: ${report.search.stop_reason}`));
  if (found && !report.improved)
    out.append(note("Everything on this page is about the graph that the search found. It was not returned: the output is the input."));
}

function graphs() {
  const titles = { before: "before", after: report.improved ? "after" : "found, but not returned" };
  const views = [];
  for (const name of ["before", "after"]) {
    const side = data.sides[name];
    if (side === null) continue;
    const view = new GraphView(name, side, titles[name]);
    const kernels = new Map();
    side.kernels.forEach((kernel) => !kernel.reorder && kernel.nodes.forEach((id) => kernels.set(id, kernel)));
    view.kernelText = (id) => {
      const kernel = kernels.get(id);
      return kernel === undefined ? "" : `${timeText(kernel.us)} predicted for ${kernelLabel(side, kernel)}`;
    };
    section("sides").append(view.root);
    views.push(view);
  }
  const buttons = section("regions");
  const linked = new LinkedGraphs(views, section("detail"), buttons);
  if (views.length === 1) {
    buttons.append(note("The search found no better graph; this is the model."));
    views[0].start();
    return linked;
  }
  buttons.append("changed regions: ");
  for (let region = 0; region < data.regions; ++region) {
    const button = element("button", { type: "button", "data-region": region, "aria-pressed": "false" }, String(region + 1));
    button.addEventListener("click", () => linked.selectRegion(region));
    buttons.append(button);
  }
  for (const view of views) view.start();
  return linked;
}

/// The places of a step; those that the model has lead there.
function places(names, linked) {
  const SHOWN = 6;
  const before = linked.views[0];
  const byName = places.byName ??= new Map(before.side.nodes.map((node, id) => [node.name, id]));
  const item = (name) => {
    const id = byName.get(name);
    if (id === undefined) return element("code", {}, name);
    const link = element("button", { type: "button", class: "place" }, name);
    link.addEventListener("click", () => {
      linked.click(before, id);
      before.goTo(linked.linked(before, id)[0]);
      section("graphs").scrollIntoView();
    });
    return link;
  };
  const out = element("td", { class: "where" }, ...names.slice(0, SHOWN).flatMap((name) => [item(name), " "]));
  if (names.length > SHOWN)
    out.append(element("details", {}, element("summary", {}, `${names.length - SHOWN} more`),
      ...names.slice(SHOWN).flatMap((name) => [item(name), " "])));
  return out;
}

function steps(linked) {
  const list = report.improved ? report.steps : report.dropped;
  if (list.length === 0) {
    section("steps").append(note("none"));
    return;
  }
  section("steps").append(note(`What a step changes is predicted by ${costsName()}; a speedup is a ratio of latencies${
    report.measured ? ", measured" : ", predicted"}.`));
  const latency = ["latency", "latency_us"].includes(report.options.objective);
  const body = element("tbody");
  list.forEach((step, i) => {
    const rule = data.rules[step.rule];
    const shown = element("td", { class: "rule" }, element("strong", {}, step.rule));
    if (rule) {
      shown.append(element("div", { class: "doc" }, rule.doc), element("div", { class: "formula" }, rule.formula),
        element("details", {}, element("summary", {}, "in the rule language"), element("pre", {}, rule.text)));
    }
    const joined = step.delta === null && i > 0;
    const delta = joined ? "with the step above" : step.delta === null ? "into limits"
      : (step.delta > 0 ? "+" : step.delta < 0 ? "−" : "") + (latency ? timeText(Math.abs(step.delta)) : Math.abs(step.delta).toPrecision(4));
    body.append(element("tr", {}, element("td", { class: "number" }, String(i + 1)), shown, places(step.nodes, linked),
      ...cells("td", [`${step.ops_before} → ${step.ops_after}`, delta, step.speedup === null ? "" : step.speedup.toFixed(3) + "×",
        step.verdict], ["number", "number", "number", "verdict " + step.verdict])));
  });
  const head = ["", "rule", "where", "operators", latency ? "predicted" : report.options.objective, "speedup", "verdict"];
  section("steps").append(element("table", { class: "steps" }, element("thead", {}, element("tr", {}, ...cells("th", head, ["", "", "", "number", "number", "number"]))), body));
}

function costs() {
  const { before, after } = data.sides;
  if (before.kernels.length === 0) {
    section("costs").append(note("Not known: the engine does not report its kernels."));
    section("timeline").remove();
    return;
  }
  const colour = colours([before, after]);
  section("costs").append(note("Predicted: kernels with the same operators together."), costTable(before, after, colour));
  const sides = [["before", before]];
  if (after !== null && after.kernels.length > 0) sides.push(["after", after]);
  section("timeline").append(note("Predicted by the cost model, in the order of the graph; not a trace of a run."),
    ...timelineChart(sides, colour));
  const runs = [["predicted", report.teams?.predicted ?? []], ["measured", report.teams?.measured ?? []]];
  const known = runs.filter(([, run]) => run.length > 0);
  if (known.length > 0)
    section("timeline").append(element("h3", {}, "On several streams"),
      note("A kernel on all streams runs by itself. The prediction is a simulation; the measured run is a single one."),
      streamsChart(known, colour));
}

function progress() {
  const points = report.search.progress.filter((point) => point.cost !== null);
  const out = section("progress");
  if (points.length === 0) {
    out.append(note("Not recorded: the costs of whole graphs are not known."));
    return;
  }
  const unit = ["latency", "latency_us"].includes(report.options.objective) ? "µs" : "";
  out.append(note(`Predicted ${report.options.objective} of the best whole graph so far, by ${costsName()}. What happens within the ` +
    "parts that backtracking searches one by one is not recorded."), progressChart(points, report.search.seconds, unit));
}

function runTable() {
  const rows = [
    ["Isomer", report.isomer],
    ["engine", [report.engine, report.engine_version].filter((part) => part).join(" ")],
    ["device", report.device || "none"],
    ["threads", report.options.threads],
    ["outputs", report.equivalence ? `within ${report.equivalence.max_rel.toExponential(1)} of their largest elements, on ` +
      `${report.equivalence.inputs} random inputs` : "not compared by a run"],
    ...(report.equivalence?.precision ? [["precision", `${report.equivalence.precision.dtype}: within ` +
      `${report.equivalence.precision.max_rel.toExponential(1)} of f32, relative to the largest element`]] : []),
    ["matches, duplicates", `${report.search.matches}, ${report.search.duplicates}`],
    ["rejected", report.search.rejected.map((one) => `${one.rule}: ${one.reason}`).join("\n") || "none"],
    ...(report.search.notes.length > 0 ? [["notes", report.search.notes.join("\n")]] : []),
    ["peak memory of the search", bytesText(report.search.peak_rss_bytes)],
    ["output", report.output ?? "none: a dry run"],
    ["options", JSON.stringify(report.options)],
  ];
  const body = element("tbody");
  for (const [name, value] of rows) body.append(element("tr", {}, element("th", {}, name), element("td", {}, String(value))));
  section("run").append(element("table", { class: "run" }, body));
}

headline();
const linkedGraphs = graphs();
steps(linkedGraphs);
costs();
progress();
runTable();
