/** Finds and removes files of erased runs. Files that a workflow, version or cover refers to stay. */
import { innerOwner, unavailable } from "@nodeloom/kernel";
import type { ObjectStore, RemovableObject } from "../store/object-store";
import { isCounted, type MediaObject } from "../store/media-object";
import type { Purge } from "./purge";
import type { Quota } from "./quota";

export interface RunFilesDeps {
  store: Pick<ObjectStore, "generatedBy" | "generatedAmong" | "forgetInputs" | "hide">;
  quota: Pick<Quota, "remove">;
  purge: Purge;
  /** Returns the file ids and keys that a workflow, version or cover refers to. */
  findNamed(names: string[]): Promise<readonly string[]>;
}

export interface RunFile extends Pick<MediaObject, "id" | "key"> {
  executionId: string;
  kept: boolean;
}

const PAGE = 200;
const ERASED = "erased";

const toFile = (object: RemovableObject): RunFile => ({
  id: object.id,
  key: object.key,
  executionId: object.making?.executionId ?? "",
  kept: isCounted(object),
});

export type RunFiles = ReturnType<typeof createRunFiles>;

export const createRunFiles = ({ store, quota, purge, findNamed }: RunFilesDeps) => {
  /** Files that a run creates in graphs that its user can't read belong to a separate owner. */
  const ownersOf = (ownerId: string): string[] => [ownerId, innerOwner(ownerId)];

  const hide = async (object: MediaObject): Promise<boolean> => {
    const mark = (token: string): Promise<boolean> => store.hide(object, token, new Date());
    return isCounted(object) ? quota.remove(object, mark) : mark(ERASED);
  };

  return {
    /** Returns a page of the files that a run generated. The first page also has the generated files among `names`. */
    find: async (
      executionId: string,
      ownerId: string,
      names: readonly string[],
      cursor: string,
    ): Promise<{ files: RunFile[]; nextCursor: string }> => {
      const owners = ownersOf(ownerId);
      const objects = await store.generatedBy(`${executionId}-`, owners, PAGE, cursor);
      const namedObjects = cursor === "" && names.length > 0 ? await store.generatedAmong(names, owners) : [];
      const next = objects.length < PAGE ? "" : objects.at(-1)!.id;
      return { files: [...objects, ...namedObjects].map(toFile), nextCursor: next };
    },

    /** Removes the prompts, words and titles that are stored with a run's files. */
    forgetInputs: (executionId: string, ownerId: string): Promise<void> => store.forgetInputs(`${executionId}-`, ownersOf(ownerId)),

    /**
     * Removes files with their bytes. A file that a workflow, version or cover refers to stays.
     * @throws SERVICE_UNAVAILABLE if bytes can't be removed, or if another call is changing a file
     */
    remove: async (ids: readonly string[], ownerId: string): Promise<void> => {
      const objects = await store.generatedAmong(ids, ownersOf(ownerId));
      const namedIds = new Set(objects.length === 0 ? [] : await findNamed(objects.flatMap(({ id, key }) => [id, key])));
      for (const object of objects) {
        const isNamed = namedIds.has(object.id) || namedIds.has(object.key);
        if (isNamed) continue;
        if (!object.isHidden && !(await hide(object))) throw unavailable("a file is being changed by others");
        if (!(await purge(object))) throw unavailable("the bytes of a file can't be removed now");
      }
    },
  };
};
