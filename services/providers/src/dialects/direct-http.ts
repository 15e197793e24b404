import { LIMITS } from "@nodeloom/kernel";
import type { DirectHttpSettings } from "../entries/settings";
import { answerBytes, answerId, shortId } from "../answers";
import { ProviderError, type DialectContext, type FilesProvider, type ProviderOutput } from "../dialect";
import { outputIn, withDownloads } from "../output";
import { pointer } from "../pointer";
import { errorIn, requestOf } from "../request";
import { createTransport, DIRECT_TIMEOUT_MS } from "../transport";

/** Models that return their output in a single exchange, which their registry entry describes. */

/** Large enough for ten of the largest images as base64. */
const MAX_JSON_BYTES = 64 * 1_024 * 1_024;
/** While a response is parsed, its text and the texts in it are both in memory. */
const COPIES = 2;
const OK = 200;
const JSON_TYPE = /^application\/(?:[a-z0-9.+-]+\+)?json\b/i;

export const directHttp = (settings: DirectHttpSettings, context: DialectContext): FilesProvider => {
  const { answer: form = "json", outputs, error, requestId: idPlace } = settings;
  const transport = createTransport(context, settings);

  const jsonOf = async (body: AsyncIterable<Buffer>): Promise<unknown> => {
    const answer = await transport.parse(body);
    const problem = errorIn(error, answer);
    if (problem === undefined) return answer;
    throw new ProviderError("refused", transport.reason(problem), OK, transport.shown(JSON.stringify(answer)));
  };

  const nameIn = (answer: unknown): string | undefined => {
    const id = idPlace === undefined ? undefined : pointer(answer, idPlace);
    return typeof id === "string" || typeof id === "number" ? shortId(String(id)) : undefined;
  };

  return {
    type: "files",
    run: async ({ inputs, signal, reserve }) => {
      const maxBytes = form === "bytes" ? LIMITS.mediaBytes : MAX_JSON_BYTES;
      const call = requestOf(settings, inputs);
      const headers = form === "json" ? call.headers : { accept: "*/*", ...call.headers };
      const opened = await transport.open({ ...call, ...(headers ? { headers } : {}), timeoutMs: DIRECT_TIMEOUT_MS, maxBytes, signal });
      // The response stays in memory until it is stored, because it can't be requested again.
      await reserve(answerBytes(opened.headers, maxBytes) * (form === "bytes" ? 1 : COPIES));
      const isJson = JSON_TYPE.test(opened.headers["content-type"] ?? "");
      const requestId = answerId(opened.headers);
      if (form === "bytes" && !isJson) return { files: [{ bytes: opened.body }], text: null, requestId };
      const answer = form === "text" && !isJson ? await transport.text(opened.body) : await jsonOf(opened.body);
      // If bytes are expected, a JSON response is an error.
      const output: ProviderOutput =
        form === "bytes" ? { files: [], text: null } : withDownloads(settings, transport, outputIn(outputs, answer));
      // A response without the expected output may contain an error.
      const problem = output.files.length === 0 && output.text === null ? transport.errorInside(answer, true) : undefined;
      if (problem) throw problem;
      return { ...output, requestId: nameIn(answer) ?? requestId };
    },
  };
};
