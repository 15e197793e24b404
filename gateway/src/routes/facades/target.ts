import { ALIAS, isRecord, isSlug, type JsonSchema } from "@nodeloom/kernel";
import type { executions } from "@nodeloom/proto";
import { inputsFrom } from "../../clients/provider-names";
import { authorize, runCapability, type Caller } from "../../auth/caller";
import type { Gateway } from "../../edge/gateway";
import { modelNotFound } from "../../http/errors";
import { selectedGraph } from "../workflows/selection";

/** facades/: parts shared by the APIs of fal and Replicate. This file resolves their names, `<owner>/<name>`. */

/** Owner in names of workflows. No provider has this name. */
export const WORKFLOW = "workflow";
export const NODELOOM = "nodeloom";

export interface FacadeTarget {
  target: executions.Target;
  kind: "workflow" | "model";
  inputsOf(inputs: Readonly<Record<string, unknown>>): Record<string, unknown>;
}

const modelOf = async (gateway: Gateway, name: string): Promise<{ id: string; body: Readonly<Record<string, unknown>> } | undefined> => {
  const [owner, id = "", ...rest] = name.split("/");
  if (owner === NODELOOM) return rest.length === 0 && isSlug(id) ? { id, body: {} } : undefined;
  const entry = (await gateway.catalog.providerNames()).get(name);
  return entry && { id: entry.internalName, body: entry.body };
};

const ownInputs = async (gateway: Gateway, id: string): Promise<(name: string) => boolean> => {
  const schema: JsonSchema = (await gateway.catalog.inputSchemas()).get(id)?.inputSchema ?? {};
  return (name) => isRecord(schema.properties) && Object.hasOwn(schema.properties, name);
};

/** @throws DomainError CAPABILITY_DENIED, MODEL_NOT_FOUND, INVALID_REQUEST */
const workflowTarget = (caller: Caller, name: string, version: string): FacadeTarget => {
  const [slug = "", alias, ...more] = name.slice(WORKFLOW.length + 1).split("@");
  if (!isSlug(slug) || (alias !== undefined && !ALIAS.test(alias)) || more.length > 0) throw modelNotFound(name);
  authorize(caller, "any", runCapability("workflow", slug));
  const graph = selectedGraph(caller, { alias, version });
  const target = { target: { $case: "workflowSlug" as const, value: slug }, ...graph, until: "", schemaJson: "" };
  return { target, kind: "workflow", inputsOf: (inputs) => ({ ...inputs }) };
};

/**
 * Resolves a name: `workflow/<slug>[@<alias>]`, `nodeloom/<internal name>`, or a provider's name of a model.
 * @param version of a workflow; empty for the version of its alias
 * @throws DomainError CAPABILITY_DENIED, MODEL_NOT_FOUND
 */
export const readTarget = async (gateway: Gateway, caller: Caller, name: string, version = ""): Promise<FacadeTarget> => {
  if (name.startsWith(`${WORKFLOW}/`)) return workflowTarget(caller, name, version);
  const model = await modelOf(gateway, name);
  // A caller who can't run any model gets this error whether or not the model exists.
  authorize(caller, "any", runCapability("model", model?.id ?? ""));
  if (!model) throw modelNotFound(name);
  const isOwn = await ownInputs(gateway, model.id);
  return {
    target: { target: { $case: "model", value: model.id }, version: "", alias: "", until: "", schemaJson: "" },
    kind: "model",
    inputsOf: (inputs) => inputsFrom(model.body, inputs, isOwn),
  };
};

/** Internal name of the named model; undefined if there is none. */
export const idOf = async (gateway: Gateway, name: string): Promise<string | undefined> => (await modelOf(gateway, name))?.id;
