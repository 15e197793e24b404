import { fieldsOf, isRecord, resultFamily, type PortType } from "@nodeloom/kernel/graph";
import { END_TYPES } from "../../canvas/kinds/looks";
import { sourcePort, targetPort, type PortBook } from "../../canvas/ports";
import { edgesOf, nodeById, nodesOf, type DocEdge, type DocGraph, type DocNode } from "../../document/graph";

/** What the links become that cross the border of a part: fields of its inputs, and members of its result. */

/** What a field is that stands for a link of a type. */
const FIELD_OF: Readonly<Record<PortType, string>> = {
  text: "textarea",
  number: "number",
  boolean: "boolean",
  image: "image_upload",
  video: "video_upload",
  audio: "audio_upload",
  media: "json",
  any: "json",
};
/** Members of results that have a type by their name. */
const MEMBER_OF: Readonly<Partial<Record<PortType, string>>> = { text: "text", image: "images", video: "videos", audio: "audios" };

/** A name that is not taken: `prompt`, `prompt-2`, … */
const freeName = (wanted: string, taken: ReadonlySet<string>): string => {
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? wanted : `${wanted}-${number}`;
    if (!taken.has(name)) return name;
  }
};

/** `seconds_per_scene` as people write it. */
const wordsOf = (name: string): string => {
  const words = name.replaceAll(/[-_]+/g, " ").trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
};

interface Ends {
  sourceHandle: string;
  targetHandle: string;
}

/** The ports that a link joins, by their names. */
export const endsOf = (edge: DocEdge, ports: PortBook): Ends => ({
  sourceHandle: sourcePort(edge, ports.get(edge.source)),
  targetHandle: targetPort(edge, ports.get(edge.target)),
});

/** An output of a node. */
export const keyOf = (nodeId: string, port: string): string => `${nodeId}\n${port}`;

/** The field of the outer workflow that a link brings, as it is declared there. */
const declared = (source: DocNode | undefined, port: string): Record<string, unknown> | undefined => {
  if (source?.type !== END_TYPES.inputs || !fieldsOf(source.data).some(({ name }) => name === port)) return undefined;
  return (source.data.fields as unknown[]).find((field): field is Record<string, unknown> => isRecord(field) && field.name === port);
};

/** What a link carries: as its target says, where that says more than "a file" or "a value". */
const typeOfLink = (output: PortType | undefined, input: PortType | undefined): PortType =>
  input === undefined || input === "any" || input === "media" ? (output ?? input ?? "any") : input;

/** The fields of a part: one for each output that flows into it. */
export const fieldsInto = (graph: DocGraph, into: readonly DocEdge[], ports: PortBook): Map<string, Record<string, unknown>> => {
  const fields = new Map<string, Record<string, unknown>>();
  const taken = new Set<string>();
  for (const edge of into) {
    const { sourceHandle, targetHandle } = endsOf(edge, ports);
    const key = keyOf(edge.source, sourceHandle);
    const output = ports.get(edge.source)?.outputs.find(({ name }) => name === sourceHandle);
    const input = ports.get(edge.target)?.allInputs.find(({ name }) => name === targetHandle);
    const type = typeOfLink(output?.type, input?.type);
    const before = fields.get(key);
    if (before) {
      // Where it goes to says what it is, as long as all of it says the same.
      if (before.type === FIELD_OF.any && input?.list !== true) before.type = FIELD_OF[type];
      continue;
    }
    const source = nodeById(graph, edge.source);
    const own = declared(source, sourceHandle);
    const name = freeName(own ? sourceHandle : targetHandle, taken);
    taken.add(name);
    fields.set(key, own ? { ...own, name } : { name, type: input?.list === true ? FIELD_OF.any : FIELD_OF[type], label: wordsOf(name) });
  }
  return fields;
};

/** A member of a result, and the output that gives it. */
export interface Member {
  source: string;
  port: string;
  name: string;
}

/** The members of a part's result: one for each output that flows out of it; of a part that nothing leaves, what its last nodes give. */
export const membersOutOf = (graph: DocGraph, part: ReadonlySet<string>, ports: PortBook): Map<string, Member> => {
  const members = new Map<string, Member>();
  const taken = new Set<string>();
  const add = (source: string, port: string): void => {
    if (members.has(keyOf(source, port))) return;
    const type = ports.get(source)?.outputs.find(({ name }) => name === port)?.type ?? "any";
    // A name like `images` has a type: only what is of it may have it.
    const plain = resultFamily(port) === undefined && port !== "text" ? port : `${port}-value`;
    const name = freeName(MEMBER_OF[type] ?? plain, taken);
    taken.add(name);
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
