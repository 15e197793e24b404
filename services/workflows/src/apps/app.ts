/** Apps: public pages of workflows. */
import type { AppPayer, AppTheme } from "@nodeloom/kernel";

/** Settings of a workflow's public page. */
export interface App {
  published: boolean;
  payer: AppPayer;
  /** The owner's daily spending limit for its runs (UTC). */
  dailyMillicredits: number;
  perVisitorPerDay: number;
  /** Empty: the workflow's name. */
  title: string;
  /** URL of a stored file; empty for none. */
  cover: string;
  theme: AppTheme;
  /** Origins that can embed the app and use its tokens. */
  origins: string[];
  /** The person whose session published it or last changed its settings. Absent for unpublished apps, and for apps of version 1.0.0. */
  publishedBy?: string;
  publishedAt?: Date;
}
