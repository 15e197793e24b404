import { didYouMean, DomainError, invalidRequest, SECRET_BOUNDS, SECRET_NAME, SECRET_NAME_FORM } from "@nodeloom/kernel";
import { workflows as workflowsProto, type identity } from "@nodeloom/proto";
import { z } from "zod";
import { notFound } from "../../http/errors";
import { defineRoute, type CallContext, type RouteDefinition } from "../../edge/route";
import { aliasName, iso, listQuery, slug, timestamp, type ParamsSpec } from "../../http/schemas";
import { auditedForOwner } from "../../edge/audit";
import { jsonBody } from "../../http/body/kinds";

/** A user's secrets: set here, sent by HTTP nodes, never shown again. */

const name = z.string().regex(SECRET_NAME, SECRET_NAME_FORM).meta({ example: "STRIPE_KEY" });
const hosts = z.array(z.string().min(1).max(SECRET_BOUNDS.hostChars)).min(1).max(SECRET_BOUNDS.hosts);

const workflowSlugs = z.array(slug).min(1).max(SECRET_BOUNDS.workflows);

const secret = z
  .object({
    name: z.string().meta({ description: "`{{secrets.NAME}}` in HTTP nodes", example: "STRIPE_KEY" }),
    alias: z.string().optional().meta({ description: "Set on a value that only runs by this alias send" }),
    hosts: z.array(z.string()).meta({ description: "Hosts that can receive it", example: ["api.stripe.com"] }),
    workflows: z
      .array(z.string())
      .optional()
      .meta({ description: "Slugs of the workflows whose nodes can send it; absent for all workflows", example: ["charge-customers"] }),
    createdAt: timestamp.nullable(),
    updatedAt: timestamp.nullable().meta({ description: "Time when it was last set" }),
  })
  .meta({ id: "Secret" });

const list = z
  .object({
    configured: z.boolean().meta({ description: "True if this installation can store secrets (`SECRETS_KEYS`)" }),
    secrets: z.array(
      secret
        .extend({
          usedBy: z
            .array(z.object({ slug: z.string(), name: z.string() }))
            .meta({ description: "The caller's workflows whose drafts send it, last changed first" }),
        })
        .meta({ id: "ListedSecret" }),
    ),
  })
  .meta({ id: "Secrets" });

const newSecret = z
  .strictObject({
    value: z.string().min(SECRET_BOUNDS.minValueChars).max(SECRET_BOUNDS.valueChars).meta({ description: "One line of printable ASCII" }),
    hosts: hosts.meta({ description: "Hosts, or host:port, that can receive it" }),
    alias: aliasName.optional().meta({
      description:
        "Only runs by this alias of a workflow send the value. Once a secret has such a value, all other runs that name it are rejected",
      example: "staging",
    }),
    workflows: workflowSlugs.optional().meta({
      description:
        "Slugs of the caller's workflows. Only nodes of their graphs can send the value; for a node of an inner workflow, the inner workflow's slug counts. Absent: all workflows, also if the replaced value was limited",
      example: ["charge-customers"],
    }),
  })
  .meta({ id: "NewSecret" });

/** Workflows that don't exist yet are rejected: a misspelt slug would make the secret unusable. @throws INVALID_REQUEST */
const requireWorkflows = async (
  { gateway, caller }: Pick<CallContext<"session">, "gateway" | "caller">,
  slugs: readonly string[],
): Promise<void> => {
  if (slugs.length === 0) return;
  const { workflows: own } = await gateway.services.workflows.listWorkflows(
    workflowsProto.ListWorkflowsRequest.fromPartial({ userId: caller.user.id, own: true }),
  );
  const names = own.map((one) => one.slug);
  const issues = slugs.flatMap((one, index) =>
    names.includes(one)
      ? []
      : [{ path: `workflows.${index}`, message: `you have no workflow ${one}: create it first${didYouMean(one, names)}` }],
  );
  if (issues.length > 0) throw invalidRequest(issues);
};

const limited = ({ workflows }: Pick<identity.Secret, "workflows">): { workflows?: string[] } =>
  workflows.length === 0 ? {} : { workflows };

const view = ({ name: secretName, alias, hosts: allowed, workflows, createdAt, setAt }: identity.Secret) => ({
  name: secretName,
  ...(alias ? { alias } : {}),
  hosts: allowed,
  ...limited({ workflows }),
  createdAt: iso(createdAt),
  updatedAt: iso(setAt),
});

const misnamed: ParamsSpec<{ name: string }> = {
  schema: z.object({ name }),
  invalid: () => invalidRequest([{ path: "name", message: SECRET_NAME_FORM }]),
};
const unknown: ParamsSpec<{ name: string }> = { ...misnamed, invalid: () => notFound("secret") };

const shared = {
  ...{ tag: "Secrets", auth: "session", role: "editor", limit: "user" },
  keyCapability: "secrets:write",
} as const satisfies Partial<RouteDefinition<"session">>;

export const secretRoutes = [
  defineRoute({
    ...shared,
    method: "GET",
    path: "/api/secrets",
    query: listQuery(),
    operationId: "listSecrets",
    summary: "List the caller's secrets, without their values",
    responses: { 200: list },
    handler: async ({ gateway, caller }) => {
      const { identity: identities, workflows } = gateway.services;
      const ownerId = caller.user.id;
      const [{ secrets, configured }, { uses }] = await Promise.all([
        identities.listSecrets({ owner: ownerId }),
        workflows.listSecretUses({ ownerId }),
      ]);
      const usedBy = (secretName: string): { slug: string; name: string }[] =>
        uses.filter(({ secretNames }) => secretNames.includes(secretName)).map((use) => ({ slug: use.slug, name: use.name }));
      return { status: 200, body: { configured, secrets: secrets.map((one) => ({ ...view(one), usedBy: usedBy(one.name) })) } };
    },
  }),
  defineRoute({
    ...shared,
    method: "PUT",
    path: "/api/secrets/:name",
    params: misnamed,
    operationId: "putSecret",
    summary: "Set a secret, or replace it",
    description:
      "HTTP nodes in the caller's own workflows send it in place of `{{secrets.NAME}}`: only to its hosts, and only by https (by http to the machine itself). With `workflows`, only their nodes can send it. The value is encrypted and never shown again. A change applies to every later request.",
    body: jsonBody(newSecret),
    responses: { 200: secret },
    errors: ["NOT_CONFIGURED", "PRECONDITION_FAILED"],
    example: { value: "the key, as its maker shows it", hosts: ["api.example.com"] },
    handler: async (context) => {
      const { gateway, caller, params, body } = context;
      const owner = caller.user.id;
      const { workflows = [] } = body;
      await requireWorkflows(context, workflows);
      const change = { hosts: body.hosts, ...(body.alias === undefined ? {} : { alias: body.alias }), ...limited({ workflows }) };
      const stored = await auditedForOwner(context, { action: "secret.put", target: params.name, change }, async () => {
        const { secret: storedSecret } = await gateway.services.identity.putSecret({
          owner,
          name: params.name,
          setBy: caller.person.id,
          ...body,
          workflows,
        });
        if (!storedSecret) throw new Error("identity answered without a secret");
        return { value: view(storedSecret), after: { hosts: storedSecret.hosts, ...limited(storedSecret) } };
      });
      return { status: 200, body: stored };
    },
  }),
  defineRoute({
    ...shared,
    method: "DELETE",
    path: "/api/secrets/:name",
    params: unknown,
    query: z.strictObject({ alias: aliasName.optional().meta({ description: "Only the value for this alias" }) }),
    operationId: "deleteSecret",
    summary: "Remove a secret",
    description: "From then on, requests that would send it fail, and runs that need it are rejected.",
    responses: { 204: null },
    errors: ["NOT_FOUND"],
    handler: async (context) => {
      const { gateway, caller, params, query } = context;
      const action = { action: "secret.delete", target: params.name, ...(query.alias === undefined ? {} : { change: query }) };
      await auditedForOwner(context, action, async () => {
        const request = { owner: caller.user.id, name: params.name, alias: query.alias };
        const { secret: removed } = await gateway.services.identity.deleteSecret(request);
        if (!removed) throw new DomainError("not_found", "NOT_FOUND", `there is no secret ${params.name}`);
        return { value: undefined, before: { hosts: removed.hosts, ...limited(removed) } };
      });
      return { status: 204 };
    },
  }),
];
