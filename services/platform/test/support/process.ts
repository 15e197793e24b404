import { z } from "zod";
import { connectMongo, defineService, runProcess, type ServiceDefinition } from "../../src";

/** Behaviour of a service in the process under test. */
export interface Behaviour {
  name: string;
  /** Name of a required variable. */
  needs?: string;
  /** URI of a database that must be available at the start. */
  mongo?: string;
  start?: "fails" | "never";
  stop?: "fails" | "never";
  stopMs?: number;
  /** True to report the announcement of a stop. */
  drains?: boolean;
  /** Dependencies, each with true if it is ready. */
  depends?: Record<string, boolean>;
  /** Fails in this way after the start. */
  then?: "throws" | "rejects";
}

const tell = (event: string): void => {
  if (process.connected) process.send?.({ event });
  process.stderr.write(`event ${event}\n`);
};
const never = (): Promise<never> => new Promise(() => undefined);

const service = ({ name, needs, mongo, start, stop, stopMs = 0, then, drains, depends = {} }: Behaviour): ServiceDefinition =>
  defineService({
    name,
    variables: needs ? { [needs]: z.string().describe(`what ${name} can't do without`) } : {},
    start: async ({ logger }) => {
      tell(`${name} starts`);
      const connection = mongo === undefined ? undefined : await connectMongo({ uri: mongo, database: "unused", logger });
      if (start === "never") await never();
      if (start === "fails") throw new Error(`${name} has no database`);
      // Keeps the process alive like a server.
      const alive = setInterval(() => undefined, 60_000);
      if (then === "throws")
        setTimeout(() => {
          throw new Error("thrown later");
        }, 10);
      if (then === "rejects") setTimeout(() => void Promise.reject(new Error("rejected later")), 10);
      return {
        checks: Object.fromEntries(Object.entries(depends).map(([dependency, isUp]) => [dependency, () => isUp])),
        ...(drains ? { drain: () => tell(`${name} drains`) } : {}),
        stop: async () => {
          tell(`${name} stops`);
          if (stop === "never") await never();
          if (stop === "fails") throw new Error(`${name} can't stop`);
          await new Promise((resolve) => setTimeout(resolve, stopMs));
          clearInterval(alive);
          await connection?.close();
          tell(`${name} stopped`);
        },
      };
    },
  });

void runProcess((JSON.parse(process.argv[2]!) as Behaviour[]).map(service));
