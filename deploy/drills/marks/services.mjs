/** The services that make and store files, called without the rest of the platform. */
import { randomUUID } from "node:crypto";
import { createRequire } from "node:module";

const gateway = createRequire(new URL("../../../gateway/package.json", import.meta.url));
const { createGrpcClient, uploadParts } = gateway("@nodeloom/platform");
const { media, transform } = gateway("@nodeloom/proto");

const DEADLINE_MS = 120_000;
const OWNER = "marks-drill";
const { MAKER_MODEL, MAKER_OPERATION } = media.Maker;

/** @typedef {{ operation: string, settings: object, port: string, keys: string[] }} Operation */
/** @typedef {ReturnType<typeof connect>} Services */

/** @param {{ key: string } | undefined} object */
const keyOf = (object) => {
  if (!object) throw new Error("no file was stored");
  return object.key;
};

/** @param {string} mediaAddress @param {string} transformAddress */
export const connect = (mediaAddress, transformAddress) => {
  const storage = createGrpcClient(media.MediaServiceService, { address: mediaAddress });
  const work = createGrpcClient(transform.TransformServiceService, { address: transformAddress });
  /** @param {string} model @param {number} maker @param {string[]} parents */
  const making = (model, maker, parents) => media.Making.fromPartial({ maker, model, parents });

  return {
    /** Stores a file as a model's result. @param {Buffer} bytes @returns {Promise<string>} its key */
    upload: async (bytes) => {
      const header = media.UploadHeader.fromPartial({ id: randomUUID(), ownerId: OWNER, making: making("drill", MAKER_MODEL, []) });
      return keyOf((await storage.upload(uploadParts(header, [bytes]), { deadlineMs: DEADLINE_MS })).object);
    },
    /** @param {Operation} operation @returns {Promise<string>} the key of its result */
    run: async ({ operation, settings, port, keys }) => {
      const request = transform.RunRequest.fromPartial({
        ...{ callId: randomUUID(), userId: OWNER, operation, settingsJson: JSON.stringify(settings) },
        inputs: keys.map((key) => ({ port, key })),
        making: making(operation, MAKER_OPERATION, keys),
      });
      return keyOf((await work.run(request, { deadlineMs: DEADLINE_MS })).outputs[0]?.object);
    },
    /** @param {string} key @returns {Promise<Buffer>} */
    read: async (key) => {
      const chunks = [];
      for await (const { part } of storage.readObject({ key })) if (part?.$case === "chunk") chunks.push(Buffer.from(part.value));
      return Buffer.concat(chunks);
    },
    close: () => [storage, work].forEach((client) => client.close()),
  };
};
