import type { NewWorkflow, WorkflowChanges } from "@nodeloom/client";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { api, codeOf, messageOf, request } from "../../api/client";
import { createWorkflow } from "../../api/workflow-remote";
import { modelsQuery } from "../../api/queries";
import { members } from "../../document/graph";
import { refusalTrouble } from "../../messages/troubles";
import { complain, say } from "../../ui/overlays/toast";
import { exportWorkflow } from "./export";

/** Members of a workflow that a copy takes over. */
const COPIED = ["description", "tags", "nodes", "edges", "viewport", "cover"] as const;
const MAX_IMPORT_BYTES = 8_000_000;

/** Creates a workflow from texts, so that its graph stays as it was. */
const createFromText = async (text: string, name: string): Promise<string> => {
  const texts = members(text);
  const kept = new Map<string, string>([["name", JSON.stringify(name)]]);
  for (const member of COPIED) {
    const value = texts.get(member);
    if (value !== undefined && value !== "null") kept.set(member, value);
  }
  return createWorkflow(kept);
};

const nameOfFile = ({ name }: File): string => name.replace(/\.json$/i, "");

/** What can be done to workflows from a list; failures are told. */
export const useWorkflowActions = () => {
  const client = useQueryClient();
  const navigate = useNavigate();
  const refresh = (): void => {
    for (const key of ["workflows", "folders"]) void client.invalidateQueries({ queryKey: [key] });
  };
  const open = (slug: string, panel?: "run"): void =>
    void navigate({ to: "/workflows/$slug", params: { slug }, search: panel === undefined ? {} : { panel } });
  /** @returns whether it was done */
  const attempt = async (work: () => Promise<void>): Promise<boolean> => {
    try {
      await work();
      return true;
    } catch (error) {
      const { title, advice } = refusalTrouble(error);
      if (codeOf(error) === "WORKFLOW_CAP_REACHED")
        complain(`${title}. ${advice}`, { label: "See the plans", run: () => void navigate({ to: "/plans" }) });
      else complain(messageOf(error));
      return false;
    } finally {
      refresh();
    }
  };
  return {
    refresh,
    /** @param panel what is open beside the canvas: `run` for one that runs as it is */
    create: (workflow: NewWorkflow, panel?: "run") => attempt(async () => open((await api.workflows.create(workflow)).slug, panel)),
    /** Of a template, files of its author are copied along. */
    duplicate: (slug: string, name: string, panel?: "run") =>
      attempt(async () => open((await request("cloneWorkflow", { params: { slug }, body: { name } })).body.slug, panel)),
    change: (slug: string, changes: WorkflowChanges, done: string) =>
      attempt(async () => {
        await api.workflows.update(slug, changes);
        say(done);
      }),
    move: (slug: string, folderId: string | null, done: string) =>
      attempt(async () => {
        await api.workflows.move(slug, folderId);
        say(done);
      }),
    remove: (slug: string, name: string) =>
      attempt(async () => {
        await api.workflows.delete(slug);
        say(`“${name}” was deleted.`);
      }),
    exportFile: (slug: string) => attempt(() => exportWorkflow(slug)),
    importFile: (file: File) =>
      attempt(async () => {
        if (file.size > MAX_IMPORT_BYTES) throw new Error("The file is larger than a workflow may be (8 MB).");
        const text = await file.text();
        let value: unknown;
        try {
          value = JSON.parse(text);
        } catch {
          throw new Error(`${file.name} is no JSON file.`);
        }
        // With the node kinds that it knows it is larger than the page.
        const { readForeign } = await import("../../canvas/foreign/foreign");
        const models = await client.ensureQueryData(modelsQuery);
        const foreign = readForeign(value, models.find(({ modality, enabled }) => modality === "image" && enabled)?.internalName);
        if (foreign && !foreign.graph) throw new Error(foreign.words);
        if (foreign) {
          open(await createFromText(JSON.stringify(foreign.graph), nameOfFile(file)));
          return say(foreign.words);
        }
        const { name, nodes } = (value ?? {}) as { name?: unknown; nodes?: unknown };
        if (!Array.isArray(nodes)) throw new Error(`${file.name} holds no workflow: it has no list of nodes.`);
        open(await createFromText(text, typeof name === "string" && name !== "" ? name : nameOfFile(file)));
      }),
    createFolder: (name: string) => attempt(async () => void (await request("createFolder", { body: { name } }))),
    renameFolder: (id: string, name: string) =>
      attempt(async () => void (await request("renameFolder", { params: { id }, body: { name } }))),
    deleteFolder: (id: string) => attempt(async () => void (await request("deleteFolder", { params: { id } }))),
  };
};
export type WorkflowActions = ReturnType<typeof useWorkflowActions>;
