/** apps/: workflows' pages for others. */
import type { AppPayer, AppTheme } from "@nodeloom/kernel";

/** A workflow's page for others, as its owner has set it. */
export interface App {
  published: boolean;
  /** Who pays for its runs. */
  payer: AppPayer;
  /** What the runs of a day (UTC) may take of the owner's credits. */
  dailyMillicredits: number;
  perVisitorPerDay: number;
  /** Empty: the workflow's name. */
  title: string;
  /** Address of a stored file; empty when there is none. */
  cover: string;
  theme: AppTheme;
  /** Pages of these may embed it and use its tokens. */
  origins: string[];
  /** The person whose session published it or last changed its settings. Absent where it isn't published, and on apps of 1.0.0. */
  publishedBy?: string;
  publishedAt?: Date;
}
