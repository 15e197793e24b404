import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { freePort } from "../../../../deploy/local/servers/ports.cjs";
import { assetsFolder } from "../../../../services/platform/src";
import { ASSETS } from "../../../../services/inference/src/fetch/assets";
import { fetchAssets } from "../../../../services/inference/src/fetch/fetch-assets";
import { startPeer } from "../../../../test-support/peer";

/** The inference service with its text model, for a platform that runs beside it. */

const PROGRAM = join(__dirname, "..", "..", "..", "..", "services", "inference", "dist", "main.js");

export interface LocalChat {
  /** Environment of the platform that uses it. */
  env: Record<string, string>;
  address: string;
  stop(): Promise<void>;
}

/**
 * Downloads missing files.
 * @param folder folder for its output
 */
export const startLocalChat = async (folder: string): Promise<LocalChat> => {
  const { engines, chat } = ASSETS;
  const fetched = await fetchAssets({ root: assetsFolder(process.env), assets: { engines, chat } });
  if (fetched?.state !== "done")
    throw new Error(`the model could not be fetched: ${JSON.stringify(fetched?.failures ?? "another fetch is under way")}`);
  const address = `127.0.0.1:${await freePort()}`;
  const url = `http://${address}`;
  const key = randomBytes(16).toString("hex");
  const stop = await startPeer({
    command: process.execPath,
    args: [PROGRAM],
    env: {
      INFERENCE_LISTEN: address,
      INFERENCE_API_KEY: key,
      INFERENCE_DATA_DIR: join(folder, "inference"),
      // Address of the platform's files, which no chat here uses.
      PUBLIC_BASE_URL: url,
      LOG_LEVEL: "warn",
    },
    cwd: folder,
    isReady: async () => (await fetch(`${url}/healthz`)).ok,
  });
  return { env: { INFERENCE_URL: url, INFERENCE_API_KEY: key }, address, stop };
};
