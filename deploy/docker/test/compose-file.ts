import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";

export const ROOT = join(__dirname, "..", "..", "..");
export const IMAGE = "nodeloom:local";

export type Variables = Readonly<Record<string, string>>;
export type Condition = "service_started" | "service_healthy" | "service_completed_successfully";

export interface ComposeService {
  image: string;
  build?: { context: string; dockerfile: string };
  command?: string[];
  entrypoint?: string[];
  environment: Record<string, string>;
  volumes?: string[];
  networks?: string[];
  network_mode?: string;
  ports?: string[];
  healthcheck?: { test: string[] };
  depends_on?: Record<string, { condition: Condition }>;
  restart?: string;
  stop_grace_period?: string;
  read_only?: boolean;
  mem_limit?: string;
  pids_limit?: number;
}

export interface ComposeFile {
  services: Record<string, ComposeService>;
  networks: Record<string, { internal?: boolean }>;
  volumes: Record<string, unknown>;
}

const REFERENCE = /\$\$|\$\{([A-Z_][A-Z0-9_]*)(?:(:-|:\?)([^}]*))?\}/g;

/**
 * Replaces `${NAME}`, `${NAME:-default}` and `${NAME:?message}` like Docker Compose. @throws for the last form if the variable isn't set
 */
export const interpolate = (text: string, variables: Variables): string =>
  text.replace(REFERENCE, (match, name: string | undefined, operator: string | undefined, rest: string | undefined) => {
    if (name === undefined) return match === "$$" ? "$" : match;
    const value = variables[name] ?? "";
    if (value !== "") return value;
    if (operator === ":?") throw new Error(`required variable ${name} is missing a value: ${rest}`);
    return operator === ":-" ? (rest ?? "") : "";
  });

/** Variables in a text. `isRequired` is true for `${NAME:?message}`. */
export const references = (text: string): { name: string; isRequired: boolean }[] =>
  [...text.matchAll(REFERENCE)].flatMap(([, name, operator]) => (name === undefined ? [] : [{ name, isRequired: operator === ":?" }]));

const mapStrings = (value: unknown, change: (text: string) => string): unknown => {
  if (typeof value === "string") return change(value);
  if (Array.isArray(value)) return value.map((item) => mapStrings(item, change));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, mapStrings(member, change)]));
};

export const readComposeText = (file = "docker-compose.yml"): string => readFileSync(join(ROOT, file), "utf8");

/** A compose file with its variables replaced. */
export const loadCompose = (variables: Variables, file?: string): ComposeFile =>
  mapStrings(parse(readComposeText(file), { merge: true }), (text) => interpolate(text, variables)) as ComposeFile;

/** Assignments of an env file. `commented` includes those in comments. */
export const readEnvFile = (path: string, { commented = false } = {}): Record<string, string> => {
  const pattern = commented ? /^#?([A-Z][A-Z0-9_]*)=(.*)$/gm : /^([A-Z][A-Z0-9_]*)=(.*)$/gm;
  return Object.fromEntries([...readFileSync(path, "utf8").matchAll(pattern)].map(([, name, value]) => [name!, value!]));
};

export const ownServices = (compose: ComposeFile): [string, ComposeService][] =>
  Object.entries(compose.services).filter(([, { image, entrypoint }]) => image === IMAGE && entrypoint === undefined);
