/** The services that make and store files, called without the rest of the platform. */
import { randomUUID } from "node:crypto";
import { createGrpcClient, uploadParts } from "@nodeloom/platform";
import { media, transform } from "@nodeloom/proto";

const DEADLINE_MS = 120_000;
const OWNER = "marks-drill";
const { MAKER_MODEL, MAKER_OPERATION } = media.Maker;

/** @typedef {{ operation: string, settings: object, port: string, keys: string[] }} Operation */
/** @typedef {ReturnType<typeof connect>} Services */

/** @param {media.StoredObject | undefined} object */
const keyOf = (object) => {
  if (!object) throw new Error("no file was stored");
  return object.key;
};

/** @param {string} mediaAddress @param {string} transformAddress */
export const connect = (mediaAddress, transformAddress) => {
  /** @type {import("@nodeloom/platform").ClientOf<media.MediaServiceServer>} */
  const storage = createGrpcClient(media.MediaServiceService, { address: mediaAddress });
  /** @type {import("@nodeloom/platform").ClientOf<transform.TransformServiceServer>} */
  const work = createGrpcClient(transform.TransformServiceService, { address: transformAddress });
  /** @param {string} model @param {media.Maker} maker @param {string[]} parents */
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
