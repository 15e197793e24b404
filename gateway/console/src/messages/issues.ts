import type { Finding, IssueCode } from "@nodeloom/kernel/graph";

const asWritten = ({ message }: Finding): string => message;

/** Texts for canvas users, by code. Other codes show the original message. */
const TEXTS: { readonly [C in IssueCode]: (finding: Finding<C>) => string } = {
  REQUIRED: ({ params: { name } }) =>
    name === "prompt"
      ? "Enter a prompt on the node, or link a text to it."
      : `“${name}” is required. Set it in the side panel, or link a node to it.`,
  MODEL_MISSING: () => "Choose a model in the side panel.",
  MODEL_UNKNOWN: ({ params: { model, meant } }) =>
    `The model ${model} doesn't exist or is disabled. ${meant === undefined ? "Choose another one." : `Did you mean ${meant}?`}`,
  MODEL_RETIRED: ({ params: { model, successor } }) =>
    successor === undefined
      ? `The model ${model} is retired. Choose another one.`
      : `The model ${model} is retired. Choose ${successor}, or turn on “Use the successor” under More.`,
  MODEL_REPLACED: ({ params: { model, successor } }) => `The model ${model} is retired. Runs use ${successor} instead.`,
  MODEL_RETIRES: ({ params: { model, day, successor } }) =>
    `The provider shuts ${model} down on ${day}. ${successor === undefined ? "Choose another model." : `Change to ${successor}.`}`,
  FILE_MISSING: () => "Choose or upload a file, or drop one on the canvas.",
  FILE_UNKNOWN: () => "The file was deleted, or belongs to another account. Choose another file.",
  URL_MISSING: () => "Enter an address on the node.",
  VALUE_MISSING: () => "A value is required. Link a node to it.",
  UNKNOWN_INPUT: ({ params: { name, choices } }) =>
    `The model has no input “${name}” (its inputs: ${choices || "none"}). Choose another model, or remove the link.`,
  CYCLE: () => "This node is part of a cycle: a run could never end. Remove one of the links.",
  NO_RESULT: () => "Calls of this workflow return an empty result: it has no Results node. The canvas still shows the result of each node.",
  RESULT_NOT_CONNECTED: () => "Nothing is linked to this node, so calls of this workflow return an empty result.",
  NOT_CONNECTED: ({ params: { name } }) => `Nothing is linked to “${name}”, so it is empty in the text.`,

  UNKNOWN_KIND: asWritten,
  UNKNOWN_OUTPUT: asWritten,
  TYPE_MISMATCH: asWritten,
  UNKNOWN_SOURCE: asWritten,
  UNKNOWN_TARGET: asWritten,
  TOO_MANY_ITEMS: asWritten,
  SECRET_UNKNOWN: asWritten,
  SECRET_LIMITED: asWritten,
  SECRET_FOREIGN: asWritten,
  NOT_GIVEN: asWritten,
  SECRET_MISPLACED: asWritten,
  UNKNOWN_SETTING: asWritten,
  BYPASSED: asWritten,
  GRAPH_INVALID: asWritten,
  SETTING_INVALID: asWritten,
  INPUT_INVALID: asWritten,
  MODEL_UNFIT: asWritten,
  WORKFLOW_UNFIT: asWritten,
  LIMIT_EXCEEDED: asWritten,
  ADDRESS_REFUSED: asWritten,
  FILE_NOT_SENDABLE: asWritten,
  CREDENTIAL_FOUND: asWritten,
  INPUT_IGNORED: asWritten,
};

/** Text of an issue or warning for canvas users. */
export const issueWords = <C extends IssueCode>(finding: Finding<C>): string => TEXTS[finding.code as C](finding);
