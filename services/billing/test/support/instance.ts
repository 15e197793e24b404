import { randomUUID } from "node:crypto";
import { createGrpcClient, connectMongo, type ClientOf, type RunningService } from "@nodeloom/platform";
import { billing as proto } from "@nodeloom/proto";
import { service } from "../../src/main";
import { startMigrated } from "../../../../test-support/start-migrated";

export type BillingClient = ClientOf<proto.BillingServiceServer>;

export interface Instance {
  client: BillingClient;
  stop(): Promise<void>;
}

export const mongodbUri = (): string => {
  const uri = process.env.MONGODB_URI;
  if (!uri) throw new Error("MONGODB_URI is not set: run the tests through the repository's jest configuration");
  return uri;
};

/** Environment of billing processes that share one database. */
export const ownDatabase = (): Record<string, string> => ({
  MONGODB_URI: mongodbUri(),
  MONGODB_DATABASE_PREFIX: `test_${randomUUID().slice(0, 8)}_`,
  BILLING_LISTEN: "127.0.0.1:0",
  LOG_LEVEL: "error",
});

export const dropDatabase = async (env: Record<string, string>): Promise<void> => {
  const connection = await connectMongo({ uri: mongodbUri(), database: `${env.MONGODB_DATABASE_PREFIX}billing` });
  await connection.dropDatabase();
  await connection.close();
};

export const clientOf = (port: number): BillingClient =>
  createGrpcClient<proto.BillingServiceServer>(proto.BillingServiceService, { address: `127.0.0.1:${port}` });

/** A billing service in this process, with a gRPC client. */
export const startInstance = async (env: Record<string, string>): Promise<Instance> => {
  const running: RunningService = await startMigrated(service, env);
  const client = clientOf(running.ports!.BILLING_LISTEN!);
  return {
    client,
    stop: async () => {
      client.close();
      await running.stop();
    },
  };
};

export const holdRequest = (userId: string, executionId: string, millicredits: number, maxActive = 0): proto.HoldRequest =>
  proto.HoldRequest.fromPartial({
    userId,
    executionId,
    maxActive,
    items: [{ key: "n:0", model: "painter", maxMillicredits: millicredits }],
  });

export const settleRequest = (userId: string, executionId: string, millicredits: number): proto.SettleRequest =>
  proto.SettleRequest.fromPartial({ userId, executionId, items: [{ key: "n:0", captureMillicredits: millicredits }] });

export const topUp = (client: BillingClient, userId: string, millicredits: number): Promise<proto.CreditResponse> =>
  client.credit(
    proto.CreditRequest.fromPartial({
      userId,
      kind: proto.CreditKind.CREDIT_KIND_TOPUP,
      millicredits,
      reference: randomUUID(),
      note: "test",
    }),
  );

export const accountOf = async (client: BillingClient, userId: string): Promise<proto.Account> =>
  (await client.getAccount({ userId })).account!;

/** All rows of an account's ledger, newest first, read page by page. */
export const wholeLedger = async (client: BillingClient, userId: string, limit = 100): Promise<proto.LedgerRow[]> => {
  const rows: proto.LedgerRow[] = [];
  let cursor = "";
  do {
    const page = await client.listLedger({ userId, limit, cursor });
    rows.push(...page.rows);
    cursor = page.nextCursor;
  } while (cursor);
  return rows;
};
