import { DomainError, invalidRequest } from "@nodeloom/kernel";

/** Entries that administrators added: how many there may be, and what becomes of them. */

export interface AddedEntry {
  /** The entry as it was sent. */
  json: string;
  /** Increases with every change of this entry. */
  revision: number;
  /** Milliseconds since 1970. */
  changedAt: number;
  /** Since when it is deleted. Runs under way find it for as long as any run may take. */
  deletedAt?: number;
}
export type AddedEntries = Readonly<Record<string, AddedEntry>>;

export const MAX_ENTRIES = 200;
export const MAX_ENTRY_BYTES = 48 * 1_024;
/** Longer than any run may wait. */
const KEPT_MS = 31 * 24 * 60 * 60 * 1_000;

const own = (entries: AddedEntries, name: string): AddedEntry | undefined => (Object.hasOwn(entries, name) ? entries[name] : undefined);

/** An entry that is there and wasn't deleted. */
export const livingEntry = (entries: AddedEntries, name: string): AddedEntry | undefined => {
  const found = own(entries, name);
  return found?.deletedAt === undefined ? found : undefined;
};

const kept = (entries: AddedEntries, now: number): AddedEntries =>
  Object.fromEntries(Object.entries(entries).filter(([, { deletedAt }]) => deletedAt === undefined || now - deletedAt < KEPT_MS));

const checkRevision = (found: AddedEntry | undefined, ifRevision: number | undefined): void => {
  if (ifRevision === undefined || found?.revision === ifRevision) return;
  throw new DomainError("precondition", "PRECONDITION_FAILED", "the model was changed since it was read: read it again");
};

export interface PutEntry {
  name: string;
  json: string;
  /** create: there must be none of that name, or this very one. */
  mode: "create" | "put";
  ifRevision?: number | undefined;
  now: number;
}

/** The entries with one more, or another one in place of one; the same object where nothing changes. */
export const withEntry = (entries: AddedEntries, { name, json, mode, ifRevision, now }: PutEntry): AddedEntries => {
  if (Buffer.byteLength(json) > MAX_ENTRY_BYTES)
    throw invalidRequest([{ path: "", message: `an entry may have at most ${MAX_ENTRY_BYTES} bytes` }]);
  const found = livingEntry(entries, name);
  if (mode === "create" && found && found.json !== json)
    throw new DomainError("conflict", "ALREADY_EXISTS", `there is a model ${name} already: PUT replaces it`);
  checkRevision(found, ifRevision);
  if (found?.json === json) return entries;
  const rest = kept(entries, now);
  if (!own(rest, name) && Object.keys(rest).length >= MAX_ENTRIES)
    throw new DomainError(
      "precondition",
      "PRECONDITION_FAILED",
      `there are ${MAX_ENTRIES} added models, deleted ones of the last month among them`,
      {
        limit: MAX_ENTRIES,
      },
    );
  return { ...rest, [name]: { json, revision: (own(rest, name)?.revision ?? 0) + 1, changedAt: now } };
};

/** The entries without one, which runs under way still find. */
export const withoutEntry = (
  entries: AddedEntries,
  { name, ifRevision, now }: { name: string; ifRevision?: number | undefined; now: number },
): AddedEntries => {
  const found = livingEntry(entries, name);
  if (!found) throw new DomainError("not_found", "MODEL_NOT_FOUND", `there is no model ${name}`);
  checkRevision(found, ifRevision);
  return { ...kept(entries, now), [name]: { ...found, revision: found.revision + 1, deletedAt: now } };
};
