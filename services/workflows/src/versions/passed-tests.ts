/** Tests of a workflow, and which versions passed them. The executions service runs the tests. */
import { versionNotFound } from "@nodeloom/kernel";
import { requireFound } from "../definition/errors";
import { testsDigest } from "../definition/settings";
import type { VersionStore, WorkflowStore } from "../definition/storage";
import { newest } from "../definition/workflow";

export interface PassedTests {
  /** @throws DomainError WORKFLOW_NOT_FOUND */
  tests(slug: string, ownerId: string): Promise<{ testsJson: string; digest: string }>;
  /**
   * @param which `digest` identifies the tests; it is empty if the version failed. @throws DomainError WORKFLOW_NOT_FOUND or
   *   VERSION_NOT_FOUND
   */
  note(which: { slug: string; ownerId: string; version: number; digest: string }): Promise<void>;
}

export interface PassedTestsDeps {
  store: Pick<WorkflowStore, "owned">;
  versions: Pick<VersionStore, "notePassed">;
}

export const createPassedTests = ({ store, versions }: PassedTestsDeps): PassedTests => ({
  tests: async (slug, ownerId) => {
    const { testsJson = "" } = requireFound(await store.owned(slug, ownerId));
    return { testsJson, digest: testsDigest(testsJson) };
  },
  note: async ({ slug, ownerId, version, digest }) => {
    const workflow = requireFound(await store.owned(slug, ownerId));
    if (version < 1 || version > newest(workflow)) throw versionNotFound();
    await versions.notePassed(workflow.creationId, version, digest);
  },
});
