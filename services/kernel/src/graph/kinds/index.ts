import type { RunBudget } from "../budget";
import type { InputPort, PortType } from "../wiring/ports";
import type { JsonSchema } from "../prices/price";
import type { GraphNode, NodeType } from "../types";
import { approval } from "./approval";
import { generate3d } from "./generate-3d";
import { generateAudio } from "./generate-audio";
import { generateImage } from "./generate-image";
import { generateVideo } from "./generate-video";
import { httpRequest } from "./http-request";
import { json } from "./json";
import type { NodeKind, Outlets } from "./kind";
import { list } from "./list";
import { llmAssistant } from "./llm-assistant";
import { loop } from "./loop";
import { media } from "./media";
import { mediaUpload } from "./media-upload";
import { note } from "./note";
import { requestInput } from "./request-input";
import { responseOutput } from "./response-output";
import { switchKind } from "./switch";
import { textBox } from "./text-box";
import { workflow } from "./workflow";

export type { NodeKind } from "./kind";
export { approvalSettings, APPROVED_PORT, REJECTED_PORT, WAITING_HOURS, type ApprovalSettings, type OnTimeout } from "./approval";
export { JSON_PORT } from "./llm-assistant";
export { GOES_ON_PORT, LOOP_BOUNDS, TURNS_PORT } from "./loop";
export { inputFields, requestInputs, savedValues } from "./request-input";

export const NODE_KINDS: Readonly<Record<NodeType, NodeKind>> = {
  "request-input": requestInput,
  "text-box": textBox,
  list,
  json,
  switch: switchKind,
  approval,
  "llm-assistant": llmAssistant,
  "generate-image": generateImage,
  "generate-video": generateVideo,
  "generate-audio": generateAudio,
  "generate-3d": generate3d,
  "http-request": httpRequest,
  media,
  "media-upload": mediaUpload,
  workflow,
  loop,
  note,
  "response-output": responseOutput,
};

export const kindOf = (type: string): NodeKind | undefined => (Object.hasOwn(NODE_KINDS, type) ? NODE_KINDS[type as NodeType] : undefined);

export const callsModel = (type: string): boolean => kindOf(type)?.calls === "model";
export const makesCalls = (type: string): boolean => (kindOf(type)?.calls ?? null) !== null;
export const callsHttp = (type: string): boolean => kindOf(type)?.calls === "http";
export const callsTransform = (type: string): boolean => kindOf(type)?.calls === "transform";
export const makesResult = (type: string): boolean => kindOf(type)?.isResult === true;
export const waitsForDecision = (type: string): boolean => kindOf(type)?.waits === true;
export const isGeneratorType = (type: string): boolean => callsModel(type) && kindOf(type)?.modality !== "text";

/** True for kinds that repeat nodes in turns. */
export const makesTurns = (type: string): boolean => kindOf(type)?.outlets !== undefined;

/** True for kinds whose outputs are files in media storage. */
export const makesFiles = (type: string): boolean => isGeneratorType(type) || callsTransform(type);

export const RESULT_TYPE: NodeType = "response-output";

/** @throws Error if no kind calls models of the modality */
export const modelNodeType = (modality: string): NodeType => {
  const generator = Object.values(NODE_KINDS).find((kind) => kind.calls === "model" && kind.modality === modality);
  if (!generator) throw new Error(`no node kind calls models that generate ${modality}`);
  return generator.type;
};

export const inputPorts = (node: GraphNode, schema?: JsonSchema): Map<string, InputPort> =>
  kindOf(node.type)?.inputs(node, schema) ?? new Map<string, InputPort>();
export const outputPorts = (node: GraphNode, results?: readonly string[]): Map<string, PortType> =>
  kindOf(node.type)?.outputs(node, results) ?? new Map<string, PortType>();
export const anyInput = (node: GraphNode, name: string): InputPort | undefined => kindOf(node.type)?.anyInput?.(name);
export const defaultInput = (node: GraphNode, outputName: string): string =>
  kindOf(node.type)?.defaultInput?.(outputName, node) ?? outputName;

export const outputPort = (type: string): string => [...outputPorts({ id: "", type, data: {} }).keys()][0] ?? "";

/** Returns the output port that gets the step's value; undefined for kinds that don't choose one. @throws BindError */
export const routeOf = (
  step: { type: string; literals: Readonly<Record<string, unknown>> },
  item: Readonly<Record<string, unknown>>,
  budget: RunBudget,
): string | undefined => kindOf(step.type)!.route?.port(step.literals, item, budget);

/** Returns the outputs of a step of a kind with outlets; undefined for other kinds. @throws BindError */
export const outletsOf = (
  step: { type: string; literals: Readonly<Record<string, unknown>> },
  item: Readonly<Record<string, unknown>>,
  budget: RunBudget,
): Outlets | undefined => kindOf(step.type)!.outlets?.(step.literals, item, budget);

/** True if a node or step runs even if some of its connected ports get no value. */
export const allowsMissing = (type: string, literals: Readonly<Record<string, unknown>>): boolean =>
  makesResult(type) || kindOf(type)?.allowsMissing?.(literals) === true;

/** Returns the value of a pure step for one item and counts its work. @throws BindError */
export const evaluateStep = (
  step: { type: string; literals: Readonly<Record<string, unknown>> },
  item: Readonly<Record<string, unknown>>,
  budget: RunBudget,
): unknown => kindOf(step.type)!.evaluate!(step.literals, item, budget);
