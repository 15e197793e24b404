import { didYouMean, invalidRequest, TASK_NAMES } from "@nodeloom/kernel";
import { z } from "zod";
import { slug } from "../../http/schemas";
import { modelFilter } from "../../routes/models/filter";
import { modelRoutes } from "../../routes/models/routes";
import { nodeKindRoutes, type NodeKindView } from "../../routes/node-kinds/routes";
import { workflowRoutes } from "../../routes/workflows/routes";
import { callRoute } from "../calls";
import { structured } from "../contents";
import { routeNamed } from "../named";
import { objectSchema, readArguments } from "../tools/arguments";
import { READS, type Tool } from "../tools/tool";

/** Tools that list the parts of workflows: node kinds, models and templates. */

const kindsRoute = routeNamed(nodeKindRoutes, "listNodeKinds");
const [modelsRoute, modelRoute] = [routeNamed(modelRoutes, "listModels"), routeNamed(modelRoutes, "getModel")];
const listRoute = routeNamed(workflowRoutes, "listWorkflows");

const MAX_WORDS_CHARS = 200;
const [ROWS, MOST_ROWS] = [20, 50];

const words = z.string().max(MAX_WORDS_CHARS).optional();
const page = {
  limit: z
    .number()
    .int()
    .min(1)
    .max(MOST_ROWS)
    .optional()
    .meta({ description: `Rows per page. Default: ${ROWS}` }),
  cursor: slug.optional().meta({ description: "`nextCursor` of the page before" }),
};

/** Rows after a cursor, which is the name of the last row before them. @throws DomainError INVALID_REQUEST for an unknown cursor */
const pageOf = <T>(
  rows: readonly T[],
  nameOf: (row: T) => string,
  { limit = ROWS, cursor }: { limit?: number | undefined; cursor?: string | undefined },
) => {
  const before = cursor === undefined ? 0 : rows.findIndex((row) => nameOf(row) === cursor) + 1;
  if (cursor !== undefined && before === 0)
    throw invalidRequest([{ path: "cursor", message: "doesn't belong to this list: send the nextCursor of its last page" }]);
  const page = rows.slice(before, before + limit);
  return { rows: page, nextCursor: before + limit < rows.length ? nameOf(page.at(-1)!) : null };
};

const defined = (given: object): Record<string, unknown> =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));

/** Number of the query's words in a text. */
const wordsIn = (text: string, query: string): number => {
  const lower = text.toLowerCase();
  return query
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "" && lower.includes(word)).length;
};

const kindArguments = z.strictObject({
  q: words.meta({ description: "Words to find in kinds and their operations; those with most of them come first" }),
  type: z.string().max(MAX_WORDS_CHARS).optional().meta({ description: "One kind, with the inputs of its operations" }),
});

/** A kind with the JSON Schema of `data`. @param isWhole with the schemas of its operations */
export const kindView = ({ settings, operations, ...kind }: NodeKindView, isWhole: boolean): Record<string, unknown> => ({
  ...kind,
  data: { type: "object", properties: settings },
  operations: isWhole ? operations : operations.map(({ name, summary, output }) => ({ name, summary, output })),
});

const textOf = ({ type, summary, operations }: NodeKindView): string =>
  [type, summary, ...operations.flatMap(({ name, title, summary: about }) => [name, title, about])].join(" ");

const listNodeKinds: Tool = {
  name: "list_node_kinds",
  description:
    "Lists the kinds of nodes, with their input and output ports and the JSON Schema of their `data`. With `type`, it shows one kind with the inputs of each of its operations.",
  inputSchema: objectSchema(kindArguments),
  annotations: READS,
  call: async ({ context, args }) => {
    const { q = "", type } = readArguments(kindArguments, args);
    const all = (await callRoute(context, kindsRoute, {})).body as NodeKindView[];
    if (type === undefined) {
      const found = all.map((kind) => ({ kind, words: wordsIn(textOf(kind), q) })).filter(({ words }) => q === "" || words > 0);
      return structured({ kinds: found.sort((one, other) => other.words - one.words).map(({ kind }) => kindView(kind, false)) });
    }
    const found = all.find((kind) => kind.type === type);
    if (found) return structured({ kinds: [kindView(found, true)] });
    const names = all.map((kind) => kind.type);
    throw invalidRequest([{ path: "type", message: `is no node kind${didYouMean(type, names) || `: there are ${names.join(", ")}`}` }]);
  },
};

const modelArguments = z.strictObject({
  ...modelFilter.shape,
  task: z
    .enum(TASK_NAMES)
    .optional()
    .meta({ description: "Only models for this task. A node with the model `auto:<task>` uses the best of them" }),
  name: slug.optional().meta({ description: "One model, with the JSON Schema of its inputs" }),
  ...page,
});

type Model = Record<string, unknown> & { internalName: string; tasks: string[]; inputSchema: { text: string } };

const SHOWN = [
  "internalName",
  "displayName",
  "description",
  "modality",
  "tasks",
  "outputs",
  "tierPrice",
  "minTier",
  "status",
  "statusReason",
  "retiresOn",
];

const modelRow = (model: Model): Record<string, unknown> => {
  const { properties = {} } = JSON.parse(model.inputSchema.text) as { properties?: object };
  return {
    ...Object.fromEntries(SHOWN.flatMap((name) => (model[name] === null ? [] : [[name, model[name]]]))),
    inputs: Object.keys(properties),
  };
};

const listModels: Tool = {
  name: "list_models",
  description:
    "Lists models with their tasks, price in credits, tier and names of inputs. With `name`, it shows one model with the JSON Schema of its inputs.",
  inputSchema: objectSchema(modelArguments),
  annotations: READS,
  call: async ({ context, args }) => {
    const { name, task, limit, cursor, ...filter } = readArguments(modelArguments, args);
    if (name !== undefined)
      return structured({ models: [(await callRoute(context, modelRoute, { params: { internalName: name } })).body] });
    const all = (await callRoute(context, modelsRoute, { query: defined(filter) })).body as Model[];
    const listed = all.filter(({ tasks }) => task === undefined || tasks.includes(task));
    const { rows, nextCursor } = pageOf(listed, ({ internalName }) => internalName, { limit, cursor });
    return structured({ models: rows.map(modelRow), nextCursor });
  },
};

const templateArguments = z.strictObject({
  q: words.meta({ description: "Words to find in name, description, slug or tags" }),
  tag: z.string().max(MAX_WORDS_CHARS).optional(),
  ...page,
});

type Template = Record<string, unknown> & { slug: string; isTemplate: boolean };

const searchTemplates: Tool = {
  name: "search_templates",
  description:
    "Finds templates: finished workflows that you can read with `get_workflow`, run, or copy with `clone_workflow` and change. They are listed with the expected cost of a run.",
  inputSchema: objectSchema(templateArguments),
  annotations: READS,
  call: async ({ context, args }) => {
    const { q, tag, limit, cursor } = readArguments(templateArguments, args);
    const all = (await callRoute(context, listRoute, { query: defined({ q, tag }) })).body as Template[];
    const { rows, nextCursor } = pageOf(
      all.filter(({ isTemplate }) => isTemplate),
      (row) => row.slug,
      { limit, cursor },
    );
    // Pictures are for people, and can be data URLs.
    return structured({ templates: rows.map(({ cover: _, thumbnail: __, ...row }) => row), nextCursor });
  },
};

export const CATALOG_TOOLS: readonly Tool[] = [listNodeKinds, listModels, searchTemplates];
