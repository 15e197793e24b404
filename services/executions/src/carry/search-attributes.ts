import { defineSearchAttributeKey, SearchAttributeType } from "@temporalio/common";

export const USER = defineSearchAttributeKey("NodeloomUser", SearchAttributeType.KEYWORD);
export const WORKFLOW = defineSearchAttributeKey("NodeloomWorkflow", SearchAttributeType.KEYWORD);
export const MODELS = defineSearchAttributeKey("NodeloomModels", SearchAttributeType.KEYWORD_LIST);
/** Set on runs that failed or were cancelled. */
export const STATUS = defineSearchAttributeKey("NodeloomStatus", SearchAttributeType.KEYWORD);

/** Search attributes that runs carry; an operator filters on them in Temporal's UI. */
export const SEARCH_ATTRIBUTES = [USER, WORKFLOW, MODELS, STATUS] as const;
