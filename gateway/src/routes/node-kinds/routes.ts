import {
  anyInput,
  inputPorts,
  MEDIA_FAMILIES,
  NODE_KINDS,
  outputPorts,
  PORT_TYPES,
  type InputPort,
  type MediaOperation,
  type NodeKind,
} from "@nodeloom/kernel";
import { z } from "zod";
import { defineRoute } from "../../edge/route";
import { listQuery } from "../../http/schemas";

const portType = z.enum(PORT_TYPES);
const operation = z
  .object({
    name: z.string().meta({ description: "`node.data.operation`" }),
    title: z.string(),
    summary: z.string(),
    output: z.enum([...MEDIA_FAMILIES, "mask"]).meta({ description: "Type of its output, and name of the output port" }),
    inputs: z
      .record(z.string(), z.unknown())
      .meta({ description: "JSON Schema of its inputs. Files are ports; other inputs are ports and settings" }),
    oneOf: z.array(z.array(z.string())).meta({ description: "Groups of inputs: each group needs at least one" }),
  })
  .meta({ id: "MediaOperation" });

const nodeKind = z
  .object({
    type: z.string().meta({ description: "`node.type`" }),
    summary: z.string(),
    calls: z.enum(["model", "http", "transform"]).nullable().meta({ description: "The kind of call that each item makes" }),
    modality: z.string().nullable().meta({ description: "Output of the models that it calls" }),
    settings: z
      .record(z.string(), z.record(z.string(), z.unknown()))
      .meta({ description: "Members of `node.data`, each with its JSON Schema" }),
    inputs: z
      .array(
        z.object({
          name: z.string(),
          type: portType,
          list: z.boolean().meta({ description: "True if the port takes a list as one value" }),
        }),
      )
      .meta({ description: "Ports of every node of the kind. Placeholders, fields and a model's inputs add more" }),
    operations: z.array(operation).meta({ description: "Operations of the kind, each with its own inputs" }),
    takesAnyInput: z.boolean().meta({ description: "True if any name is an input port" }),
    portsOfModel: z.boolean().meta({ description: "True if the inputs of the node's model are input ports" }),
    outputs: z.array(
      z.object({
        name: z.string(),
        type: portType,
        setting: z.string().optional().meta({ description: "Setting that the port depends on" }),
      }),
    ),
  })
  .meta({ id: "NodeKind" });
export type NodeKindView = z.infer<typeof nodeKind>;

const operationView = ({ name, title, summary, output, schema, oneOf = [] }: MediaOperation): z.infer<typeof operation> => ({
  ...{ name, title, summary, output, inputs: schema },
  oneOf: oneOf.map((names) => [...names]),
});

const view = (kind: NodeKind): z.infer<typeof nodeKind> => {
  const blank = { id: "", type: kind.type, data: {} };
  return {
    type: kind.type,
    summary: kind.summary,
    calls: kind.calls,
    modality: kind.modality ?? null,
    settings: kind.settings as Record<string, Record<string, unknown>>,
    inputs: [...inputPorts(blank)].map(([name, { type, list }]: [string, InputPort]) => ({ name, type, list })),
    operations: (kind.operations ?? []).map(operationView),
    takesAnyInput: anyInput(blank, "any") !== undefined,
    portsOfModel: kind.portsOfModel ?? false,
    outputs: [...[...outputPorts(blank)].map(([name, type]) => ({ name, type })), ...(kind.optionalOutputs ?? [])],
  };
};

export const nodeKinds: readonly NodeKindView[] = Object.values(NODE_KINDS).map(view);

export const nodeKindRoutes = [
  defineRoute({
    method: "GET",
    tag: "Models",
    auth: "any",
    role: "viewer",
    limit: "user",
    path: "/api/node-kinds",
    query: listQuery(),
    operationId: "listNodeKinds",
    summary: "List the node kinds with their settings and ports",
    responses: { 200: z.array(nodeKind) },
    handler: () => Promise.resolve({ status: 200, body: nodeKinds }),
  }),
];
