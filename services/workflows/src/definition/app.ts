/** Apps: public pages of workflows. */
import type { AppPayer, AppTheme } from "@nodeloom/kernel";

export interface App {
  published: boolean;
  payer: AppPayer;
  /** The owner's daily spending limit for the app's runs (UTC days). */
  dailyMillicredits: number;
  perVisitorPerDay: number;
  /** The title; empty for the workflow's name. */
  title: string;
  /** URL of a stored file; empty if there is none. */
  cover: string;
  theme: AppTheme;
  /** Origins that can embed the app and use its visitors' tokens. */
  origins: string[];
  /** The person whose session published the app or last changed its settings. Absent for unpublished apps and for apps of version 1.0.0. */
  publishedBy?: string;
  publishedAt?: Date;
}
