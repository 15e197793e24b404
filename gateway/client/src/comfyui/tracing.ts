import { isLink, type ComfyNode, type Link } from "./graph";
import { isShapeMaker, roleOf, valueOf, WORDS, type Role } from "./classes";

/** Follows links of a graph upstream, through nodes that have no counterpart. */

export interface Tracer {
  nodes: ReadonlyMap<string, ComfyNode>;
  roles: ReadonlyMap<string, Role>;
  /** `SetNode`s by the name that `GetNode`s read. */
  setters: ReadonlyMap<string, ComfyNode>;
}

export const tracerOf = (nodes: readonly ComfyNode[]): Tracer => ({
  nodes: new Map(nodes.map((node) => [node.id, node])),
  roles: new Map(nodes.map((node) => [node.id, roleOf(node)])),
  setters: new Map(nodes.flatMap((node) => (node.type === "SetNode" ? [[String(valueOf(node, "name")), node] as const] : []))),
});

export type Kind = "image" | "video" | "audio" | "model3d" | "text";
const MEDIA: readonly Role[] = ["file", "sampler", "partner", "upscale", "cutout", "resize", "crop", "stitch"];
const isNegative = (name: string): boolean => name.startsWith("negative");

const linksIn = (node: ComfyNode, take: (name: string) => boolean): Link[] =>
  [...node.inputs].flatMap(([name, input]) => (isLink(input) && take(name) ? [input] : []));

/** Links that a node's output depends on. */
const above = (tracer: Tracer, node: ComfyNode, slot: number): Link[] => {
  if (node.type === "GetNode") {
    const set = tracer.setters.get(String(valueOf(node, "name")));
    return set ? linksIn(set, () => true) : [];
  }
  if (node.type === "ComfySwitchNode") {
    const branch = scalarOf(tracer, node, "switch") === true ? "on_true" : "on_false";
    return linksIn(node, (name) => name === branch);
  }
  const hasBoth = node.inputs.has("positive") && node.inputs.has("negative");
  // Nodes that take both prompts return them at their first two outputs.
  if (hasBoth && slot === 1 && tracer.roles.get(node.id) === "inside") return linksIn(node, isNegative);
  return linksIn(node, (name) => !isNegative(name));
};

const isConstant = ({ type }: ComfyNode): boolean => /^(?:Primitive|Seed)/.test(type);
const MOST_STEPS = 2_000;

/** A value of a node: its own, or that of a linked constant. */
export const scalarOf = (tracer: Tracer, node: ComfyNode, name: string): unknown => {
  let [input, at] = [node.inputs.get(name), node];
  for (let steps = 0; isLink(input) && steps < MOST_STEPS; steps += 1) {
    const source = tracer.nodes.get(input.from);
    if (!source) return undefined;
    const [next] = isConstant(source) ? linksIn(source, (each) => each === "value") : above(tracer, source, input.slot);
    if (!next) return isConstant(source) ? (valueOf(source, "value") ?? valueOf(source, "seed") ?? source.widgets[0]) : undefined;
    [input, at] = [next, source];
  }
  return at === node ? valueOf(node, name) : undefined;
};

/** Returns true to collect a node, false to stop at it, and undefined to pass through it. `inPixels` is false for a sampler's latents. */
type Take = (node: ComfyNode, slot: number, inPixels: boolean) => boolean | undefined;

/** Searches upstream, in the order of the inputs. */
const search = (tracer: Tracer, links: readonly Link[], startsInPixels: boolean, take: Take): ComfyNode[] => {
  const [nodesById, visited] = [new Map<string, ComfyNode>(), new Set<string>()];
  const pending = links.map((link) => ({ link, inPixels: startsInPixels })).toReversed();
  for (let next = pending.pop(); next && visited.size < MOST_STEPS; next = pending.pop()) {
    const { link, inPixels } = next;
    const node = tracer.nodes.get(link.from);
    const key = `${link.from} ${link.slot} ${inPixels}`;
    if (!node || visited.has(key)) continue;
    visited.add(key);
    const isTaken = take(node, link.slot, inPixels);
    if (isTaken === true) nodesById.set(node.id, node);
    if (isTaken !== undefined) continue;
    const isBorder = /Encode|Decode/.test(node.type);
    pending.push(
      ...above(tracer, node, link.slot)
        .map((each) => ({ link: each, inPixels: inPixels || isBorder }))
        .toReversed(),
    );
  }
  return [...nodesById.values()];
};

/**
 * Nodes that produce the pictures, videos and sounds of links.
 * @param inLatents true for links of a sampler: if they reach another sampler without a decoder, that sampler is a stage of the same
 *   picture
 */
const mediaOf = (tracer: Tracer, links: readonly Link[], inLatents: boolean): ComfyNode[] =>
  search(tracer, links, !inLatents, (node, slot, inPixels) => {
    const role = tracer.roles.get(node.id)!;
    // A mask output is not media, except for a cut-out, which is made from its mask.
    if ((node.outputs[slot] === "MASK" && role !== "cutout") || role === "chat") return false;
    // Generators of 3D models also return textures, which have no counterpart.
    if (node.outputs[slot] === "IMAGE" && isShapeMaker(node)) return false;
    if (!MEDIA.includes(role)) return undefined;
    return role !== "sampler" || node.mode !== 0 || inPixels ? true : undefined;
  });

/** Nodes that provide the text of links. */
export const textsOf = (tracer: Tracer, links: readonly Link[]): ComfyNode[] =>
  search(tracer, links, true, (node, slot) => {
    const role = tracer.roles.get(node.id)!;
    // The prompt is empty whatever its source is.
    if (node.type === "ConditioningZeroOut") return false;
    if (role === "chat") return true;
    if (role === "partner") return node.outputs[slot] === "STRING";
    if (role === "join") return true;
    if (role === "text")
      return WORDS.some((name) => isLink(node.inputs.get(name)) && wordSources(tracer, node).length > 0) ? undefined : true;
    return MEDIA.includes(role) && role !== "sampler" ? false : undefined;
  });

const wordSources = (tracer: Tracer, node: ComfyNode): ComfyNode[] =>
  linksIn(node, (name) => WORDS.includes(name)).flatMap(({ from }) => {
    const source = tracer.nodes.get(from);
    return source && tracer.roles.get(source.id) !== "other" ? [source] : [];
  });

/** Nodes that provide a prompt's text. */
export const promptOf = (tracer: Tracer, node: ComfyNode): ComfyNode[] => {
  const role = tracer.roles.get(node.id);
  const own = (name: string): boolean => /prompt|^text|^tags|^lyrics|string/i.test(name) && !/negative/i.test(name);
  if (role !== "sampler" && role !== "upscale") return textsOf(tracer, linksIn(node, own));
  const conditioning = textsOf(
    tracer,
    linksIn(node, (name) => ["positive", "guider", "conditioning"].includes(name)),
  );
  return conditioning.length > 0
    ? conditioning
    : textsOf(
        tracer,
        linksIn(node, (name) => name === "latent_image"),
      );
};

/** The negative prompt of a node, or of an earlier stage of the same output. */
export const negativeOf = (tracer: Tracer, node: ComfyNode): ComfyNode[] => {
  for (const stage of stagesOf(tracer, node)) {
    const texts = textsOf(tracer, linksIn(stage, isNegative));
    if (texts.length > 0) return texts;
  }
  return [];
};

/** A bypassed sampler passes on the output of the sampler before it. */
const isActiveSampler = ({ roles }: Tracer, { id, mode }: ComfyNode): boolean => roles.get(id) === "sampler" && mode === 0;

/** The pictures, videos and sounds that a node starts from. */
export const sourcesOf = (tracer: Tracer, node: ComfyNode): ComfyNode[] =>
  mediaOf(
    tracer,
    linksIn(node, (name) => !isNegative(name)),
    isActiveSampler(tracer, node),
  ).filter(({ id }) => id !== node.id);

/** Nodes that create one output together: a node, and all nodes upstream of it up to other media. */
export const stagesOf = (tracer: Tracer, node: ComfyNode): ComfyNode[] => {
  const nodesById = new Map([[node.id, node]]);
  const isSampler = isActiveSampler(tracer, node);
  search(
    tracer,
    linksIn(node, () => true),
    !isSampler,
    (each, _slot, inPixels) => {
      const role = tracer.roles.get(each.id)!;
      if (MEDIA.includes(role) && (role !== "sampler" || inPixels || each.mode !== 0)) return false;
      nodesById.set(each.id, each);
      return undefined;
    },
  );
  return [...nodesById.values()];
};
