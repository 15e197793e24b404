import { MongoNetworkError } from "mongodb";
import { unavailable } from "@nodeloom/kernel";

/** Point at which a process fails: before or after its n-th write since it was armed. */
export interface Fault {
  at: number;
  when: "before" | "after";
  /** `dies`: no work that the process started continues. `fails`: the caller gets an error. */
  how: "dies" | "fails";
}

const STORES = ["rows", "log", "calls", "payloads", "queues", "approvals"] as const;
type Port = (typeof STORES)[number] | "billing" | "usage" | "temporal";

/** Methods of each port that change something. */
const WRITES: Readonly<Record<Port, readonly string[]>> = {
  rows: [
    "insert",
    "queue",
    "claim",
    "refuse",
    "retry",
    "forgetRefused",
    "requestCancel",
    "leave",
    "finish",
    "decideEnding",
    "clear",
    "noteAnswer",
  ],
  log: ["append"],
  calls: ["submitted", "recordEnd", "charged"],
  payloads: ["putText"],
  queues: ["change"],
  approvals: ["begin", "decide"],
  billing: ["hold", "extendHold", "settle"],
  usage: ["startRun", "finishRun"],
  temporal: ["start", "cancel", "announceEnd", "announceWait", "decided", "placed"],
};

const never = (): Promise<never> => new Promise(() => undefined);
type Method = (...args: unknown[]) => Promise<unknown>;

/** A process that can fail, because `wrap` wraps its ports. */
export interface Process {
  wrap<T extends object>(port: Port, target: T): T;
  /** Starts to count writes. */
  arm(fault?: Fault): void;
  /** Writes since it was armed. */
  readonly writes: readonly string[];
  /** Resolves when it dies. */
  readonly death: Promise<void>;
  kill(): void;
}

/** @param turn every call waits for it, and calls the returned function at its end */
export const createProcess = (turn?: (what: string) => Promise<() => void>): Process => {
  let isDead = false;
  let isArmed = false;
  let fault: Fault | undefined;
  let writes: string[] = [];
  let die: () => void;
  const death = new Promise<void>((resolve) => {
    die = resolve;
  });
  const kill = (): void => {
    isDead = true;
    die();
  };
  const strike = (port: Port): Promise<never> => {
    if (fault!.how === "dies") {
      kill();
      return never();
    }
    throw (STORES as readonly Port[]).includes(port) ? new MongoNetworkError("the connection was lost") : unavailable("it does not answer");
  };
  const call = async (port: Port, name: string, method: Method, args: unknown[]): Promise<unknown> => {
    if (isDead) return never();
    const over = await turn?.(`${port}.${name}`);
    const result = callWithFault(port, name, method, args);
    void Promise.race([result.catch(() => undefined), death]).then(over);
    return result;
  };
  const callWithFault = async (port: Port, name: string, method: Method, args: unknown[]): Promise<unknown> => {
    const isWrite = WRITES[port].includes(name);
    const isHere = isWrite && isArmed && writes.push(`${port}.${name}`) - 1 === fault?.at;
    if (isHere && fault!.when === "before") return strike(port);
    const result = await method(...args);
    if (isHere && fault!.when === "after") return strike(port);
    return isDead ? never() : result;
  };
  return {
    wrap: (port, target) =>
      new Proxy(target, {
        get: (object, name, receiver) => {
          const value: unknown = Reflect.get(object, name, receiver);
          if (typeof value !== "function" || typeof name !== "string") return value;
          return (...args: unknown[]) => call(port, name, value as Method, args);
        },
      }),
    arm: (planned) => {
      isArmed = true;
      writes = [];
      fault = planned;
    },
    get writes() {
      return writes;
    },
    death,
    kill,
  };
};
