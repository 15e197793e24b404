import { SLUG } from "@nodeloom/kernel";
import { z } from "zod";

/** Model servers that the installation runs itself, such as Ollama or ComfyUI, and the entries of their models. */

export const SERVER_KINDS = ["openai", "comfyui"] as const;
export type ServerKind = (typeof SERVER_KINDS)[number];

/** `none`: the model isn't available to users. */
export const TASKS = ["chat", "image", "speech", "transcribe", "none"] as const;
export type Task = (typeof TASKS)[number];

export const LIMITS_OF_SERVERS = {
  servers: 50,
  /** Maximum models per server. Further models are ignored. */
  models: 500,
  workflows: 30,
  workflowChars: 256 * 1_024,
  nameChars: 60,
  urlChars: 500,
} as const;

export interface ListedModel {
  id: string;
  task: Task;
  /** True if the model accepts images. */
  sees: boolean;
}

/** An administrator's settings for a listed model. */
export type ModelChoice = Pick<ListedModel, "id"> & Partial<ListedModel>;

export interface StoredWorkflow {
  slug: string;
  name: string;
  modality: "image" | "video" | "audio";
  /** JSON of the workflow in API format. */
  workflow: string;
  /** True to keep the workflow that ComfyUI embeds in its output files; false by default. */
  keepMetadata?: boolean;
  /** JSON with the target of each input in the workflow. */
  inputs: string;
  /** JSON Schema. */
  inputSchema: string;
}

export interface ServerRecord {
  /** Slug of the server, and prefix of its models' names. */
  _id: string;
  kind: ServerKind;
  name: string;
  /** URL without a trailing slash. For the kind `openai`, it includes the version. */
  url: string;
  /** True if identity stores a key for the server. */
  hasKey: boolean;
  fromEnvironment: boolean;
  /** Models at the last listing. */
  listed: ListedModel[];
  choices: ModelChoice[];
  workflows: StoredWorkflow[];
  revision: number;
  createdAt: Date;
  updatedAt: Date;
}

/** Returns the name of a server's key in identity. */
export const keyNameOf = (id: string): string => `MODEL_SERVER_${id.toUpperCase().replaceAll("-", "_")}`;

/** Key names have at most 64 characters and contain the server's id. */
const MAX_ID_CHARS = 40;

/** Converts a text to a slug of limited length; empty if no character fits. */
export const slugOf = (text: string, most = MAX_ID_CHARS): string =>
  text
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, most)
    .replace(/^-|-$/g, "");

/** Converts a server's URL to its stored form. @throws z.ZodError */
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
      // A URL without a path selects version 1 of the API.
      return `${origin}${path === "" && kind === "openai" ? "/v1" : path}`;
    });

export const serverName = z.string().trim().min(1).max(LIMITS_OF_SERVERS.nameChars);

export const isServerId = (id: string): boolean => id.length <= MAX_ID_CHARS && SLUG.test(id);
