import { makesCalls, NODE_KINDS, type NodeKind, type PortType } from "@nodeloom/kernel/graph";
import { CircleHelp, Frame, Shapes, Sparkles, type LucideIcon } from "lucide-react";
import { textOf, type Group, type Look } from "./look";
import { LOOKS } from "./looks";
import { capitalized } from "../../ui/format";
import { KINDS_TEXTS } from "../../messages/canvas";

/** A node kind of the kernel with its appearance. */
export interface Kind extends Omit<Look, "order" | "data" | "fedBy" | "summary"> {
  /** The kernel's entry; undefined for kinds unknown to this version, which stay unchanged. */
  rules: NodeKind | undefined;
  /** @param feeder name of the source port that is linked to the node */
  data: (feeder?: string) => Record<string, unknown>;
  summary: (data: Readonly<Record<string, unknown>>) => string;
  /** Modality of the models that it calls, as in the registry. */
  modality: string | undefined;
  /** False for notes and frames. */
  runs: boolean;
}

const VISIBLE: ReadonlySet<PortType> = new Set(["image", "mask", "video", "model3d", "media"]);

/** "Resize image" from `resize-image`. */
const titleOf = (type: string): string => capitalized(type.split(/[-_]+/).filter(Boolean).join(" "));

const groupOf = ({ calls, runs }: NodeKind): Group => (runs ? (calls === "model" ? "generate" : "data") : "notes");
const iconOf = ({ calls }: NodeKind): LucideIcon => (calls === "model" ? Sparkles : Shapes);

export type { FormName } from "./look";

/** Defaults of settings, for new nodes of kinds without a look. */
const defaultsOf = ({ settings }: NodeKind): Record<string, unknown> =>
  Object.fromEntries(Object.entries(settings).flatMap(([name, { default: value }]) => (value === undefined ? [] : [[name, value]])));

/** Shows the first text settings in the table's order. */
const settingsInWords = (kind: NodeKind) => (data: Readonly<Record<string, unknown>>) => {
  const texts = Object.keys(kind.settings).map((name) => textOf(data[name]));
  return texts.filter(Boolean).slice(0, 2).join("\n") || kind.summary;
};

const plainLook = (kind: NodeKind): Omit<Look, "order"> => ({
  type: kind.type,
  title: titleOf(kind.type),
  description: kind.summary,
  group: groupOf(kind),
  icon: iconOf(kind),
  id: kind.type,
});

const LOOK_OF = new Map(LOOKS.map((look) => [look.type, look]));

/** Combines a kind with its look. */
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

/** Kinds without a look follow the others. */
const place = ({ type }: NodeKind): number => LOOK_OF.get(type)?.order ?? LOOKS.length;

/** Kinds of the kernel's table in palette order. */
export const KINDS: readonly Kind[] = Object.values(NODE_KINDS)
  .sort((a, b) => place(a) - place(b))
  .map(kindFrom);

/** Kind of notes and frames. */
export const REMARK: Kind = KINDS.find(({ runs }) => !runs)!;
const NEW_FRAME = { width: 560, height: 360 };
const FRAME: Kind = {
  ...REMARK,
  title: KINDS_TEXTS.frame,
  description: KINDS_TEXTS.frameSummary,
  icon: Frame,
  id: "frame",
  data: () => ({ text: KINDS_TEXTS.frame, frame: NEW_FRAME }),
};

/** Palette entries: a kind with several operations has one each. */
export const CHOICES: readonly Kind[] = [
  ...KINDS.flatMap((kind) =>
    kind.rules?.operations === undefined
      ? [kind]
      : kind.rules.operations.map(({ name, title, summary }) => ({
          ...kind,
          title,
          description: summary,
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
  description: KINDS_TEXTS.unknownKind,
  group: "data",
  icon: CircleHelp,
  id: "node",
  rules: undefined,
  modality: undefined,
  runs: true,
  data: () => ({}),
  summary: () => type,
});

export const kindOf = (type: string): Kind => BY_TYPE.get(type) ?? unknown(type);

export const isKnownKind = (type: string): boolean => BY_TYPE.has(type);
/** True for notes and frames. */
export const isRemark = (type: string): boolean => !kindOf(type).runs;

type Data = Readonly<Record<string, unknown>>;

const outputTypes = ({ rules, type }: Kind, data: Data = {}): PortType[] => {
  if (!rules) return [];
  const optionalTypes = rules.optionalOutputs?.map((output) => output.type) ?? [];
  return [...rules.outputs({ id: "", type, data }).values(), ...optionalTypes];
};

export type Preview = "none" | "picture" | "sound" | "text";

/** How a node previews its results. */
export const previewOf = (type: string): Preview => {
  const kind = kindOf(type);
  // Type by default; an HTTP request can also return a file.
  const [first] = outputTypes(kind);
  if (kind.rules?.isResult === true || (first !== undefined && VISIBLE.has(first))) return "picture";
  if (first === "audio") return "sound";
  return kind.rules && makesCalls(type) ? "text" : "none";
};

/** Colour of a node, from its output type. @param data settings, for kinds whose operations return different types */
export const kindColour = (type: string, data?: Data): string => {
  if (isRemark(type)) return "var(--kind-note)";
  const outputType = outputTypes(kindOf(type), data).find((one) => one !== "any");
  return outputType === undefined ||
    !(kindOf(type).modality !== undefined || previewOf(type) === "picture" || kindOf(type).group === "text")
    ? "var(--kind-value)"
    : `var(--port-${outputType})`;
};
