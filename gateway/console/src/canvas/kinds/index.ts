import { makesCalls, NODE_KINDS, type NodeKind, type PortType } from "@nodeloom/kernel/graph";
import { CircleHelp, Frame, Shapes, Sparkles, type LucideIcon } from "lucide-react";
import { FRAME_WORDS, OPERATION_WORDS } from "../search-words";
import { textOf, type Group, type Look } from "./look";
import { LOOKS } from "./looks";

/** A node kind as the canvas knows it: the kernel's own entry, with a look. */
export interface Kind extends Omit<Look, "data" | "fedBy" | "summary"> {
  /** What the kernel says of it; undefined for kinds that this version does not know: they are kept as they are. */
  rules: NodeKind | undefined;
  /** @param feeder name of the port that something flows into it from */
  data: (feeder?: string) => Record<string, unknown>;
  summary: (data: Readonly<Record<string, unknown>>) => string;
  /** Registry modality of the models it calls. */
  modality: string | undefined;
  /** False for kinds that stand on the canvas for people. */
  runs: boolean;
}

const VISIBLE: ReadonlySet<PortType> = new Set(["image", "video", "media"]);

/** `resize-image` as people write it. */
const titleOf = (type: string): string => {
  const words = type.split(/[-_]+/).filter(Boolean).join(" ");
  return words.charAt(0).toUpperCase() + words.slice(1);
};

const groupOf = ({ calls, runs }: NodeKind): Group => (runs ? (calls === "model" ? "Generate" : "Data") : "Notes");
const iconOf = ({ calls }: NodeKind): LucideIcon => (calls === "model" ? Sparkles : Shapes);

export type { FormName } from "./look";

/** Settings that have a default: what a new node of a kind without a look begins with. */
const defaultsOf = ({ settings }: NodeKind): Record<string, unknown> =>
  Object.fromEntries(Object.entries(settings).flatMap(([name, { default: value }]) => (value === undefined ? [] : [[name, value]])));

/** The first texts among a node's settings, in the table's order. */
const settingsInWords = (kind: NodeKind) => (data: Readonly<Record<string, unknown>>) => {
  const texts = Object.keys(kind.settings).map((name) => textOf(data[name]));
  return texts.filter(Boolean).slice(0, 2).join("\n") || kind.summary;
};

const plainLook = (kind: NodeKind): Look => ({
  type: kind.type,
  title: titleOf(kind.type),
  description: kind.summary,
  group: groupOf(kind),
  icon: iconOf(kind),
  id: kind.type,
  words: kind.type,
});

const LOOK_OF = new Map(LOOKS.map((look) => [look.type, look]));

/** A kind of the kernel's table, by its look where it has one. */
export const kindFrom = (rules: NodeKind): Kind => {
  const look = LOOK_OF.get(rules.type) ?? plainLook(rules);
  const data = look.data ?? defaultsOf(rules);
  return {
    ...look,
    rules,
    modality: rules.modality,
    runs: rules.runs,
    data: (feeder) => structuredClone(feeder === undefined ? data : (look.fedBy?.(feeder) ?? data)) as Record<string, unknown>,
    summary: look.summary ?? settingsInWords(rules),
  };
};

const ORDER = LOOKS.map(({ type }) => type);
const place = ({ type }: Kind): number => (ORDER.indexOf(type) + ORDER.length + 1) % (ORDER.length + 1);

/** Every kind of the kernel's table, in the palette's order. */
export const KINDS: readonly Kind[] = Object.values(NODE_KINDS)
  .map(kindFrom)
  .sort((a, b) => place(a) - place(b));

/** The kind of notes and frames. */
export const REMARK: Kind = KINDS.find(({ runs }) => !runs)!;
const NEW_FRAME = { width: 560, height: 360 };
const FRAME: Kind = {
  ...REMARK,
  title: "Frame",
  description: "Groups nodes: they move with it, and it folds",
  icon: Frame,
  id: "frame",
  words: FRAME_WORDS,
  data: () => ({ text: "Frame", frame: NEW_FRAME }),
};

/** What can be added: a kind of many operations is as many choices. */
export const CHOICES: readonly Kind[] = [
  ...KINDS.flatMap((kind) =>
    kind.rules?.operations === undefined
      ? [kind]
      : kind.rules.operations.map(({ name, title, summary }) => ({
          ...kind,
          title,
          description: summary,
          words: `${name}, ${OPERATION_WORDS[name] ?? ""}`,
          id: name.split("-").at(-1) ?? kind.id,
          data: () => ({ operation: name }),
        })),
  ),
  FRAME,
];

const BY_TYPE = new Map(KINDS.map((one) => [one.type, one]));

const unknown = (type: string): Kind => ({
  type,
  title: type,
  description: "A node kind that this version does not know",
  group: "Data",
  icon: CircleHelp,
  id: "node",
  words: "",
  rules: undefined,
  modality: undefined,
  runs: true,
  data: () => ({}),
  summary: () => type,
});

/** The kind of a type. */
export const kindOf = (type: string): Kind => BY_TYPE.get(type) ?? unknown(type);

export const isKnownKind = (type: string): boolean => BY_TYPE.has(type);
/** Whether nodes of it stand on the canvas for people alone. */
export const isRemark = (type: string): boolean => !kindOf(type).runs;

const outputTypes = ({ rules, type }: Kind): PortType[] => {
  if (!rules) return [];
  const named = rules.optionalOutputs?.map((output) => output.type) ?? [];
  return [...rules.outputs({ id: "", type, data: {} }).values(), ...named];
};

export type Preview = "none" | "picture" | "sound" | "text";

/** What of its results can be seen, heard or read on a node. */
export const previewOf = (type: string): Preview => {
  const kind = kindOf(type);
  // What it gives by default: an HTTP request gives text mostly, and a file sometimes.
  const [first] = outputTypes(kind);
  if (kind.rules?.isResult === true || (first !== undefined && VISIBLE.has(first))) return "picture";
  if (first === "audio") return "sound";
  return kind.rules && makesCalls(type) ? "text" : "none";
};

/** The colour of a kind: of what it gives. */
export const kindColour = (type: string): string => {
  if (isRemark(type)) return "var(--kind-note)";
  const found = outputTypes(kindOf(type)).find((one) => one !== "any");
  return found === undefined || !(kindOf(type).modality !== undefined || previewOf(type) === "picture" || kindOf(type).group === "Text")
    ? "var(--kind-value)"
    : `var(--port-${found})`;
};
