/** Erases a value of metadata from an account's audit rows. */
import { DURABLE, type EraseMetadata } from "@nodeloom/platform";
import type { Connection } from "mongoose";
import type { AuditRecord } from "../records";

const ERASED = "[erased]";
const TEXTS = ["changeJson", "beforeJson", "afterJson"] as const;
type Texts = Pick<AuditRecord, "target" | (typeof TEXTS)[number]>;

interface Entry {
  name: string;
  value: string;
}

/** Replaces the value in members with the given name, and in `{name, value}` objects. */
const without = (json: unknown, { name, value }: Entry): unknown => {
  if (Array.isArray(json)) return json.map((item) => without(item, { name, value }));
  if (typeof json !== "object" || json === null) return json;
  const isPair = "name" in json && json.name === name;
  const members = Object.entries(json).map(([key, member]): [string, unknown] => [
    key,
    member === value && (key === name || (isPair && key === "value")) ? ERASED : without(member, { name, value }),
  ]);
  return Object.fromEntries(members);
};

const cleaned = (row: Texts, entry: Entry): Partial<Texts> => {
  const target = `metadata ${entry.name}=`;
  const changed: Partial<Texts> = row.target === target + entry.value ? { target: target + ERASED } : {};
  for (const text of TEXTS) {
    if (row[text] === "") continue;
    const json = JSON.stringify(without(JSON.parse(row[text]), entry));
    if (json !== row[text]) changed[text] = json;
  }
  return changed;
};

/** @param connection a connection that has the models */
export const createEraseAudited =
  (connection: Connection): EraseMetadata =>
  async ({ ownerId, ...entry }) => {
    const rows = connection.models.Audit!.collection;
    const fields = Object.fromEntries(["target", ...TEXTS].map((name) => [name, 1]));
    for await (const { _id, ...row } of rows.find({ ownerId }, { projection: fields })) {
      const changed = cleaned(row as unknown as Texts, entry);
      if (Object.keys(changed).length > 0) await rows.updateOne({ _id }, { $set: changed }, { writeConcern: DURABLE as never });
    }
  };
