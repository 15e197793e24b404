import type { ClientOf } from "@nodeloom/platform";
import type { billing, identity, media, models, transform, usage, workflows } from "@nodeloom/proto";

/** Clients of the other services. */

export type Billing = ClientOf<billing.BillingServiceServer>;
export type Identity = ClientOf<identity.IdentityServiceServer>;
export type Media = ClientOf<media.MediaServiceServer>;
export type Models = ClientOf<models.ModelsServiceServer>;
export type Transform = ClientOf<transform.TransformServiceServer>;
export type Usage = ClientOf<usage.UsageServiceServer>;
export type Workflows = ClientOf<workflows.WorkflowsServiceServer>;
