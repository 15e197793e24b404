/** Bounds on data that clients send. */
const KIB = 1024;
const MIB = KIB * KIB;

/** Maximum webhook endpoints per account. */
export const WEBHOOK_ENDPOINTS = 20;

export const LIMITS = {
  jsonBodyBytes: 10 * MIB,
  /** Maximum body of routes that need no credentials. */
  openBodyBytes: 64 * KIB,
  /** Maximum deleted API keys per account whose names are kept. */
  deletedKeys: 1_000,
  /** Maximum requests in the log of an API key, and in one batch that is stored. */
  keyRequests: 1_000,
  jsonDepth: 64,
  jsonValues: 200_000,
  /** Maximum JSON values of a workflow outside its graph, viewport and cover. Includes tags. */
  workflowMemberValues: 100,
  workflowBytes: 8 * MIB,
  textValueBytes: 256 * KIB,
  mediaBytes: 100 * MIB,
  /** Maximum size of a file whose signed manifest is verified. */
  verifiedBytes: 32 * MIB,
  /** Maximum size of the form fields that accompany an uploaded file. */
  formBytes: 64 * KIB,
  /** Maximum files per lookup. */
  mediaIds: 500,
  nodes: 500,
  edges: 2_000,
  nameChars: 200,
  descriptionChars: 10_000,
  tags: 50,
  tagChars: 100,
  fanOutItems: 50,
  /** Maximum depth of workflow nodes inside workflows. */
  workflowDepth: 5,
  fallbackModels: 5,
  /** Maximum models of a task that are compared, and that `allow` can name. */
  routeModels: 20,
  idempotencyKeyChars: 255,
  providerBodyBytes: 2 * KIB,
  /** Maximum rows per page in lists of files, workflows or versions. */
  pageRows: 500,
  pageDefault: 50,
  /** Maximum size of a file with the rows of a batch. It is read as a stream. */
  batchFileBytes: 100 * MIB,
  /** Maximum templates per user. */
  templates: 50,
  /** Maximum templates of other users per list. */
  listedTemplates: 1_000,
  /** Maximum size of a thumbnail sent as a data URL. */
  inlineThumbnailBytes: 64 * KIB,
  coverBytes: 16 * KIB,
  /** Maximum versions per workflow. */
  versions: 1_000,
  /** Maximum aliases per workflow. */
  aliases: 20,
  noteChars: 1_000,
  searchChars: 200,
  /** Maximum words by which a file is found, and words of a query. */
  searchWords: 64,
  queryWords: 8,
  /** Maximum characters of a file's title. */
  titleChars: 60,
  usagePageRows: 500,
  usagePageDefault: 50,
  /** Maximum approval nodes per graph. */
  approvals: 20,
  /** Maximum unfinished runs with an approval, per account. */
  waitingRuns: 200,
  /** Maximum total wait for decisions in one run, in hours. */
  waitingHours: 720,
  /** Maximum size of a changed value if the original is no longer stored. */
  changedValueBytes: 8 * KIB,
  /** Maximum days per usage summary. */
  usageSummaryDays: 400,
  /** Maximum number of runs that a summary by key, workflow or metadata reads, and of groups that it returns. */
  usageGroupedRuns: 200_000,
  usageGroups: 5_000,
} as const;

/** Compares code points, as JSON Schema's `maxLength` does, not UTF-16 units. */
export const isLonger = (text: string, characters: number): boolean =>
  text.length > characters && (text.length > 2 * characters || Array.from(text).length > characters);

/**
 * One line of text for names, titles and ids. It rejects line breaks, control characters (terminals would execute them) and bidirectional
 * controls (they reverse displayed text).
 */
export const ONE_LINE = /^[^\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]*$/;
export const ONE_LINE_FORM = "must not have line breaks or other control characters";

/** Slugs of workflows and internal names of models. */
export const SLUG = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
export const MAX_SLUG_CHARS = 200;

export const isSlug = (value: string): boolean => value.length <= MAX_SLUG_CHARS && SLUG.test(value);

/**
 * Version selector for apps, hooks and schedules: the last version approved by a caller who can run the workflow. Clients can't send it.
 */
export const APPROVED_VERSION = "approved";
/** Like `APPROVED_VERSION`, but selects the draft even if versions exist. Used for a nested workflow node that names the draft. */
export const APPROVED_DRAFT_VERSION = "approved-draft";

/** Names of a workflow's aliases. */
export const ALIAS = /^[a-z][a-z0-9-]{0,31}$/;
/** The alias of runs that name neither an alias nor a version. Until it is set, it means the newest published version. */
export const PRODUCTION = "production";

/** Bounds on canaries of aliases. */
export const CANARY_BOUNDS = {
  percent: 50,
  /** Fewer runs show no difference. */
  leastRuns: 20,
  mostRuns: 10_000,
} as const;

/** A version number or `draft`. */
export const VERSION = /^(?:draft|[1-9]\d{0,8})$/;

/** Canonical form of UUIDs on this platform. */
export const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Bounds on erasing many runs at once. */
export const ERASURE_BOUNDS = {
  /** Maximum run ids per erasure. */
  executions: 1_000,
  /** Maximum running erasures per account. */
  running: 20,
} as const;

/** Bounds on bundles: archives of workflows with their files. */
export const BUNDLE_BOUNDS = {
  workflows: 200,
  entries: 1_000,
  packedBytes: 100 * MIB,
  unpackedBytes: 500 * MIB,
  /** Maximum characters of workflow names, which become slugs. */
  nameChars: 80,
} as const;
