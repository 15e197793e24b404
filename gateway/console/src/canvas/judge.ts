import type { MediaFile, Model, Task } from "@nodeloom/client";
import {
  callsModel,
  createInputCheck,
  findingInWords,
  heldMillicredits,
  inputFields,
  isMediaId,
  mediaIds,
  planRun,
  readGraph,
  readWrittenPrice,
  requestInputs,
  retiresSoon,
  takesFiles,
  taskOf,
  uploadFamily,
  withChosenModels,
  type Finding,
  type GraphIssue,
  type InputField,
  type ModelTerms,
  type Price,
  type WrittenPrice,
} from "@nodeloom/kernel/graph";
import { edgesText, nodesOf, nodesText, type DocGraph } from "../document/graph";

/** Validates and prices the graph like the service, with the same code and the models' own schemas. */
export interface Judgement {
  issues: readonly GraphIssue[];
  warnings: Readonly<Record<string, readonly Finding[]>>;
  /** Maximum cost of each node per run in credits; empty while the graph is invalid. */
  prices: ReadonlyMap<string, { credits: number; calls: number }>;
}

const MILLI = 1_000;

const FREE: Price = { basis: "run", microUsd: 0 };

const termsOf = (
  { internalName, modality, provider, price, inputSchema, outputs, retiresOn, successor }: Model,
  fallback: readonly string[],
): ModelTerms => ({
  internalName,
  modality,
  providerKind: provider.kind,
  price: price ? readWrittenPrice(price as WrittenPrice) : FREE,
  inputSchema,
  outputs,
  validate: createInputCheck(inputSchema),
  ...(fallback.length > 0 ? { fallback } : {}),
  ...(retiresOn !== null && retiresSoon(retiresOn, Date.now()) ? { retiresOn } : {}),
  ...(successor === null ? {} : { successor }),
});

/** Fallback models that the service would use now. */
const usable = ({ fallback }: Model, models: ReadonlyMap<string, Model>): string[] =>
  fallback.filter((name) => {
    const { enabled = false, status } = models.get(name) ?? {};
    return enabled && status === "ready";
  });

/** Models by the names in nodes, including tasks (`auto:image`) and retired models, which get their successor. */
export const modelTerms = (models: readonly Model[], tasks: readonly Task[] = []): ReadonlyMap<string, ModelTerms> => {
  const byName = new Map(models.map((model) => [model.internalName, model]));
  const on = models.filter(({ enabled }) => enabled);
  const terms = new Map(on.map((model) => [model.internalName, termsOf(model, usable(model, byName))]));
  for (const { internalName, replaces } of on) for (const name of replaces) terms.set(name, terms.get(internalName)!);
  for (const { name, model } of tasks) {
    const own = terms.get(model ?? "");
    if (own) terms.set(name, own);
  }
  return terms;
};

const sample = (field: InputField): unknown => {
  switch (field.type) {
    case "number":
      return field.min ?? 1;
    case "boolean":
      return true;
    case "select":
      return field.options?.[0] ?? "";
    case "image_upload":
    case "mask_upload":
      return { url: "https://example.com/image.png", contentType: "image/png" };
    case "video_upload":
      return { url: "https://example.com/video.mp4", contentType: "video/mp4" };
    case "audio_upload":
      return { url: "https://example.com/audio.mp3", contentType: "audio/mpeg" };
    case "model3d_upload":
      return { url: "https://example.com/model.glb", contentType: "model/gltf-binary" };
    case "json":
      return {};
    default:
      return "…";
  }
};

/** A field's default. Only the service can look up file ids, so any file of the type represents one. */
const filledIn = (field: InputField): unknown => {
  if (takesFiles(field)) return [field.default ?? ""].flat().map(() => sample(field));
  return isMediaId(field.default) && uploadFamily(field) ? sample(field) : (field.default ?? sample(field));
};

const isTask = (model: unknown): boolean => typeof model === "string" && taskOf(model) !== undefined;

export const NO_JUDGEMENT: Judgement = { issues: [], warnings: {}, prices: new Map() };

/** Drops the warning about a missing result for a workflow without inputs, because it has no callers yet. */
const withoutNoResult = (warnings: Iterable<[string, readonly Finding[]]>): Judgement["warnings"] =>
  Object.fromEntries(
    [...warnings].flatMap(([id, findings]) => {
      const rest = findings.filter(({ code }) => code !== "NO_RESULT");
      return rest.length === 0 ? [] : [[id, rest]];
    }),
  );

/** Type of files that weren't read. Planning accepts it for any media type. */
const UNREAD_TYPE = "";

/**
 * @param markupPermille markup of the caller's tier; undefined if unknown, and then nothing is priced
 * @param files known files of the person, by id
 */
export const judge = (
  graph: DocGraph,
  models: ReadonlyMap<string, ModelTerms>,
  markupPermille: number | undefined,
  files: ReadonlyMap<string, Pick<MediaFile, "contentType">> = new Map(),
): Judgement => {
  try {
    const others = new Map([...models].filter(([name, { internalName }]) => name !== internalName));
    const retired = new Map([...others].flatMap(([name, { internalName }]) => (taskOf(name) === undefined ? [[name, internalName]] : [])));
    const living = new Map([...models].filter(([name]) => !retired.has(name)));
    const { graph: readableGraph, warnings: leftOut } = withChosenModels(readGraph(nodesText(graph), edgesText(graph)), others);
    const inputs = new Map(inputFields(readableGraph).map((field) => [field.name, filledIn(field)]));
    const typeOf = (id: string): string => files.get(id)?.contentType ?? UNREAD_TYPE;
    const media = new Map(mediaIds(readableGraph).map((id) => [id, { url: `https://example.com/${id}`, contentType: typeOf(id) }]));
    const planned = planRun({
      graph: readableGraph,
      inputs,
      models: living,
      // Only the service knows which model such a node gets, so its limits are checked there.
      others: new Map(nodesOf(graph).flatMap(({ id, data }) => (isTask(data.model) ? [[id, []] as const] : []))),
      retired,
      warnings: leftOut,
      media,
      markupPermille: markupPermille ?? 0,
    });
    if (planned.plan === undefined) return { ...NO_JUDGEMENT, issues: planned.issues };
    const { steps } = planned.plan;
    const { warnings } = planned;
    const priced = markupPermille === undefined ? [] : steps.filter(({ type }) => callsModel(type));
    return {
      issues: [],
      warnings: requestInputs(readableGraph).length > 0 ? Object.fromEntries(warnings) : withoutNoResult(warnings),
      prices: new Map(priced.map((step) => [step.id, { credits: (step.maxItems * heldMillicredits(step)) / MILLI, calls: step.maxItems }])),
    };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { ...NO_JUDGEMENT, issues: [{ nodeId: null, ...findingInWords("GRAPH_INVALID", message) }] };
  }
};
