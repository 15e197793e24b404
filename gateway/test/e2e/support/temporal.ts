import { Client, Connection } from "@temporalio/client";

/** Connects to the test Temporal server as an operator. */
export const withTemporal = async (work: (temporal: Client) => Promise<void>): Promise<void> => {
  const connection = await Connection.connect({ address: process.env.TEMPORAL_ADDRESS! });
  await work(new Client({ connection })).finally(() => connection.close());
};
