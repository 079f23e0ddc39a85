// Both graphs as pictures that zoom and move, with what changed linked. Text of the model is put only into text nodes.

const SVG = "http://www.w3.org/2000/svg";
/// Larger graphs are drawn around what changed.
const MAX_NODES = 3000, HOPS = 3;

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

function svg(tag, attributes = {}, ...children) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/// The start of a text, as long as a box is wide.
function shortened(text, most) {
  return text.length <= most ? text : text.slice(0, most - 1) + "…";
}

/// The indices of the nodes to draw.
function nodesToDraw(side) {
  const all = side.nodes.map((_, id) => id);
  if (all.length <= MAX_NODES) return all;
  let near = new Set(all.filter((id) => side.nodes[id].region !== null));
  for (let hop = 0; hop < HOPS; ++hop) {
    const next = new Set(near);
    for (const [from, to] of side.edges) {
      if (near.has(from)) next.add(to);
      if (near.has(to)) next.add(from);
    }
    near = next;
  }
  return all.filter((id) => near.has(id)).slice(0, MAX_NODES);
}

/// One graph: draws itself, and shows a part of the picture.
class GraphView {
  constructor(name, side, title) {
    this.name = name;
    this.side = side;
    this.boxes = new Map(); // by node
    this.places = new Map();
    this.svg = svg("svg", { class: "graph", tabindex: "0", role: "img", "aria-label": title });
    this.zoom = element("span", { class: "zoom" });
    this.root = element("div", { class: "side " + name, "data-side": name });
    const button = (label, text, act) => {
      const made = element("button", { type: "button", title: label, "aria-label": label, "data-act": label }, text);
      made.addEventListener("click", act);
      return made;
    };
    const tools = element("span", { class: "tools" }, this.zoom, button("zoom in", "+", () => this.zoomBy(1.4)),
      button("zoom out", "−", () => this.zoomBy(1 / 1.4)), button("fit", "fit", () => this.fit()));
    this.root.append(element("div", { class: "caption" }, element("strong", {}, title), tools), this.svg);
    this.draw();
    this.listen();
  }

  draw() {
    const drawn = nodesToDraw(this.side);
    const index = new Map(drawn.map((id, i) => [id, i]));
    const edges = this.side.edges.filter(([a, b]) => index.has(a) && index.has(b));
    const layout = layoutGraph(drawn.length, edges.map(([a, b]) => [index.get(a), index.get(b)]));
    this.size = { width: layout.width, height: layout.height };
    const lines = svg("g", { class: "edges" });
    for (const route of layout.edges) lines.append(svg("path", { d: this.curve(route) }));
    const boxes = svg("g", { class: "nodes" });
    drawn.forEach((id, i) => {
      this.places.set(id, layout.nodes[i]);
      this.boxes.set(id, this.box(id, layout.nodes[i]));
      boxes.append(this.boxes.get(id));
    });
    this.svg.append(lines, boxes);
    if (drawn.length < this.side.nodes.length)
      this.root.append(element("p", { class: "hint" },
        `${drawn.length} of ${this.side.nodes.length} nodes, those near a change`));
  }

  curve(route) {
    let path = "";
    route.forEach((point, i) => {
      const y = point.y + (i === 0 ? NODE_HEIGHT / 2 : i === route.length - 1 ? -NODE_HEIGHT / 2 : 0);
      const x = point.x.toFixed(1);
      if (i === 0) {
        path = `M${x} ${y}`;
      } else {
        const before = route[i - 1];
        const top = before.y + (i === 1 ? NODE_HEIGHT / 2 : 0), middle = (top + y) / 2;
        path += `C${before.x.toFixed(1)} ${middle} ${x} ${middle} ${x} ${y}`;
      }
    });
    return path;
  }

  box(id, place) {
    const node = this.side.nodes[id];
    const changed = node.region !== null;
    const group = svg("g", { class: `node ${node.kind}${changed ? " changed" : ""}`, "data-node": id });
    if (changed) group.setAttribute("data-region", node.region);
    const head = node.kind === "op" ? node.op : node.name || node.op;
    group.append(
      svg("rect", { x: place.x - NODE_WIDTH / 2, y: place.y - NODE_HEIGHT / 2, width: NODE_WIDTH, height: NODE_HEIGHT,
        rx: node.kind === "op" ? 4 : NODE_HEIGHT / 2 }),
      svg("text", { x: place.x, y: place.y - 2, class: "op" }, shortened(head, 17)),
      svg("text", { x: place.x, y: place.y + 11, class: "type" }, shortened(node.type, 22)));
    if (changed)
      group.append(svg("text", { x: place.x - NODE_WIDTH / 2 + 4, y: place.y - NODE_HEIGHT / 2 - 3, class: "number" },
        String(node.region + 1)));
    return group;
  }

  // What is seen: `box` in units of the picture.
  show(box) {
    this.view = box;
    this.svg.setAttribute("viewBox", `${box.x} ${box.y} ${box.width} ${box.height}`);
    this.zoom.textContent = Math.round(100 * this.scale()) + "%";
  }

  frame() {
    const rect = this.svg.getBoundingClientRect();
    return { left: rect.left, top: rect.top, width: rect.width || 600, height: rect.height || 500 };
  }

  /// Pixels of the screen for a unit of the picture.
  scale() {
    return this.frame().width / this.view.width;
  }

  fit() {
    this.showArea({ x: 0, y: 0, width: this.size.width, height: this.size.height }, 1);
  }

  /// The whole picture, or where that is too small to read, the first change (else the start) and what is around it.
  start() {
    this.fit();
    const least = 0.55;
    if (this.scale() >= least) return;
    const frame = this.frame(), first = this.nodesOf(0).map((id) => this.places.get(id));
    const x = first.length === 0 ? this.size.width / 2 : (Math.min(...first.map((at) => at.x)) + Math.max(...first.map((at) => at.x))) / 2;
    const y = first.length === 0 ? 0 : Math.min(...first.map((at) => at.y)) - 2 * LAYER_HEIGHT;
    this.show({ x: x - frame.width / least / 2, y: Math.max(0, y), width: frame.width / least, height: frame.height / least });
  }

  /// Shows an area whole, at no more than `most` pixels a unit.
  showArea(area, most) {
    const frame = this.frame();
    const scale = Math.min(most, frame.width / area.width, frame.height / area.height);
    const width = frame.width / scale, height = frame.height / scale;
    this.show({ x: area.x + (area.width - width) / 2, y: area.y + (area.height - height) / 2, width, height });
  }

  zoomBy(factor, point) {
    const frame = this.frame(), view = this.view;
    const fx = point ? (point.clientX - frame.left) / frame.width : 0.5;
    const fy = point ? (point.clientY - frame.top) / frame.height : 0.5;
    const scale = Math.min(8, Math.max(0.005, this.scale() * factor));
    const width = frame.width / scale, height = frame.height / scale;
    this.show({ x: view.x + fx * (view.width - width), y: view.y + fy * (view.height - height), width, height });
  }

  listen() {
    this.svg.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.zoomBy(Math.exp(-event.deltaY / 400), event);
    }, { passive: false });
    let drag = null;
    this.svg.addEventListener("pointerdown", (event) => (drag = { x: event.clientX, y: event.clientY, view: this.view }));
    window.addEventListener("pointermove", (event) => {
      if (drag === null) return;
      const scale = this.scale();
      this.show({ ...drag.view, x: drag.view.x - (event.clientX - drag.x) / scale,
        y: drag.view.y - (event.clientY - drag.y) / scale });
    });
    window.addEventListener("pointerup", () => (drag = null));
    this.svg.addEventListener("keydown", (event) => {
      if (event.key === "+") this.zoomBy(1.4);
      if (event.key === "-") this.zoomBy(1 / 1.4);
      if (event.key === "0") this.fit();
    });
  }

  nodesOf(region) {
    return [...this.boxes.keys()].filter((id) => this.side.nodes[id].region === region);
  }

  mark(name, nodes) {
    for (const box of this.svg.querySelectorAll("." + name)) box.classList.remove(name);
    for (const id of nodes) this.boxes.get(id)?.classList.add(name);
  }

  goTo(nodes) {
    const places = nodes.filter((id) => this.places.has(id)).map((id) => this.places.get(id));
    if (places.length === 0) return;
    const xs = places.map((place) => place.x), ys = places.map((place) => place.y);
    const margin = 120, x = Math.min(...xs) - margin, y = Math.min(...ys) - margin;
    this.showArea({ x, y, width: Math.max(...xs) + margin - x, height: Math.max(...ys) + margin - y }, 1);
  }
}

/// Links the views: what is pointed at is lit with its partner, what is clicked is shown on both sides.
class LinkedGraphs {
  constructor(views, detail, buttons) {
    this.views = views;
    this.detail = detail;
    this.buttons = buttons;
    for (const view of views) {
      view.svg.addEventListener("pointerover", (event) => this.hover(view, this.nodeAt(event)));
      view.svg.addEventListener("pointerleave", () => this.light("lit", views.map(() => [])));
      view.svg.addEventListener("click", (event) => this.click(view, this.nodeAt(event)));
    }
  }

  nodeAt(event) {
    const box = event.target.closest(".node");
    return box === null ? null : Number(box.getAttribute("data-node"));
  }

  /// The nodes of each view that belong to a node: its region on both sides, or itself and its partner.
  linked(view, id) {
    const node = view.side.nodes[id];
    if (node.region !== null) return this.views.map((other) => other.nodesOf(node.region));
    return this.views.map((other) => (other === view ? [id] : node.partner === null ? [] : [node.partner]));
  }

  light(name, nodes) {
    this.views.forEach((view, i) => view.mark(name, nodes[i]));
  }

  hover(view, id) {
    this.light("lit", id === null ? this.views.map(() => []) : this.linked(view, id));
    if (id !== null) this.tell(view, id);
  }

  click(view, id) {
    if (id === null) return;
    const nodes = this.linked(view, id);
    this.select(nodes, view.side.nodes[id].region);
    this.views.forEach((other, i) => other !== view && other.goTo(nodes[i]));
    this.tell(view, id);
  }

  selectRegion(region) {
    const nodes = this.views.map((view) => view.nodesOf(region));
    this.select(nodes, region);
    this.views.forEach((view, i) => view.goTo(nodes[i]));
    this.detail.textContent = `region ${region + 1}: ` +
      this.views.map((view, i) => `${nodes[i].length} ${nodes[i].length === 1 ? "node" : "nodes"} ${view.name}`).join(", ");
  }

  select(nodes, region) {
    this.light("selected", nodes);
    for (const button of this.buttons.children)
      button.setAttribute("aria-pressed", String(Number(button.dataset.region) === region && region !== null));
  }

  tell(view, id) {
    const node = view.side.nodes[id];
    const parts = [`${view.name}: ${node.op}`, node.name, node.type, node.attrs, node.weights && "weights " + node.weights,
      view.kernelText(id), node.region === null ? "" : `region ${node.region + 1}`];
    this.detail.textContent = parts.filter((part) => part).join(" · ");
  }
}
