import { SERVICES as ALL, type Database } from "@nodeloom/platform";

/** Services with a database. */
export const SERVICES: readonly string[] = Object.entries(ALL).flatMap(([name, { database }]) => (database ? [name] : []));

/** The declared database of a service. Found by file name, because no part of the platform imports another's source. */
export const databaseOf = (service: string): Database =>
  (require(`@nodeloom/${service}/dist/database.js`) as { database: Database }).database;
