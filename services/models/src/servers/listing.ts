import { isRecord } from "@nodeloom/kernel";
import { EgressError, type OwnServers } from "@nodeloom/platform";
import { LIMITS_OF_SERVERS, type ListedModel, type ServerRecord } from "./server-record";
import { listedModel } from "./task";

/** Reads the list of models from servers. */

const TIMEOUT_MS = 3_000;
const MAX_BYTES = 2 * 1_024 * 1_024;
const MAX_ID_CHARS = 300;
const OK = 200;
const REFUSED = new Set([401, 403]);

/** Reason why a server is unusable. The message is for administrators. */
export class ServerProblem extends Error {
  override readonly name = "ServerProblem";
}

export type ServerAddress = Pick<ServerRecord, "kind" | "url">;

/** Requests JSON from a server. @throws ServerProblem */
export const askServer = async (servers: OwnServers, url: string, key: string | undefined, maxBytes = MAX_BYTES): Promise<unknown> => {
  const headers = { accept: "application/json", ...(key === undefined ? {} : { authorization: `Bearer ${key}` }) };
  const answer = await servers
    .clientOf(url)
    .request({ url, headers, timeoutMs: TIMEOUT_MS, maxBytes })
    .catch((error: unknown) => {
      throw error instanceof EgressError ? new ServerProblem(error.message) : error;
    });
  if (REFUSED.has(answer.status)) throw new ServerProblem(`it answers ${answer.status}: it requires another key`);
  if (answer.status !== OK) throw new ServerProblem(`it answers ${answer.status} at ${new URL(url).pathname}`);
  try {
    return JSON.parse(answer.body.toString()) as unknown;
  } catch {
    throw new ServerProblem(`the answer at ${new URL(url).pathname} isn't JSON`);
  }
};

/** Parses the model list of an OpenAI-compatible server. */
const listModels = (answer: unknown): ListedModel[] => {
  const data = isRecord(answer) ? answer.data : answer;
  if (!Array.isArray(data)) throw new ServerProblem("its list of models has no data");
  const models = data.flatMap((model) => listedModel(model) ?? []).filter(({ id }) => id.length <= MAX_ID_CHARS);
  const byId = new Map(models.map((model) => [model.id, model]));
  return [...byId.values()].sort((a, b) => (a.id < b.id ? -1 : 1)).slice(0, LIMITS_OF_SERVERS.models);
};

/**
 * Returns the models that a server lists. For ComfyUI, this only checks that the server responds.
 * @throws ServerProblem
 */
export const listServer = async (servers: OwnServers, { kind, url }: ServerAddress, key: string | undefined): Promise<ListedModel[]> => {
  if (kind === "openai") return listModels(await askServer(servers, `${url}/models`, key));
  const stats = await askServer(servers, `${url}/system_stats`, key);
  if (!isRecord(stats) || !isRecord(stats.system)) throw new ServerProblem("it does not answer as ComfyUI does");
  return [];
};
