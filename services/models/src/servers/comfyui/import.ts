import { invalidRequest, isRecord, strictSchemaProblems, type JsonSchema } from "@nodeloom/kernel";
import { slugOf, type StoredWorkflow } from "../server-record";
import { findInputs, readClass, type Classes, type FoundInput } from "./inputs";
import { assertKeepsFiles, mayMake, MODALITIES, modalityOf, readWorkflow, type Modality, type WorkflowNode } from "./workflow";

/** Converts a ComfyUI workflow into a model of its server. */

/** An input that the administrator configured. */
export interface ChosenInput {
  name: string;
  node: string;
  input: string;
}

export interface NewWorkflow {
  name: string;
  /** JSON of the workflow. */
  workflow: string;
  /** Chosen inputs; if the list is empty, the values of titled nodes become inputs. */
  inputs: readonly ChosenInput[];
  /** Output modality; derived from the nodes if it is empty. */
  modality: string;
  /** True to keep the workflow that ComfyUI embeds in its output files. */
  keepMetadata: boolean;
}

/** Matches input names except `__proto__`, which JSON readers drop. */
const INPUT_NAME = /^(?!__proto__$)[A-Za-z_]\w{0,59}$/;
const MAX_CLASSES = 100;

/** ComfyUI returns an empty object for an unknown class. */
const isUnknown = (answer: unknown): boolean => isRecord(answer) && Object.keys(answer).length === 0;

/**
 * Reads the definition of each class in a workflow. Classes without a definition are left out.
 * @throws DomainError INVALID_REQUEST if the server doesn't have a class
 */
const classesOf = async (nodes: readonly WorkflowNode[], ask: (path: string) => Promise<unknown>): Promise<Classes> => {
  const names = [...new Set(nodes.map(({ classType }) => classType))].slice(0, MAX_CLASSES);
  const answers = await Promise.all(names.map((name) => ask(`/object_info/${encodeURIComponent(name)}`).catch(() => undefined)));
  const unknown = names.filter((_, index) => isUnknown(answers[index]));
  const missing = nodes.filter(({ classType }) => unknown.includes(classType));
  if (missing.length > 0) {
    const message = `the server does not have the class ${missing[0]!.classType} of node ${missing[0]!.id}: install its custom node there, or take it out`;
    throw invalidRequest([{ path: "workflow", message }]);
  }
  return new Map(
    names.flatMap((name, index) => {
      const answer = answers[index];
      const info = isRecord(answer) && Object.hasOwn(answer, name) ? readClass(answer[name]) : undefined;
      return info ? [[name, info] as const] : [];
    }),
  );
};

export interface ReadWorkflow {
  nodes: WorkflowNode[];
  found: FoundInput[];
  modality: Modality | undefined;
}

/** Finds the inputs that an administrator can choose. @throws DomainError INVALID_REQUEST */
export const inspectWorkflow = async (workflow: string, ask: (path: string) => Promise<unknown>): Promise<ReadWorkflow> => {
  const nodes = readWorkflow(workflow);
  assertKeepsFiles(nodes);
  const foundInputs = findInputs(nodes, await classesOf(nodes, ask));
  return { nodes, found: foundInputs, modality: modalityOf(nodes) };
};

const chosenInputs = (choices: readonly ChosenInput[], foundInputs: readonly FoundInput[]): FoundInput[] => {
  if (choices.length === 0) {
    const titled = foundInputs.filter(({ isTitled }) => isTitled);
    if (titled.length > 0) return titled;
    throw invalidRequest([{ path: "inputs", message: "no node of the workflow has a custom title: name the values that are inputs" }]);
  }
  const names = choices.map(({ name }) => name);
  return choices.map(({ name, node, input }, index) => {
    const path = `inputs.${index}`;
    const one = foundInputs.find((each) => each.node === node && each.input === input);
    if (!one) throw invalidRequest([{ path, message: `node ${node} has no value ${JSON.stringify(input)}` }]);
    if (!INPUT_NAME.test(name))
      throw invalidRequest([{ path: `${path}.name`, message: "must be letters, digits and underscores, other than __proto__" }]);
    if (names.indexOf(name) !== index) throw invalidRequest([{ path: `${path}.name`, message: "is listed twice" }]);
    return { ...one, name };
  });
};

const schemaOf = (inputs: readonly FoundInput[]): JsonSchema => ({
  type: "object",
  additionalProperties: false,
  // The workflow's default file exists only on the machine where the workflow was saved.
  required: inputs.filter(({ schema }) => schema.format === "media").map(({ name }) => name),
  properties: Object.fromEntries(inputs.map(({ name, schema }) => [name, schema])),
});

/**
 * Returns the chosen modality, or the modality that the nodes imply. @throws DomainError INVALID_REQUEST if neither is known, or they
 * differ
 */
const chosenModality = (chosenOne: string, { nodes, modality: foundModality }: ReadWorkflow): Modality => {
  const modality = MODALITIES.find((one) => one === (chosenOne || foundModality));
  if (!modality) {
    const message = `must be one of ${MODALITIES.join(", ")}: no node says what the workflow makes`;
    throw invalidRequest([{ path: "modality", message }]);
  }
  if (mayMake(nodes, modality)) return modality;
  throw invalidRequest([{ path: "modality", message: `must be ${foundModality}: no node of the workflow keeps ${modality} files` }]);
};

/** Returns the workflow to store. @throws DomainError INVALID_REQUEST */
export const importWorkflow = async (newWorkflow: NewWorkflow, ask: (path: string) => Promise<unknown>): Promise<StoredWorkflow> => {
  const inspected = await inspectWorkflow(newWorkflow.workflow, ask);
  const { found } = inspected;
  const modality = chosenModality(newWorkflow.modality, inspected);
  const slug = slugOf(newWorkflow.name);
  if (slug === "") throw invalidRequest([{ path: "name", message: "must have letters or digits in it" }]);
  const inputs = chosenInputs(newWorkflow.inputs, found);
  const inputSchema = schemaOf(inputs);
  const [problem] = strictSchemaProblems(inputSchema);
  if (problem !== undefined) throw invalidRequest([{ path: "workflow", message: problem }]);
  return {
    slug,
    name: newWorkflow.name,
    modality,
    workflow: newWorkflow.workflow,
    ...(newWorkflow.keepMetadata ? { keepMetadata: true } : {}),
    inputs: JSON.stringify(Object.fromEntries(inputs.map(({ name, node, input }) => [name, { node, input }]))),
    inputSchema: JSON.stringify(inputSchema),
  };
};
