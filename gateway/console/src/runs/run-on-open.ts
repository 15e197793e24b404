/** A run that the user started on a workflow's card. The canvas starts it once, when it opens. */

interface PendingRun {
  slug: string;
  /** Price on the card in credits. The run doesn't start if it can cost more. */
  most: number;
  until: number;
}

/** A canvas that opens later than this doesn't run: the user no longer expects it. */
const EXPIRES_MS = 30_000;

let pending: PendingRun | undefined;

/** Requests that the workflow runs when its canvas opens next. @param most highest accepted price in credits */
export const runOnOpen = (slug: string, most: number): void => {
  pending = { slug, most, until: Date.now() + EXPIRES_MS };
};

/** The accepted price if this workflow is to run now. Every request ends with the first canvas that opens. */
export const takeRunOnOpen = (slug: string): number | undefined => {
  const request = pending;
  pending = undefined;
  return request?.slug === slug && Date.now() < request.until ? request.most : undefined;
};
