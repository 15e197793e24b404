import { defineSearchAttributeKey, SearchAttributeType } from "@temporalio/common";

/** Search attributes of runs in Temporal. */

export const USER = defineSearchAttributeKey("NodeloomUser", SearchAttributeType.KEYWORD);
export const WORKFLOW = defineSearchAttributeKey("NodeloomWorkflow", SearchAttributeType.KEYWORD);
export const MODELS = defineSearchAttributeKey("NodeloomModels", SearchAttributeType.KEYWORD_LIST);
/** Set on failed or cancelled runs. */
export const STATUS = defineSearchAttributeKey("NodeloomStatus", SearchAttributeType.KEYWORD);

/** Operators filter on these in Temporal's UI. */
export const SEARCH_ATTRIBUTES = [USER, WORKFLOW, MODELS, STATUS] as const;

/** Temporal sets these attributes on workflows that a schedule starts: the schedule's id, and the start time. */
export const SCHEDULED_BY = defineSearchAttributeKey("TemporalScheduledById", SearchAttributeType.KEYWORD);
export const SCHEDULED_AT = defineSearchAttributeKey("TemporalScheduledStartTime", SearchAttributeType.DATETIME);
