import { z } from "zod";
import type { Services } from "../../clients/services";
import type { Gateway } from "../../edge/gateway";
import { notFound } from "../../http/errors";
import { PAGE_MAX } from "../../http/limits";
import { defineRoute } from "../../edge/route";
import { cursor, cursorPage, identifier, idParams, iso, limit, listQuery, nextCursor, timestamp } from "../../http/schemas";
import { balances } from "../identity/view";
import { adjust, creditAccount, topup } from "./credits";
import { forAdmins } from "./shared";
import { jsonBody } from "../../http/body/kinds";

const organization = z
  .object({
    id: z.string(),
    name: z.string(),
    createdBy: z.string().meta({ description: "User id" }),
    tierOf: z.string().meta({ description: "User id of the owner whose tier, approval and suspension are the organization's" }),
    members: z.number(),
    createdAt: timestamp.nullable(),
    erasesAt: timestamp.nullable().meta({ description: "Time of its deletion, if it is scheduled" }),
  })
  .meta({ id: "AdminOrganization" });

/** Plan credits and trial runs exist for people only. */
const creditChange = z.discriminatedUnion("kind", [topup, adjust]).meta({ id: "OrganizationCreditChange" });

type Needs = Pick<Services, "organizations" | "workflows">;

/** Hides an organization's templates and public schemas, or shows them again; the latest request wins. */
export const hideWorkflows = async ({ workflows }: Pick<Needs, "workflows">, ownerId: string, suspended: boolean): Promise<void> => {
  await workflows.setOwnerSuspended({ ownerId, suspended, userRevision: Date.now() });
};

/** Applies `hideWorkflows` to all organizations with a user's tier. */
export const hideOrganizationsOf = async (services: Needs, userId: string, suspended: boolean): Promise<void> => {
  let next = "";
  do {
    const page = await services.organizations.listAllOrganizations({ query: "", tierOf: userId, limit: PAGE_MAX, cursor: next });
    for (const { id } of page.organizations) await hideWorkflows(services, id, suspended);
    next = page.nextCursor;
  } while (next !== "");
};

const requireOrganization = async ({ services }: Pick<Gateway, "services">, id: string): Promise<void> => {
  const { user } = await services.identity.getUser({ userId: id });
  if (!user?.organization) throw notFound("organization");
};

export const adminOrganizationRoutes = [
  defineRoute({
    ...forAdmins,
    method: "GET",
    path: "/api/admin/organizations",
    operationId: "adminListOrganizations",
    summary: "List organizations, newest first",
    query: listQuery(z.object({ q: identifier.optional().meta({ description: "Part of the name" }), limit, cursor: cursor.optional() })),
    responses: { 200: cursorPage(organization) },
    handler: async ({ gateway, query }) => {
      const request = { query: query.q ?? "", tierOf: undefined, limit: query.limit, cursor: query.cursor ?? "" };
      const page = await gateway.services.organizations.listAllOrganizations(request);
      const rows = page.organizations.map(({ createdAt, erasesAt, ...row }) => ({
        ...row,
        createdAt: iso(createdAt),
        erasesAt: iso(erasesAt),
      }));
      return { status: 200, body: { rows, nextCursor: nextCursor(page.nextCursor) } };
    },
  }),
  defineRoute({
    ...forAdmins,
    method: "POST",
    path: "/api/admin/organizations/:id/credits",
    params: idParams("organization"),
    operationId: "adminCreditOrganization",
    summary: "Add or adjust an organization's credits",
    idempotent: "once",
    body: jsonBody(creditChange),
    responses: { 200: z.object({ organizationId: z.string(), credits: balances }).meta({ id: "OrganizationBalances" }) },
    errors: ["NOT_FOUND"],
    example: { kind: "topup", amount: 500, note: "Invoice 2026-015" },
    handler: async (context) => {
      const { gateway, params } = context;
      await requireOrganization(gateway, params.id);
      return { status: 200, body: { organizationId: params.id, credits: await creditAccount(context, "organization.credit") } };
    },
  }),
];
