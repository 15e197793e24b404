/** A row of the table of services, deploy/services.cjs. */
export interface Service {
  /** Of its folder, certificate, database, container and gRPC package: `nodeloom.<name>.v1.<Name>Service`. */
  name: string;
  /** What it does, in the words of the documentation. */
  about: string;
  protocol: "grpc" | "http";
  /** Its ports, by the variable that sets each; its main one is `<NAME>_LISTEN`. */
  listens: Readonly<Record<string, number>>;
  /** Whom it calls over gRPC. It reads `<NAME>_ADDRESS` of each, and each lets it in. */
  calls: readonly string[];
  /** Whom it calls over HTTP, by the variable with the address. */
  urls?: Readonly<Record<string, { service: string; listen: string }>>;
  /** Whether it has a MongoDB database, which `database.ts` describes and `services/migrate` makes. */
  database: boolean;
  /** The Temporal task queue of its worker, after TEMPORAL_TASK_QUEUE. */
  queue?: string;
  /** The process that hosts it on one machine: rows with one word share it (ADR 0005). */
  host: string;
  /** Secrets of the local platform that it alone gets. */
  secrets?: readonly (keyof import("./local/platform/secrets.mjs").Secrets)[];
  /** How long its stop may take, where that is not every process's SHUTDOWN_GRACE_MS. */
  graceMs?: number;
  /** Replicas in Kubernetes. */
  replicas: number;
  /** Why it must never have more than one replica. */
  single?: string;
  /** Whether the chart runs it unless told otherwise; true when left out. */
  enabled?: boolean;
  /** What it calls outside: any public address, or only servers that its settings name. */
  internet?: "any" | "named";
  /** Secrets that its libraries read by names of their own. */
  undeclaredSecrets?: readonly string[];
  /** Whether it reads the keys of AI providers. */
  providerKeys?: boolean;
  /** Files that it keeps, in the folder that `<NAME>_DIR` or `<NAME>_DATA_DIR` names; scratch space is empty after a restart. */
  data?: { size: string; scratch?: boolean };
  /** Of a container: what it is promised, and the most memory that it gets. */
  resources: { cpu: string; memory: string; limit: string };
  autoscaling?: Readonly<Record<string, unknown>>;
}

/** Every service, in the order in which documents list them. */
export declare const SERVICES: readonly Service[];
/** Packages without a process, which every service may import; the protocol is another. */
export declare const LIBRARIES: readonly string[];
/** The row of a service. @throws Error when there is none */
export declare const serviceOf: (name: string) => Service;
/** The folder of a service, from the root. */
export declare const folderOf: (service: Service) => string;
