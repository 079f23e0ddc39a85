// A layered drawing of a graph (Sugiyama, Tagawa and Toda 1981): layers by longest paths, order within a layer by
// barycentres, positions that are nearest to those of neighbours and keep the order.

const NODE_WIDTH = 112, NODE_HEIGHT = 34, GAP = 18, LAYER_HEIGHT = 62, BEND_WIDTH = 10;

/// Layer of each node; a node that reads nothing stands right above its first reader.
function layersOf(count, edges) {
  const layer = new Array(count).fill(0);
  const above = Array.from({ length: count }, () => []), below = Array.from({ length: count }, () => []);
  for (const [from, to] of edges) {
    above[to].push(from);
    below[from].push(to);
  }
  // Nodes stand in topological order.
  for (let id = 0; id < count; ++id) for (const from of above[id]) layer[id] = Math.max(layer[id], layer[from] + 1);
  for (let id = 0; id < count; ++id)
    if (above[id].length === 0 && below[id].length > 0) layer[id] = Math.min(...below[id].map((to) => layer[to])) - 1;
  return layer;
}

/// Nodes with bends where an edge passes a layer: {layer, width, node (index, or -1 for a bend), up, down}. All edges of
/// one node share its bends. `routes` has the points that each edge passes.
function withBends(count, edges, layer) {
  const points = [];
  for (let id = 0; id < count; ++id) points.push({ layer: layer[id], width: NODE_WIDTH, node: id, up: [], down: [] });
  const link = (from, to) => {
    points[from].down.push(to);
    points[to].up.push(from);
  };
  const bends = new Map(); // from a node: its bends by layer
  const routes = edges.map(([from, to]) => {
    const route = [from];
    if (!bends.has(from)) bends.set(from, []);
    const own = bends.get(from);
    for (let at = layer[from] + 1; at < layer[to]; ++at) {
      const index = at - layer[from] - 1;
      if (own[index] === undefined) {
        points.push({ layer: at, width: BEND_WIDTH, node: -1, up: [], down: [] });
        own[index] = points.length - 1;
        link(route[route.length - 1], own[index]);
      }
      route.push(own[index]);
    }
    link(route[route.length - 1], to);
    route.push(to);
    return route;
  });
  return { points, routes };
}

/// Sorts each layer by the mean place of its neighbours, downwards and upwards in turn.
function orderLayers(points, rows) {
  const place = new Array(points.length).fill(0);
  const number = (row) => row.forEach((id, i) => (place[id] = i));
  rows.forEach(number);
  const sort = (row, side) => {
    const key = new Map(row.map((id, i) => {
      const near = points[id][side];
      return [id, near.length === 0 ? i : near.reduce((sum, other) => sum + place[other], 0) / near.length];
    }));
    row.sort((a, b) => key.get(a) - key.get(b));
    number(row);
  };
  for (let sweep = 0; sweep < 6; ++sweep) {
    for (let i = 1; i < rows.length; ++i) sort(rows[i], "up");
    for (let i = rows.length - 2; i >= 0; --i) sort(rows[i], "down");
  }
}

/// The positions nearest to `wanted` (weighted least squares) at which a row keeps its order and its gaps: an isotonic
/// regression by pooling of adjacent violators.
function placeRow(row, points, wanted) {
  const offset = [];
  let sum = 0;
  row.forEach((id, i) => {
    if (i > 0) sum += (points[row[i - 1]].width + points[id].width) / 2 + GAP;
    offset.push(sum);
  });
  const pools = [];
  row.forEach((id, i) => {
    const weight = points[id].node < 0 ? 4 : 1; // straight long edges
    pools.push({ sum: (wanted[i] - offset[i]) * weight, weight, size: 1 });
    while (pools.length > 1) {
      const last = pools[pools.length - 1], before = pools[pools.length - 2];
      if (before.sum / before.weight <= last.sum / last.weight) break;
      before.sum += last.sum;
      before.weight += last.weight;
      before.size += last.size;
      pools.pop();
    }
  });
  let i = 0;
  for (const pool of pools)
    for (let k = 0; k < pool.size; ++k, ++i) points[row[i]].x = pool.sum / pool.weight + offset[i];
}

function placeRows(points, rows) {
  for (const row of rows) placeRow(row, points, row.map(() => 0));
  const pass = (row, side) => {
    const wanted = row.map((id) => {
      const near = points[id][side];
      return near.length === 0 ? points[id].x : near.reduce((sum, other) => sum + points[other].x, 0) / near.length;
    });
    placeRow(row, points, wanted);
  };
  for (let sweep = 0; sweep < 4; ++sweep) {
    for (let i = 1; i < rows.length; ++i) pass(rows[i], "up");
    for (let i = rows.length - 2; i >= 0; --i) pass(rows[i], "down");
  }
}

/// {nodes: [{x, y}], edges: [[{x, y}, ...]], width, height}; x and y are of centres.
function layoutGraph(count, edges) {
  const layer = layersOf(count, edges);
  const { points, routes } = withBends(count, edges, layer);
  const top = Math.min(...layer), bottom = Math.max(...layer);
  const rows = Array.from({ length: count === 0 ? 0 : bottom - top + 1 }, () => []);
  points.forEach((point, id) => rows[point.layer - top].push(id));
  orderLayers(points, rows);
  placeRows(points, rows);
  let left = Infinity, right = -Infinity;
  for (const point of points) {
    left = Math.min(left, point.x - point.width / 2);
    right = Math.max(right, point.x + point.width / 2);
  }
  if (points.length === 0) left = right = 0;
  const at = (id) => ({ x: points[id].x - left + GAP, y: (points[id].layer - top + 0.5) * LAYER_HEIGHT });
  return {
    nodes: Array.from({ length: count }, (_, id) => at(id)),
    edges: routes.map((route) => route.map(at)),
    width: right - left + 2 * GAP,
    height: Math.max(1, rows.length) * LAYER_HEIGHT,
  };
}
