import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ResourceNotFoundError, type ReadResourceResult, type Resource, type ResourceTemplateType } from "@modelcontextprotocol/server";
import { z } from "zod";
import { standalone } from "../../docs/components";
import { DOCS_FOLDER, readContents, type Entry } from "../../docs/site/contents";
import { nodeKinds } from "../../routes/node-kinds/routes";
import { kindView } from "../builder/catalog";

/** Resources: the guides of the documentation, and the schemas of graphs and node kinds. They are the same for every caller. */

const SCHEME = "nodeloom://";
const DOCS = `${SCHEME}docs/`;
const KINDS = `${SCHEME}node-kinds/`;
const GRAPH = `${SCHEME}schemas/graph`;
const MARKDOWN = "text/markdown";
const JSON_TYPE = "application/json";
const GUIDES = /^guide\//;

const node = z.object({
  id: z.string().meta({ description: "Unique in the graph" }),
  type: z.string().meta({ description: `Its kind. ${KINDS}{type} has its ports and settings` }),
  position: z.object({ x: z.number(), y: z.number() }).optional(),
  data: z
    .looseObject({ label: z.string().optional().meta({ description: "Name that people see" }) })
    .meta({ description: "Settings of its kind" }),
});
const edge = z.object({
  id: z.string().optional(),
  source: z.string().meta({ description: "Id of the node that gives the value" }),
  sourceHandle: z.string().optional().meta({ description: "Output port. Default: its first" }),
  target: z.string().meta({ description: "Id of the node that takes the value" }),
  targetHandle: z.string().optional().meta({ description: "Input port. Default: the first that fits" }),
});
const graph = z.object({ nodes: z.array(node), edges: z.array(edge) }).meta({
  description:
    "The graph of a workflow. A request-input node declares the inputs, a response-output node the result. Text settings can have {{placeholders}}, which are input ports",
});

const jsonText = (value: unknown): string => JSON.stringify(value, null, 2);

interface Content {
  mimeType: string;
  text: string;
}

export interface Guides {
  list(): Resource[];
  templates(): ResourceTemplateType[];
  /** @throws ResourceNotFoundError */
  read(uri: string): ReadResourceResult;
  /** Values of a template's variable that begin with a text. */
  complete(template: string, value: string): string[];
}

const kindText = (type: string): string | undefined => {
  const kind = nodeKinds.find((one) => one.type === type);
  return kind && jsonText(kindView(kind, true));
};

/** Pages of the guide, by path in docs without `.md`. */
const readPages = (): ReadonlyMap<string, Entry> => {
  const entries = readContents().groups.flatMap((group) => group.entries);
  return new Map(entries.filter(({ path }) => GUIDES.test(path)).map((entry) => [entry.path, entry]));
};

export const createGuides = (): Guides => {
  const pages = readPages();
  const contentOf = (uri: string): Content | undefined => {
    if (uri === GRAPH) return { mimeType: JSON_TYPE, text: jsonText(standalone(graph, "input")) };
    if (uri.startsWith(KINDS)) {
      const text = kindText(uri.slice(KINDS.length));
      return text === undefined ? undefined : { mimeType: JSON_TYPE, text };
    }
    const path = uri.startsWith(DOCS) ? uri.slice(DOCS.length) : "";
    return pages.has(path) ? { mimeType: MARKDOWN, text: readFileSync(join(DOCS_FOLDER, `${path}.md`), "utf8") } : undefined;
  };
  const values: Readonly<Record<string, readonly string[]>> = {
    [`${DOCS}{+path}`]: [...pages.keys()],
    [`${KINDS}{type}`]: nodeKinds.map(({ type }) => type),
  };
  return {
    list: () => [
      {
        uri: GRAPH,
        name: "graph-schema",
        title: "Schema of graphs",
        description: "JSON Schema of a workflow's nodes and edges.",
        mimeType: JSON_TYPE,
      },
      ...nodeKinds.map(({ type, summary }) => ({
        uri: `${KINDS}${type}`,
        name: type,
        title: `Node kind ${type}`,
        description: summary,
        mimeType: JSON_TYPE,
      })),
      ...[...pages.values()].map(({ path, label, about }) => ({
        ...{ uri: `${DOCS}${path}`, name: path, title: label, description: about || `Guide: ${label}`, mimeType: MARKDOWN },
      })),
    ],
    templates: () => [
      {
        uriTemplate: `${DOCS}{+path}`,
        ...{ name: "guide", title: "Page of the guide", description: "A page such as `guide/runs`, as Markdown.", mimeType: MARKDOWN },
      },
      {
        uriTemplate: `${KINDS}{type}`,
        ...{
          name: "node-kind",
          title: "Node kind",
          description: "Ports of a kind, and the JSON Schema of its settings.",
          mimeType: JSON_TYPE,
        },
      },
    ],
    read: (uri) => {
      const content = contentOf(uri);
      if (!content) throw new ResourceNotFoundError(uri);
      return { contents: [{ uri, ...content }] };
    },
    complete: (template, value) => (values[template] ?? []).filter((name) => name.startsWith(value)),
  };
};
