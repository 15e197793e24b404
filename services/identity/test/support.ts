import { randomUUID } from "node:crypto";
import { DomainError } from "@nodeloom/kernel";
import { connectMongo, createGrpcClient, type ClientOf } from "@nodeloom/platform";
import { identity, organizations } from "@nodeloom/proto";
import type { Connection } from "mongoose";
import { database as identityDatabase } from "../src/database";
import { service } from "../src/main";
import { patient } from "../../../test-support/patient";

export { eventually } from "../../../test-support/eventually";
export { startRelay } from "../../../test-support/relay";

export const PEPPER = "a pepper for tests, of enough characters";
export const PASSWORD = "correct horse battery";

export type IdentityClient = ClientOf<identity.IdentityServiceServer>;

const requiredEnv = (name: string): string => {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: the global setup starts the servers`);
  return value;
};

export interface Instance {
  client: IdentityClient;
  organizations: ClientOf<organizations.OrganizationsServiceServer>;
  /** gRPC address, host:port. */
  address: string;
  stop(): Promise<void>;
}

/** A separate database and channel, with as many instances as a test starts. */
export interface Deployment {
  /** The service's database, to create states that requests can't produce. */
  database: Connection;
  channelPrefix: string;
  startInstance(overrides?: Record<string, string>): Promise<Instance>;
  stop(): Promise<void>;
}

export const deploy = async (): Promise<Deployment> => {
  const name = randomUUID().slice(0, 8);
  const databasePrefix = `test_${name}_`;
  const channelPrefix = `test:${name}:`;
  const database = await connectMongo({ uri: requiredEnv("MONGODB_URI"), database: `${databasePrefix}identity` });
  const instances: Instance[] = [];
  await identityDatabase.migrate({ MONGODB_URI: requiredEnv("MONGODB_URI"), MONGODB_DATABASE_PREFIX: databasePrefix });
  return {
    database,
    channelPrefix,
    startInstance: async (overrides = {}) => {
      const running = await service.start({
        NODE_ENV: "test",
        LOG_LEVEL: process.env.LOG_LEVEL ?? "error",
        MONGODB_URI: requiredEnv("MONGODB_URI"),
        MONGODB_DATABASE_PREFIX: databasePrefix,
        REDIS_URL: requiredEnv("REDIS_URL"),
        REDIS_KEY_PREFIX: channelPrefix,
        IDENTITY_LISTEN: "127.0.0.1:0",
        API_KEY_PEPPER: PEPPER,
        NODELOOM_ENV: "test",
        ...overrides,
      });
      const address = `127.0.0.1:${running.ports?.IDENTITY_LISTEN}`;
      const client = patient(createGrpcClient<identity.IdentityServiceServer>(identity.IdentityServiceService, { address }));
      const ofOrganizations = patient(
        createGrpcClient<organizations.OrganizationsServiceServer>(organizations.OrganizationsServiceService, { address }),
      );
      const instance = {
        client,
        organizations: ofOrganizations,
        address,
        stop: async () => {
          client.close();
          ofOrganizations.close();
          await running.stop();
        },
      };
      instances.push(instance);
      return instance;
    },
    stop: async () => {
      for (const instance of instances) await instance.stop();
      await database.dropDatabase();
      await database.close();
    },
  };
};

/** Refers to a value that is there later. */
const later = <T extends object>(value: () => T): T => new Proxy({} as T, { get: (_, name) => Reflect.get(value(), name) as unknown });

/** Starts one instance for a suite. Tests and hooks can use the result. */
export const useIdentity = (overrides: Record<string, string> = {}): { client: IdentityClient; deployment: Deployment } => {
  let deployment: Deployment;
  let client: IdentityClient;
  beforeAll(async () => {
    deployment = await deploy();
    ({ client } = await deployment.startInstance(overrides));
  });
  afterAll(() => deployment.stop());
  return { client: later(() => client), deployment: later(() => deployment) };
};

export const refusal = async (call: Promise<unknown>): Promise<Pick<DomainError, "kind" | "reason" | "message" | "metadata">> => {
  try {
    await call;
  } catch (error) {
    if (error instanceof DomainError) return { kind: error.kind, reason: error.reason, message: error.message, metadata: error.metadata };
    throw error;
  }
  throw new Error("the call was expected to be refused");
};

let registered = 0;

/** A registered user, optionally changed by an administrator. */
export const newUser = async (client: IdentityClient, fields: { tier?: string; role?: string } = {}): Promise<identity.User> => {
  registered += 1;
  const { user } = await client.register({ email: `user${registered}-${randomUUID()}@example.com`, password: PASSWORD });
  if (!user) throw new Error("registering gave no user");
  const updated = await client.updateUser({ userId: user.id, approved: true, ...fields });
  return updated.user!;
};

export const createKey = (
  client: IdentityClient,
  userId: string,
  request: Partial<identity.CreateKeyRequest> = {},
): Promise<identity.CreateKeyResponse> =>
  client.createKey(
    identity.CreateKeyRequest.fromPartial({
      userId,
      name: "a key",
      ...(request.capabilities ? {} : { preset: "workflow-deploy" }),
      ...request,
    }),
  );
