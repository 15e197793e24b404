import { upToNode, type ModelTerms } from "@nodeloom/kernel/graph";
import { lookUpFiles, useFiles } from "../../api/files";
import { createStore, type StoreApi } from "zustand/vanilla";
import { frameOf, hiddenNodes } from "../../canvas/frames";
import { boxOf, type Box } from "../../canvas/geometry";
import { kindOf } from "../../canvas/kinds";
import { judge, NO_JUDGEMENT, type Judgement } from "../../canvas/judge";
import { createPortBook, type PortBook, type PortRules } from "../../canvas/ports";
import type { Route } from "../../canvas/routes";
import type { OpenDocument } from "../../document/document";
import { edgesOf, kernelGraph, nodesOf, type DocEdge, type DocGraph, type DocNode, type NodeView } from "../../document/graph";
import { useLive } from "../../runs/live";
import { useLatestOutputs } from "../../runs/latest-outputs";
import { lookUpParts, useParts } from "../../runs/whole/parts";
import type { EditorUi } from "../ui-store";
import { outdatedIn } from "./fingerprints";
import { flowEdge, flowNode, routesOf, type FlowEdge, type FlowNode, type NodeViewData } from "./flow";
import { titlesOf, type ModelTitle } from "../titles";
import { NOTHING_SHOWN, shownByNode, type NodeRunView } from "./shown";

/** The drawn graph and everything derived from it; parts of the editor subscribe to slices. */
export interface SceneState {
  nodes: readonly FlowNode[];
  edges: readonly FlowEdge[];
  ports: PortBook;
  boxes: ReadonlyMap<string, Box>;
  /** Linked inputs as keys of `wiredKey`. */
  wired: ReadonlySet<string>;
  /** Linked outputs as keys of `wiredKey`. */
  feeding: ReadonlySet<string>;
  nodeViews: ReadonlyMap<string, NodeRunView>;
  /** Unique titles by node id. */
  titles: ReadonlyMap<string, string>;
  judgement: Judgement;
  /** Nodes of the prepared run; undefined if all nodes run. */
  part: ReadonlySet<string> | undefined;
}

export const wiredKey = (nodeId: string, port: string): string => `${nodeId}\n${port}`;

export interface Scene {
  store: StoreApi<SceneState>;
  /** Follows document, runs and panels. @returns a function that stops this */
  start(): () => void;
  /** Previews a node's size during a drag; undefined ends the preview. */
  preview(nodeId: string, view: NodeView | undefined): void;
}

export interface SceneOptions extends PortRules {
  slug: string;
  document: OpenDocument;
  ui: StoreApi<EditorUi>;
  terms: ReadonlyMap<string, ModelTerms>;
  markupPermille: number | undefined;
  modelTitle: ModelTitle;
}

/** Delay of validation after a change. People read its results, so a short delay does not matter. */
const JUDGE_AFTER_MS = 120;

/** Caches derived objects: unchanged elements keep their identity and aren't rendered. */
const createCache = <From extends object, Derived>() => {
  const cache = new WeakMap<From, { parts: readonly unknown[]; derived: Derived }>();
  return (from: From, parts: readonly unknown[], make: () => Derived): Derived => {
    const before = cache.get(from);
    if (before?.parts.every((part, index) => part === parts[index])) return before.derived;
    const scenePart = make();
    cache.set(from, { parts, derived: scenePart });
    return scenePart;
  };
};

/** Returns the earlier list if it is equal, so that subscribers aren't notified. */
const unchanged = <T>(before: readonly T[] | undefined, next: readonly T[]): readonly T[] =>
  before?.length === next.length && before.every((one, at) => one === next[at]) ? before : next;

const sameRoute = (a: Route | undefined, b: Route | undefined): boolean =>
  a === b || (a !== undefined && b !== undefined && a.left === b.left && a.right === b.right && a.y === b.y);

/** Derives drawn elements from graph, selection and outputs. */
const createDrawing = (rules: PortRules & { modelTitle: ModelTitle }) => {
  const portBook = createPortBook();
  const [datas, nodeCache, edgeCache] = [
    createCache<DocNode, NodeViewData>(),
    createCache<DocNode, FlowNode>(),
    createCache<DocEdge, FlowEdge>(),
  ];
  let [routedBy, routes]: [unknown[], ReadonlyMap<string, Route>] = [[], new Map()];
  let titledGraph: { graph: DocGraph; titles: ReadonlyMap<string, string> } | undefined;
  let before:
    { nodes: readonly FlowNode[]; edges: readonly FlowEdge[]; wired: ReadonlySet<string>; feeding: ReadonlySet<string> } | undefined;
  /** Routes change only with positions and sizes. Equal routes keep their identity. */
  const route = (
    graph: DocGraph,
    boxes: ReadonlyMap<string, Box>,
    ports: PortBook,
    hidden: ReadonlyMap<string, string>,
  ): ReadonlyMap<string, Route> => {
    const by = [graph, ...boxes.values()];
    if (by.length === routedBy.length && by.every((one, at) => one === routedBy[at])) return routes;
    const nodes = new Map(nodesOf(graph).flatMap((node) => (hidden.has(node.id) ? [] : [[node.id, node] as const])));
    const next = routesOf(edgesOf(graph), nodes, boxes, ports);
    routes = new Map([...next].map(([id, one]) => [id, sameRoute(one, routes.get(id)) ? routes.get(id)! : one]));
    routedBy = by;
    return routes;
  };
  return (
    graph: DocGraph,
    selection: { nodes: ReadonlySet<string>; edges: ReadonlySet<string> },
    shownNodes: ReadonlyMap<string, NodeRunView>,
    resized: ReadonlyMap<string, NodeView>,
  ): Pick<SceneState, "nodes" | "edges" | "ports" | "boxes" | "wired" | "feeding" | "titles"> => {
    const ports = portBook(graph, rules);
    if (titledGraph?.graph !== graph) titledGraph = { graph, titles: titlesOf(graph, rules.modelTitle) };
    const { titles } = titledGraph;
    const views = nodesOf(graph).map((node) => {
      const own = ports.get(node.id)!;
      const [floor, view] = [shownNodes.get(node.id)?.floor, resized.get(node.id)];
      const title = titles.get(node.id)!;
      const data = datas(node, [own, floor?.preview, floor?.items, view, title], () => ({
        node,
        title,
        ports: own,
        box: boxOf(view ? { ...node, view } : node, own, floor),
      }));
      return { node, data };
    });
    const boxes = new Map(views.map(({ node, data }) => [node.id, data.box]));
    const hidden = hiddenNodes(nodesOf(graph));
    const foundRoutes = route(graph, boxes, ports, hidden);
    const nodes = views
      .filter(({ node }) => !hidden.has(node.id))
      .map(({ node, data }) => {
        const selected = selection.nodes.has(node.id);
        return nodeCache(node, [data, selected], () => flowNode(node, data, selected));
      });
    const within = (source: string, target: string): boolean => hidden.has(source) && hidden.get(source) === hidden.get(target);
    const edges = edgesOf(graph)
      .filter(({ source, target }) => boxes.has(source) && boxes.has(target) && !within(source, target))
      .map((edge) => {
        const { source, target } = edge;
        const [selected, own] = [selection.edges.has(edge.id), foundRoutes.get(edge.id)];
        const from = [ports.get(source), ports.get(target), own, selected, hidden.get(source), hidden.get(target)];
        return edgeCache(edge, from, () => flowEdge(edge, ports, own, selected, hidden));
      });
    // Frames come first: the map draws in this order.
    const sorted = nodes.toSorted((a, b) => Number(!frameOf(a.data.node)) - Number(!frameOf(b.data.node)));
    const next = { nodes: unchanged(before?.nodes, sorted), edges: unchanged(before?.edges, edges) };
    const wired = before?.edges === next.edges ? before.wired : new Set(edges.map((one) => wiredKey(one.target, one.targetHandle ?? "")));
    const feeding =
      before?.edges === next.edges ? before.feeding : new Set(edges.map((one) => wiredKey(one.source, one.sourceHandle ?? "")));
    before = { ...next, wired, feeding };
    return { ...before, ports, boxes, titles };
  };
};

const partOf = (graph: DocGraph, until: string | undefined): ReadonlySet<string> | undefined => {
  const part = until === undefined ? undefined : upToNode({ ...kernelGraph(graph), issues: [] }, until);
  return part && new Set(part.nodes.map(({ id }) => id));
};

export const createScene = (options: SceneOptions): Scene => {
  const { slug, document, ui, terms, markupPermille } = options;
  const draw = createDrawing(options);
  const resized = new Map<string, NodeView>();
  let outdated = outdatedIn(slug, document.store.getState().graph);
  let before: ReadonlyMap<string, NodeRunView> = new Map();
  const compute = (): Omit<SceneState, "judgement" | "part"> => {
    const { graph, selection } = document.store.getState();
    const run = useLive.getState().runs[slug];
    before = shownByNode(
      graph,
      { run, latestOutputs: useLatestOutputs.getState()[slug] ?? new Map(), files: useFiles.getState().files, outdated },
      before,
    );
    return { ...draw(graph, selection, before, resized), nodeViews: before };
  };
  const store = createStore<SceneState>(() => ({ ...compute(), judgement: NO_JUDGEMENT, part: undefined }));
  const update = (): void => store.setState(compute());
  let timer: ReturnType<typeof setTimeout> | undefined;
  const judgeSoon = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      const { graph } = document.store.getState();
      store.setState({ judgement: judge(graph, terms, markupPermille, useFiles.getState().files) });
      outdated = outdatedIn(slug, graph);
      update();
    }, JUDGE_AFTER_MS);
  };
  /** Loads files and workflows that nodes refer to. */
  const findFiles = (): void => {
    const ids = nodesOf(document.store.getState().graph).flatMap((node) => kindOf(node.type).rules?.mediaIds?.(node) ?? []);
    void lookUpFiles(ids.filter((id) => id !== ""));
    void lookUpParts(nodesOf(document.store.getState().graph));
  };
  const showPart = (): void => {
    const { graph } = document.store.getState();
    const { until } = ui.getState();
    const part = partOf(graph, until);
    if (until !== undefined && !part) ui.setState({ until: undefined });
    store.setState({ part });
  };
  return {
    store,
    start: () => {
      update();
      showPart();
      judgeSoon();
      findFiles();
      const stops = [
        document.store.subscribe((now, then) => {
          if (now.graph !== then.graph || now.selection !== then.selection) update();
          if (now.graph === then.graph) return;
          judgeSoon();
          findFiles();
          if (ui.getState().until !== undefined) showPart();
        }),
        useLive.subscribe((now, then) => {
          if (now.runs[slug] !== then.runs[slug]) update();
          if (now.runs[slug]?.executionId !== then.runs[slug]?.executionId) judgeSoon();
        }),
        useFiles.subscribe(() => {
          update();
          judgeSoon();
        }),
        useParts.subscribe(update),
        useLatestOutputs.subscribe((now, then) => {
          if (now[slug] !== then[slug]) update();
        }),
        ui.subscribe((now, then) => {
          if (now.until !== then.until) showPart();
          // Before a run and in the problem list, new nodes are validated too.
          if (now.panelOpen && now.panel !== "node" && now.fresh.size > 0) ui.setState({ fresh: new Set() });
        }),
      ];
      return () => {
        clearTimeout(timer);
        for (const stop of stops) stop();
      };
    },
    preview: (nodeId, view) => {
      if (view) resized.set(nodeId, view);
      else resized.delete(nodeId);
      update();
    },
  };
};

export const shownIn = ({ nodeViews }: SceneState, nodeId: string): NodeRunView => nodeViews.get(nodeId) ?? NOTHING_SHOWN;
