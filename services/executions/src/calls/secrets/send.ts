/** calls/secrets/: puts the runner's secrets into requests of HTTP nodes, to their hosts alone, and takes them out of the answers. */
import { DomainError, isConfidential, isSecretHost, withSecretValues } from "@nodeloom/kernel";
import { createSharedReads } from "@nodeloom/platform";
import type { identity } from "@nodeloom/proto";
import type { Identity } from "../../clients";
import type { HttpNodeCall, HttpResult } from "../../run/calls";
import { final } from "../failures";
import type { HttpRequest } from "../http-request";
import { createRedaction, type Redaction } from "./redact";

const READ_MS = 5_000;

export type SendHttp = (call: HttpNodeCall, signal: AbortSignal) => Promise<HttpResult>;

const failed = (message: string): DomainError => final("EXECUTION_FAILED", message);

/** @throws EXECUTION_FAILED for a secret that is gone, or may not go where the request does */
const checkWay = (name: string, { values, hosts }: identity.ReadSecretsResponse, rawUrl: string): void => {
  if (values[name] === undefined) throw failed(`there is no secret ${name} of yours any more`);
  const url = URL.canParse(rawUrl) ? new URL(rawUrl) : undefined;
  if (!url) throw failed(`the secret ${name} was not sent: the url is none`);
  if (!isSecretHost(hosts[name]?.hosts ?? [], url))
    throw failed(`the secret ${name} may not be sent to ${url.host}, which is not among its hosts`);
  if (!isConfidential(url)) throw failed(`the secret ${name} is sent by https alone, and ${url.host} was to be called by ${url.protocol}`);
};

/** An error whose message has no secret. What gives a call up keeps its type, by which it is known. */
const withoutSecrets = (error: unknown, redaction: Redaction): unknown => {
  if (!(error instanceof Error)) return error;
  const message = redaction.text(error.message);
  if (message === error.message) return error;
  return error instanceof DomainError ? new DomainError(error.kind, error.reason, message, error.metadata) : failed(message);
};

/**
 * Sends requests of HTTP nodes. The values of secrets, and their hosts, are read for each request that names some, so that a change holds
 * for every request after it; what names none is sent as it is.
 */
export const createSecretSending = (identity: Pick<Identity, "readSecrets">, send: HttpRequest): SendHttp => {
  const shared = createSharedReads<identity.ReadSecretsResponse>();

  const read = async (owner: string, names: string[]): Promise<identity.ReadSecretsResponse> => {
    try {
      return await shared(JSON.stringify([owner, names]), () => identity.readSecrets({ owner, names }, { deadlineMs: READ_MS }));
    } catch (error) {
      // Its key was lost; what is away is asked again.
      if (error instanceof DomainError && error.kind === "precondition") throw failed(error.message);
      throw error;
    }
  };

  return async (nodeCall, signal) => {
    const { call, userId } = nodeCall;
    const { secrets } = call;
    if (!secrets) return send(nodeCall, signal);
    const found = await read(userId, secrets);
    const values = new Map(Object.entries(found.values));
    const request = withSecretValues(call, values);
    const redaction = createRedaction(values);
    try {
      for (const name of secrets) checkWay(name, found, request.url);
      const answer = await send({ ...nodeCall, call: request }, signal, redaction.text);
      return { ...answer, body: redaction.deep(answer.body) };
    } catch (error) {
      throw withoutSecrets(error, redaction);
    }
  };
};
