import { LIMITS } from "@nodeloom/kernel";
import type { workflows } from "@nodeloom/proto";
import { z } from "zod";
import { defineRoute } from "../../http/route";
import { slug, workflowParams } from "../../schemas";
import { audited } from "./audit";
import { forAdmins } from "./shared";

const change = z.strictObject({ listed: z.boolean(), reason: z.string().max(LIMITS.noteChars).optional() });
const standing = z
  .object({ slug, listed: z.boolean(), reason: z.string().nullable().meta({ description: "Why it was taken down" }) })
  .meta({ id: "TemplateStanding" });

const standingOf = (listed: boolean, takedown: workflows.Takedown | undefined) => ({ listed, reason: takedown?.reason ?? null });

export const adminTemplateRoutes = [
  defineRoute({
    ...forAdmins,
    method: "PATCH",
    path: "/api/admin/templates/:slug",
    operationId: "adminModerateTemplate",
    summary: "Take a template down, or let it back",
    description: "A template that is taken down is its owner's alone: others neither see nor run it.",
    params: workflowParams,
    body: change,
    responses: { 200: standing },
    errors: ["WORKFLOW_NOT_FOUND"],
    example: { listed: false, reason: "Shows somebody else's pictures" },
    handler: async (context) => {
      const { gateway, params, body } = context;
      const action = { action: "template.moderate", target: params.slug, change: body };
      const after = await audited(context, action, async () => {
        const request = { slug: params.slug, listed: body.listed, reason: body.reason ?? "" };
        const moderated = await gateway.services.workflows.moderateTemplate(request);
        const now = standingOf(moderated.listed, moderated.takedown);
        return { value: now, before: standingOf(moderated.wasListed, moderated.earlierTakedown), after: now };
      });
      return { status: 200, body: { slug: params.slug, ...after } };
    },
  }),
];
