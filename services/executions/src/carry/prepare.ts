import { Client, Connection } from "@temporalio/client";
import { temporal } from "@temporalio/proto";
import { STARTUP_PATIENCE_MS, type TemporalSecurity } from "@nodeloom/platform";
import { ensureSchedules } from "./schedules";
import { SEARCH_ATTRIBUTES } from "./search-attributes";

const INDEXED = temporal.api.enums.v1.IndexedValueType;
const INDEXED_TYPES = { KEYWORD: INDEXED.INDEXED_VALUE_TYPE_KEYWORD, KEYWORD_LIST: INDEXED.INDEXED_VALUE_TYPE_KEYWORD_LIST };

type Operator = Pick<Connection, "operatorService">;

/** The search attributes that runs carry and the server doesn't know. */
export const missingSearchAttributes = async ({ operatorService }: Operator, namespace: string) => {
  const { customAttributes } = await operatorService.listSearchAttributes({ namespace });
  return SEARCH_ATTRIBUTES.filter(({ name }) => !(name in (customAttributes ?? {})));
};

const ensureSearchAttributes = async (connection: Operator, namespace: string): Promise<void> => {
  const missing = await missingSearchAttributes(connection, namespace);
  if (missing.length === 0) return;
  await connection.operatorService.addSearchAttributes({
    namespace,
    searchAttributes: Object.fromEntries(missing.map(({ name, type }) => [name, INDEXED_TYPES[type]])),
  });
};

export interface PrepareOptions {
  address: string;
  /** Nothing for a plain connection. */
  security?: TemporalSecurity;
  namespace: string;
  taskQueue: string;
}

/** Makes sure of the search attributes that runs carry, and of the schedules, on the queue where runs are started. Waits for Temporal. */
export const prepareTemporal = async ({ address, security, namespace, taskQueue }: PrepareOptions): Promise<void> => {
  const connection = await Connection.connect({ address, connectTimeout: STARTUP_PATIENCE_MS, ...security });
  try {
    await ensureSearchAttributes(connection, namespace);
    await ensureSchedules(new Client({ connection, namespace }), taskQueue);
  } finally {
    await connection.close();
  }
};
