import { coordinate, isRecord, listOf } from "../graph";

/** Reads n8n's JSON: nodes by name, and the links of their items. */

export type Role =
  "trigger" | "fields" | "request" | "branch" | "chat" | "image" | "speech" | "pass" | "reply" | "note" | "inside" | "code" | "other";

export interface N8nLink {
  source: string;
  /** Number of the source's output, from 0. */
  output: number;
}

export interface N8nNode {
  name: string;
  /** Type without its package, such as `httpRequest`. */
  type: string;
  role: Role;
  isDisabled: boolean;
  parameters: Readonly<Record<string, unknown>>;
  x: number;
  y: number;
  /** Links that bring items. */
  links: readonly N8nLink[];
}

const ROLES: Readonly<Record<string, Role>> = {
  ...{ webhook: "trigger", start: "trigger", cron: "trigger", interval: "trigger" },
  ...{ set: "fields", editFields: "fields", httpRequest: "request", if: "branch", filter: "branch", switch: "branch" },
  ...{ chainLlm: "chat", agent: "chat", anthropic: "chat", googleGemini: "chat", respondToWebhook: "reply", stickyNote: "note" },
  ...{ merge: "pass", noOp: "pass", wait: "pass", splitInBatches: "pass", splitOut: "pass", aggregate: "pass", limit: "pass" },
  ...{ code: "code", function: "code", functionItem: "code" },
};

const roleOf = (type: string, { resource }: Readonly<Record<string, unknown>>): Role => {
  if (/trigger$/i.test(type)) return "trigger";
  if (type !== "openAi") return Object.hasOwn(ROLES, type) ? ROLES[type]! : "other";
  return resource === "image" ? "image" : resource === "audio" ? "speech" : "chat";
};

/** Calls back for each link: `main` links carry items, others connect a model, a tool or a memory. */
const eachLink = (
  connections: Record<string, unknown>,
  call: (kind: string, source: string, output: number, target: string) => void,
): void => {
  for (const [source, kinds] of Object.entries(connections))
    for (const [kind, outputs] of Object.entries(isRecord(kinds) ? kinds : {}))
      for (const [output, targets] of listOf(outputs).entries())
        for (const target of listOf(targets))
          if (isRecord(target) && typeof target.node === "string") call(kind, source, output, target.node);
};

/** @returns undefined if the value isn't a workflow of n8n */
export const n8nNodes = (value: unknown): N8nNode[] | undefined => {
  if (!isRecord(value) || !Array.isArray(value.nodes) || !isRecord(value.connections)) return undefined;
  const rows = value.nodes.filter((node): node is Record<string, unknown> => isRecord(node) && typeof node.type === "string");
  if (!rows.some(({ type }) => /^(@?n8n|n8n-nodes)[-./]/.test(String(type)))) return undefined;
  const links = new Map<string, N8nLink[]>();
  const helpers = new Set<string>();
  eachLink(value.connections, (kind, source, output, target) => {
    if (kind === "main") links.set(target, [...(links.get(target) ?? []), { source, output }]);
    else helpers.add(source);
  });
  return rows.map((row, index) => {
    const type = String(row.type).split(".").at(-1) ?? "";
    const name = typeof row.name === "string" && row.name !== "" ? row.name : `${type} ${index + 1}`;
    const parameters = isRecord(row.parameters) ? row.parameters : {};
    return {
      ...{ name, type, parameters, x: coordinate(row.position, 0), y: coordinate(row.position, 1), links: links.get(name) ?? [] },
      role: helpers.has(name) ? "inside" : roleOf(type, parameters),
      isDisabled: row.disabled === true,
    };
  });
};
