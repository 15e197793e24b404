/** Exports an account's workflows with their inner workflows and files. Each one is read only when it is written. */
import {
  BUNDLE_BOUNDS as BOUNDS,
  invalidRequest,
  linkedSlugs,
  relinked,
  unlessNotFound,
  workflowNotFound,
  type MediaUrls,
  readGraph,
} from "@nodeloom/kernel";
import { elements, withMember } from "@nodeloom/kernel/json-text";
import { inMediaBatches, objectBytes } from "@nodeloom/platform";
import type { media as mediaProto, workflows as proto } from "@nodeloom/proto";
import type { Media, Workflows } from "../clients";
import { archive } from "../maintenance/export/archive";
import { jsonEntry, textEntry, type Entry } from "../maintenance/export/entry";
import { fileReference } from "./document";
import { BUNDLE_FORMAT } from "./reading";
import { credentialIssues } from "@nodeloom/kernel/credentials";

export interface ExportingOptions {
  workflows: Pick<Workflows, "getWorkflow" | "listFolders">;
  media: Pick<Media, "getObjects" | "getObjectsByKey" | "readObject">;
  urls: Pick<MediaUrls, "current" | "keysIn" | "renamed">;
}

/** Ids of uploads and of generated files. No other text in a graph has this form. */
const IDS = /"([0-9a-f]{32}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}[A-Za-z0-9._-]{0,160})"/g;
const FILE_MS = 300_000;

interface FoundWorkflow {
  slug: string;
  name: string;
  inner: string[];
}

/** Returns names by slug. Names from an earlier import are kept, so that an export can be imported again. */
const namesOf = (sources: readonly FoundWorkflow[]): Map<string, string> => {
  const names = new Map<string, string>();
  const takenNames = new Set<string>();
  for (const { slug, name } of sources) {
    const chosenName = takenNames.has(name) ? slug : name;
    if (takenNames.has(chosenName))
      throw invalidRequest([{ path: "slugs", message: `two of the workflows have the name ${chosenName} in bundles` }]);
    takenNames.add(chosenName);
    names.set(slug, chosenName);
  }
  return names;
};

const listText = (json: string): string => {
  const lines = elements(json).map((element) => `    ${element}`);
  return lines.length === 0 ? "[]" : `[\n${lines.join(",\n")}\n  ]`;
};

const workflowText = (workflow: proto.Workflow, nodesJson: string, testsJson: string, folder: string): string => {
  const { name, description, tags, edgesJson, viewportJson } = workflow;
  const members = [
    ...[["name", JSON.stringify(name)] as const, ["description", JSON.stringify(description)] as const],
    ...[["tags", JSON.stringify(tags)] as const],
    ...(folder === "" ? [] : [["folder", JSON.stringify(folder)] as const]),
    ...[["nodes", listText(nodesJson)] as const, ["edges", listText(edgesJson)] as const, ["viewport", viewportJson || "null"] as const],
    ...(elements(testsJson).length === 0 ? [] : [["tests", listText(testsJson)] as const]),
  ];
  return `{\n${members.map(([member, text]) => `  ${JSON.stringify(member)}: ${text}`).join(",\n")}\n}\n`;
};

export const createBundleExports = ({ workflows, media, urls }: ExportingOptions) => {
  const own = async (slug: string, ownerId: string): Promise<proto.Workflow | undefined> => {
    const reply = await unlessNotFound(workflows.getWorkflow({ slug, userId: ownerId }));
    if (reply?.workflow?.createdBy !== ownerId) return undefined;
    const { nodesJson, testsJson } = reply.workflow;
    return { ...reply.workflow, nodesJson: urls.current(nodesJson), testsJson: urls.current(testsJson) };
  };

  /** Collects the requested workflows and their inner workflows. Templates of other accounts aren't exported. */
  const collect = async (slugs: readonly string[], ownerId: string): Promise<FoundWorkflow[]> => {
    const foundBySlug = new Map<string, FoundWorkflow>();
    const pendingSlugs = new Set(slugs);
    for (const slug of pendingSlugs) {
      const workflow = await own(slug, ownerId);
      if (!workflow && slugs.includes(slug)) throw workflowNotFound();
      if (!workflow) continue;
      if (foundBySlug.size === BOUNDS.workflows)
        throw invalidRequest([{ path: "slugs", message: `with the workflows inside them, these are more than ${BOUNDS.workflows}` }]);
      const inner = linkedSlugs(workflow.nodesJson);
      foundBySlug.set(slug, { slug, name: workflow.bundleName || slug, inner });
      for (const one of inner) pendingSlugs.add(one);
    }
    return [...foundBySlug.values()];
  };

  const filesIn = async (json: string, ownerId: string): Promise<mediaProto.StoredObject[]> => {
    const ids = [...new Set([...json.matchAll(IDS)].map(([, id]) => id!))];
    const [byId, byKey] = await Promise.all([
      inMediaBatches(ids, async (some) => (await media.getObjects({ ids: some, ownerId })).objects),
      inMediaBatches(urls.keysIn(json), async (keys) => (await media.getObjectsByKey({ keys })).objects),
    ]);
    return [...byId, ...byKey].filter((object) => object.ownerId === ownerId);
  };

  async function* entries(sources: readonly FoundWorkflow[], ownerId: string): AsyncIterable<Entry> {
    const names = namesOf(sources);
    const folders = new Map((await workflows.listFolders({ ownerId })).folders.map(({ id, name }) => [id, name]));
    const files = new Map<string, mediaProto.StoredObject>();
    const [redactions, unpinned]: [string[], string[]] = [[], []];
    let bytes = 0;
    for (const { slug } of sources) {
      const workflow = await own(slug, ownerId);
      if (!workflow) throw workflowNotFound();
      const name = names.get(slug)!;
      const safe = redacted(workflow.nodesJson);
      redactions.push(...safe.places.map((place) => `${name}: ${place}`));
      const linked = relinked(safe.nodesJson, names);
      unpinned.push(...linked.unpinned.map((inner) => `${name}: ${names.get(inner) ?? inner}`));
      const used = new Map<string, string>();
      let [nodesJson, testsJson] = [linked.nodesJson, workflow.testsJson || "[]"];
      for (const object of await filesIn(`${nodesJson}${testsJson}`, ownerId)) {
        const fileName = `${object.sha256}${object.key.slice(object.key.lastIndexOf("."))}`;
        if (!files.has(fileName)) bytes += object.bytes;
        if (bytes > BOUNDS.packedBytes)
          throw invalidRequest([{ path: "slugs", message: `their files have more than ${BOUNDS.packedBytes} bytes; export fewer` }]);
        files.set(fileName, object);
        used.set(object.key, fileReference("url", fileName));
        const [id, reference] = [`"${object.id}"`, `"${fileReference("id", fileName)}"`];
        [nodesJson, testsJson] = [nodesJson.replaceAll(id, reference), testsJson.replaceAll(id, reference)];
      }
      yield textEntry(
        `workflows/${name}.json`,
        workflowText(workflow, urls.renamed(nodesJson, used), urls.renamed(testsJson, used), folders.get(workflow.folderId ?? "") ?? ""),
      );
    }
    if (sources.length + files.size >= BOUNDS.entries)
      throw invalidRequest([{ path: "slugs", message: `their bundle has more than ${BOUNDS.entries} entries; export fewer` }]);
    for (const [name, { key }] of files) yield { path: `files/${name}`, content: objectBytes(media, key, FILE_MS), isCompressed: true };
    // Written last, because both lists are complete only now.
    yield jsonEntry("bundle.json", { format: BUNDLE_FORMAT, redacted: redactions, withoutVersion: unpinned });
  }

  /** @throws DomainError WORKFLOW_NOT_FOUND before the first bytes are sent */
  return async function* exported(slugs: readonly string[], ownerId: string): AsyncIterable<Uint8Array> {
    const sources = await collect(slugs, ownerId);
    yield* archive(entries(sources, ownerId));
  };
};

export type BundleExports = ReturnType<typeof createBundleExports>;

/** A run with this placeholder is rejected with an error that names the secret. */
const PLACEHOLDER = JSON.stringify("{{secrets.REDACTED}}");
const HEADER = /^headers: (.*)$/s;

const pathOf = (setting: string): string[] => {
  const header = HEADER.exec(setting)?.[1];
  return header === undefined ? ["data", setting] : ["data", "headers", header];
};

/** Removes literals that look like credentials from a graph. `places` lists the affected settings. */
export const redacted = (nodesJson: string): { nodesJson: string; places: string[] } => {
  const places: string[] = [];
  const nodes = elements(nodesJson).map((nodeJson) => {
    // Nodes are searched one at a time, because the search is limited per graph.
    const { nodes: readNodes } = readGraph(`[${nodeJson}]`, "[]");
    const settings = credentialIssues({ nodes: readNodes }).flatMap(({ path }) => path ?? []);
    places.push(...settings.map((setting) => `${readNodes[0]!.id}: ${setting}`));
    return settings.reduce((text, setting) => withMember(text, pathOf(setting), PLACEHOLDER), nodeJson);
  });
  return places.length === 0 ? { nodesJson, places } : { nodesJson: `[${nodes.join(",")}]`, places };
};
