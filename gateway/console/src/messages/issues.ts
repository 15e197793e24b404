import type { Finding, IssueCode } from "@nodeloom/kernel/graph";

const asWritten = ({ message }: Finding): string => message;

/** Texts for canvas users, by code. Other codes show the original message. */
const TEXTS: { readonly [C in IssueCode]: (found: Finding<C>) => string } = {
  REQUIRED: ({ params: { name } }) =>
    name === "prompt"
      ? "It needs a prompt: write it on the node, or link a text to it."
      : `It needs “${name}”: set it beside the canvas, or link something to it.`,
  MODEL_MISSING: () => "It needs a model: choose one beside the canvas.",
  MODEL_UNKNOWN: ({ params: { model, meant } }) =>
    `The model ${model} is not there, or was switched off. ${meant === undefined ? "Choose another one." : `Did you mean ${meant}?`}`,
  MODEL_RETIRED: ({ params: { model, successor } }) =>
    successor === undefined
      ? `The model ${model} is retired: choose another one.`
      : `The model ${model} is retired: choose ${successor}, or let it run in its place under “When a call fails”.`,
  MODEL_REPLACED: ({ params: { model, successor } }) => `The model ${model} is retired: ${successor} runs in its place.`,
  MODEL_RETIRES: ({ params: { model, day, successor } }) =>
    `Its provider shuts ${model} down on ${day}: ${successor === undefined ? "choose another model." : `change to ${successor}.`}`,
  FILE_MISSING: () => "It needs a file: choose or upload one, or drop it on the canvas.",
  FILE_UNKNOWN: () => "Its file is gone, or belongs to somebody else: choose another one.",
  URL_MISSING: () => "It needs an address: write it on the node.",
  VALUE_MISSING: () => "It needs a value: link something to it.",
  UNKNOWN_INPUT: ({ params: { name, choices } }) =>
    `Its model takes no “${name}” (it takes ${choices || "nothing"}): choose another model, or remove the link.`,
  CYCLE: () => "It is part of a circle: a run could never end. Remove one of the links.",
  NO_RESULT: () => "Calls of this workflow get nothing back: it has no Results node. On the canvas every node shows what it made anyway.",
  RESULT_NOT_CONNECTED: () => "Nothing is linked to it, so calls of this workflow get nothing back.",
  NOT_CONNECTED: ({ params: { name } }) => `Nothing is linked to “${name}”: its place in the text stays empty.`,

  UNKNOWN_KIND: asWritten,
  UNKNOWN_OUTPUT: asWritten,
  TYPE_MISMATCH: asWritten,
  UNKNOWN_SOURCE: asWritten,
  UNKNOWN_TARGET: asWritten,
  TOO_MANY_ITEMS: asWritten,
  SECRET_UNKNOWN: asWritten,
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
export const issueWords = <C extends IssueCode>(found: Finding<C>): string => TEXTS[found.code as C](found);
