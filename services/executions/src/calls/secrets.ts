/** Inserts secrets of the runner into requests of HTTP nodes, only for the hosts of each secret. Redacts them in responses. */
import { DomainError, isConfidential, isRecord, isSecretHost, isSecretOf, withSecretValues } from "@nodeloom/kernel";
import { createSharedReads } from "@nodeloom/platform";
import type { identity } from "@nodeloom/proto";
import { inputFailed } from "./failures";
import type { HttpRequest } from "./http-request";
import type { Identity } from "../clients";
import type { HttpNodeCall, HttpResult } from "../run/calls";

const READ_MS = 5_000;

export type SendHttp = (call: HttpNodeCall, signal: AbortSignal) => Promise<HttpResult>;

/** @throws EXECUTION_FAILED if a secret was deleted, is limited to other workflows, or can't be sent to the host of the request */
const checkWay = (name: string, { values, hosts }: identity.ReadSecretsResponse, rawUrl: string, workflow: string): void => {
  if (values[name] === undefined) throw inputFailed(`your secret ${name} no longer exists`);
  if (!isSecretOf(hosts[name]?.workflows ?? [], workflow))
    throw inputFailed(
      `the secret ${name} was not sent: its workflows don't include ${workflow || "this one"}. Add it, or use another secret`,
    );
  const url = URL.canParse(rawUrl) ? new URL(rawUrl) : undefined;
  if (!url) throw inputFailed(`the secret ${name} was not sent: the url is none`);
  if (!isSecretHost(hosts[name]?.hosts ?? [], url))
    throw inputFailed(`the secret ${name} may not be sent to ${url.host}, which is not among its hosts`);
  if (!isConfidential(url))
    throw inputFailed(`the secret ${name} is sent by https alone, and ${url.host} was to be called by ${url.protocol}`);
};

/** Redacts the message of an error. Errors that end the call keep their type, because callers check it. */
const withoutSecrets = (error: unknown, redaction: Redaction): unknown => {
  if (!(error instanceof Error)) return error;
  const message = redaction.text(error.message);
  if (message === error.message) return error;
  return error instanceof DomainError ? new DomainError(error.kind, error.reason, message, error.metadata) : inputFailed(message);
};

/**
 * Sends requests of HTTP nodes. Values and hosts of secrets are read for every request that uses a secret, so a change applies to all later
 * requests. Requests without secrets are sent unchanged.
 */
export const createSecretSending = (identity: Pick<Identity, "readSecrets">, send: HttpRequest): SendHttp => {
  const shared = createSharedReads<identity.ReadSecretsResponse>();

  const read = async (owner: string, names: string[], alias: string): Promise<identity.ReadSecretsResponse> => {
    try {
      return await shared(JSON.stringify([owner, names, alias]), () =>
        identity.readSecrets({ owner, names, alias }, { deadlineMs: READ_MS }),
      );
    } catch (error) {
      // A precondition error means that the encryption key was lost. If the service is unavailable, the call is retried.
      if (error instanceof DomainError && error.kind === "precondition") throw inputFailed(error.message);
      throw error;
    }
  };

  return async (nodeCall, signal) => {
    const { call, userId, alias = "", workflow = "" } = nodeCall;
    const { secrets } = call;
    if (!secrets) return send(nodeCall, signal);
    const secretValues = await read(userId, secrets, alias);
    const values = new Map(Object.entries(secretValues.values));
    const request = withSecretValues(call, values);
    const redaction = createRedaction(values);
    try {
      for (const name of secrets) checkWay(name, secretValues, request.url, workflow);
      const answer = await send({ ...nodeCall, call: request }, signal, redaction.text);
      return { ...answer, body: redaction.deep(answer.body) };
    } catch (error) {
      throw withoutSecrets(error, redaction);
    }
  };
};

/** Redacts secrets: each occurrence is replaced with `[secrets.NAME]`. */

const REGEXP_CHARS = /[\\^$.*+?()[\]{}|/-]/g;
const BASE64_BITS = 6;
const BYTE_BITS = 8;

/**
 * Returns the base64 forms of a value inside a longer text, in all three alignments. Characters that also encode neighboring bytes are left
 * out.
 */
const inBase64 = (value: string): string[] =>
  [0, 1, 2].map((before) => {
    const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(value, "utf8")]);
    const whole = Math.floor((bytes.length * BYTE_BITS) / BASE64_BITS);
    return bytes.toString("base64").slice(Math.ceil((before * BYTE_BITS) / BASE64_BITS), whole);
  });

const lowerHex = (text: string): string => text.replace(/%[0-9A-F]{2}/g, (escape) => escape.toLowerCase());

/** Returns the forms of a value in texts: unchanged, lower-case, in JSON, in URLs and forms, in base64. */
const formsOf = (value: string): string[] => {
  const json = JSON.stringify(value).slice(1, -1);
  const urls = [encodeURIComponent(value), encodeURI(value), new URLSearchParams([["", value]]).toString().slice(1)];
  const base64 = inBase64(value);
  const urlSafe = base64.map((text) => text.replaceAll("+", "-").replaceAll("/", "_"));
  // Hosts and encodings can be lower-case.
  return [value, value.toLowerCase(), json, json.replaceAll("/", "\\/"), ...urls, ...urls.map(lowerHex), ...base64, ...urlSafe];
};

export interface Redaction {
  text(text: string): string;
  /** Redacts every text, number and member name in a JSON value. */
  deep(value: unknown): unknown;
}

/** @param values secrets by name */
export const createRedaction = (values: ReadonlyMap<string, string>): Redaction => {
  const names = new Map([...values].flatMap(([name, value]) => formsOf(value).map((form): [string, string] => [form, name])));
  const longestFirst = [...names.keys()].filter(Boolean).sort((one, other) => other.length - one.length);
  const pattern = new RegExp(longestFirst.map((form) => form.replace(REGEXP_CHARS, "\\$&")).join("|"), "g");
  const text = (original: string): string =>
    longestFirst.length === 0 ? original : original.replace(pattern, (form) => `[secrets.${names.get(form) ?? ""}]`);

  const deep = (value: unknown): unknown => {
    if (typeof value === "string") return text(value);
    if (typeof value === "number") {
      const shownText = text(String(value));
      return shownText === String(value) ? value : shownText;
    }
    if (Array.isArray(value)) return value.map(deep);
    return isRecord(value) ? Object.fromEntries(Object.entries(value).map(([key, item]) => [text(key), deep(item)])) : value;
  };

  return { text, deep };
};
