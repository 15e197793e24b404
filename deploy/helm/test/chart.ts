import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";

export const ROOT = join(__dirname, "../../..");
export const CHART = join(ROOT, "deploy", "helm", "nodeloom");

type Texts = Record<string, string>;

export interface ChartService {
  enabled: boolean;
  main: string;
  replicas: number;
  autoscaling?: { maxReplicas: number };
  listens: Record<string, number>;
  calls: string[];
  urls?: Record<string, { service: string; listen: string }>;
  settings: string[];
  secrets: string[];
  readsProviderKeys?: boolean;
  shutdownGraceMs?: string;
}

export interface Values {
  settings: Record<string, Texts> & { process: Texts };
  secrets: Record<string, { secret: string; optional?: boolean; variables: Texts }>;
  services: Record<string, ChartService>;
}

export const readYaml = <T>(...path: string[]): T => parse(readFileSync(join(CHART, ...path), "utf8")) as T;
export const values = readYaml<Values>("values.yaml");

/** True if the process speaks gRPC as a server or client. */
export const usesTls = ({ listens, calls }: ChartService): boolean =>
  calls.length > 0 ||
  Object.keys(listens).some((name) => !/HTTP_LISTEN|GATEWAY_LISTEN|ADMIN_LISTEN|SANDBOX_LISTEN|INFERENCE_LISTEN/.test(name));

/** Environment of a process in the chart, from its helper `nodeloom.environment`, with placeholders for secrets. */
export const environmentOf = (name: string, host = (service: string): string => `nodeloom-${service}`): Texts => {
  const service = values.services[name]!;
  const portOf = (callee: string, listen: string): number => values.services[callee]!.listens[listen]!;
  return {
    ...values.settings.process,
    ...(service.shutdownGraceMs === undefined ? {} : { SHUTDOWN_GRACE_MS: service.shutdownGraceMs }),
    ...Object.assign({}, ...service.settings.map((group) => values.settings[group])),
    ...(name === "executions" ? { EXECUTIONS_REPLICAS: String(service.replicas) } : {}),
    ...Object.fromEntries(Object.entries(service.listens).map(([variable, port]) => [variable, `0.0.0.0:${port}`])),
    ...Object.fromEntries(
      service.calls.map((callee) => [
        `${callee.toUpperCase()}_ADDRESS`,
        `${host(callee)}:${portOf(callee, `${callee.toUpperCase()}_LISTEN`)}`,
      ]),
    ),
    ...Object.fromEntries(
      Object.entries(service.urls ?? {}).map(([variable, to]) => [variable, `http://${host(to.service)}:${portOf(to.service, to.listen)}`]),
    ),
    ...(usesTls(service)
      ? { TLS_CERT_FILE: "/certificates/tls.crt", TLS_KEY_FILE: "/certificates/tls.key", TLS_CA_FILE: "/certificates/ca.crt" }
      : {}),
    ...Object.fromEntries(
      service.secrets.flatMap((group) =>
        Object.keys(values.secrets[group]!.variables).map((variable) => [variable, SAMPLE_SECRETS[variable] ?? "x".repeat(64)]),
      ),
    ),
  };
};

/** Secrets with a required format. */
const SAMPLE_SECRETS: Texts = {
  MONGODB_URI: "mongodb://mongodb.data:27017",
  REDIS_URL: "redis://redis.data:6379",
  SECRETS_KEYS: "0".repeat(64),
  MEDIA_URL_KEYS: "0".repeat(64),
  STRIPE_SECRET_KEY: "sk_test_x",
  STRIPE_WEBHOOK_SECRET: "whsec_x",
  SMTP_URL: "smtp://user:password@smtp.example.com:587",
  TEMPORAL_PAYLOAD_KEYS: "0".repeat(64),
  MAIL_KEYS: "0".repeat(64),
  MODERATION_SECRET: `whsec_${"0".repeat(44)}`,
};
