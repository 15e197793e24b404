// A moderation hook for Nodeloom that asks OpenAI's moderations, or any service of the same form.
//
//   MODERATION_SECRET=whsec_… OPENAI_API_KEY=… node docs/guide/examples/moderation-by-openai.mjs <host:port>
import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";

const { MODERATION_SECRET = "", OPENAI_API_KEY = "", OPENAI_BASE_URL = "https://api.openai.com/v1" } = process.env;
const TOLERANCE_SECONDS = 5 * 60;

const isGenuine = (headers, body) => {
  const { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": given = "" } = headers;
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) < TOLERANCE_SECONDS)) return false;
  const key = Buffer.from(MODERATION_SECRET.replace(/^whsec_/, ""), "base64");
  const expected = Buffer.from(`v1,${createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest("base64")}`);
  return given.split(" ").some((one) => one.length === expected.length && timingSafeEqual(Buffer.from(one), expected));
};

/** Pictures are sent as data: their addresses end with the decision. Videos and sounds this model can't see. */
const pictureOf = async ({ url, contentType }) => {
  const bytes = Buffer.from(await (await fetch(url)).arrayBuffer());
  return { type: "image_url", image_url: { url: `data:${contentType};base64,${bytes.toString("base64")}` } };
};

const decide = async ({ texts, files }) => {
  const pictures = await Promise.all(files.filter(({ contentType }) => contentType?.startsWith("image/")).map(pictureOf));
  // It takes one picture a request.
  const inputs = [...(texts.length > 0 ? [texts.map((text) => ({ type: "text", text }))] : []), ...pictures.map((picture) => [picture])];
  for (const input of inputs) {
    const headers = { authorization: `Bearer ${OPENAI_API_KEY}`, "content-type": "application/json" };
    const body = JSON.stringify({ model: "omni-moderation-latest", input });
    const response = await fetch(`${OPENAI_BASE_URL}/moderations`, { method: "POST", headers, body });
    if (!response.ok) throw new Error(`moderations answered ${response.status}`);
    const { results, model } = await response.json();
    const found = results.flatMap(({ categories }) => Object.keys(categories).filter((name) => categories[name]));
    if (results.some(({ flagged }) => flagged)) return { decision: "refuse", reason: found[0], policy: model };
  }
  return { decision: "allow" };
};

const server = createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = Buffer.concat(chunks);
  if (!isGenuine(request.headers, body)) return response.writeHead(401).end();
  try {
    response.setHeader("content-type", "application/json").end(JSON.stringify(await decide(JSON.parse(body))));
  } catch (error) {
    // Anything but a decision is asked again, and then taken for away.
    process.stderr.write(`${error}\n`);
    response.writeHead(502).end();
  }
});
const [host, port] = (process.argv[2] ?? "127.0.0.1:9098").split(":");
server.listen(Number(port), host, () => process.stdout.write(`listening on ${host}:${server.address().port}\n`));
