import { createHmac } from "node:crypto";
import { serve } from "./serve.mjs";

/** A webhook receiver that records everything and rejects every seventh first attempt. */
export const createReceiver = async () => {
  /** @type {{ id: string, timestamp: string, signature: string, body: string }[]} */
  const received = [];
  const { address, url, close } = await serve((request, response, body) => {
    const { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signature } = request.headers;
    received.push({ id: String(id), timestamp: String(timestamp), signature: String(signature), body });
    response.writeHead(received.length % 7 === 0 ? 500 : 204).end();
  });
  return {
    ...{ address, url: `${url}/hook`, received, close },
    /** @param {{ id: string, timestamp: string, signature: string, body: string }} delivery @param {string} secret */
    isSigned: ({ id, timestamp, signature, body }, secret) => {
      const expected = createHmac("sha256", Buffer.from(secret.slice("whsec_".length), "base64"))
        .update(`${id}.${timestamp}.${body}`)
        .digest("base64");
      return signature.split(" ").includes(`v1,${expected}`);
    },
  };
};
