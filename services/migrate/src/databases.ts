import { SERVICES as ALL, type Database } from "@nodeloom/platform";

/** The services that keep a database. */
export const SERVICES: readonly string[] = Object.entries(ALL).flatMap(([name, { database }]) => (database ? [name] : []));

/**
 * What a service's database must hold, as its own code says. Found by the name of its file: no part of the platform imports
 * another's source.
 */
export const databaseOf = (service: string): Database =>
  (require(`@nodeloom/${service}/dist/database.js`) as { database: Database }).database;
