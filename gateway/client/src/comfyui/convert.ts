import { isLink, type Area, type ComfyGraph, type ComfyNode } from "./graph";
import type { Role } from "./classes";
import { readKinds } from "./kinds";
import { arranged, framesAround, type NodePosition } from "./layout";
import type { ImportModel } from "./models";
import { draftOf, type Draft, type Import } from "./nodes";
import { listed, quoted, Report } from "./report";
import { RESULT_PORTS, TYPES } from "./targets";
import { sourcesOf, stagesOf, textsOf } from "./tracing";

/** Converts the parts of a ComfyUI graph that its results depend on to nodes and edges of the API. */

interface Target {
  node: ComfyNode;
  draft: Draft;
}

const COLUMN = 340;
const SINKS: readonly Role[] = ["result", "upscale", "cutout", "resize", "crop", "stitch"];
const MAKERS: readonly Role[] = ["sampler", "partner"];

const resultOf = (task: Import, node: ComfyNode): Draft | undefined => {
  const media = sourcesOf(task.tracer, node);
  const all = media.length > 0 ? media : textsOf(task.tracer, [...node.inputs.values()].filter(isLink));
  // A result that only shows an existing file needs no run.
  const sources = all.filter(({ id }) => task.tracer.roles.get(id) !== "file");
  if (all.length === 0 && node.inputs.size > 0)
    task.report.add(`${quoted(node.title ?? node.type)} is left out: nothing here makes the file that it gets.`);
  if (sources.length === 0) return undefined;
  const label = node.title === undefined || node.title === node.type ? {} : { label: node.title };
  const feeds = sources.map((from) => ({ from, port: RESULT_PORTS[task.kindOf(from)] }));
  return { type: TYPES.result, data: { ...label, ...(node.mode === 0 ? {} : { bypass: true }) }, output: "", feeds };
};

/** The nodes to import: tools, results, and all nodes that they depend on. */
const targetsOf = (task: Import, { nodes }: ComfyGraph): Map<string, Target> => {
  const { roles } = task.tracer;
  const targets = new Map<string, Target>();
  const add = (first: ComfyNode): void => {
    for (const pending = [first]; pending.length > 0;) {
      const node = pending.pop()!;
      const role = roles.get(node.id)!;
      const draft = targets.has(node.id) ? undefined : role === "result" ? resultOf(task, node) : draftOf(task, node, role);
      if (!draft) continue;
      targets.set(node.id, { node, draft });
      pending.push(...draft.feeds.map(({ from }) => from));
    }
  };
  for (const node of nodes) if (SINKS.includes(roles.get(node.id)!)) add(node);
  const stages = new Set([...targets.values()].flatMap(({ node }) => stagesOf(task.tracer, node).map(({ id }) => id)));
  const ends = nodes.filter((node) => MAKERS.includes(roles.get(node.id)!) && !stages.has(node.id) && !targets.has(node.id));
  const inner = new Set(ends.flatMap((node) => stagesOf(task.tracer, node).flatMap(({ id }) => (id === node.id ? [] : [id]))));
  const unseen = ends.filter(({ id }) => !inner.has(id));
  for (const node of unseen) add(node);
  if (unseen.length > 0 && ![...targets.values()].some(({ draft }) => draft.type === TYPES.result)) {
    const feeds = unseen.map((from) => ({ from, port: RESULT_PORTS[task.kindOf(from)] }));
    const [{ place }] = unseen as [ComfyNode];
    const node = { ...unseen[0]!, id: "result", place: place && { x: place.x + COLUMN, y: place.y } };
    targets.set(node.id, { node, draft: { type: TYPES.result, data: {}, output: "", feeds } });
  }
  if (targets.size === 0) for (const node of nodes) if (roles.get(node.id) === "chat") add(node);
  return targets;
};

const idOf = ({ id }: ComfyNode): string => `comfy-${id.replaceAll(":", "-")}`;

interface ApiEdge {
  source: string;
  sourceHandle: string;
  target: string;
  targetHandle: string;
}
interface ApiNode extends NodePosition {
  type: string;
  data: Record<string, unknown>;
}

/** Joins several texts for one prompt in an additional text node. */
const joinPrompts = (nodes: ApiNode[], edges: ApiEdge[], target: Target, place: { x: number; y: number }): void => {
  const id = idOf(target.node);
  const texts = edges.filter((edge) => edge.target === id && edge.targetHandle === "prompt");
  if (texts.length < 2) return;
  const join = `${id}-prompt`;
  const names = texts.map((_, index) => `text_${index + 1}`);
  nodes.push({ id: join, type: TYPES.text, data: { text: names.map((name) => `{{${name}}}`).join("\n") }, x: place.x - 1, y: place.y + 1 });
  for (const [index, edge] of texts.entries()) Object.assign(edge, { target: join, targetHandle: names[index]! });
  edges.push({ source: join, sourceHandle: "text", target: id, targetHandle: "prompt" });
};

/** Positions for the API format, which has none: each node is to the right of its inputs. */
const columnsOf = (targets: ReadonlyMap<string, Target>): Map<string, { x: number; y: number }> => {
  const depths = new Map<string, number>();
  const depthOf = (id: string, path: ReadonlySet<string>): number => {
    const knownDepth = depths.get(id);
    const target = targets.get(id);
    if (knownDepth !== undefined || !target || path.has(id)) return knownDepth ?? 0;
    const onPath = new Set(path).add(id);
    const depth = Math.max(-1, ...target.draft.feeds.map(({ from }) => depthOf(from.id, onPath))) + 1;
    depths.set(id, depth);
    return depth;
  };
  return new Map([...targets.keys()].map((id, index) => [id, { x: depthOf(id, new Set()) * COLUMN, y: index }]));
};

const noteNode = (id: string, text: string, at: { x: number; y: number }, more: object = {}): object => ({
  id,
  type: TYPES.note,
  position: { x: Math.round(at.x), y: Math.round(at.y) },
  data: { text, ...more },
});

const notesOf = (task: Import, { nodes }: ComfyGraph): ApiNode[] =>
  nodes.flatMap((node) => {
    const text = task.tracer.roles.get(node.id) === "note" ? node.widgets.find((value) => typeof value === "string") : undefined;
    if (typeof text !== "string" || text.trim() === "") return [];
    return [{ id: idOf(node), type: TYPES.note, data: { text: text.slice(0, MOST_NOTE) }, x: node.place?.x ?? 0, y: node.place?.y ?? 0 }];
  });
const MOST_NOTE = 10_000;

/** Reports the nodes that aren't imported. */
const reportLeft = (task: Import, graph: ComfyGraph, targets: ReadonlyMap<string, Target>): void => {
  const others = graph.nodes.filter(({ id }) => task.tracer.roles.get(id) === "other").map(({ type }) => type);
  if (others.length > 0) task.report.add(`Left out, because nothing here is like them: ${listed(others)}.`);
  const shownNodes = [...targets.values()];
  const off = shownNodes.filter(({ draft }) => draft.data.bypass === true).map(({ node }) => node.title ?? node.type);
  if (off.length > 0) task.report.add(`Bypassed, because they were muted or bypassed: ${listed(off)}.`);
  const files = shownNodes.filter(({ draft }) => draft.type === TYPES.file).map(({ draft }) => String(draft.data.label));
  if (files.length > 0) task.report.add(`Upload these files again: ${listed(files)}.`);
  const inside = graph.nodes.filter(({ id, type }) => task.tracer.roles.get(id) === "inside" && /Lora/i.test(type)).map(({ type }) => type);
  if (inside.length > 0) task.report.add(`LoRAs are left out: ${listed(inside)}.`);
};

export interface Conversion {
  graph: { nodes: object[]; edges: object[] } | undefined;
  words: string;
}

export const MOST_IMPORTED = 500;
const REPORT_WIDTH = 340;

const frameNode = (area: Area, index: number): object =>
  noteNode(`comfy-group-${index + 1}`, area.title, area, { frame: { width: area.width, height: area.height } });

/** @param models models of the service, best first; or the name of an image model if no others are known */
export const convert = (graph: ComfyGraph, models: readonly ImportModel[] | string | undefined): Conversion => {
  const { tracer, kindOf } = readKinds(graph.nodes);
  const modelSettings = typeof models === "object" ? { models, pictureModel: undefined } : { models: undefined, pictureModel: models };
  const task: Import = { tracer, kindOf, report: new Report(), ...modelSettings };
  const targets = targetsOf(task, graph);
  if (targets.size === 0) {
    const names = graph.nodes.map(({ type }) => type);
    return { graph: undefined, words: `This ComfyUI workflow makes nothing that can be made here. Its nodes are ${listed(names)}.` };
  }
  const columns = columnsOf(targets);
  const placeOf = (node: ComfyNode) => node.place ?? columns.get(node.id)!;
  const [nodes, edges] = [[] as ApiNode[], [] as ApiEdge[]];
  for (const { node, draft } of targets.values()) {
    nodes.push({ id: idOf(node), type: draft.type, data: draft.data, ...placeOf(node) });
    for (const { from, port } of draft.feeds) {
      const source = targets.get(from.id);
      if (source) edges.push({ source: idOf(from), sourceHandle: source.draft.output, target: idOf(node), targetHandle: port });
    }
  }
  for (const target of targets.values()) joinPrompts(nodes, edges, target, placeOf(target.node));
  reportLeft(task, graph, targets);
  const before = [...nodes, ...notesOf(task, graph)];
  const placed = arranged(before);
  const { frames, titles, omitted } = framesAround(graph.groups, before, new Map(placed.map((item) => [item.id, item])));
  if (omitted.length > 0) task.report.add(`These groups are left out, because others lie in between: ${omitted.map(quoted).join(", ")}.`);
  const head = `Imported from ComfyUI: ${graph.nodes.length} nodes became ${nodes.length} here.`;
  if (placed.length + frames.length + 1 > MOST_IMPORTED)
    return { graph: undefined, words: `${head} A workflow has at most ${MOST_IMPORTED}.` };
  task.report.add("Loaders, samplers, latents and decoders are part of the models here. Check the model of each node.");
  const at = { x: Math.min(...placed.map(({ x }) => x)) - REPORT_WIDTH, y: Math.min(...placed.map(({ y }) => y)) };
  const graphNodes = placed.map(({ id, type, data, x, y }) => {
    const label = titles.get(id);
    return { id, type, position: { x, y }, data: label === undefined || type === TYPES.note ? data : { label, ...data } };
  });
  return {
    graph: {
      nodes: [...frames.map(frameNode), ...graphNodes, noteNode("comfy-report", task.report.text(head), at)],
      edges: edges.map((edge, index) => ({ id: `comfy-link-${index}`, ...edge })),
    },
    words: `${head} The note beside them says what was left out.`,
  };
};
