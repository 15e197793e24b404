/** A row of the table in deploy/services.cjs. */
export interface Service {
  /** Name of its folder, certificate, database, container and gRPC package: `nodeloom.<name>.v1.<Name>Service`. */
  name: string;
  /** Its purpose, in the words of the documentation. */
  about: string;
  protocol: "grpc" | "http";
  /** Ports by their variable; the main one is `<NAME>_LISTEN`. */
  listens: Readonly<Record<string, number>>;
  /** Services that it calls over gRPC. It reads `<NAME>_ADDRESS` of each, and each admits it. */
  calls: readonly string[];
  /** Services that it calls over HTTP, by the variable with the address. */
  urls?: Readonly<Record<string, { service: string; listen: string }>>;
  /** True if it has a MongoDB database, which `database.ts` describes and `services/migrate` creates. */
  database: boolean;
  /** Temporal task queue of its worker, after TEMPORAL_TASK_QUEUE. */
  queue?: string;
  /** Process that hosts it on one machine: rows with the same word share it (ADR 0005). */
  host: string;
  /** Secrets of the local platform that only it gets. */
  secrets?: readonly (keyof import("./local/platform/secrets.mjs").Secrets)[];
  /** Grace period, if it differs from SHUTDOWN_GRACE_MS. */
  graceMs?: number;
  /** Replicas in Kubernetes. */
  replicas: number;
  /** Why it must have at most one replica. */
  single?: string;
  /** True (the default) if the chart runs it by default. */
  enabled?: boolean;
  /** Outgoing calls: to any public address, or only to servers in its settings. */
  internet?: "any" | "named";
  /** Secrets that its libraries read under their own names. */
  undeclaredSecrets?: readonly string[];
  /** True if it reads the keys of AI providers. */
  providerKeys?: boolean;
  /** Files in the folder of `<NAME>_DIR` or `<NAME>_DATA_DIR`; scratch space is empty after a restart. */
  data?: { size: string; scratch?: boolean };
  /** For a container: guaranteed resources, and the memory limit. */
  resources: { cpu: string; memory: string; limit: string };
  autoscaling?: Readonly<Record<string, unknown>>;
}

/** Every service in the order of the documentation. */
export declare const SERVICES: readonly Service[];
/** Packages without a process, which every service may import, besides the protocol. */
export declare const LIBRARIES: readonly string[];
/** Row of a service. @throws Error for an unknown name */
export declare const serviceOf: (name: string) => Service;
/** Folder of a service from the root. */
export declare const folderOf: (service: Service) => string;
