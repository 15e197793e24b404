/** Codes of issues and warnings in a graph. Programs read the code and its params; people read the message. */

import { nearestName } from "./text/nearest-name";
import { shownName } from "./text/shown-name";

type Params = Readonly<Record<string, string>>;

const meantName = ({ meant }: { meant?: string | undefined }): string => (meant === undefined ? "" : `: did you mean ${meant}?`);
const edgeName = (edge: string | undefined): string => (edge === undefined ? "" : ` (edge ${edge})`);

/** Callers shorten names in params to display length. */
const MESSAGES = {
  REQUIRED: ({ name, meant }: { name: string; meant?: string | undefined }) =>
    `${name}: is required${meant === undefined ? "" : `; did you mean ${meant}?`}`,
  MODEL_MISSING: () => "needs a model",
  MODEL_UNKNOWN: (params: { model: string; meant?: string | undefined }) => `there is no enabled model ${params.model}${meantName(params)}`,
  MODEL_RETIRED: ({ model, successor }: { model: string; successor?: string | undefined }) =>
    `the model ${model} is retired: ${successor === undefined ? "choose another model" : `choose ${successor}, or set onRetired to "successor"`}`,
  MODEL_REPLACED: ({ model, successor }: { model: string; successor: string }) =>
    `the model ${model} is retired: ${successor} runs in its place`,
  MODEL_RETIRES: ({ model, day, successor }: { model: string; day: string; successor?: string | undefined }) =>
    `the provider shuts ${model} down on ${day}: ${successor === undefined ? "choose another model" : `change to ${successor}`}`,
  FILE_MISSING: () => "needs a file: set mediaId, or mediaIds with multiple",
  FILE_UNKNOWN: ({ file, name }: { file: string; name?: string }) =>
    `${name === undefined ? "" : `${name}: `}you have no media file ${file}`,
  URL_MISSING: () => "needs a url",
  VALUE_MISSING: () => "needs a value",
  UNKNOWN_KIND: (params: { kind: string; meant?: string | undefined }) => `there is no node kind ${params.kind}${meantName(params)}`,
  UNKNOWN_INPUT: ({ node, name, edge, choices }: { node: string; name: string; edge: string; choices: string }) =>
    `${node} has no input ${name}${edgeName(edge)}; ${choices === "" ? "it has none" : `it has ${choices}`}`,
  UNKNOWN_OUTPUT: ({ node, name, edge, choices }: { node: string; name: string; edge: string; choices: string }) =>
    `${node} has no output ${name || "at all"}${edgeName(edge)}; ${choices === "" ? "it has none" : `it has ${choices}`}`,
  TYPE_MISMATCH: ({ hint = "", ...params }: { from: string; gives: string; to: string; takes: string; edge?: string; hint?: string }) =>
    `${params.from} is ${params.gives} and can't flow into ${params.to}, which takes ${params.takes}${edgeName(params.edge)}${hint}`,
  UNKNOWN_SOURCE: ({ edge, node }: { edge: string; node: string }) => `the edge ${edge} comes from ${node}, which does not exist`,
  UNKNOWN_TARGET: ({ edge, node }: { edge: string; node: string }) => `the edge ${edge} goes to ${node}, which does not exist`,
  CYCLE: () => "is part of a cycle",
  TOO_MANY_ITEMS: ({ items, most }: { items: string; most: string }) => `receives a list of ${items} items, but its maxItems is ${most}`,
  SECRET_UNKNOWN: ({ name, advice }: { name: string; advice: string }) => `you have no secret ${name}: ${advice}`,
  SECRET_LIMITED: ({ name, slug, workflows }: { name: string; slug: string; workflows: string }) =>
    `the secret ${name} is limited to the workflows ${workflows}: add ${slug} to its workflows, or use another secret`,
  SECRET_FOREIGN: () => "uses a secret, which only works in your own workflows: clone this one first",

  NO_RESULT: () => "the run has no result: add a response-output node",
  RESULT_NOT_CONNECTED: () => "the run has no result: connect this node",
  NOT_CONNECTED: ({ name }: { name: string }) => `{{${name}}} is not connected and becomes empty text`,
  NOT_GIVEN: ({ name }: { name: string }) => `{{${name}}} has no value and becomes empty text`,
  SECRET_MISPLACED: ({ name }: { name: string }) =>
    `{{${name}}} is a secret and becomes empty text: only the url, headers and body of http-request nodes can contain secrets`,
  UNKNOWN_SETTING: ({ name, meant }: { name: string; meant: string }) => `there is no setting ${name}: did you mean ${meant}?`,
  BYPASSED: ({ name, node }: { name: string; node: string }) =>
    `${name} gets no value: ${node} is bypassed, and none of its inputs has a matching type`,
} satisfies Record<string, (params: never) => string>;

/** Codes whose message the caller writes. */
const GENERAL_CODES = [
  "GRAPH_INVALID",
  "SETTING_INVALID",
  "INPUT_INVALID",
  "MODEL_UNFIT",
  "WORKFLOW_UNFIT",
  "LIMIT_EXCEEDED",
  "ADDRESS_REFUSED",
  "FILE_NOT_SENDABLE",
  "CREDENTIAL_FOUND",
  "INPUT_IGNORED",
] as const;

type Messages = typeof MESSAGES;
type SpecificCode = keyof Messages;
export type GeneralCode = (typeof GENERAL_CODES)[number];
export type IssueCode = SpecificCode | GeneralCode;

export const ISSUE_CODES: readonly IssueCode[] = [...(Object.keys(MESSAGES) as SpecificCode[]), ...GENERAL_CODES];

type ParamsOf<C extends IssueCode> = C extends SpecificCode
  ? Parameters<Messages[C]> extends [infer P]
    ? Readonly<P>
    : Readonly<Record<string, never>>
  : Readonly<Record<string, never>>;

/** An issue or a warning, without its node. `path` is the setting or input it is about. */
export type Finding<C extends IssueCode = IssueCode> = {
  [K in C]: { code: K; params: ParamsOf<K>; path?: string; message: string };
}[C];

/** A reason why a graph can't run, or a warning. `nodeId` is null if it concerns the whole graph. */
export type GraphIssue = Finding & { nodeId: string | null };
export type NodeIssue = Finding & { nodeId: string };

/** Creates a finding with its code's message. `params.name` also becomes its path. */
export const finding = <C extends SpecificCode>(code: C, ...[params]: Parameters<Messages[C]>): Finding => {
  const knownParams: Params = params ?? {};
  const message = (MESSAGES[code] as (params: Params) => string)(knownParams);
  const path = code === "REQUIRED" || code === "FILE_UNKNOWN" ? knownParams.name : undefined;
  return { code, params: knownParams, ...(path === undefined ? {} : { path }), message } as Finding;
};

/** Creates a finding of a general code. @param path the setting or input; not added to the message */
export const findingInWords = (code: GeneralCode, message: string, path?: string): Finding => ({
  code,
  params: {},
  ...(path === undefined ? {} : { path }),
  message,
});

/** Prefixes the message with a name. */
export const within = (name: string, innerFinding: Finding): Finding => ({ ...innerFinding, message: `${name}: ${innerFinding.message}` });

/** Removes findings whose message repeats an earlier one. */
export const distinct = (findings: readonly Finding[]): Finding[] => [...new Map(findings.map((one) => [one.message, one])).values()];

/** @param names names of all enabled models, from which a suggestion is chosen */
export const modelUnknown = (name: string, names: readonly string[] = []): Finding =>
  finding("MODEL_UNKNOWN", { model: shownName(name), meant: nearestName(name, names) });
