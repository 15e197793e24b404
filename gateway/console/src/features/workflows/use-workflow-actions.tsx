import type { NewWorkflow, WorkflowChanges } from "@nodeloom/client";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { api, codeOf, messageOf, request } from "../../api/client";
import { modelsInOrder } from "../../api/model-order";
import { meQuery, modelsQuery } from "../../api/queries";
import { refusalTrouble } from "../../runs/trouble/trouble";
import { complain, say } from "../../ui/overlays/toast";
import { exportWorkflow } from "./export";
import { COMMON } from "../../messages/common";
import { USE_WORKFLOW_ACTIONS } from "../../messages/workflows";

/** Content types of imports: exported files, and pictures that ComfyUI saved. */
export const WORKFLOW_FILE = "application/json,.json,image/png,image/webp";

/** Actions of workflow lists. Failures are shown as notices. */
export const useWorkflowActions = () => {
  const client = useQueryClient();
  const navigate = useNavigate();
  const refresh = (): void => {
    for (const key of ["workflows", "folders"]) void client.invalidateQueries({ queryKey: [key] });
  };
  const open = (slug: string, panel?: "run"): void =>
    void navigate({ to: "/workflows/$slug", params: { slug }, search: panel === undefined ? {} : { panel } });
  /** @returns true if it succeeded */
  const attempt = async (work: () => Promise<void>): Promise<boolean> => {
    try {
      await work();
      return true;
    } catch (error) {
      const { title, advice } = refusalTrouble(error);
      if (codeOf(error) === "WORKFLOW_CAP_REACHED")
        complain(`${title}. ${advice}`, { label: COMMON.seePlans, run: () => void navigate({ to: "/plans" }) });
      else complain(messageOf(error));
      return false;
    } finally {
      refresh();
    }
  };
  return {
    refresh,
    /** @param panel panel beside the canvas: `run` for a workflow that runs unchanged */
    create: (workflow: NewWorkflow, panel?: "run") => attempt(async () => open((await api.workflows.create(workflow)).slug, panel)),
    /** For templates, the author's files are also copied. */
    duplicate: (slug: string, name: string, panel?: "run") =>
      attempt(async () => open((await request("cloneWorkflow", { params: { slug }, body: { name } })).body.slug, panel)),
    change: (slug: string, changes: WorkflowChanges, doneMessage: string) =>
      attempt(async () => {
        await api.workflows.update(slug, changes);
        say(doneMessage);
      }),
    move: (slug: string, folderId: string | null, doneMessage: string) =>
      attempt(async () => {
        await api.workflows.move(slug, folderId);
        say(doneMessage);
      }),
    remove: (slug: string, name: string) =>
      attempt(async () => {
        await api.workflows.delete(slug);
        say(USE_WORKFLOW_ACTIONS.deleted(name));
      }),
    exportFile: (slug: string) => attempt(() => exportWorkflow(slug)),
    importFile: (file: File) =>
      attempt(async () => {
        const { importWorkflow } = await import("./import");
        const { slug, words } = await importWorkflow(file, async () => {
          const [models, me] = await Promise.all([client.ensureQueryData(modelsQuery), client.ensureQueryData(meQuery)]);
          return me ? modelsInOrder(models, me.user) : models;
        });
        open(slug);
        if (words !== undefined) say(words);
      }),
    createFolder: (name: string) => attempt(async () => void (await request("createFolder", { body: { name } }))),
    renameFolder: (id: string, name: string) =>
      attempt(async () => void (await request("renameFolder", { params: { id }, body: { name } }))),
    deleteFolder: (id: string) => attempt(async () => void (await request("deleteFolder", { params: { id } }))),
  };
};
export type WorkflowActions = ReturnType<typeof useWorkflowActions>;
