import { createLook, createLogger, type RelayedRows } from "../../src";

/** Lets the relay look twice at rows, the second time long after the first: what it saw unchanged is settled. */
export const createLooks = <Row>(rows: RelayedRows<Row>): ((signal?: AbortSignal) => Promise<void>) => {
  let now = 0;
  const look = createLook(rows, { logger: createLogger("test", "silent"), now: () => (now += 3_600_000) });
  return async (signal) => {
    await look(signal);
    await look(signal);
  };
};
