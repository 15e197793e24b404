import type { Bounds } from "../plan/abstract";
import { GRAPH_BOUNDS, textBytes } from "../bounds";
import { charactersOfWork } from "../budget";
import { textTokens, type KnownCalls } from "../plan/call-costs";
import { planCalls } from "../plan/call-plan";
import { schemaProblems } from "../json-schema";
import { parseJsonText } from "../values/json-text";
import { shapeOfSchema } from "../values/shape";
import { countInPlan, type Planner } from "../plan/planner";
import { NOTHING_PLANNED } from "../plan/plan-types";
import type { ItemBounds } from "../plan/plan-step";
import type { JsonSchema } from "../prices/price";
import { isRecord, type GraphNode } from "../types";
import type { NodeKind } from "./kind";
import { checkModelNode, MODEL_SETTINGS, modelPorts } from "./model-node";

/** Tokens added by the request for JSON or for a corrected answer, without the schema and the first answer. */
const ASKING_TOKENS = 1_024;

export const JSON_PORT = "json";
const JSON_OUTPUT = { name: JSON_PORT, type: "any", setting: "schema" } as const;

/** Accepted from models that always return JSON, such as the words of a transcription. */
const ANY_JSON: JsonSchema = {};
const givesJson = (results: readonly string[] = []): boolean => results.includes(JSON_PORT);

const isSet = (value: unknown): boolean => value !== undefined && value !== null && value !== "";

/** With tools, the model's tool calls are the value of the port `json`. */
const asksTools = ({ data }: GraphNode): boolean => isSet(isRecord(data.inputs) ? (data.inputs.tools ?? data.tools) : data.tools);

type AnswerSchema = { schema: JsonSchema; problems: string[] };
const NO_OBJECT: AnswerSchema = { schema: {}, problems: ["schema: must be an object, a JSON Schema"] };

/** Cached per node, because planning reads the schema several times. */
const answersByNode = new WeakMap<GraphNode, AnswerSchema>();

/** The node's answer schema and its problems; undefined if the node accepts any text. Editors may store the schema as text. */
const answerSchema = (node: GraphNode): AnswerSchema | undefined => {
  const schemaSetting = node.data.schema;
  if (!isSet(schemaSetting)) return undefined;
  const read = (): AnswerSchema => {
    const schema = typeof schemaSetting === "string" ? parseJsonText(schemaSetting)?.value : schemaSetting;
    if (!isRecord(schema)) return NO_OBJECT;
    return { schema, problems: schemaProblems(schema).map((problem) => `schema: ${problem}`) };
  };
  const answer = answersByNode.get(node) ?? read();
  answersByNode.set(node, answer);
  return answer;
};

const count = (value: unknown, fallback: number): number => Math.min(GRAPH_BOUNDS.listItems, typeof value === "number" ? value : fallback);

const mayBeList = ({ type }: JsonSchema): boolean => type === undefined || [type].flat().includes("array");

/** Bounds of the port `json`, from the schema. Answers of several calls form one list. */
const jsonBounds = (schema: JsonSchema, { items, limit, mapped }: ItemBounds, tokens: number): Bounds => {
  const shape = mapped ? {} : { shape: shapeOfSchema(schema) };
  if (!mayBeList(schema)) return { list: mapped, items, most: limit, tokens, ...shape };
  const { type, minItems, maxItems } = schema;
  const most = type === "array" ? Math.max(1, count(maxItems, GRAPH_BOUNDS.listItems)) : GRAPH_BOUNDS.listItems;
  const least = type === "array" ? Math.max(1, count(minItems, 1)) : 1;
  return { list: true, items: items * least, most: limit * most, tokens, ...shape };
};

const planJson = (planner: Planner, node: GraphNode, { schema, problems }: AnswerSchema) => {
  const schemaTokens = textBytes(JSON.stringify(schema));
  planner.budget.work(charactersOfWork(schemaTokens));
  countInPlan(planner, { value: schema });
  const planned = planCalls(planner, llmAssistant, node, { moreTokens: schemaTokens + ASKING_TOKENS });
  if (!planned || problems.length > 0) return undefined;
  // Only chat models can correct an answer.
  const answerOf = (calls: KnownCalls) => ({
    schema,
    maxRepairMillicredits: calls.terms.providerKind === "llm" ? calls.costWith(textTokens(calls) + ASKING_TOKENS) : 0,
  });
  const alternatives = planned.alternatives.map((one) => ({ ...one.alternative, answer: answerOf(one) }));
  const fallback = alternatives.length > 0 ? { fallback: alternatives } : {};
  return { ...planned, step: { ...planned.step, answer: answerOf(planned), ...fallback } };
};

export const llmAssistant: NodeKind = {
  type: "llm-assistant",
  summary: "Calls a language model and returns text, or JSON that fits a schema.",
  settings: {
    ...MODEL_SETTINGS,
    system: { type: "string", description: "The system prompt, with {{placeholders}}." },
    prompt: { type: "string", description: "The prompt, with {{placeholders}}." },
    history: {
      type: "array",
      items: { type: "object" },
      description: 'Messages before the prompt, oldest first: {"role": "user" or "assistant", "content": "…"}.',
    },
    image: { type: "string", description: "An image, for models that read images. A list makes one call for each image." },
    images: { type: "array", items: { type: "string" }, description: "Images for one call, for models that read several." },
    document: { type: "string", description: "A PDF file for models that read documents." },
    documents: { type: "array", items: { type: "string" }, description: "PDF files for one call." },
    audio: { type: "string", description: "A sound, for models that understand sound." },
    video: { type: "string", description: "A video, for models that understand video." },
    maxTokens: { type: "integer", minimum: 1 },
    maxInputChars: {
      type: "integer",
      minimum: 1,
      description:
        "The most characters of prompt, system prompt and history together. It bounds the price: a longer input fails the node before the call.",
    },
    temperature: { type: "number", minimum: 0 },
    schema: {
      type: "object",
      description: "A JSON Schema. The answer is JSON that fits it, at the port json. If it doesn't fit, the model is asked once more.",
    },
  },
  calls: "model",
  modality: "text",
  runs: true,
  portsOfModel: true,
  inputs: modelPorts,
  outputs: (node, results) => {
    const hasJson = isSet(node.data.schema) || givesJson(results) || asksTools(node);
    return new Map([["text", "text"], ...(hasJson ? [[JSON_OUTPUT.name, JSON_OUTPUT.type] as const] : [])]);
  },
  optionalOutputs: [JSON_OUTPUT],
  defaultInput: () => "prompt",
  check: (node, schema) => [...checkModelNode(node, schema), ...(answerSchema(node)?.problems ?? [])],
  plan: (planner, node) => {
    const answer = answerSchema(node);
    const planned = answer ? planJson(planner, node, answer) : planCalls(planner, llmAssistant, node);
    if (!planned) return NOTHING_PLANNED;
    const { step, bounds } = planned;
    const { items, limit: most, mapped: list } = bounds;
    const tokens = Math.max(...[planned, ...planned.alternatives].map(textTokens)) * most;
    const text = ["text", { list, items, most, tokens }] as const;
    const schema = answer?.schema ?? (givesJson(planned.terms.outputs) || asksTools(node) ? ANY_JSON : undefined);
    return { step, outputs: new Map([text, ...(schema ? [[JSON_OUTPUT.name, jsonBounds(schema, bounds, tokens)] as const] : [])]) };
  },
  savedOpen: (node, port) => port === JSON_PORT && mayBeList(answerSchema(node)?.schema ?? {}),
};
