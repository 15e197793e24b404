import { SERVICES as ALL, type Database } from "@nodeloom/platform";

/** Services with a database. */
export const SERVICES: readonly string[] = Object.entries(ALL).flatMap(([name, { database }]) => (database ? [name] : []));

/** Returns a service's declared database. It is found by file name, because a part of the platform can't import another's source. */
export const databaseOf = (service: string): Database =>
  (require(`@nodeloom/${service}/dist/database.js`) as { database: Database }).database;
