import { covers, invalidRequest, isRecord, isSlug, type JsonSchema } from "@nodeloom/kernel";
import type { executions } from "@nodeloom/proto";
import { authorize, runCapability, type Caller } from "../../auth/caller";
import type { Gateway } from "../../gateway";
import { modelNotFound } from "../../http/errors";
import { inputsOf, type Given } from "./inputs";

/** What the parameter `model` names: a model by its internal name, or `workflow/<slug>`. */

const WORKFLOW = "workflow/";

type Kind = "workflow" | "model";

export interface OpenAiTarget {
  target: NonNullable<executions.Target["target"]>;
  kind: Kind;
  /** Whether it has an input of a name. */
  takes(input: string): boolean;
  /** The inputs that parameters mean. @throws DomainError INVALID_REQUEST, naming those that nothing is known for */
  inputsOf(given: Given, ignored?: ReadonlySet<string>): Record<string, unknown>;
}

/** Whether a caller may run a model or a workflow. */
export const mayRun = ({ capabilities }: Caller, kind: Kind, id: string): boolean => covers(capabilities, runCapability(kind, id));

/** The fields of a workflow, as the schema of its inputs. */
const fieldsOf = async (gateway: Gateway, caller: Caller, slug: string): Promise<JsonSchema> => {
  const { schema } = await gateway.services.workflows.getSchema({ slug, userId: caller.user.id, version: "" });
  return { properties: Object.fromEntries((schema?.fields ?? []).map(({ name }) => [name, {}])) };
};

/** @throws DomainError MODEL_NOT_FOUND, or INVALID_REQUEST for a model of another modality */
const inputsOfModel = async (gateway: Gateway, internalName: string, modality: string): Promise<JsonSchema> => {
  const { model } = await gateway.services.models.getModel({ internalName, includeDisabled: false });
  if (!model) throw modelNotFound(internalName);
  if (model.modality !== modality)
    throw invalidRequest([{ path: "model", message: `${internalName} makes ${model.modality}, not ${modality}` }]);
  return JSON.parse(model.inputSchemaJson) as JsonSchema;
};

/** @throws DomainError CAPABILITY_DENIED, MODEL_NOT_FOUND, WORKFLOW_NOT_FOUND, INVALID_REQUEST */
export const readTarget = async (gateway: Gateway, caller: Caller, name: string, modality: string): Promise<OpenAiTarget> => {
  const kind: Kind = name.startsWith(WORKFLOW) ? "workflow" : "model";
  const id = kind === "workflow" ? name.slice(WORKFLOW.length) : name;
  authorize(caller, "any", runCapability(kind, id));
  if (!isSlug(id)) throw modelNotFound(name);
  const schema = kind === "workflow" ? await fieldsOf(gateway, caller, id) : await inputsOfModel(gateway, id, modality);
  return {
    target: kind === "workflow" ? { $case: "workflowSlug", value: id } : { $case: "model", value: id },
    kind,
    takes: (input) => kind === "model" && isRecord(schema.properties) && Object.hasOwn(schema.properties, input),
    inputsOf: (given, ignored) => inputsOf(schema, given, ignored),
  };
};
