import { randomUUID } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { service as identityService } from "@nodeloom/identity";
import { connectMongo, createGrpcClient } from "@nodeloom/platform";
import { identity } from "@nodeloom/proto";
import type { Connection } from "mongoose";
import type { Identity } from "../../src/clients";
import { startMigrated } from "../../../../test-support/start-migrated";
import { startRecorder, type Recorder } from "../../../../test-support/recorder";
import { patient } from "../../../../test-support/patient";

export interface Delivery {
  headers: Record<"webhook-id" | "webhook-timestamp" | "webhook-signature", string> & IncomingHttpHeaders;
  body: string;
}

export interface Receiver extends Recorder {
  deliveries: Delivery[];
}

/** A webhook receiver on loopback that records its requests. */
export const startReceiver = async (): Promise<Receiver> => {
  const recorder = await startRecorder();
  return Object.assign(recorder, { url: `${recorder.url}/hook`, deliveries: recorder.requests as unknown as Delivery[] });
};

export interface RunningIdentity {
  client: Identity;
  /** The service's database, to create states that requests can't produce. */
  database: Connection;
  userId: string;
  newKey(url: string, events?: string[]): Promise<{ keyId: string; secret: string }>;
  stop(): Promise<void>;
}

const requiredEnv = (name: string): string => {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: the global setup starts the servers`);
  return value;
};

/**
 * The real identity service in this process, with a separate database.
 * @param allow private `host:port`s that webhooks can use
 */
export const startIdentity = async (...allow: string[]): Promise<RunningIdentity> => {
  const name = randomUUID().slice(0, 8);
  const running = await startMigrated(identityService, {
    NODE_ENV: "test",
    LOG_LEVEL: "error",
    MONGODB_URI: requiredEnv("MONGODB_URI"),
    MONGODB_DATABASE_PREFIX: `test_${name}_`,
    REDIS_URL: requiredEnv("REDIS_URL"),
    REDIS_KEY_PREFIX: `test:${name}:`,
    IDENTITY_LISTEN: "127.0.0.1:0",
    API_KEY_PEPPER: "a pepper for tests, of enough characters",
    NODELOOM_ENV: "test",
    USER_EGRESS_ALLOW: allow.join(),
  });
  const database = await connectMongo({ uri: requiredEnv("MONGODB_URI"), database: `test_${name}_identity` });
  const address = `127.0.0.1:${running.ports?.IDENTITY_LISTEN}`;
  const client: Identity = patient(createGrpcClient<identity.IdentityServiceServer>(identity.IdentityServiceService, { address }));
  const { user } = await client.register({ email: `${name}@example.com`, password: "correct horse battery" });
  const userId = user!.id;
  await client.updateUser({ userId, approved: true, tier: "pro" });
  return {
    client,
    database,
    userId,
    newKey: async (webhookUrl, webhookEvents = []) => {
      const request = { userId, name: "a key", preset: "webhook-receiver", webhookUrl, webhookEvents };
      const { key, webhookSecret } = await client.createKey(identity.CreateKeyRequest.fromPartial(request));
      return { keyId: key!.id, secret: webhookSecret };
    },
    stop: async () => {
      client.close();
      await running.stop();
      await database.dropDatabase();
      await database.close();
    },
  };
};
