import { fieldsOf, isRecord, resultFamily, type PortType } from "@nodeloom/kernel/graph";
import { END_TYPES } from "../../canvas/kinds/roles";
import { sourcePort, targetPort, type PortBook } from "../../canvas/ports";
import { edgesOf, nodeById, nodesOf, type DocEdge, type DocGraph, type DocNode } from "../../document/graph";
import { capitalized } from "../../ui/format";

/** Field type for a linked port type. */
const FIELD_OF: Readonly<Record<PortType, string>> = {
  text: "textarea",
  number: "number",
  boolean: "boolean",
  image: "image_upload",
  mask: "mask_upload",
  video: "video_upload",
  audio: "audio_upload",
  model3d: "model3d_upload",
  media: "json",
  any: "json",
};
/** Result members that have a fixed type. */
const MEMBER_OF: Readonly<Partial<Record<PortType, string>>> = {
  ...{ text: "text", image: "images", video: "videos", audio: "audios", model3d: "models3d" },
};

/** A free name: `prompt`, `prompt-2`, … */
const freeName = (wantedName: string, takenNames: ReadonlySet<string>): string => {
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? wantedName : `${wantedName}-${number}`;
    if (!takenNames.has(name)) return name;
  }
};

/** Text such as "Seconds per scene" from `seconds_per_scene`. */
const wordsOf = (name: string): string => capitalized(name.replaceAll(/[-_]+/g, " ").trim());

interface Ends {
  sourceHandle: string;
  targetHandle: string;
}

/** Ports of a link by name. */
export const endsOf = (edge: DocEdge, ports: PortBook): Ends => ({
  sourceHandle: sourcePort(edge, ports.get(edge.source)),
  targetHandle: targetPort(edge, ports.get(edge.target)),
});

export const keyOf = (nodeId: string, port: string): string => `${nodeId}\n${port}`;

/** Field of the outer workflow that a link comes from, as declared. */
const declared = (source: DocNode | undefined, port: string): Record<string, unknown> | undefined => {
  if (source?.type !== END_TYPES.inputs || !fieldsOf(source.data).some(({ name }) => name === port)) return undefined;
  return (source.data.fields as unknown[]).find((field): field is Record<string, unknown> => isRecord(field) && field.name === port);
};

/** Type of a link: that of its target, if it is more specific than "a file" or "a value". */
const typeOfLink = (output: PortType | undefined, input: PortType | undefined): PortType =>
  input === undefined || input === "any" || input === "media" ? (output ?? input ?? "any") : input;

/** Fields of a part: one per incoming output. */
export const fieldsInto = (graph: DocGraph, into: readonly DocEdge[], ports: PortBook): Map<string, Record<string, unknown>> => {
  const fields = new Map<string, Record<string, unknown>>();
  const takenNames = new Set<string>();
  for (const edge of into) {
    const { sourceHandle, targetHandle } = endsOf(edge, ports);
    const key = keyOf(edge.source, sourceHandle);
    const output = ports.get(edge.source)?.outputs.find(({ name }) => name === sourceHandle);
    const input = ports.get(edge.target)?.allInputs.find(({ name }) => name === targetHandle);
    const type = typeOfLink(output?.type, input?.type);
    const before = fields.get(key);
    if (before) {
      // The targets decide the type if they agree.
      if (before.type === FIELD_OF.any && input?.list !== true) before.type = FIELD_OF[type];
      continue;
    }
    const source = nodeById(graph, edge.source);
    const own = declared(source, sourceHandle);
    const name = freeName(own ? sourceHandle : targetHandle, takenNames);
    takenNames.add(name);
    fields.set(key, own ? { ...own, name } : { name, type: input?.list === true ? FIELD_OF.any : FIELD_OF[type], label: wordsOf(name) });
  }
  return fields;
};

export interface Member {
  source: string;
  port: string;
  name: string;
}

/** Result members of a part: one per outgoing output. If there is none, the outputs of the last nodes. */
export const membersOutOf = (graph: DocGraph, part: ReadonlySet<string>, ports: PortBook): Map<string, Member> => {
  const members = new Map<string, Member>();
  const takenNames = new Set<string>();
  const add = (source: string, port: string): void => {
    if (members.has(keyOf(source, port))) return;
    const type = ports.get(source)?.outputs.find(({ name }) => name === port)?.type ?? "any";
    // Names such as `images` imply a type, so only matching outputs can have them.
    const plain = resultFamily(port) === undefined && port !== "text" ? port : `${port}-value`;
    const name = freeName(MEMBER_OF[type] ?? plain, takenNames);
    takenNames.add(name);
    members.set(keyOf(source, port), { source, port, name });
  };
  const leaving = edgesOf(graph).filter((edge) => part.has(edge.source));
  for (const edge of leaving) if (!part.has(edge.target)) add(edge.source, endsOf(edge, ports).sourceHandle);
  if (members.size > 0) return members;
  const fed = new Set(leaving.map(({ source }) => source));
  for (const { id } of nodesOf(graph)) {
    const [output] = part.has(id) && !fed.has(id) ? (ports.get(id)?.outputs ?? []) : [];
    if (output) add(id, output.name);
  }
  return members;
};
