import { createLook, createLogger, type RelayedRows } from "@nodeloom/platform";

/** Runs two passes of the relay, the second long after the first: it settles rows that the first saw unchanged. */
export const createLooks = <Row>(rows: RelayedRows<Row>): ((signal?: AbortSignal) => Promise<void>) => {
  let now = 0;
  const look = createLook(rows, { logger: createLogger("test", "silent"), now: () => (now += 3_600_000) });
  return async (signal) => {
    await look(signal);
    await look(signal);
  };
};
