import { fieldsSchema, isSlug, LIMITS, PRODUCTION, VERSION, workflowNotFound, type InputField, type JsonSchema } from "@nodeloom/kernel";
import { workflows, type models } from "@nodeloom/proto";
import { z } from "zod";
import type { Caller } from "../../auth/caller";
import type { Gateway } from "../../edge/gateway";
import { modelNotFound } from "../../http/errors";
import { anyObject, listQuery, timestamp, type ParamsSpec } from "../../http/schemas";
import { defineRoute, type RouteDefinition } from "../../edge/route";
import { idOf, NODELOOM, WORKFLOW } from "../facades/target";
import { selectedGraph } from "../workflows/selection";
import { mayRun } from "../openai/target";
import { modelName, pageOf, pageView } from "./view";

/** Models of Replicate's API: the models and own workflows that the caller can run, each with one version. */

/** Registry entries have no creation time. */
const CREATED_AT = "1970-01-01T00:00:00.000Z";
/** Version of the format of `openapi_schema`. Libraries read lists in a different way for older versions. */
const COG_VERSION = "0.9.0";

const version = z
  .object({
    id: z.string().meta({ description: "Value for the `version` of a prediction", example: "sandbox-image" }),
    created_at: timestamp,
    cog_version: z.string(),
    openapi_schema: anyObject.meta({ description: "`components.schemas` has `Input` and `Output`" }),
  })
  .meta({ id: "ReplicateVersion" });
const model = z
  .object({
    url: z.string(),
    owner: z.string(),
    name: z.string(),
    description: z.string(),
    visibility: z.enum(["public", "private"]),
    is_official: z.boolean(),
    run_count: z.literal(0),
    github_url: z.null(),
    paper_url: z.null(),
    license_url: z.null(),
    cover_image_url: z.null(),
    default_example: z.null(),
    latest_version: version,
  })
  .meta({ id: "ReplicateModel" });

type Version = z.infer<typeof version>;
type Model = z.infer<typeof model>;

const ADDRESSES = { type: "array", items: { type: "string", format: "uri" } };
const outputSchema = (member: string): JsonSchema => (member === "text" ? { type: "string" } : ADDRESSES);

const versionView = (id: string, input: JsonSchema, output: JsonSchema): Version => ({
  ...{ id, created_at: CREATED_AT, cog_version: COG_VERSION },
  openapi_schema: {
    openapi: "3.0.2",
    info: { title: id, version: COG_VERSION },
    paths: {},
    components: { schemas: { Input: { title: "Input", ...input }, Output: { title: "Output", ...output } } },
  },
});

const modelView = (gateway: Gateway, owner: string, name: string, description: string, latest: Version): Model => ({
  ...{ url: `${gateway.publicBaseUrl}/models`, owner, name, description },
  ...{ visibility: owner === WORKFLOW ? "private" : "public", is_official: owner === NODELOOM, run_count: 0 },
  ...{ github_url: null, paper_url: null, license_url: null, cover_image_url: null, default_example: null },
  latest_version: latest,
});

const ofModel = (gateway: Gateway, { internalName, description, inputSchemaJson, outputs }: models.Model): Model => {
  const properties = Object.fromEntries(outputs.map((member) => [member, outputSchema(member)]));
  const output = outputs.length === 1 ? outputSchema(outputs[0]!) : { type: "object", properties };
  const latest = versionView(internalName, JSON.parse(inputSchemaJson) as JsonSchema, output);
  return modelView(gateway, NODELOOM, internalName, description, latest);
};

const fieldOf = ({ defaultJson, ...field }: workflows.SchemaField): InputField =>
  ({ ...field, ...(defaultJson === "" ? {} : { default: JSON.parse(defaultJson) as unknown }) }) as InputField;

const ofWorkflow = async (gateway: Gateway, caller: Caller, slug: string, number = ""): Promise<Model> => {
  const { schema } = await gateway.services.workflows.getSchema({
    slug,
    userId: caller.user.id,
    ...selectedGraph(caller, { version: number }),
  });
  const latest = versionView(`${slug}:${number || PRODUCTION}`, fieldsSchema((schema?.fields ?? []).map(fieldOf)), {});
  return modelView(gateway, WORKFLOW, slug, "", latest);
};

/**
 * Finds a model or a workflow by its name.
 * @throws DomainError MODEL_NOT_FOUND, WORKFLOW_NOT_FOUND, also for targets that the caller can't run
 */
const find = async (gateway: Gateway, caller: Caller, owner: string, name: string, number = ""): Promise<Model> => {
  if (owner === WORKFLOW) {
    if (!isSlug(name) || !mayRun(caller, "workflow", name)) throw workflowNotFound();
    return ofWorkflow(gateway, caller, name, number);
  }
  const id = await idOf(gateway, `${owner}/${name}`);
  if (id === undefined || !mayRun(caller, "model", id)) throw modelNotFound(`${owner}/${name}`);
  const { model: foundModel } = await gateway.services.models.getModel({ internalName: id, includeDisabled: false });
  if (!foundModel) throw modelNotFound(`${owner}/${name}`);
  return ofModel(gateway, foundModel);
};

/** Finds the version of a model by its id. @throws DomainError MODEL_NOT_FOUND, VERSION_NOT_FOUND */
const findVersion = async (gateway: Gateway, caller: Caller, owner: string, name: string, id: string): Promise<Version> => {
  const [, number = PRODUCTION] = id.split(":");
  const isNumbered = owner === WORKFLOW && VERSION.test(number);
  const { latest_version: modelVersion } = await find(gateway, caller, owner, name, isNumbered ? number : "");
  if (modelVersion.id !== id) throw modelNotFound(`${owner}/${name}:${id}`);
  return modelVersion;
};

const reading = {
  method: "GET",
  tag: "Replicate",
  auth: "any",
  role: "viewer",
  limit: "user",
  protocol: "replicate",
  errors: ["MODEL_NOT_FOUND", "WORKFLOW_NOT_FOUND", "VERSION_NOT_FOUND"],
} as const satisfies Partial<RouteDefinition<"any">>;

const versioned: ParamsSpec<{ owner: string; name: string; id: string }> = {
  schema: modelName.schema.extend({ id: z.string().min(1).meta({ example: "sandbox-image" }) }),
  invalid: modelName.invalid,
};

export const replicateModelRoutes = [
  defineRoute({
    ...reading,
    path: "/replicate/v1/models",
    operationId: "replicateListModels",
    summary: "List the models and own workflows that the caller can run",
    query: listQuery(),
    responses: { 200: pageOf(model).meta({ id: "ReplicateModels" }) },
    errors: [],
    handler: async ({ gateway, caller }) => {
      const [{ models: all }, { workflows: own }] = await Promise.all([
        gateway.services.models.listModels({ includeDisabled: false }),
        gateway.services.workflows.listWorkflows(
          workflows.ListWorkflowsRequest.fromPartial({ userId: caller.user.id, own: true, limit: LIMITS.pageRows }),
        ),
      ]);
      const results = [
        ...all.filter((one) => mayRun(caller, "model", one.internalName)).map((one) => ofModel(gateway, one)),
        ...own
          .filter(({ slug }) => mayRun(caller, "workflow", slug))
          .map((one) => modelView(gateway, WORKFLOW, one.slug, one.description, versionView(`${one.slug}:${PRODUCTION}`, {}, {}))),
      ];
      return { status: 200, body: pageView(results) };
    },
  }),
  defineRoute({
    ...reading,
    path: "/replicate/v1/models/:owner/:name",
    operationId: "replicateGetModel",
    summary: "Read a model or a workflow",
    params: modelName,
    responses: { 200: model },
    handler: async ({ gateway, caller, params }) => ({ status: 200, body: await find(gateway, caller, params.owner, params.name) }),
  }),
  defineRoute({
    ...reading,
    path: "/replicate/v1/models/:owner/:name/versions",
    operationId: "replicateListVersions",
    summary: "List the version of a model or a workflow",
    params: modelName,
    query: listQuery(),
    responses: { 200: pageOf(version).meta({ id: "ReplicateVersions" }) },
    handler: async ({ gateway, caller, params }) => {
      const { latest_version: latest } = await find(gateway, caller, params.owner, params.name);
      return { status: 200, body: pageView([latest]) };
    },
  }),
  defineRoute({
    ...reading,
    path: "/replicate/v1/models/:owner/:name/versions/:id",
    operationId: "replicateGetVersion",
    summary: "Read a version: a model's, or `<slug>:<number>` of a workflow",
    params: versioned,
    responses: { 200: version },
    handler: async ({ gateway, caller, params }) => ({
      status: 200,
      body: await findVersion(gateway, caller, params.owner, params.name, params.id),
    }),
  }),
];
