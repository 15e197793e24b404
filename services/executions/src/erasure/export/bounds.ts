/** What an archive has at most; what is beyond is said inside. */
export const EXPORT_BOUNDS = {
  workflows: 10_000,
  /** Of each workflow, the newest. */
  versions: 1_000,
  /** The newest. */
  executions: 50_000,
  batches: 10_000,
  usage: 100_000,
  ledger: 100_000,
  files: 20_000,
  /** Of all files together. */
  fileBytes: 3 * 1024 ** 3,
} as const;
