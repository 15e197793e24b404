import type { Environment, RunningService, ServiceDefinition } from "@nodeloom/platform";

/** Starts a service over a database that it finds as `node services/migrate` leaves it. */
export const startMigrated = async (service: ServiceDefinition, env: Environment): Promise<RunningService> => {
  await service.database?.migrate(env);
  return service.start(env);
};
