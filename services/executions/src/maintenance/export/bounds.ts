/** Maximum contents of an archive. Its README lists the omitted data. */
export const EXPORT_BOUNDS = {
  workflows: 10_000,
  /** The newest versions of each workflow are exported. */
  versions: 1_000,
  /** The newest executions are exported. */
  executions: 50_000,
  batches: 10_000,
  usage: 100_000,
  ledger: 100_000,
  "requests by keys": 100_000,
  "audit rows": 100_000,
  files: 20_000,
  /** Total size of all files. */
  fileBytes: 3 * 1024 ** 3,
} as const;
