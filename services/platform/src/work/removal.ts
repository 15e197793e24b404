import { invalidRequest } from "@nodeloom/kernel";

/** Result of one page of one kind: the number of deleted rows and the next cursor. An empty `next` ends the kind. */
export interface RemovedPage {
  removed: number;
  next: string;
}

/** Deletes one page after a cursor; the first cursor is empty. It can be repeated, and it can stop at any point. */
export type RemoveStep = (cursor: string) => Promise<RemovedPage>;

/** Response of every service's `RemoveExpired`. */
export interface Removal {
  removed: Record<string, number>;
  /** Cursor of the next page; empty at the end. */
  nextCursor: string;
}

/** A page of a kind that always starts at its oldest row, repeated until no row is left. */
export const untilNone = (removed: number): RemovedPage => ({ removed, next: removed === 0 ? "" : "again" });

/**
 * Creates a service's `RemoveExpired`. Each call processes one page of one kind, in the order of the steps. Its cursor is `<kind>:<cursor
 * of the kind>`.
 * @throws DomainError INVALID_REQUEST for a cursor with an unknown kind
 */
export const createRemoval = (steps: Readonly<Record<string, RemoveStep>>): ((cursor: string) => Promise<Removal>) => {
  const kinds = Object.keys(steps);
  return async (cursor) => {
    const [, kind, at] = /^([^:]*):(.*)$/su.exec(cursor) ?? ["", cursor === "" ? kinds[0] : undefined, ""];
    const step = kind === undefined || !Object.hasOwn(steps, kind) ? undefined : steps[kind];
    if (kind === undefined || !step) throw invalidRequest([{ path: "cursor", message: "is not one of this removal" }]);
    const { removed, next } = await step(at ?? "");
    const following = kinds[kinds.indexOf(kind) + 1];
    const afterKind = following === undefined ? "" : `${following}:`;
    return { removed: { [kind]: removed }, nextCursor: next === "" ? afterKind : `${kind}:${next}` };
  };
};
