import { invalidRequest } from "@nodeloom/kernel";

/** One page of one kind: how many were removed, and where to go on. An empty `next` ends the kind. */
export interface RemovedPage {
  removed: number;
  next: string;
}

/** Removes one page, from where a page before it ended; the first has an empty cursor. It may be repeated, and cut short anywhere. */
export type RemoveStep = (cursor: string) => Promise<RemovedPage>;

/** The answer of every owner's `RemoveExpired`. */
export interface Removal {
  removed: Record<string, number>;
  /** Empty at the end. */
  nextCursor: string;
}

/** The page of a kind that always begins at its oldest, until none is left. */
export const untilNone = (removed: number): RemovedPage => ({ removed, next: removed === 0 ? "" : "again" });

/**
 * An owner's `RemoveExpired`: each call does one page of one kind, in the order of the steps. Its cursor is `<kind>:<cursor of the
 * kind>`.
 * @throws DomainError INVALID_REQUEST for a cursor that names no kind
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
