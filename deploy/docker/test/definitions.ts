import type { ServiceDefinition } from "@nodeloom/platform";
import { SERVICES } from "../../services.cjs";

/** Every service of the platform, as its own code declares it. */
export const DEFINITIONS: Readonly<Record<string, ServiceDefinition>> = Object.fromEntries(
  SERVICES.map(({ name }) => [name, (require(`@nodeloom/${name}`) as { service: ServiceDefinition }).service]),
);
