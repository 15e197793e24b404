/** Every bound on what clients send, in one place. */
const KIB = 1024;
const MIB = KIB * KIB;

export const LIMITS = {
  jsonBodyBytes: 10 * MIB,
  /** Bodies of routes without credentials. */
  openBodyBytes: 64 * KIB,
  jsonDepth: 64,
  jsonValues: 200_000,
  /** Values of a whole workflow beside its graph, viewport and cover: its other members, its tags among them. */
  workflowMemberValues: 100,
  workflowBytes: 8 * MIB,
  textValueBytes: 256 * KIB,
  mediaBytes: 100 * MIB,
  /** What a form may have beside its file. */
  formBytes: 64 * KIB,
  /** Files that can be looked up at once. */
  mediaIds: 500,
  nodes: 500,
  edges: 2_000,
  nameChars: 200,
  descriptionChars: 10_000,
  tags: 50,
  tagChars: 100,
  fanOutItems: 50,
  /** How deep workflows may stand in each other. */
  workflowDepth: 5,
  /** Models that may come in the place of one that fails. */
  fallbackModels: 5,
  idempotencyKeyChars: 255,
  providerBodyBytes: 2 * KIB,
  /** Files, workflows or versions in one page of a list. */
  pageRows: 500,
  pageDefault: 50,
  /** Items of one batch. */
  batchItems: 1_000,
  /** A file of such items. */
  batchFileBytes: 10 * MIB,
  /** Templates of one user. */
  templates: 50,
  /** Templates of others in one list. */
  listedTemplates: 1_000,
  /** A thumbnail that is a data URL. */
  inlineThumbnailBytes: 64 * KIB,
  coverBytes: 16 * KIB,
  /** Published versions of one workflow. */
  versions: 1_000,
  noteChars: 1_000,
  searchChars: 200,
  usagePageRows: 500,
  usagePageDefault: 50,
  /** Approval nodes of one graph. */
  approvals: 20,
  /** Runs of one account that have an approval and are not over. */
  waitingRuns: 200,
  /** Longest that one run waits for decisions, all of its approvals together. */
  waitingHours: 720,
  /** What a decision may put in the place of a value, where that is no longer itself. */
  changedValueBytes: 8 * KIB,
  /** Days that are summed up at once. */
  usageSummaryDays: 400,
  /** Runs that are read for one summary by key, workflow or metadata, and groups that it may have. */
  usageGroupedRuns: 200_000,
  usageGroups: 5_000,
} as const;

/** Whether a text has more characters than it may: as people count them and as a schema's maxLength does, not in UTF-16 units. */
export const isLonger = (text: string, characters: number): boolean =>
  text.length > characters && (text.length > 2 * characters || Array.from(text).length > characters);

/**
 * Text for a name, a title or an id: no control characters, which a terminal would carry out, no line breaks, and none of the controls
 * that reverse what is read.
 */
export const ONE_LINE = /^[^\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]*$/;
export const ONE_LINE_FORM = "must not have line breaks or other control characters";

/** Slugs of workflows and internal names of models. */
export const SLUG = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
export const MAX_SLUG_CHARS = 200;

export const isSlug = (value: string): boolean => value.length <= MAX_SLUG_CHARS && SLUG.test(value);

/** The version that services select for apps, hooks and schedules: what a caller who can run the workflow approved last. No caller can send it. */
export const APPROVED_VERSION = "approved";
/** The same of a draft, whether or not versions stand before it: where such a run meets a node that names the draft of a workflow. */
export const APPROVED_DRAFT_VERSION = "approved-draft";

/** The version of a workflow: its number, or the draft. */
export const VERSION = /^(?:draft|[1-9]\d{0,8})$/;

/** As every UUID of ours is written. */
export const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
