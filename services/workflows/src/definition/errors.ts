import { DomainError, workflowNotFound } from "@nodeloom/kernel";

export const changedSince = (): DomainError =>
  new DomainError("precondition", "PRECONDITION_FAILED", "the workflow has been changed since it was read");
export const aliasMoved = (name: string, version: number): DomainError => {
  const now = version === 0 ? "is not set" : `is at version ${version}`;
  return new DomainError("precondition", "PRECONDITION_FAILED", `the alias ${name} ${now}: read the aliases, and send the condition again`);
};
export const testsRequired = (name: string, version: number): DomainError =>
  new DomainError(
    "conflict",
    "TESTS_REQUIRED",
    `the alias ${name} only moves to versions that passed the workflow's tests: run the tests on version ${version}, then move the alias`,
    { version },
  );
export const canaryDiffers = (version: number, { fields, results }: { fields: string[]; results: string[] }): DomainError => {
  const parts = [
    ...(fields.length > 0 ? [`other input fields (${fields.join(", ")})`] : []),
    ...(results.length > 0 ? [`other result names (${results.join(", ")})`] : []),
  ];
  const message = `version ${version} can't be a canary, because it has ${parts.join(" and ")}: publish a version with the same ones`;
  return new DomainError("conflict", "CANARY_SHAPE", message, { fields, results });
};
export const notApproved = (what = "templates"): DomainError =>
  new DomainError("forbidden", "ACCOUNT_NOT_APPROVED", `this account awaits approval and cannot publish ${what} yet`);
export const sessionRequired = (member: string): DomainError =>
  new DomainError("forbidden", "SESSION_REQUIRED", `only a signed-in person can change ${member}; an API key can send it unchanged`);

/**
 * Returns the result of a conditional change.
 * @param isThere called for an undefined result; checks that the workflow exists
 * @throws DomainError PRECONDITION_FAILED if the workflow has another revision, WORKFLOW_NOT_FOUND if it doesn't exist
 */
export const foundAt = async <T>(result: T | undefined, isThere: () => Promise<unknown>): Promise<T> => {
  if (result !== undefined) return result;
  throw (await isThere()) === undefined ? workflowNotFound() : changedSince();
};

/** @throws DomainError WORKFLOW_NOT_FOUND if `workflow` is undefined */
export const requireFound = <T>(workflow: T | undefined): T => {
  if (workflow === undefined) throw workflowNotFound();
  return workflow;
};
