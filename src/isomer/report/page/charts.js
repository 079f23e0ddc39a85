// Costs by operator, the sequence of kernels, and the best cost over time.

const PALETTE = ["#4269d0", "#efb118", "#ff725c", "#6cc5b0", "#3ca951", "#ff8ab7", "#a463f2", "#97bbf5", "#9c6b4e"];
const OTHER_COLOUR = "#9498a0";

/// "1234.5 us", "12.35 ms".
function timeText(us) {
  return Math.abs(us) < 10000 ? us.toFixed(1) + " µs" : (us / 1000).toFixed(2) + " ms";
}

/// The operators that a kernel runs: "Conv + Relu".
function kernelLabel(side, kernel) {
  if (kernel.reorder) return "change of layout";
  return kernel.nodes.filter((id) => id !== null).map((id) => side.nodes[id].op).join(" + ");
}

/// Count and time of the kernels of a side by label.
function costsByLabel(side) {
  const sums = new Map();
  for (const kernel of side?.kernels ?? []) {
    const label = kernelLabel(side, kernel);
    const sum = sums.get(label) ?? { count: 0, us: 0 };
    sums.set(label, { count: sum.count + 1, us: sum.us + kernel.us });
  }
  return sums;
}

/// Colours by label: those that take longest get one of their own.
function colours(sides) {
  const total = new Map();
  for (const side of sides)
    for (const [label, sum] of costsByLabel(side)) total.set(label, Math.max(total.get(label) ?? 0, sum.us));
  const order = [...total.keys()].sort((a, b) => total.get(b) - total.get(a));
  return new Map(order.map((label, i) => [label, PALETTE[i] ?? OTHER_COLOUR]));
}

function cells(tag, texts, classes = []) {
  return texts.map((text, i) => element(tag, classes[i] ? { class: classes[i] } : {}, text));
}

function costTable(before, after, colour) {
  const was = costsByLabel(before), is = costsByLabel(after);
  const most = Math.max(...[...was.values(), ...is.values()].map((sum) => sum.us), 1e-9);
  const numbers = ["", "number", "number", "", "number", "number", "", "number"];
  const body = element("tbody");
  for (const [label] of colour) {
    const a = was.get(label) ?? { count: 0, us: 0 }, b = is.get(label) ?? { count: 0, us: 0 };
    const row = element("tr", { "data-label": label }, element("td", {}, label));
    const bar = (us) => element("td", { class: "bar" }, element("i", {
      style: `width: ${(100 * us / most).toFixed(2)}%; background: ${colour.get(label)}` }));
    row.append(...cells("td", [String(a.count), timeText(a.us)], ["number", "number"]), bar(a.us));
    if (after !== null)
      row.append(...cells("td", [String(b.count), timeText(b.us)], ["number", "number"]), bar(b.us),
        ...cells("td", [(b.us > a.us ? "+" : b.us < a.us ? "−" : "") + timeText(Math.abs(b.us - a.us))], ["number"]));
    body.append(row);
  }
  const sum = (sums) => [...sums.values()].reduce((all, one) => ({ count: all.count + one.count, us: all.us + one.us }),
    { count: 0, us: 0 });
  const a = sum(was), b = sum(is);
  const foot = element("tr", {}, ...cells("th", ["all", String(a.count), timeText(a.us), ""], numbers));
  const head = ["operators of a kernel", "kernels", "before", ""];
  if (after !== null) {
    foot.append(...cells("th", [String(b.count), timeText(b.us), "", (b.us > a.us ? "+" : "−") +
      timeText(Math.abs(b.us - a.us))], numbers.slice(4)));
    head.push("kernels", "after", "", "change");
  }
  return element("table", { class: "costs" }, element("thead", {}, element("tr", {}, ...cells("th", head, numbers))),
    body, element("tfoot", {}, foot));
}

/// One strip for each side, to the same scale.
function timelineChart(sides, colour) {
  const width = 1000, height = 30, row = 58;
  const total = (side) => side.kernels.reduce((sum, kernel) => sum + kernel.us, 0);
  const most = Math.max(...sides.map(([, side]) => total(side)), 1e-9);
  const picture = svg("svg", { viewBox: `0 0 ${width} ${row * sides.length}`, class: "strip" });
  sides.forEach(([name, side], i) => {
    let at = 0;
    picture.append(svg("text", { x: 0, y: i * row + 14, class: "label" }, `${name}: ${timeText(total(side))}`));
    for (const kernel of side.kernels) {
      const label = kernelLabel(side, kernel);
      const names = kernel.nodes.filter((id) => id !== null).map((id) => side.nodes[id].name).join(", ");
      picture.append(svg("rect", { x: (width * at / most).toFixed(3), y: i * row + 20, height,
        width: Math.max(0.05, width * kernel.us / most).toFixed(3), fill: colour.get(label) },
        svg("title", {}, `${label}, ${timeText(kernel.us)} from ${timeText(at)}\n${names}`)));
      at += kernel.us;
    }
  });
  const legend = element("p", { class: "legend" });
  for (const [label, fill] of colour) {
    if (fill === OTHER_COLOUR) continue;
    legend.append(element("span", {}, element("i", { style: `background: ${fill}` }), label));
  }
  if ([...colour.values()].includes(OTHER_COLOUR))
    legend.append(element("span", {}, element("i", { style: `background: ${OTHER_COLOUR}` }), "others"));
  return [picture, legend];
}

/// Runs on several streams, to the same scale: a row for each stream; kernels on all streams have all rows.
function streamsChart(runs, colour) {
  const width = 1000, height = 22, above = 20, below = 12;
  const end = (run) => Math.max(...run.map((kernel) => kernel.start_us + kernel.us));
  const rows = 1 + Math.max(...runs.flatMap(([, run]) => run.map((kernel) => kernel.stream ?? 0)));
  const longest = Math.max(...runs.map(([, run]) => end(run)), 1e-9);
  const step = above + rows * height + below;
  const picture = svg("svg", { viewBox: `0 0 ${width} ${step * runs.length}`, class: "strip" });
  runs.forEach(([name, run], i) => {
    picture.append(svg("text", { x: 0, y: i * step + 14, class: "label" }, `${name}: ${timeText(end(run))}`));
    for (const kernel of run) {
      const all = kernel.stream === null;
      const label = kernel.kernel === "reorder" ? "change of layout" : kernel.kernel.replaceAll("+", " + ");
      picture.append(svg("rect", { x: (width * kernel.start_us / longest).toFixed(3),
        y: i * step + above + (all ? 0 : kernel.stream * height), height: all ? rows * height : height - 1,
        width: Math.max(0.05, width * kernel.us / longest).toFixed(3), fill: colour.get(label) ?? OTHER_COLOUR },
        svg("title", {}, `${label}, ${timeText(kernel.us)} from ${timeText(kernel.start_us)}${
          all ? ", on all streams" : `, on stream ${kernel.stream + 1}`}\n${kernel.result}`)));
    }
  });
  return picture;
}

/// Steps down of the best cost, from the first point to the end of the search.
function progressChart(points, seconds, unit) {
  const width = 1000, height = 220, left = 70, bottom = 30, top = 16;
  const costs = points.map((point) => point.cost);
  const low = Math.min(...costs), high = Math.max(...costs);
  const span = high - low || Math.abs(high) || 1;
  const end = Math.max(seconds, points[points.length - 1].seconds, 1e-9);
  const x = (at) => left + (width - left - 20) * at / end;
  const y = (cost) => top + (height - top - bottom) * (high + 0.05 * span - cost) / (1.1 * span);
  let path = `M${x(points[0].seconds)} ${y(points[0].cost)}`;
  for (const point of points.slice(1)) path += `H${x(point.seconds)}V${y(point.cost)}`;
  const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, class: "strip" });
  picture.append(svg("path", { d: `M${left} ${top}V${height - bottom}H${width - 20}`, class: "axis" }),
    svg("path", { d: path + `H${x(end)}`, class: "line" }));
  const text = (cost) => (unit === "µs" ? timeText(cost) : cost.toPrecision(4));
  for (const point of points)
    picture.append(svg("circle", { cx: x(point.seconds), cy: y(point.cost), r: 4 },
      svg("title", {}, `${text(point.cost)} after ${point.seconds.toFixed(2)} s`)));
  for (const cost of new Set([high, low]))
    picture.append(svg("text", { x: left - 6, y: y(cost) + 4, class: "label end" }, text(cost)));
  picture.append(svg("text", { x: left, y: height - 10, class: "label" }, "0 s"),
    svg("text", { x: width - 20, y: height - 10, class: "label end" }, end.toFixed(1) + " s"));
  return picture;
}
