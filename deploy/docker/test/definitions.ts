import type { ServiceDefinition } from "@nodeloom/platform";
import { SERVICES } from "../../services.cjs";

export const DEFINITIONS: Readonly<Record<string, ServiceDefinition>> = Object.fromEntries(
  SERVICES.map(({ name }) => [name, (require(`@nodeloom/${name}`) as { service: ServiceDefinition }).service]),
);
