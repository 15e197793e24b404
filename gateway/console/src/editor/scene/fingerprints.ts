import { edgesOf, nodesOf, type DocGraph } from "../../document/graph";

/** Fingerprint of a node and all nodes upstream of it. If it changes, results are outdated. */
const MULTIPLIER = 31;
const hash = (text: string): string => {
  let value = 7;
  for (let at = 0; at < text.length; at += 1) value = (Math.imul(value, MULTIPLIER) + text.charCodeAt(at)) | 0;
  return (value >>> 0).toString(36);
};

export const fingerprints = (graph: DocGraph): ReadonlyMap<string, string> => {
  const into = new Map<string, { source: string; ports: string }[]>();
  for (const { source, target, sourceHandle, targetHandle } of edgesOf(graph))
    into.set(target, [...(into.get(target) ?? []), { source, ports: `${sourceHandle ?? ""}>${targetHandle ?? ""}` }]);
  const nodes = new Map(nodesOf(graph).map((node) => [node.id, node]));
  const prints = new Map<string, string>();
  const printOf = (id: string, path: ReadonlySet<string>): string => {
    const knownPrint = prints.get(id);
    const node = nodes.get(id);
    if (knownPrint !== undefined || !node || path.has(id)) return knownPrint ?? "";
    const within = new Set([...path, id]);
    const sources = (into.get(id) ?? []).map(({ source, ports }) => `${ports}=${printOf(source, within)}`).sort();
    const { label: _label, ...data } = node.data;
    const print = hash(JSON.stringify([node.type, data, sources]));
    prints.set(id, print);
    return print;
  };
  for (const id of nodes.keys()) printOf(id, new Set());
  return prints;
};

const KEY = "nodeloom.made.";
const KEPT = 8;
type StoredPrints = [executionId: string, prints: Record<string, string>][];

const stored = (slug: string): StoredPrints => {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(KEY + slug) ?? "[]");
    return Array.isArray(value) ? (value as StoredPrints) : [];
  } catch {
    return [];
  }
};

/** Stores the fingerprints of a run's graph in this browser. */
export const rememberPrints = (slug: string, executionId: string, graph: DocGraph): void => {
  const next: StoredPrints = [[executionId, Object.fromEntries(fingerprints(graph))], ...stored(slug).filter(([id]) => id !== executionId)];
  try {
    localStorage.setItem(KEY + slug, JSON.stringify(next.slice(0, KEPT)));
  } catch {
    // Without storage, outdated results aren't recognised.
  }
};

/** True if a graph is the one of a run; false if this browser didn't start the run. */
export const samePrints = (slug: string, executionId: string, graph: DocGraph): boolean => {
  const then = new Map(stored(slug)).get(executionId);
  const now = fingerprints(graph);
  return then !== undefined && Object.keys(then).length === now.size && [...now].every(([id, print]) => then[id] === print);
};

/**
 * The run of this browser from which a graph differs in fewer nodes than from the last run.
 * @param last the last run; if it was started elsewhere, all nodes count as changed
 * @returns undefined if the last run is as near as any other
 */
export const nearerRun = (slug: string, graph: DocGraph, last: string | undefined): string | undefined => {
  const runs = stored(slug);
  if (runs.length === 0) return undefined;
  const now = [...fingerprints(graph)];
  const changesSince = (prints: Readonly<Record<string, string>>): number => now.filter(([id, print]) => prints[id] !== print).length;
  let fewest = changesSince(new Map(runs).get(last ?? "") ?? {});
  let nearest: string | undefined;
  for (const [id, prints] of runs) {
    const changes = changesSince(prints);
    if (changes < fewest) [nearest, fewest] = [id, changes];
  }
  return nearest;
};

/** Finds nodes that have changed since a run. Only runs started in this browser are known. */
export const outdatedIn = (slug: string, graph: DocGraph): ((nodeId: string, executionId: string) => boolean) => {
  const runs = new Map(stored(slug));
  const now = runs.size === 0 ? undefined : fingerprints(graph);
  return (nodeId, executionId) => {
    const then = runs.get(executionId)?.[nodeId];
    return then !== undefined && now !== undefined && then !== now.get(nodeId);
  };
};
