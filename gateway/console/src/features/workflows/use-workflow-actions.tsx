import type { NewWorkflow, WorkflowChanges } from "@nodeloom/client";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { api, codeOf, messageOf, request } from "../../api/client";
import { createWorkflow } from "../../api/workflow-remote";
import { modelsInOrder } from "../../api/model-order";
import { meQuery, modelsQuery } from "../../api/queries";
import { members } from "../../document/graph";
import { refusalTrouble } from "../../runs/trouble/trouble";
import { complain, say } from "../../ui/overlays/toast";
import { exportWorkflow } from "./export";
import { COMMON } from "../../messages/common";
import { USE_WORKFLOW_ACTIONS } from "../../messages/workflows";

/** Members copied to a duplicate. */
const COPIED = ["description", "tags", "nodes", "edges", "viewport", "cover"] as const;
const MEGABYTE = 1_000_000;
const MAX_IMPORT_BYTES = 8 * MEGABYTE;
const MAX_PICTURE_BYTES = 64 * MEGABYTE;

/** Creates a workflow from texts, so that its graph stays unchanged. */
const createFromText = async (text: string, name: string): Promise<string> => {
  const texts = members(text);
  const newMembers = new Map<string, string>([["name", JSON.stringify(name)]]);
  for (const member of COPIED) {
    const value = texts.get(member);
    if (value !== undefined && value !== "null") newMembers.set(member, value);
  }
  return createWorkflow(newMembers);
};

const parsedJson = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
};

const nameOfFile = ({ name }: File): string => name.replace(/\.(?:json|png|webp)$/i, "");

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
        const isPicture = file.type.startsWith("image/");
        const most = isPicture ? MAX_PICTURE_BYTES : MAX_IMPORT_BYTES;
        const { pictureTooLarge, workflowTooLarge, noEmbeddedWorkflow, notJson, noNodes } = USE_WORKFLOW_ACTIONS;
        if (file.size > most) throw new Error((isPicture ? pictureTooLarge : workflowTooLarge)(file.name, most / MEGABYTE));
        // Loaded lazily, because few users of the list import a workflow.
        const { readEmbedded, readForeign } = await import("@nodeloom/client/comfyui");
        const text = isPicture ? "" : await file.text();
        const value = isPicture ? await readEmbedded(new Uint8Array(await file.arrayBuffer())) : parsedJson(text);
        if (value === undefined) throw new Error((isPicture ? noEmbeddedWorkflow : notJson)(file.name));
        const [models, me] = await Promise.all([client.ensureQueryData(modelsQuery), client.ensureQueryData(meQuery)]);
        const foreign = readForeign(value, me ? modelsInOrder(models, me.user) : models);
        if (foreign && !foreign.graph) throw new Error(foreign.words);
        if (foreign) {
          open(await createFromText(JSON.stringify(foreign.graph), nameOfFile(file)));
          return say(foreign.words);
        }
        const { name, nodes } = (value ?? {}) as { name?: unknown; nodes?: unknown };
        if (!Array.isArray(nodes)) throw new Error(noNodes(file.name));
        open(await createFromText(text, typeof name === "string" && name !== "" ? name : nameOfFile(file)));
      }),
    createFolder: (name: string) => attempt(async () => void (await request("createFolder", { body: { name } }))),
    renameFolder: (id: string, name: string) =>
      attempt(async () => void (await request("renameFolder", { params: { id }, body: { name } }))),
    deleteFolder: (id: string) => attempt(async () => void (await request("deleteFolder", { params: { id } }))),
  };
};
export type WorkflowActions = ReturnType<typeof useWorkflowActions>;
