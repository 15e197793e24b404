import { SLUG } from "@nodeloom/kernel";
import { z } from "zod";

/** servers/: servers of models that an installation has itself, such as Ollama or ComfyUI, and the entries that their models become. */

export const SERVER_KINDS = ["openai", "comfyui"] as const;
export type ServerKind = (typeof SERVER_KINDS)[number];

/** What a server's model is used for. `none`: it is not offered. */
export const TASKS = ["chat", "image", "speech", "transcribe", "none"] as const;
export type Task = (typeof TASKS)[number];

export const LIMITS_OF_SERVERS = {
  servers: 50,
  /** Of one server; more are left out. */
  models: 500,
  workflows: 30,
  workflowChars: 256 * 1_024,
  nameChars: 60,
  urlChars: 500,
} as const;

/** A model as its server lists it. */
export interface ListedModel {
  id: string;
  task: Task;
  /** Whether it reads pictures. */
  sees: boolean;
}

/** What an administrator says of a model. */
export type ModelChoice = Pick<ListedModel, "id"> & Partial<ListedModel>;

export interface StoredWorkflow {
  slug: string;
  name: string;
  modality: "image" | "video" | "audio";
  /** JSON of the workflow in its API's format. */
  workflow: string;
  /** Whether its files keep the workflow that ComfyUI writes into them; absent: they don't. */
  keepMetadata?: boolean;
  /** JSON: where each input is put. */
  inputs: string;
  /** JSON Schema. */
  inputSchema: string;
}

export interface ServerRecord {
  /** A slug; what the names of its models begin with. */
  _id: string;
  kind: ServerKind;
  name: string;
  /** Without a slash at its end; of the kind openai, with the version. */
  url: string;
  /** Whether identity keeps a key for it. */
  hasKey: boolean;
  fromEnvironment: boolean;
  /** As it was listed last. */
  listed: ListedModel[];
  choices: ModelChoice[];
  workflows: StoredWorkflow[];
  revision: number;
  createdAt: Date;
  updatedAt: Date;
}

/** What identity calls a server's key. */
export const keyNameOf = (id: string): string => `MODEL_SERVER_${id.toUpperCase().replaceAll("-", "_")}`;

/** A server's id is part of its key's name, which has at most 64 characters. */
const MAX_ID_CHARS = 40;

/** A text as a slug, cut; empty where nothing of it can be in one. */
export const slugOf = (text: string, most = MAX_ID_CHARS): string =>
  text
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, most)
    .replace(/^-|-$/g, "");

/** An address of a server as it is stored. @throws z.ZodError */
export const serverUrl = (kind: ServerKind) =>
  z
    .string()
    .max(LIMITS_OF_SERVERS.urlChars)
    .refine((raw) => URL.canParse(raw) && /^https?:$/.test(new URL(raw).protocol), "must be an http(s) URL")
    .refine((raw) => {
      if (!URL.canParse(raw)) return true;
      const { username, password, search, hash } = new URL(raw);
      return `${username}${password}${search}${hash}` === "";
    }, "must have no credentials, query or fragment in it: give the key as key")
    .transform((raw) => {
      const { origin, pathname } = new URL(raw);
      const path = pathname.replace(/(?<!\/)\/+$/, "");
      // Those who give the address of the server alone mean its first version.
      return `${origin}${path === "" && kind === "openai" ? "/v1" : path}`;
    });

export const serverName = z.string().trim().min(1).max(LIMITS_OF_SERVERS.nameChars);

export const isServerId = (id: string): boolean => id.length <= MAX_ID_CHARS && SLUG.test(id);
