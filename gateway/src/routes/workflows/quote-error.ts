import { isUnavailable } from "@nodeloom/kernel";
import type { usage } from "@nodeloom/proto";
import type { Gateway } from "../../edge/gateway";

/** Quote error of the caller's runs of a workflow; undefined if no run cost anything, or while usage is unavailable. */
export const quoteError = async (
  { services }: Pick<Gateway, "services">,
  workflowSlug: string,
  userId: string,
): Promise<{ quoteError?: usage.GetQuoteErrorResponse }> => {
  try {
    const error = await services.usage.getQuoteError({ userId, workflowSlug });
    return error.runs > 0 ? { quoteError: error } : {};
  } catch (error) {
    if (isUnavailable(error)) return {};
    throw error;
  }
};
