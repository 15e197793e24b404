import { DomainError, invalidRequest } from "@nodeloom/kernel";

/** Registry entries that administrators add: their limits and their lifetime. */

export interface AddedEntry {
  /** Text of the entry as it was received. */
  json: string;
  /** Increases with every change of this entry. */
  revision: number;
  changedAt: number;
  /** Deletion time in milliseconds since the epoch. Runs in progress can still read the entry. */
  deletedAt?: number;
}
export type AddedEntries = Readonly<Record<string, AddedEntry>>;

export const MAX_ENTRIES = 200;
export const MAX_ENTRY_BYTES = 48 * 1_024;
/** How long a deleted entry is kept. It is longer than any run can wait. */
const KEPT_MS = 31 * 24 * 60 * 60 * 1_000;

const own = (entries: AddedEntries, name: string): AddedEntry | undefined => (Object.hasOwn(entries, name) ? entries[name] : undefined);

/** @returns undefined for deleted entries */
export const livingEntry = (entries: AddedEntries, name: string): AddedEntry | undefined => {
  const entry = own(entries, name);
  return entry?.deletedAt === undefined ? entry : undefined;
};

const unexpired = (entries: AddedEntries, now: number): AddedEntries =>
  Object.fromEntries(Object.entries(entries).filter(([, { deletedAt }]) => deletedAt === undefined || now - deletedAt < KEPT_MS));

const checkRevision = (entry: AddedEntry | undefined, ifRevision: number | undefined): void => {
  if (ifRevision === undefined || entry?.revision === ifRevision) return;
  throw new DomainError("precondition", "PRECONDITION_FAILED", "the model was changed since it was read: read it again");
};

export interface PutEntry {
  name: string;
  json: string;
  /** `create` fails if a different entry with this name exists. */
  mode: "create" | "put";
  ifRevision?: number | undefined;
  now: number;
}

/** Adds or replaces an entry. Returns the same object if nothing changes. */
export const withEntry = (entries: AddedEntries, { name, json, mode, ifRevision, now }: PutEntry): AddedEntries => {
  if (Buffer.byteLength(json) > MAX_ENTRY_BYTES)
    throw invalidRequest([{ path: "", message: `an entry can have at most ${MAX_ENTRY_BYTES} bytes` }]);
  const entry = livingEntry(entries, name);
  if (mode === "create" && entry && entry.json !== json)
    throw new DomainError("conflict", "ALREADY_EXISTS", `the model ${name} already exists: replace it with PUT`);
  checkRevision(entry, ifRevision);
  if (entry?.json === json) return entries;
  const rest = unexpired(entries, now);
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

/** Marks an entry as deleted; runs in progress can still read it. */
export const withoutEntry = (
  entries: AddedEntries,
  { name, ifRevision, now }: { name: string; ifRevision?: number | undefined; now: number },
): AddedEntries => {
  const entry = livingEntry(entries, name);
  if (!entry) throw new DomainError("not_found", "MODEL_NOT_FOUND", `there is no model ${name}`);
  checkRevision(entry, ifRevision);
  return { ...unexpired(entries, now), [name]: { ...entry, revision: entry.revision + 1, deletedAt: now } };
};
