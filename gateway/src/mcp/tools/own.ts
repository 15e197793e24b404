import { fieldsSchema, resultSchema, type InputField } from "@nodeloom/kernel";
import { workflows, type models } from "@nodeloom/proto";
import type { Route } from "../../edge/route";
import { mayRun } from "../../routes/openai/target";
import type { McpContext } from "../calls";
import { outcomeSchema, RUNS, runTool } from "../runs";
import { argumentsSchema, objectSchema } from "./arguments";
import { BUILT_IN } from "./built-in";
import type { Tool, ToolHead } from "./tool";

/** Tools for the caller's workflows with `mcp: true`, and for models if requested. */

/** Prefix of model tools, and of workflows whose slug is a built-in tool. Slugs have no underscore. */
const MODEL = "model_";
const WORKFLOW = "workflow_";
const TAKEN: ReadonlySet<string> = new Set(BUILT_IN.map(({ name }) => name));

type Json = Record<string, unknown>;
type Kind = "workflow" | "model";

const RUNNING = { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true } as const;
const PRICED = "Costs credits: `quote` says how many.";

/** Schema parts shared by all workflows or models; inputs and results differ. */
const headOf = ({ query, body }: Route): { input: ToolHead["inputSchema"]; output: ToolHead["inputSchema"] } => ({
  input: argumentsSchema({ query, body }),
  output: objectSchema(outcomeSchema(), "output"),
});
const HEADS = { workflow: headOf(RUNS.workflow), model: headOf(RUNS.model) } as const satisfies Record<Kind, object>;

const withMember = (schema: ToolHead["inputSchema"], name: string, member: Json): ToolHead["inputSchema"] => ({
  ...schema,
  properties: { ...(schema.properties as Json), [name]: member },
});

interface Target {
  kind: Kind;
  id: string;
  name: string;
  cursor: string;
  title: string;
  description: string;
  inputs: Json;
  result: Json;
}

const toolOf = ({ kind, id, name, cursor, title, description, inputs, result }: Target): Tool => ({
  name,
  cursor,
  title,
  description: [description, PRICED].filter((text) => text !== "").join("\n\n"),
  inputSchema: withMember(HEADS[kind].input, "inputs", inputs),
  outputSchema: withMember(HEADS[kind].output, "result", result),
  annotations: RUNNING,
  call: (call) => runTool(call, kind, id, call.args),
});

const fieldOf = ({ defaultJson, options, ...field }: workflows.SchemaField): InputField =>
  ({ ...field, options, ...(defaultJson === "" ? {} : { default: JSON.parse(defaultJson) as unknown }) }) as InputField;

/** Model of a tool's name or of a cursor; undefined for other tools. */
export const modelOf = (name: string): string | undefined => (name.startsWith(MODEL) ? name.slice(MODEL.length) : undefined);

const workflowToolName = (slug: string): string => (TAKEN.has(slug) ? `${WORKFLOW}${slug}` : slug);
const slugOf = (name: string): string => (name.startsWith(WORKFLOW) ? name.slice(WORKFLOW.length) : name);

const workflowTool = ({ slug, name, description, fields, results }: workflows.Tool): Tool =>
  toolOf({
    kind: "workflow",
    id: slug,
    name: workflowToolName(slug),
    cursor: slug,
    title: name,
    description: description || name,
    inputs: fieldsSchema(fields.map(fieldOf)),
    result: resultSchema(results),
  });

const modelTool = ({ internalName, displayName, description, inputSchemaJson, outputs }: models.Model): Tool =>
  toolOf({
    kind: "model",
    id: internalName,
    name: `${MODEL}${internalName}`,
    cursor: `${MODEL}${internalName}`,
    title: displayName,
    description: description || displayName,
    inputs: JSON.parse(inputSchemaJson) as Json,
    result: resultSchema(outputs),
  });

/** A page of workflow tools that the caller can run. `next` is the slug after which the next page starts; undefined at the end. */
export const workflowTools = async (
  { gateway, caller }: McpContext,
  after: string,
  limit: number,
): Promise<{ tools: Tool[]; next: string | undefined }> => {
  const request = workflows.ListToolsRequest.fromPartial({ ownerId: caller.user.id, limit, after });
  const { tools } = await gateway.services.workflows.listTools(request);
  const allowed = tools.filter(({ slug }) => mayRun(caller, "workflow", slug));
  return { tools: allowed.map(workflowTool), next: tools.length < limit ? undefined : tools.at(-1)?.slug };
};

/** Models that the caller can run, if requested. */
export const modelTools = async ({ gateway, caller, query }: McpContext): Promise<Tool[]> => {
  if (query.models !== true) return [];
  const { models: listed } = await gateway.services.models.listModels({ includeDisabled: false });
  return listed.filter(({ internalName }) => mayRun(caller, "model", internalName)).map(modelTool);
};

export const findTool = async (context: McpContext, name: string): Promise<Tool | undefined> => {
  const builtIn = BUILT_IN.find((tool) => tool.name === name);
  if (builtIn) return builtIn;
  if (name.startsWith(MODEL)) return (await modelTools(context)).find((tool) => tool.name === name);
  const slug = slugOf(name);
  if (workflowToolName(slug) !== name) return undefined;
  const { gateway, caller } = context;
  const request = workflows.ListToolsRequest.fromPartial({ ownerId: caller.user.id, limit: 1, slug });
  const [tool] = (await gateway.services.workflows.listTools(request)).tools;
  return tool && workflowTool(tool);
};
