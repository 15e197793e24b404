import { Server, type ServiceDefinition, type UntypedServiceImplementation } from "@grpc/grpc-js";
import type { CommandStartedEvent } from "mongodb";
import mongoose from "mongoose";

/** Count per name. */
export type Counts = Record<string, number>;

export interface Load {
  /** Number of gRPC calls by method, as received by the services' servers. */
  calls: Counts;
  /** Database commands by database, command and collection. */
  commands: Counts;
}

const OWN = /^\/nodeloom\.(.*)$/;
/** Commands that the driver sends for itself. */
const UPKEEP: ReadonlySet<string> = new Set(["hello", "ismaster", "ping", "endSessions"]);
/** Databases of services that also work without requests: identity drops callers after half a second, and billing sweeps. */
const RESTLESS = /_(identity|billing)$/;
/** Calls that a gateway makes at intervals, for many requests at once. */
const PERIODIC: ReadonlySet<string> = new Set(["identity.v1.IdentityService/RecordKeyRequests"]);

const add = (counts: Counts, name: string): void => void (counts[name] = (counts[name] ?? 0) + 1);

/** A database URI whose clients report their commands. */
export const monitored = (uri: string): string => {
  const url = new URL(uri);
  url.searchParams.set("monitorCommands", "true");
  return url.href;
};

/** Counts calls to servers started in this process from now on. */
const countCalls = (counted: (method: string) => void): (() => void) => {
  const original = Server.prototype.addService;
  const patch = jest.spyOn(Server.prototype, "addService").mockImplementation(function (
    this: Server,
    definition: ServiceDefinition,
    handlers: UntypedServiceImplementation,
  ) {
    const watched = Object.entries(handlers).map(([name, handler]) => {
      const method = OWN.exec(definition[name]?.path ?? "")?.[1];
      const observed = (...args: unknown[]): unknown => {
        if (!PERIODIC.has(method!)) counted(method!);
        return (handler as (...args: unknown[]) => unknown)(...args);
      };
      return [name, method === undefined ? handler : observed] as const;
    });
    original.call(this, definition, Object.assign(Object.create(handlers) as object, Object.fromEntries(watched)));
  });
  return () => patch.mockRestore();
};

/** Counts calls to this process's services and their database commands. Call it before the services start, on `monitored` databases. */
export const startCounting = (): { during(work: () => Promise<unknown>): Promise<Load>; stop(): void } => {
  let load: Load = { calls: {}, commands: {} };
  const stop = countCalls((method) => {
    add(load.calls, method);
  });
  const onCommand = ({ commandName, command, databaseName }: CommandStartedEvent): void => {
    if (UPKEEP.has(commandName) || RESTLESS.test(databaseName)) return;
    const target: unknown = (command as Record<string, unknown>)[commandName === "getMore" ? "collection" : commandName];
    add(load.commands, `${databaseName.slice(databaseName.lastIndexOf("_") + 1)}: ${commandName} ${String(target)}`);
  };
  const listening = new Set<object>();
  return {
    during: async (work) => {
      for (const connection of mongoose.connections) {
        const client = connection.readyState === mongoose.ConnectionStates.connected ? connection.getClient() : undefined;
        if (!client || listening.has(client)) continue;
        listening.add(client);
        client.on("commandStarted", onCommand);
      }
      load = { calls: {}, commands: {} };
      await work();
      return load;
    },
    stop,
  };
};
