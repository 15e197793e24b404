import { plural } from "./forms";

export const DASHBOARD_PAGE = {
  myWorkflows: "My workflows",
  hidden: "Hidden",
  awaitsApproval: "Your account awaits approval",
  awaitsApprovalHint: "You can explore and build. You can run, upload files and create API keys once an administrator approves",
  updatesAutomatically: ". This page updates automatically.",
  freeLimit: (most: number) => `The Free plan includes ${plural(most, "workflow", "workflows")}. You have reached that limit`,
  workflowLimitHint:
    "To use another template, delete a workflow from its menu: its runs and files stay. You can open templates without copying them.",
  filterWorkflows: "Filter workflows",
  searchWorkflows: "Search workflows",
  searchLabel: "Search by name, text or tag",
  tag: "Tag",
  allTags: "All tags",
  import: "Import",
  newFolder: "New folder",
  newWorkflow: "New workflow",
};

/** The palette that finds everything, Ctrl+K. */
export const PLACES = {
  search: "Search",
  placeholder: "Search workflows, runs, files, pages and actions",
  noMatches: "Nothing matches. Try fewer words, or a part of a name.",
  page: "Page",
  action: "Action",
  run: "Run",
  pageWords: "go to open page",
  newWords: "create add start empty blank untitled",
  untitled: "Untitled workflow",
  importWorkflow: "Import a workflow",
  importWords: "file json comfyui n8n upload open",
  themes: { light: "Use the light theme", dark: "Use the dark theme", system: "Use the system's theme" },
  themeWords: "theme mode appearance night day",
  documentation: "Documentation",
  documentationWords: "docs help guide api reference manual",
};

export const FOLDER_BAR = {
  movedToTop: "Moved to the top level.",
  movedTo: (name: string) => `Moved to ${name}.`,
  actionsForFolder: (name: string) => `Actions for folder ${name}`,
  rename: "Rename…",
  renameFolder: "Rename folder",
  deleteThisFolder: "Delete this folder?",
  deleted: (name: string) => `“${name}” is deleted. Its workflows move to the top level.`,
  folders: "Folders",
};

export const STARTERS_TEXTS = {
  prompt: "Prompt",
  imageSummary: "One prompt in, one image out: the shortest pipeline.",
  imagePrompt: "a paper boat on a quiet lake, morning light",
  stylesSummary: "A list of styles makes one image each, in parallel.",
  stylesPrompt: "a lighthouse in a storm",
  asAWoodcut: "as a woodcut",
  asAWatercolour: "as a watercolour",
  asABlueprint: "as a blueprint",
  stylesFelt: "as a felt toy",
  subjectStyle: "{{subject}}, {{style}}",
  storySummary: "A language model writes three sentences, and a voice reads them.",
  storyTopic: "a fox who repairs clocks",
  threeShortSentences: "Three short sentences.",
  storyTemplate: "Write a story about {{prompt}}.",
};

export const USE_WORKFLOW_ACTIONS = {
  deleted: (name: string) => `“${name}” deleted.`,
};

export const WORKFLOW_CARD = {
  tryIt: "Try it",
  run: (name: string) => `Run ${name}`,
  needsThePlan: (plan: string) => `Can't run on your plan: it needs ${plan}.`,
  cantRunHere: (reason: string) => `Can't run here now: ${reason}.`,
  duplicate: "Duplicate",
  useThisTemplate: "Use this template",
  copy: (name: string) => `${name} copy`,
  exportAsJson: "Export as JSON",
  moveToTopLevel: "Move to top level",
  moved: "Moved.",
  moveTo: (folder: string) => `Move to ${folder}`,
  movedTo: (folder: string) => `Moved to ${folder}.`,
  budget: "Budget…",
  restoreFromArchive: "Restore from archive",
  archive: "Archive",
  restored: "Restored.",
  archived: "Archived.",
  showInLists: "Show in lists",
  hide: "Hide",
  shownInLists: "Shown in lists.",
  hiddenFromLists: "Hidden from lists.",
  actionsFor: (name: string) => `Actions for ${name}`,
  hidden: "Hidden",
  freeToRun: "Free to run",
  aboutPerRun: (estimatedCreditCost: string) => `About ${estimatedCreditCost} per run`,
  deleteThisWorkflow: "Delete this workflow?",
  deleteHint: (name: string, slug: string) =>
    `“${name}” is deleted permanently, and calls to /api/workflows/${slug} fail. Its past runs stay.`,
};

export const WORKFLOW_LIST = {
  startFromATemplate: "Start from a template",
  templateHint: "Choose one, press Run, and change it as you like.",
  startEmpty: "Start empty",
  featured: "Featured",
  community: "Community",
  noWorkflowsYet: "No workflows yet",
  noMatches: "No matches",
  showAllWorkflows: "Show all workflows",
  showMoreOf: (shownCount: number, count: number) => `Show more (${shownCount} of ${count})`,
};
