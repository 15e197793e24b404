/** A process that relays the outboxes of the drill's rows: `node replica.mjs URI DATABASE RECEIVER`. It ends with its parent. */
import { createRequire } from "node:module";

const executions = createRequire(new URL("../../../services/executions/package.json", import.meta.url));
/** @type {any} */
const platform = executions("@nodeloom/platform");
const { connectMongo, createLogger, createOutbox, startRelay } = platform;

/** @typedef {{ _id: string, outbox: string[] }} Row */

const [uri, database, receiver] = process.argv.slice(2);
const logger = createLogger("relay", "error");
const connection = await connectMongo({ uri, database, logger });
const rows = connection.collection("rows");

const outbox = createOutbox({
  entriesOf: (/** @type {Row} */ row) => row.outbox,
  idOf: (/** @type {Row} */ { _id }, /** @type {string} */ entry) => `${_id}:${entry}`,
  send: async (/** @type {Row} */ _row, /** @type {string} */ _entry, /** @type {string} */ id) => {
    const { ok, status } = await fetch(`${receiver}/${id}`, { method: "POST" });
    if (!ok) throw new Error(`the receiver answered ${status}`);
  },
  clear: (/** @type {Row} */ { _id }, /** @type {readonly string[]} */ sent) =>
    rows.updateOne({ _id }, { $pull: { outbox: { $in: [...sent] } } }),
  logger: { ...logger, warn: () => undefined },
});
startRelay(
  [
    {
      name: "rows",
      page: (/** @type {number} */ limit, /** @type {Row | undefined} */ after) =>
        rows.find({ "outbox.0": { $exists: true }, _id: { $gt: after?._id ?? "" } }, { sort: { _id: 1 }, limit }).toArray(),
      signatureOf: (/** @type {Row} */ { _id, outbox: entries }) => `${_id} ${entries.join(" ")}`,
      settle: (/** @type {Row[]} */ [row]) => outbox.deliver(row),
    },
  ],
  { service: "relay", connection, logger },
);
process.on("disconnect", () => process.exit(0));
