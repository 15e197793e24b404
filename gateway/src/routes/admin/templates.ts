import { LIMITS } from "@nodeloom/kernel";
import type { workflows } from "@nodeloom/proto";
import { z } from "zod";
import type { Services } from "../../clients/services";
import { defineRoute } from "../../edge/route";
import { slug, workflowParams } from "../../http/schemas";
import { audited } from "../../edge/audit";
import { forAdmins } from "./shared";
import { jsonBody } from "../../http/body/kinds";

const change = z
  .strictObject({ listed: z.boolean().optional(), reason: z.string().max(LIMITS.noteChars).optional(), featured: z.boolean().optional() })
  .refine(({ listed, featured }) => listed !== undefined || featured !== undefined, "give at least one of listed, featured")
  .refine(({ listed, reason }) => reason === undefined || listed !== undefined, {
    path: ["reason"],
    message: "can only be sent together with listed",
  })
  .meta({
    id: "TemplateChange",
    override: { anyOf: [{ required: ["listed"] }, { required: ["featured"] }], dependentRequired: { reason: ["listed"] } },
  });
const standing = z
  .object({
    slug,
    listed: z.boolean(),
    reason: z.string().nullable().meta({ description: "Reason for the takedown" }),
    featured: z.boolean().optional().meta({ description: "True if it is featured. Present if it is or was featured" }),
  })
  .meta({ id: "TemplateStanding" });

const standingOf = (takedown: workflows.Takedown | undefined, featured: boolean) => ({
  listed: takedown === undefined,
  reason: takedown?.reason ?? null,
  featured,
});
type Standings = { before: ReturnType<typeof standingOf>; after: ReturnType<typeof standingOf> };

const moderate = async (service: Services["workflows"], slug: string, listed: boolean, reason: string): Promise<Standings> => {
  const { earlierTakedown, takedown, featured } = await service.moderateTemplate({ slug, listed, reason });
  return { before: standingOf(earlierTakedown, featured), after: standingOf(takedown, featured) };
};

const feature = async (service: Services["workflows"], slug: string, featured: boolean): Promise<Standings> => {
  const { wasFeatured, takedown } = await service.featureTemplate({ slug, featured });
  return { before: standingOf(takedown, wasFeatured), after: standingOf(takedown, featured) };
};

export const adminTemplateRoutes = [
  defineRoute({
    ...forAdmins,
    method: "PATCH",
    path: "/api/admin/templates/:slug",
    operationId: "adminModerateTemplate",
    summary: "Take down, restore or feature a template",
    description: "After a takedown, only the owner can see and run the template.",
    params: workflowParams,
    body: jsonBody(change),
    responses: { 200: standing },
    errors: ["WORKFLOW_NOT_FOUND"],
    example: { listed: false, reason: "Shows somebody else's pictures" },
    handler: async (context) => {
      const { gateway, params, body } = context;
      const action = { action: "template.moderate", target: params.slug, change: body };
      const after = await audited(context, action, async () => {
        const { listed, reason = "", featured } = body;
        const service = gateway.services.workflows;
        const moderated = listed === undefined ? undefined : await moderate(service, params.slug, listed, reason);
        const last = featured === undefined ? moderated! : await feature(service, params.slug, featured);
        return { value: last.after, before: (moderated ?? last).before, after: last.after };
      });
      const { featured, ...listing } = after;
      const isTold = featured || body.featured !== undefined;
      return { status: 200, body: { slug: params.slug, ...listing, ...(isTold ? { featured } : {}) } };
    },
  }),
];
