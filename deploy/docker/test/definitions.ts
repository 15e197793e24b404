import { service as billing } from "@nodeloom/billing";
import { service as executions } from "@nodeloom/executions";
import { service as gateway } from "@nodeloom/gateway";
import { service as identity } from "@nodeloom/identity";
import { service as inference } from "@nodeloom/inference";
import { service as media } from "@nodeloom/media";
import { service as models } from "@nodeloom/models";
import type { ServiceDefinition } from "@nodeloom/platform";
import { service as sandbox } from "@nodeloom/sandbox";
import { service as transform } from "@nodeloom/transform";
import { service as usage } from "@nodeloom/usage";
import { service as workflows } from "@nodeloom/workflows";

/** Every service of the platform, as its own code declares it. */
export const DEFINITIONS: Readonly<Record<string, ServiceDefinition>> = {
  gateway,
  identity,
  workflows,
  models,
  billing,
  usage,
  executions,
  media,
  sandbox,
  inference,
  transform,
};
