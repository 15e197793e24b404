import {
  covers,
  invalidRequest,
  isRecord,
  isSlug,
  maxFiles,
  takesFiles,
  uploadFamily,
  uploadType,
  MASK_KEYWORD,
  type JsonSchema,
} from "@nodeloom/kernel";
import type { executions, workflows } from "@nodeloom/proto";
import { authorize, runCapability, type Caller } from "../../auth/caller";
import type { Gateway } from "../../edge/gateway";
import { modelNotFound } from "../../http/errors";
import { selectedGraph } from "../workflows/selection";
import { inputsOf, type Parameters, type InputOptions } from "./inputs";

/** Resolves the parameter `model`: a model's internal name, `workflow/<slug>`, or `workflow/<slug>@<alias>`. */

export const WORKFLOW = "workflow/";
const NAME = /^([^@]*)(?:@(.+))?$/s;

type Kind = "workflow" | "model";

export interface OpenAiTarget {
  target: NonNullable<executions.Target["target"]>;
  kind: Kind;
  /** For a workflow: the alias; empty for `production`. */
  alias: string;
  takes(input: string): boolean;
  /** Inputs for parameters. @throws DomainError INVALID_REQUEST, naming unknown parameters */
  inputsOf(parameters: Parameters, options?: InputOptions): Record<string, unknown>;
  /** Maximum items of a list input; undefined without a limit. */
  mostOf(input: string): number | undefined;
}

export const partsOfName = (name: string): { kind: Kind; id: string; alias: string } => {
  if (!name.startsWith(WORKFLOW)) return { kind: "model", id: name, alias: "" };
  const [, id = "", alias = ""] = NAME.exec(name.slice(WORKFLOW.length)) ?? [];
  return { kind: "workflow", id, alias };
};

export const mayRun = ({ capabilities }: Caller, kind: Kind, id: string): boolean => covers(capabilities, runCapability(kind, id));

const TEXT_FIELDS: ReadonlySet<string> = new Set(["text", "textarea"]);

const propertyOf = (field: workflows.SchemaField): JsonSchema => {
  const family = uploadFamily(field);
  const isMask = uploadType(field) === "mask" ? { [MASK_KEYWORD]: true } : {};
  const file = { type: "string", format: "media", contentMediaType: `${family}/*`, ...isMask };
  if (family) return takesFiles(field) ? { type: "array", items: file, maxItems: maxFiles(field) } : file;
  return TEXT_FIELDS.has(field.type) ? { type: "string" } : {};
};

const fieldsOf = async (gateway: Gateway, caller: Caller, slug: string, alias: string): Promise<JsonSchema> => {
  const { schema } = await gateway.services.workflows.getSchema({ slug, userId: caller.user.id, ...selectedGraph(caller, { alias }) });
  return { properties: Object.fromEntries((schema?.fields ?? []).map((field) => [field.name, propertyOf(field)])) };
};

/** @throws DomainError MODEL_NOT_FOUND, or INVALID_REQUEST for a model of another modality */
const inputsOfModel = async (gateway: Gateway, internalName: string, modality: string): Promise<JsonSchema> => {
  const { model } = await gateway.services.models.getModel({ internalName, includeDisabled: false });
  if (!model) throw modelNotFound(internalName);
  if (model.modality !== modality)
    throw invalidRequest([{ path: "model", message: `${internalName} generates ${model.modality}, not ${modality}` }]);
  return JSON.parse(model.inputSchemaJson) as JsonSchema;
};

/** @throws DomainError CAPABILITY_DENIED, MODEL_NOT_FOUND, WORKFLOW_NOT_FOUND, ALIAS_NOT_FOUND, INVALID_REQUEST */
export const readTarget = async (gateway: Gateway, caller: Caller, name: string, modality: string): Promise<OpenAiTarget> => {
  const { kind, id, alias } = partsOfName(name);
  authorize(caller, "any", runCapability(kind, id));
  if (!isSlug(id)) throw modelNotFound(name);
  const schema: JsonSchema = kind === "workflow" ? await fieldsOf(gateway, caller, id, alias) : await inputsOfModel(gateway, id, modality);
  const properties = isRecord(schema.properties) ? schema.properties : {};
  return {
    target: kind === "workflow" ? { $case: "workflowSlug", value: id } : { $case: "model", value: id },
    kind,
    alias: kind === "workflow" ? selectedGraph(caller, { alias }).alias : "",
    takes: (input) => kind === "model" && Object.hasOwn(properties, input),
    inputsOf: (parameters, options) => inputsOf(schema, parameters, options),
    mostOf: (input) => {
      const property = Object.hasOwn(properties, input) ? properties[input] : undefined;
      return isRecord(property) && typeof property.maxItems === "number" ? property.maxItems : undefined;
    },
  };
};
