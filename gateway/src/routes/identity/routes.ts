import { executions, workflows } from "@nodeloom/proto";
import { z } from "zod";
import type { Caller } from "../../auth/caller";
import type { Gateway } from "../../edge/gateway";
import { defineRoute } from "../../edge/route";
import { ownOrganization, ownOrganizationView } from "../organizations/view";
import { listQuery, nextCursor, timestamp } from "../../http/schemas";
import { ledgerPage, ledgerQuery, ledgerRowView } from "./ledger";
import { balances, balancesView, business, personView, user, userReply } from "./view";

/** First steps of a new user in order; `done` follows the last. */
const STEPS = ["approval", "first-workflow", "first-run"] as const;
const DONE = "done";

const onboarding = z.object({ step: z.enum([...STEPS, DONE]), completed: z.array(z.enum(STEPS)) });
const me = z
  .object({
    user,
    organization: ownOrganization
      .optional()
      .meta({ description: "Set if `X-Organization` names one. The credits are then the organization's" }),
    credits: balances,
    business: business.nullable().meta({ description: "Null while no business is registered" }),
    erasesAt: timestamp.optional().meta({ description: "Set if the account is scheduled for deletion, which can be cancelled until then" }),
    secondFactor: z.literal(true).optional().meta({ description: "Set if signing in with a password also requires a code" }),
    onboarding,
  })
  .meta({ id: "Me" });

/** Next step of the caller, derived from existing resources. */
const onboardingOf = async ({ services }: Gateway, { user: { id, approved } }: Caller): Promise<z.infer<typeof onboarding>> => {
  const [{ workflows: own }, { executions: runs }] = await Promise.all([
    services.workflows.listWorkflows(workflows.ListWorkflowsRequest.fromPartial({ userId: id, own: true, limit: 1 })),
    services.executions.listExecutions(executions.ListExecutionsRequest.fromPartial({ userId: id, limit: 1 })),
  ]);
  const reached = {
    approval: approved,
    "first-workflow": own.length > 0,
    "first-run": runs.length > 0,
  };
  return { step: STEPS.find((step) => !reached[step]) ?? DONE, completed: STEPS.filter((step) => reached[step]) };
};

export const identityRoutes = [
  defineRoute({
    method: "GET",
    path: "/api/whoami",
    operationId: "whoami",
    summary: "Get the caller's account",
    tag: "Identity",
    description:
      "For a key, the person who created it. For an organization, `tier` and `approved` apply to the person in it, and `organization` names it.",
    auth: "any",
    role: "viewer",
    limit: "user",
    responses: { 200: userReply },
    handler: ({ caller }) => Promise.resolve({ status: 200, body: { user: personView(caller), ...ownOrganizationView(caller) } }),
  }),
  defineRoute({
    method: "GET",
    path: "/api/me",
    operationId: "me",
    summary: "The signed-in user with balances and onboarding state",
    tag: "Identity",
    auth: "session",
    role: "viewer",
    limit: "user",
    responses: { 200: me },
    handler: async ({ gateway, caller }) => {
      const [{ account }, progress] = await Promise.all([
        gateway.services.billing.getAccount({ userId: caller.user.id }),
        onboardingOf(gateway, caller),
      ]);
      const { business: ownBusiness, secondFactor, erasesAt } = caller.person;
      const body = {
        user: personView(caller),
        ...ownOrganizationView(caller),
        credits: balancesView(account),
        business: ownBusiness,
        ...(erasesAt ? { erasesAt: erasesAt.toISOString() } : {}),
        ...(secondFactor ? { secondFactor } : {}),
        onboarding: progress,
      };
      return { status: 200, body };
    },
  }),
  defineRoute({
    method: "GET",
    path: "/api/me/ledger",
    operationId: "listMyLedger",
    summary: "List the movements of the caller's own account, newest first",
    tag: "Identity",
    auth: "session",
    role: "owner",
    limit: "user",
    query: listQuery(ledgerQuery),
    responses: { 200: ledgerPage },
    handler: async ({ gateway, caller, query }) => {
      const request = { userId: caller.user.id, limit: query.limit, cursor: query.cursor ?? "", kind: query.kind };
      const page = await gateway.services.billing.listLedger(request);
      return { status: 200, body: { rows: page.rows.map(ledgerRowView), nextCursor: nextCursor(page.nextCursor) } };
    },
  }),
];
