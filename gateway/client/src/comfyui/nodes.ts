import { isLink, type ComfyNode } from "./graph";
import { valueOf, wordsOf, type Role } from "./classes";
import { chooseModel, fileInputs, fitted, fittedShape, propertiesOf, type ImportModel } from "./models";
import { LOCAL_CUTOUT, LOCAL_UPSCALE, TYPES } from "./targets";
import { quoted, type Report } from "./report";
import { negativeOf, promptOf, scalarOf, sourcesOf, stagesOf, type Kind, type Tracer } from "./tracing";

/** Converts single ComfyUI nodes to nodes and links. */

export interface Draft {
  type: string;
  data: Record<string, unknown>;
  /** Port of the result. */
  output: string;
  /** Links into the node: source node and own port. */
  feeds: { from: ComfyNode; port: string }[];
}

export interface Import {
  tracer: Tracer;
  /** Undefined if only the name of an image model is known. */
  models: readonly ImportModel[] | undefined;
  pictureModel: string | undefined;
  report: Report;
  kindOf: (node: ComfyNode) => Kind;
}

const labelOf = ({ title, type }: ComfyNode): { label?: string } => (title === undefined || title === type ? {} : { label: title });
/** Two opening braces would start a placeholder. */
const plain = (text: string): string => text.replaceAll("{{", "{ {");
const nameOf = ({ title, type }: ComfyNode): string => title ?? type;
const numberOf = (value: unknown): number | undefined => (typeof value === "number" && Number.isFinite(value) ? value : undefined);

/** The first number with one of these names upstream of the nodes. */
const numberAbove = ({ tracer }: Import, nodes: readonly ComfyNode[], ...names: string[]): number | undefined => {
  for (const node of nodes)
    for (const name of names) {
      const value = numberOf(scalarOf(tracer, node, name));
      if (value !== undefined) return value;
    }
  return undefined;
};

const DEFAULT_FPS = 24;
const MOST_SEED = 2_147_483_647;

/** Seed, size, number of pictures and length, if the model supports them. */
const settingsOf = (task: Import, node: ComfyNode, kind: Kind, model: ImportModel | undefined): Record<string, unknown> => {
  const { report } = task;
  const above = stagesOf(task.tracer, node);
  const latents = above.filter(({ type }) => /^Empty|ToVideo|^EmptyImage/.test(type));
  const name = model?.displayName ?? model?.internalName ?? "the model";
  const settings: Record<string, unknown> = {};
  const seed = numberAbove(task, above, "seed", "noise_seed");
  if (seed !== undefined && seed > 0) {
    const own = Math.floor(seed) % (MOST_SEED + 1);
    const fittedSeed = model ? fitted(model, "seed", own) : own;
    if (fittedSeed === undefined) report.add(`The seed is left out: ${name} takes none.`);
    else settings.seed = fittedSeed;
  }
  if (kind === "model3d") return settings;
  const count = numberAbove(task, latents, "batch_size");
  if (count !== undefined && count > 1) {
    const fittedCount = fitted(model, "count", count);
    if (fittedCount === undefined) report.add(`The batch of ${count} is left out: ${name} makes one at a time.`);
    else settings.count = fittedCount;
    if (fittedCount !== undefined && fittedCount < count)
      report.add(`The batch of ${count} became ${fittedCount}, the most that ${name} makes.`);
  }
  const [width, height] = [numberAbove(task, latents, "width"), numberAbove(task, latents, "height")];
  if (width !== undefined && height !== undefined && width > 0 && height > 0) {
    const shape = fittedShape(model, width, height);
    if (shape) Object.assign(settings, shape);
    else report.add(`The size ${width} × ${height} is left out: ${name} decides it.`);
  }
  const frames = numberAbove(task, latents, "length");
  if (kind === "video" && frames !== undefined && frames > 1) {
    const seconds = fitted(model, "seconds", frames / DEFAULT_FPS);
    if (seconds === undefined) report.add(`The length of ${frames} frames is left out: ${name} decides it.`);
    else settings.seconds = seconds;
  }
  return settings;
};

const addNegative = (task: Import, node: ComfyNode, model: ImportModel | undefined, draft: Draft): void => {
  const [negative] = negativeOf(task.tracer, node);
  if (!negative || (wordsOf(negative).trim() === "" && task.tracer.roles.get(negative.id) === "text")) return;
  const port = "negative_prompt";
  if (!task.models || propertiesOf(model)?.[port]) draft.feeds.push({ from: negative, port });
  else task.report.add(`The negative prompt ${quoted(wordsOf(negative))} is left out: ${model?.displayName ?? "the model"} takes none.`);
};

const addFiles = (task: Import, node: ComfyNode, sources: readonly ComfyNode[], model: ImportModel | undefined, draft: Draft): void => {
  for (const kind of ["image", "video", "audio", "model3d"] as const) {
    const own = sources.filter((source) => task.kindOf(source) === kind);
    const ports = task.models ? fileInputs(model, kind) : [kind];
    for (const [index, from] of own.entries()) {
      const port = ports[index];
      if (port !== undefined) draft.feeds.push({ from, port });
      else
        task.report.add(
          `${quoted(nameOf(from))} isn't connected: ${model?.displayName ?? "the model"} takes ${ports.length} ${kind === "model3d" ? "3D" : kind} inputs.`,
        );
    }
  }
};

export const generatorOf = (task: Import, node: ComfyNode): Draft => {
  const kind = task.kindOf(node) as Exclude<Kind, "text">;
  const sources = sourcesOf(task.tracer, node);
  const files = [...new Set(sources.map(task.kindOf))];
  const model = chooseModel(task.models ?? [], kind, files);
  const name = model?.internalName ?? (kind === "image" ? task.pictureModel : undefined);
  const draft: Draft = { type: TYPES[kind], data: {}, output: kind, feeds: [] };
  const prompts = promptOf(task.tracer, node);
  const words = prompts.length === 0 && task.tracer.roles.get(node.id) === "partner" ? plain(wordsOf(node)) : "";
  const takesPrompt = model === undefined || propertiesOf(model)?.prompt !== undefined;
  const own = takesPrompt ? words : "";
  if (takesPrompt) for (const from of prompts) draft.feeds.push({ from, port: "prompt" });
  else
    for (const text of [words, ...prompts.map(wordsOf)])
      if (text.trim() !== "")
        task.report.add(`The prompt ${quoted(text)} is left out: ${model.displayName ?? model.internalName} takes none.`);
  addNegative(task, node, model, draft);
  addFiles(task, node, sources, model, draft);
  const inputs = { ...(own === "" ? {} : { prompt: own }), ...settingsOf(task, node, kind, model) };
  draft.data = { ...labelOf(node), ...(name === undefined ? {} : { model: name }), inputs, ...(node.mode === 0 ? {} : { bypass: true }) };
  return draft;
};

const toolOf = (task: Import, node: ComfyNode, data: Record<string, unknown>, type: string): Draft => {
  const from = sourcesOf(task.tracer, node).find((source) => task.kindOf(source) === "image");
  const off = node.mode === 0 ? {} : { bypass: true };
  return { type, data: { ...labelOf(node), ...data, ...off }, output: "image", feeds: from ? [{ from, port: "image" }] : [] };
};

const stitchOf = (task: Import, node: ComfyNode): Draft => {
  const draft = toolOf(task, node, { operation: "image-grid" }, TYPES.media);
  const images = sourcesOf(task.tracer, node).filter((source) => task.kindOf(source) === "image");
  return { ...draft, feeds: images.map((from) => ({ from, port: "images" })) };
};

const sizeOf = (task: Import, node: ComfyNode, names: readonly string[]): Record<string, number> =>
  Object.fromEntries(
    names.flatMap((name) => {
      const value = numberOf(scalarOf(task.tracer, node, name));
      return value === undefined || (value <= 0 && name !== "x" && name !== "y") ? [] : [[name, Math.round(value)]];
    }),
  );

const joined = (task: Import, node: ComfyNode): Draft => {
  const feeds: Draft["feeds"] = [];
  const parts = ["string_a", "string_b"].map((name, index) => {
    const input = node.inputs.get(name);
    if (!isLink(input)) return plain(String(valueOf(node, name) ?? ""));
    const probe = { ...node, id: `${node.id} `, type: "Text", inputs: new Map([["text", input]]) };
    const [from] = promptOf({ ...task.tracer, roles: new Map(task.tracer.roles).set(probe.id, "text") }, probe);
    if (!from) return "";
    feeds.push({ from, port: `text_${index + 1}` });
    return `{{text_${index + 1}}}`;
  });
  const between = valueOf(node, "delimiter");
  return {
    type: TYPES.text,
    data: { ...labelOf(node), text: parts.join(typeof between === "string" ? between : "") },
    output: "text",
    feeds,
  };
};

const FILE_NAMES = ["image", "video", "audio", "file", "model_file"];
const fileOf = (node: ComfyNode): Draft => {
  const [fileName] = FILE_NAMES.map((name) => valueOf(node, name)).filter((value) => typeof value === "string");
  const name = String(fileName ?? node.widgets.find((value) => typeof value === "string") ?? "File").slice(0, MOST_NAME);
  return { type: TYPES.file, data: { label: node.title ?? name, mediaId: "" }, output: "media", feeds: [] };
};
const MOST_NAME = 100;

const chatOf = (task: Import, node: ComfyNode): Draft => {
  const sources = sourcesOf(task.tracer, node).filter((source) => task.kindOf(source) === "image");
  const model = chooseModel(task.models ?? [], "text", sources.length > 0 ? ["image"] : []);
  const prompts = promptOf(task.tracer, node).filter(({ id }) => id !== node.id);
  const own = prompts.length === 0 ? { prompt: plain(wordsOf(node)) } : {};
  const draft: Draft = {
    type: TYPES.chat,
    data: { ...labelOf(node), ...(model ? { model: model.internalName } : {}), inputs: own, ...(node.mode === 0 ? {} : { bypass: true }) },
    output: "text",
    feeds: prompts.slice(0, 1).map((from) => ({ from, port: "prompt" })),
  };
  addFiles(task, node, sources, model, draft);
  return draft;
};

/** Converts a ComfyUI node; undefined for results, which are replaced by their sources. */
export const draftOf = (task: Import, node: ComfyNode, role: Role): Draft | undefined => {
  switch (role) {
    case "text":
      return { type: TYPES.text, data: { ...labelOf(node), text: plain(wordsOf(node)) }, output: "text", feeds: [] };
    case "join":
      return joined(task, node);
    case "chat":
      return chatOf(task, node);
    case "file":
      return fileOf(node);
    case "upscale":
      return toolOf(task, node, { model: LOCAL_UPSCALE, inputs: {} }, TYPES.image);
    case "cutout":
      return toolOf(task, node, { model: LOCAL_CUTOUT, inputs: {} }, TYPES.image);
    case "resize":
      return toolOf(task, node, { operation: "image-resize", fit: "cover", ...sizeOf(task, node, ["width", "height"]) }, TYPES.media);
    case "crop":
      return toolOf(task, node, { operation: "image-crop", ...sizeOf(task, node, ["width", "height", "x", "y"]) }, TYPES.media);
    case "stitch":
      return stitchOf(task, node);
    case "sampler":
    case "partner":
      return generatorOf(task, node);
    default:
      return undefined;
  }
};
