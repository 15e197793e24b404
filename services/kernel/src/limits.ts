/** Bounds on everything that clients send. */
const KIB = 1024;
const MIB = KIB * KIB;

/** Webhook endpoints that one account can have. */
export const WEBHOOK_ENDPOINTS = 20;

export const LIMITS = {
  jsonBodyBytes: 10 * MIB,
  /** Bodies of routes that need no credentials. */
  openBodyBytes: 64 * KIB,
  jsonDepth: 64,
  jsonValues: 200_000,
  /** JSON values of a workflow outside of its graph, viewport and cover; includes tags. */
  workflowMemberValues: 100,
  workflowBytes: 8 * MIB,
  textValueBytes: 256 * KIB,
  mediaBytes: 100 * MIB,
  /** A file whose signed manifest is verified. */
  verifiedBytes: 32 * MIB,
  /** Form fields beside the file. */
  formBytes: 64 * KIB,
  /** Files per lookup. */
  mediaIds: 500,
  nodes: 500,
  edges: 2_000,
  nameChars: 200,
  descriptionChars: 10_000,
  tags: 50,
  tagChars: 100,
  fanOutItems: 50,
  /** Nesting depth of workflows. */
  workflowDepth: 5,
  fallbackModels: 5,
  idempotencyKeyChars: 255,
  providerBodyBytes: 2 * KIB,
  /** Rows per page in lists of files, workflows or versions. */
  pageRows: 500,
  pageDefault: 50,
  batchFileBytes: 10 * MIB,
  /** Per user. */
  templates: 50,
  /** Templates of other users per list. */
  listedTemplates: 1_000,
  /** A thumbnail sent as a data URL. */
  inlineThumbnailBytes: 64 * KIB,
  coverBytes: 16 * KIB,
  /** Per workflow. */
  versions: 1_000,
  /** Per workflow. */
  aliases: 20,
  noteChars: 1_000,
  searchChars: 200,
  usagePageRows: 500,
  usagePageDefault: 50,
  /** Per graph. */
  approvals: 20,
  /** Unfinished runs with an approval, per account. */
  waitingRuns: 200,
  /** Total wait for decisions in one run. */
  waitingHours: 720,
  /** Size of a changed value once the original is no longer stored. */
  changedValueBytes: 8 * KIB,
  /** Days per usage summary. */
  usageSummaryDays: 400,
  /** Runs read, and groups returned, per summary by key, workflow or metadata. */
  usageGroupedRuns: 200_000,
  usageGroups: 5_000,
} as const;

/** Compares code points, like `maxLength` of JSON Schema, not UTF-16 units. */
export const isLonger = (text: string, characters: number): boolean =>
  text.length > characters && (text.length > 2 * characters || Array.from(text).length > characters);

/**
 * One line of text for names, titles and ids: no line breaks, no control characters (terminals would execute them) and no bidirectional
 * controls (they reverse displayed text).
 */
export const ONE_LINE = /^[^\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]*$/;
export const ONE_LINE_FORM = "must not have line breaks or other control characters";

/** Slugs of workflows, and internal names of models. */
export const SLUG = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
export const MAX_SLUG_CHARS = 200;

export const isSlug = (value: string): boolean => value.length <= MAX_SLUG_CHARS && SLUG.test(value);

/** Version selected for apps, hooks and schedules: the last one approved by a caller who can run the workflow. Clients can't send it. */
export const APPROVED_VERSION = "approved";
/** Like `APPROVED_VERSION`, but selects the draft even if versions exist: for a nested workflow node that names the draft. */
export const APPROVED_DRAFT_VERSION = "approved-draft";

/** Names of a workflow's aliases. */
export const ALIAS = /^[a-z][a-z0-9-]{0,31}$/;
/** The alias of runs that name neither an alias nor a version. While it isn't set, it is the newest published version. */
export const PRODUCTION = "production";

/** A version number or `draft`. */
export const VERSION = /^(?:draft|[1-9]\d{0,8})$/;

/** Canonical form of our UUIDs. */
export const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Bounds on erasures of many runs. */
export const ERASURE_BOUNDS = {
  /** Ids of runs per erasure. */
  executions: 1_000,
  /** Per account. */
  running: 20,
} as const;

/** Bounds on bundles: archives of workflows with their files. */
export const BUNDLE_BOUNDS = {
  workflows: 200,
  entries: 1_000,
  packedBytes: 100 * MIB,
  unpackedBytes: 500 * MIB,
  /** Names of workflows. They become slugs. */
  nameChars: 80,
} as const;
