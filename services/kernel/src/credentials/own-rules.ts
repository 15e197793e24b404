import type { GitleaksRule } from "./gitleaks-rules";

/**
 * Rules for credentials that gitleaks doesn't cover: in URLs, from this platform and from services that HTTP nodes call. They have the form
 * of the gitleaks rules.
 */
// prettier-ignore
export const OWN_RULES: readonly GitleaksRule[] = [
  ["address-with-password", 0, "://", "://[^\\s:/?#@{}'\"<>]*:([^\\s/?#@{}'\"<>]{3,})@", 1],
  ["nodeloom-api-key", 3, "nl_", "\\bnl_[a-z]{1,16}_[0-9A-Za-z]{30}_[0-9A-Za-z]{6}\\b", 0],
  ["replicate-api-token", 3, "r8_", "\\br8_[0-9A-Za-z]{37}\\b", 0],
  ["discord-webhook", 0, "/api/webhooks/", "discord(?:app)?\\.com/api/webhooks/[0-9]{17,20}/([\\w-]{60,})", 1],
  ["telegram-bot-address", 0, "api.telegram.org", "api\\.telegram\\.org/bot([0-9]{8,10}:[\\w-]{35})", 1],
  ["azure-shared-access-signature", 3, "sig=", "(?m)^sig=([0-9A-Za-z+/]{43}=)", 1],
];
