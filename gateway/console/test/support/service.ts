import { edgesText, nodesText, readDocGraph, type DocGraph } from "../../src/document/graph";
import { members } from "@nodeloom/kernel/json-text";
import type { Draft, Drafts, LoadedDocument, Meta, PublishedState, Remote } from "../../src/document/remote";
import { WriteError, type Timers } from "../../src/document/write-queue";

export const META: Meta = {
  name: "One",
  description: "",
  tags: [],
  isTemplate: false,
  hidden: false,
  archived: false,
  publicPlayground: false,
  mcp: false,
  retentionDays: null,
  folderId: null,
};

const UNPUBLISHED: PublishedState = { version: null, production: null, changed: false, pending: false };

/** The connection between a tab and the service: `before` loses requests, `after` loses answers. */
export interface Line {
  cut: "none" | "before" | "after";
}

/** One workflow in the service: texts, a revision, If-Match. */
export const createService = (nodes = "[]", edges = "[]") => {
  let revision = 1;
  let texts = { nodes, edges };
  let meta = META;
  const load = (): LoadedDocument => ({
    etag: `"${revision}"`,
    published: UNPUBLISHED,
    graph: readDocGraph(texts.nodes, texts.edges),
    meta,
  });
  const lostError = (): WriteError => new WriteError({ kind: "unreachable", message: "cut" });
  const connect = (line: Line): Remote => ({
    load: () => (line.cut === "none" ? Promise.resolve(load()) : Promise.reject(lostError())),
    save: (body, etag) => {
      if (line.cut === "before") return Promise.reject(lostError());
      if (etag !== `"${revision}"`) return line.cut === "after" ? Promise.reject(lostError()) : Promise.resolve("stale" as const);
      const sentMembers = members(body);
      texts = { nodes: sentMembers.get("nodes") ?? texts.nodes, edges: sentMembers.get("edges") ?? texts.edges };
      if (sentMembers.has("name")) meta = { ...meta, name: JSON.parse(sentMembers.get("name")!) as string };
      revision += 1;
      return line.cut === "after" ? Promise.reject(lostError()) : Promise.resolve({ etag: `"${revision}"`, published: UNPUBLISHED });
    },
  });
  return { load, connect, texts: () => texts, meta: () => meta, revision: () => revision };
};

/** Timers that run on command. */
export const manualTimers = (): Timers & { runAll(): void } => {
  let now = 0;
  let due: { at: number; run: () => void }[] = [];
  return {
    now: () => now,
    after: (ms, run) => {
      const entry = { at: now + ms, run };
      due.push(entry);
      return () => {
        due = due.filter((one) => one !== entry);
      };
    },
    runAll: () => {
      const ready = due;
      due = [];
      for (const { at, run } of ready) {
        now = Math.max(now, at);
        run();
      }
    },
  };
};

/** A browser's storage. `crash` keeps the last written value. */
export const memoryDrafts = (): Drafts & { left(): Draft | undefined } => {
  let draft: Draft | undefined;
  return {
    put: (next) => {
      draft = next;
      return Promise.resolve();
    },
    take: () => {
      const left = draft ? [draft] : [];
      return Promise.resolve(left);
    },
    clear: () => {
      draft = undefined;
      return Promise.resolve();
    },
    left: () => draft,
  };
};

export const textsOf = (graph: DocGraph): { nodes: string; edges: string } => ({ nodes: nodesText(graph), edges: edgesText(graph) });
