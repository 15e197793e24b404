import type { Environment, RunningService, ServiceDefinition } from "@nodeloom/platform";

/** Starts a service on a database that `node services/migrate` has prepared. */
export const startMigrated = async (service: ServiceDefinition, env: Environment): Promise<RunningService> => {
  await service.database?.migrate(env);
  return service.start(env);
};
