import type { CanarySettings } from "@nodeloom/client";
import { PRODUCTION } from "@nodeloom/kernel/limits";
import { request } from "../../api/client";
import { useChange } from "../../api/use-change";
import { ALIASES, CANARIES } from "../../messages/editor/versions";
import { useEditor } from "../context";

/** Moves and deletes aliases, one change at a time. */
export const useAliasChange = () => {
  const { document, slug } = useEditor();
  const { busy, run } = useChange("aliases");
  const change = (work: () => Promise<unknown>, doneMessage: string): Promise<unknown> =>
    run(async () => {
      await work();
      await document.refresh().catch(() => undefined);
    }, doneMessage);
  return {
    busy,
    /** @param from version that the alias points to now, as shown; null for a new alias */
    point: (name: string, version: number, from: number | null) =>
      change(
        () => request("setAlias", { params: { slug, name }, body: { version, if: { version: from } } }),
        ALIASES.nowRunsVersion(name, version),
      ),
    startCanary: (name: string, from: number, canary: CanarySettings) =>
      change(
        () => request("setAlias", { params: { slug, name }, body: { version: from, if: { version: from }, canary } }),
        CANARIES.started(name, canary.version, canary.percent),
      ),
    stopCanary: (name: string, from: number) =>
      change(
        () => request("setAlias", { params: { slug, name }, body: { version: from, if: { version: from }, canary: null } }),
        ALIASES.nowRunsVersion(name, from),
      ),
    remove: (name: string) =>
      change(
        () => request("deleteAlias", { params: { slug, name } }),
        name === PRODUCTION ? ALIASES.followsNewest : ALIASES.aliasDeleted(name),
      ),
  };
};
