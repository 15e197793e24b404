import type { ComfyNode } from "./graph";
import { isShapeMaker, type Role } from "./classes";
import { scalarOf, sourcesOf, stagesOf, tracerOf, type Kind, type Tracer } from "./tracing";

/** Finds the media type that each node of a graph creates: pictures, videos, sounds, 3D models or text. */

export type KindOf = (node: ComfyNode) => Kind;

const VIDEO_SINK = /^(?:SaveVideo|SaveWEBM|SaveAnimated|VHS_VideoCombine)/;
const VIDEO_LATENT = /^Empty\w*(?:Video|LTXV|Mochi|Cosmos)|ToVideo|^(?:Wan(?!Image)|LTXV|SVD_|MiniMaxH3|CreateVideo|ADE_)/;
const AUDIO_LATENT = /^Empty\w*(?:Audio|AceStep)|^TextEncodeAceStep|^VAEDecodeAudio/;
const SHAPE_LATENT = /3D|Trellis|Voxel|Mesh/;
const TOOLS: readonly Role[] = ["upscale", "cutout", "resize", "crop", "stitch"];

const partnerKind = (node: ComfyNode): Kind => {
  const { type, outputs } = node;
  if (isShapeMaker(node)) return "model3d";
  const [medium] = outputs.filter((output) => ["IMAGE", "VIDEO", "AUDIO"].includes(output));
  if (medium !== undefined) return medium.toLowerCase() as Kind;
  if (/Image(?!ToVideo|\w*Video)/.test(type) && !/Video/.test(type)) return "image";
  if (/Video|Veo|Kling|Hailuo|Vidu|Pixverse|Seedance/.test(type)) return "video";
  return /Audio|Speech|Music|Sound|SFX|Dialogue/.test(type) ? "audio" : "image";
};

const fileKind = ({ type }: ComfyNode): Kind =>
  /Audio/.test(type) ? "audio" : /Video/.test(type) ? "video" : /^Load3D/.test(type) ? "model3d" : "image";

const samplerKind = (tracer: Tracer, node: ComfyNode): Kind => {
  const stages = stagesOf(tracer, node);
  if (stages.some(({ type }) => VIDEO_LATENT.test(type))) return "video";
  if (stages.some(({ type }) => AUDIO_LATENT.test(type))) return "audio";
  return stages.some(({ type }) => SHAPE_LATENT.test(type)) ? "model3d" : "image";
};

/** Roles and kinds of a graph. Tools without an input picture aren't imported. */
export const readKinds = (nodes: readonly ComfyNode[]): { tracer: Tracer; kindOf: KindOf } => {
  const tracer = tracerOf(nodes);
  const roles = new Map(tracer.roles);
  const [kinds, byRole] = [new Map<string, Kind>(), (role: Role) => nodes.filter(({ id }) => tracer.roles.get(id) === role)];
  for (const node of byRole("file")) kinds.set(node.id, fileKind(node));
  for (const node of byRole("partner")) kinds.set(node.id, partnerKind(node));
  for (const node of byRole("sampler")) kinds.set(node.id, samplerKind(tracer, node));
  const filmed = byRole("result").filter(({ type }) => VIDEO_SINK.test(type));
  for (const sink of filmed)
    for (const { id } of sourcesOf(tracer, sink)) if (roles.get(id) === "sampler" && kinds.get(id) === "image") kinds.set(id, "video");
  // Without the tools between them, a tool's source is visible.
  const bare: Tracer = { ...tracer, roles: new Map([...roles].map(([id, role]) => [id, TOOLS.includes(role) ? "inside" : role])) };
  for (const node of TOOLS.flatMap(byRole)) {
    const role = roles.get(node.id)!;
    const isImage = sourcesOf(bare, node).some(({ id }) => kinds.get(id) === "image");
    const needsSize = role === "resize" || role === "crop";
    const hasSize = ["width", "height"].some((name) => Number(scalarOf(tracer, node, name)) > 0);
    if (!isImage || (needsSize && !hasSize)) roles.set(node.id, isImage ? "inside" : "other");
  }
  const kindOf: KindOf = ({ id }) => kinds.get(id) ?? (TOOLS.includes(roles.get(id)!) ? "image" : "text");
  return { tracer: { ...tracer, roles }, kindOf };
};
