import { defineSearchAttributeKey, SearchAttributeType } from "@temporalio/common";

/** What of ours has a name in Temporal: search attributes of runs. */

export const USER = defineSearchAttributeKey("NodeloomUser", SearchAttributeType.KEYWORD);
export const WORKFLOW = defineSearchAttributeKey("NodeloomWorkflow", SearchAttributeType.KEYWORD);
export const MODELS = defineSearchAttributeKey("NodeloomModels", SearchAttributeType.KEYWORD_LIST);
/** Set on runs that failed or were cancelled. */
export const STATUS = defineSearchAttributeKey("NodeloomStatus", SearchAttributeType.KEYWORD);

/** Search attributes that runs carry; an operator filters on them in Temporal's UI. */
export const SEARCH_ATTRIBUTES = [USER, WORKFLOW, MODELS, STATUS] as const;

/** Set by Temporal on what its schedules start: which of them did, and for which time. */
export const SCHEDULED_BY = defineSearchAttributeKey("TemporalScheduledById", SearchAttributeType.KEYWORD);
export const SCHEDULED_AT = defineSearchAttributeKey("TemporalScheduledStartTime", SearchAttributeType.DATETIME);
