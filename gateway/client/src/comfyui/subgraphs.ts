import { coordinate, isLink, isRecord, listOf, recordsOf, textOf, type Area, type ComfyGraph, type ComfyNode, type Input } from "./graph";

/** The editor's format: nodes with widgets and slots, links beside them, and subgraphs, which are expanded. */

type Raw = Record<string, unknown>;

export const MOST_NODES = 5_000;
const MOST_NESTED = 8;
/** A link can cross the borders of several subgraphs. The limit ends a cycle of links. */
const MOST_BORDERS = 64;
/** Ids of the nodes that represent a subgraph's own inputs and outputs. */
const [INPUTS, OUTPUTS] = ["-10", "-20"];

interface Wire {
  from: string;
  slot: number;
  to: string;
  toSlot: number;
}

interface Scope {
  prefix: string;
  nodes: ReadonlyMap<string, Raw>;
  wires: ReadonlyMap<string, Wire>;
  /** The input of the surrounding node at a slot. */
  outerInput: (slot: number, borders: number) => Input | undefined;
  /** Values that the surrounding node sets, by inner node and name. */
  set: ReadonlyMap<string, ReadonlyMap<string, unknown>>;
  inner: Map<string, Scope>;
}

const wiresOf = (links: unknown): ReadonlyMap<string, Wire> =>
  new Map(
    listOf(links).flatMap((link): [string, Wire][] => {
      if (Array.isArray(link)) {
        const [id, from, slot, to, toSlot] = link as unknown[];
        return [[String(id), { from: String(from), slot: Number(slot), to: String(to), toSlot: Number(toSlot) }]];
      }
      if (!isRecord(link)) return [];
      const { id, origin_id: from, origin_slot: slot, target_id: to, target_slot: toSlot } = link;
      return [[String(id), { from: String(from), slot: Number(slot), to: String(to), toSlot: Number(toSlot) }]];
    }),
  );

const scopeOf = (graph: Raw, prefix: string, givenInput: Scope["outerInput"], set: Scope["set"]): Scope => {
  const nodes = recordsOf(graph.nodes).filter(({ type }) => typeof type === "string");
  return {
    prefix,
    nodes: new Map(nodes.map((node) => [String(node.id), node])),
    wires: wiresOf(graph.links),
    outerInput: givenInput,
    set,
    inner: new Map(),
  };
};

/** The output that a link comes from, looked up through subgraphs. */
const sourceOf = (scope: Scope, link: unknown, borders = 0): Input | undefined => {
  const wire = link === null || link === undefined ? undefined : scope.wires.get(String(link as number));
  if (!wire || borders > MOST_BORDERS) return undefined;
  if (wire.from === INPUTS) return scope.outerInput(wire.slot, borders + 1);
  const inner = scope.inner.get(wire.from);
  if (!inner) return { from: scope.prefix + wire.from, slot: wire.slot };
  const [end] = [...inner.wires].find(([, { to, toSlot }]) => to === OUTPUTS && toSlot === wire.slot) ?? [];
  return end === undefined ? undefined : sourceOf(inner, end, borders + 1);
};

/** Values that an instance of a subgraph sets: `proxyWidgets` names them in the order of its own values. */
const valuesSet = ({ properties, widgets_values: values }: Raw): Scope["set"] => {
  const set = new Map<string, Map<string, unknown>>();
  const proxies = isRecord(properties) ? listOf(properties.proxyWidgets) : [];
  const own = listOf(values);
  if (own.length !== proxies.length) return set;
  for (const [index, proxy] of proxies.entries()) {
    const [id, name] = listOf(proxy).map(String);
    const value = own[index];
    if (id === undefined || name === undefined || value === null || value === undefined) continue;
    const values = set.get(id) ?? new Map<string, unknown>();
    set.set(id, values.set(name, value));
  }
  return set;
};

const instanceScope = (outer: Scope, id: string, node: Raw, definition: Raw): Scope => {
  const names = recordsOf(definition.inputs).map(({ name }) => String(name));
  const slots = recordsOf(node.inputs);
  const widgets = slots.filter(({ widget }) => isRecord(widget));
  const hasOwnValues = listOf(node.widgets_values).length === widgets.length;
  const givenInput: Scope["outerInput"] = (slot, borders) => {
    const input = slots.find(({ name }) => name === names[slot]);
    if (!input) return undefined;
    const source = sourceOf(outer, input.link, borders);
    if (source) return source;
    const at = widgets.indexOf(input);
    return at < 0 || !hasOwnValues ? undefined : { value: listOf(node.widgets_values)[at] };
  };
  return scopeOf(definition, `${outer.prefix}${id}:`, givenInput, valuesSet(node));
};

const inputsOf = (scope: Scope, id: string, node: Raw): ReadonlyMap<string, Input> => {
  const inputs = new Map<string, Input>();
  const values = node.widgets_values;
  if (isRecord(values)) for (const [name, value] of Object.entries(values)) inputs.set(name, { value });
  for (const [name, value] of scope.set.get(id) ?? []) inputs.set(name, { value });
  for (const { name, link } of recordsOf(node.inputs)) {
    const source = sourceOf(scope, link);
    if (source && (isLink(source) || source.value !== null)) inputs.set(String(name), source);
  }
  return inputs;
};

interface FlatGraph {
  nodes: ComfyNode[];
  groups: Area[];
}
type Boxes = ReadonlyMap<string, FlatGraph>;

const areasOf = (groups: unknown): Area[] =>
  recordsOf(groups).map(({ title, bounding }) => {
    const [x, y, width, height] = [0, 1, 2, 3].map((index) => coordinate(bounding, index));
    return { title: textOf(title) ?? "Group", x: x!, y: y!, width: width!, height: height! };
  });

const moved = <Item extends { x: number; y: number }>(item: Item, by: { x: number; y: number }): Item => ({
  ...item,
  x: item.x + by.x,
  y: item.y + by.y,
});

const NODE_WIDTH = 320;

/** Replaces a subgraph's node by the subgraph's contents, and moves the nodes to the right of it. */
const spread = (
  own: FlatGraph,
  instances: ReadonlyMap<string, { x: number; y: number; width: number; title: string }>,
  boxes: Boxes,
): FlatGraph => {
  const placed: FlatGraph = { nodes: [...own.nodes], groups: [...own.groups] };
  for (const [id, instance] of [...instances].sort(([, a], [, b]) => a.x - b.x)) {
    const { nodes, groups } = boxes.get(id)!;
    const xs = nodes.map(({ place }) => place!.x);
    const [left, top] = [Math.min(...xs), Math.min(...nodes.map(({ place }) => place!.y))];
    const more = Math.max(0, Math.max(...xs) + NODE_WIDTH - left - instance.width);
    const right = instance.x + instance.width / 2;
    const shift = <Item extends { x: number; y: number }>(item: Item): Item => (item.x > right ? moved(item, { x: more, y: 0 }) : item);
    for (const other of instances.values()) if (other !== instance && other.x > right) other.x += more;
    const by = { x: instance.x - left, y: instance.y - top };
    placed.nodes = placed.nodes.map((node) => ({ ...node, place: shift(node.place!) }));
    placed.groups = placed.groups.map(shift);
    const inside = nodes.map((node) => ({ ...node, place: moved(node.place!, by) }));
    const height = Math.max(...inside.map(({ place }) => place.y)) - instance.y + NODE_WIDTH;
    placed.groups.push({ title: instance.title, x: instance.x, y: instance.y, width: instance.width + more, height });
    placed.groups.push(...groups.map((group) => moved(group, by)));
    placed.nodes.push(...inside);
  }
  return placed;
};

const flatten = (graph: Raw, scope: Scope, definitions: ReadonlyMap<string, Raw>, mode: number, room: { left: number }): FlatGraph => {
  for (const [id, node] of scope.nodes) {
    const definition = definitions.get(String(node.type));
    if (definition && scope.prefix.split(":").length <= MOST_NESTED) scope.inner.set(id, instanceScope(scope, id, node, definition));
  }
  const instances = new Map<string, { x: number; y: number; width: number; title: string }>();
  const [boxes, nodes] = [new Map<string, FlatGraph>(), [] as ComfyNode[]];
  room.left -= scope.nodes.size;
  for (const [id, node] of room.left < 0 ? [] : scope.nodes) {
    const place = { x: coordinate(node.pos, 0), y: coordinate(node.pos, 1) };
    const own = mode === 0 ? Number(node.mode ?? 0) : mode;
    const [inner, definition] = [scope.inner.get(id), definitions.get(String(node.type))];
    if (inner && definition) {
      const box = flatten(definition, inner, definitions, own, room);
      const title = textOf(node.title) ?? textOf(definition.name) ?? "Subgraph";
      if (box.nodes.length > 0) instances.set(id, { ...place, width: coordinate(node.size, 0) || NODE_WIDTH, title });
      boxes.set(id, box);
      continue;
    }
    const outputs = recordsOf(node.outputs).map(({ type }) => String(type));
    const [title, widgets, type] = [textOf(node.title), listOf(node.widgets_values), definition ? "Subgraph" : String(node.type)];
    nodes.push({ id: scope.prefix + id, type, title, mode: own, place, inputs: inputsOf(scope, id, node), widgets, outputs });
  }
  return spread({ nodes, groups: areasOf(graph.groups) }, instances, boxes);
};

/** Reads the editor's format. Nodes beyond the first `MOST_NODES` are ignored. */
export const fromEditor = (graph: Raw): ComfyGraph | undefined => {
  const { nodes, links, definitions } = graph;
  if (!Array.isArray(nodes) || !Array.isArray(links)) return undefined;
  const records = recordsOf(nodes);
  if (records.length === 0 || !records.every(({ type, pos }) => typeof type === "string" && pos !== undefined)) return undefined;
  const subgraphs = isRecord(definitions) ? recordsOf(definitions.subgraphs) : [];
  const definitionsById = new Map(subgraphs.map((definition) => [String(definition.id), definition]));
  const scope = scopeOf(graph, "", () => undefined, new Map());
  return flatten(graph, scope, definitionsById, 0, { left: MOST_NODES });
};
