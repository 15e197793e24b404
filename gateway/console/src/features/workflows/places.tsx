import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import type { MediaFile, WorkflowSummary } from "@nodeloom/client";
import { useState } from "react";
import { request } from "../../api/client";
import { ownerIdOf, ownerOf } from "../../api/organization";
import { executionsQuery, meQuery, workflowsQuery } from "../../api/queries";
import { fileTitle } from "../../media/file-title";
import { fileOf } from "../../media/files-in";
import { Thumb } from "../../media/thumb";
import { useSettled } from "../../media/use-library";
import { view } from "../../media/viewer/store";
import { COMMON } from "../../messages/common";
import { DASHBOARD_PAGE, PLACES } from "../../messages/workflows";
import { usePages } from "../../parts/pages";
import type { Pick } from "../../parts/picker";
import { useTheme } from "../../parts/theme";
import { statusWords } from "../../runs/status";
import { ago } from "../../ui/format";
import { useWorkflowActions, WORKFLOW_FILE, type WorkflowActions } from "./use-workflow-actions";

/** Number of the newest workflows and runs that are listed before the user types. */
const LISTED = 5;
const RUNS = 50;
const FILES = 6;
const THUMB_PX = 72;
/** A single letter would find nearly every file. */
const LEAST_LETTERS = 2;

const aside = (text: string) => <span className="shrink-0 text-xs text-faint">{text}</span>;

/** Opens the browser's file chooser. */
const importFile = ({ importFile: importInto }: WorkflowActions): void => {
  const input = Object.assign(document.createElement("input"), { type: "file", accept: WORKFLOW_FILE });
  input.addEventListener("change", () => {
    const file = input.files?.[0];
    if (file) void importInto(file);
  });
  input.click();
};

const useActionPicks = (): Pick[] => {
  const actions = useWorkflowActions();
  const { theme, choose } = useTheme();
  const themes = (["light", "dark", "system"] as const).filter((name) => name !== theme);
  return [
    {
      key: "new workflow",
      title: DASHBOARD_PAGE.newWorkflow,
      words: PLACES.newWords,
      aside: aside(PLACES.action),
      run: () => void actions.create({ name: PLACES.untitled }),
    },
    {
      key: "import workflow",
      title: PLACES.importWorkflow,
      words: PLACES.importWords,
      aside: aside(PLACES.action),
      run: () => importFile(actions),
    },
    ...themes.map((name): Pick => ({
      key: `theme ${name}`,
      title: PLACES.themes[name],
      words: PLACES.themeWords,
      isSought: true,
      aside: aside(PLACES.action),
      run: () => choose(name),
    })),
  ];
};

const useWorkflowPicks = (open: (slug: string) => void): Pick[] => {
  const { data: me } = useQuery(meQuery);
  const { data: all = [] } = useQuery(workflowsQuery);
  const ownerId = me ? ownerIdOf(me) : "";
  const own = all.filter((workflow) => ownerOf(workflow) === ownerId).toSorted((a, b) => b.updatedAt.localeCompare(a.updatedAt));
  const pickOf = ({ slug, name, description, tags }: WorkflowSummary, kind: string, isSought: boolean): Pick => ({
    key: `${kind} ${slug}`,
    title: name,
    words: [slug, description, ...tags].join(" "),
    aside: aside(kind),
    isSought,
    run: () => open(slug),
  });
  return [
    ...own.map((workflow, index) => pickOf(workflow, COMMON.workflow, index >= LISTED)),
    ...all.filter(({ isTemplate }) => isTemplate).map((workflow) => pickOf(workflow, COMMON.template, true)),
  ];
};

const useRunPicks = (): Pick[] => {
  const navigate = useNavigate();
  const { data: runs } = useQuery(executionsQuery({ limit: RUNS }));
  const { data: workflows = [] } = useQuery(workflowsQuery);
  const names = new Map(workflows.map(({ slug, name }) => [slug, name]));
  return (runs?.rows ?? []).map(({ executionId, workflowSlug, modelIds, status, createdAt }, index): Pick => ({
    key: executionId,
    title: (workflowSlug === null ? modelIds[0] : (names.get(workflowSlug) ?? workflowSlug)) ?? executionId,
    note: [statusWords(status), createdAt === null ? "" : ago(createdAt)].filter(Boolean).join(" · "),
    words: executionId,
    aside: aside(PLACES.run),
    isSought: index >= LISTED,
    run: () => void navigate({ to: "/executions/$id", params: { id: executionId } }),
  }));
};

/** Files by words of their prompt, model or workflow. */
const useFilePicks = (query: string): Pick[] => {
  const words = useSettled(query.trim().toLowerCase());
  const { data } = useQuery({
    queryKey: ["media", "palette", words],
    queryFn: async ({ signal }) => (await request("listMedia", { query: { limit: FILES, q: words }, signal })).body,
    enabled: words.length >= LEAST_LETTERS,
  });
  const pickOf = (file: MediaFile): Pick => ({
    key: file.id,
    title: fileTitle(file),
    // The service found it by words that its title may not have.
    words,
    aside: (
      <>
        {aside(COMMON.file)}
        <Thumb file={fileOf(file)} label="" width={THUMB_PX} className="size-9 shrink-0 rounded-md" />
      </>
    ),
    isSought: true,
    isLast: true,
    run: () => {
      const item = { id: file.id, file: fileOf(file), text: undefined, title: fileTitle(file), facts: [] };
      view([{ id: file.id, title: COMMON.files, items: [item] }]);
    },
  });
  return words.length < LEAST_LETTERS ? [] : (data?.rows ?? []).map(pickOf);
};

/** Everything that the palette of every page finds: actions, pages, workflows, templates, runs and files. */
export const usePlaces = (): { picks: Pick[]; onQuery: (query: string) => void } => {
  const navigate = useNavigate();
  const [query, onQuery] = useState("");
  const { data: me } = useQuery(meQuery);
  const pages = usePages().flatMap(({ to, title, forAdmins }): Pick[] =>
    forAdmins === true && me?.user.role !== "admin"
      ? []
      : [{ key: to, title, words: PLACES.pageWords, aside: aside(PLACES.page), run: () => void navigate({ to }) }],
  );
  const documentation: Pick = {
    key: "/docs",
    title: PLACES.documentation,
    words: PLACES.documentationWords,
    aside: aside(PLACES.page),
    run: () => window.open("/docs", "_blank", "noopener"),
  };
  const workflows = useWorkflowPicks((slug) => void navigate({ to: "/workflows/$slug", params: { slug } }));
  const [actions, runs, files] = [useActionPicks(), useRunPicks(), useFilePicks(query)];
  return { picks: [...workflows, ...actions, ...runs, ...pages, documentation, ...files], onQuery };
};
