import { createApi } from "./api.mjs";
import { readLocal, startPlatform } from "./platform.mjs";
import { createReceiver } from "./receiver.mjs";

/** @typedef {NonNullable<Parameters<typeof createApi>[1]>} OnAnswer */

/**
 * Starts a whole local platform and signs an Enterprise user in, whose webhooks go to a receiver. All of it ends with the drill.
 * @param {Pick<import("./run-drill.mjs").Drill, "atEnd">} drill
 * @param {{ allow?: readonly string[], env?: Record<string, string>, onAnswer?: OnAnswer }} [options] allow: other
 * addresses that runs can call
 */
export const setStage = async ({ atEnd }, { allow = [], env = {}, onAnswer } = {}) => {
  const receiver = await createReceiver();
  atEnd(receiver.close);
  const platform = await startPlatform({ EGRESS_ALLOW: [receiver.address, ...allow].join(), ...env });
  atEnd(platform.stop);
  const api = createApi(() => readLocal().baseUrl, onAnswer);
  const { accounts } = readLocal();
  const user = await api.enterprise(accounts, receiver.url);
  return { api, accounts, adminKey: /** @type {string} */ (accounts.admin.apiKey), receiver, user };
};
