/** Settings of the payment provider. */
import { MICRO_USD_PER_USD } from "@nodeloom/kernel";
import { ConfigError } from "@nodeloom/platform";
import { z } from "zod";

export const STRIPE_API = "https://api.stripe.com";
const MIN_PRICE_USD = 0.001;
const MAX_PRICE_USD = 1;
const LIVE_KEY = /^[sr]k_live_/;

export const paymentVariables = {
  STRIPE_SECRET_KEY: z
    .string()
    .regex(/^([sr]k_(live|test)_\w+)?$/, "must be a secret or restricted key of Stripe (sk_… or rk_…)")
    .optional()
    .describe("key of the Stripe account that sells credits. Without it, credits can't be bought"),
  STRIPE_WEBHOOK_SECRET: z
    .string()
    .regex(/^(whsec_\S+)?$/, "must be the signing secret of an endpoint of Stripe (whsec_…)")
    .optional()
    .describe("secret with which Stripe signs events for /api/billing/events"),
  STRIPE_API_BASE: z
    .url({ protocol: /^https?$/ })
    .default(STRIPE_API)
    .describe("Stripe's API. Tests set another one"),
  CREDIT_PRICE_USD: z.coerce
    .number()
    .min(MIN_PRICE_USD)
    .max(MAX_PRICE_USD)
    .default(0.01)
    .describe("price of a bought credit, in US dollars. The price of runs in credits stays the same"),
} as const;

type PaymentConfig = z.infer<z.ZodObject<typeof paymentVariables>>;

export interface PaymentSettings {
  secretKey: string;
  webhookSecret: string;
  apiBase: string;
  /** Price of one credit in millionths of a US dollar. */
  priceMicros: number;
  /** False for Stripe's test mode. */
  live: boolean;
}

/**
 * Returns the settings; undefined without a key.
 * @throws ConfigError if one of the secrets is missing, or in production for an API without TLS
 */
export const paymentSettings = (config: PaymentConfig & { NODE_ENV: string }): PaymentSettings | undefined => {
  const { STRIPE_SECRET_KEY: secretKey, STRIPE_WEBHOOK_SECRET: webhookSecret, STRIPE_API_BASE: apiBase } = config;
  if (!secretKey && !webhookSecret) return undefined;
  if (!secretKey || !webhookSecret) throw new ConfigError("set both STRIPE_SECRET_KEY and STRIPE_WEBHOOK_SECRET, or neither");
  if (config.NODE_ENV === "production" && !apiBase.startsWith("https:"))
    throw new ConfigError("STRIPE_API_BASE must be https in production");
  const priceMicros = Math.round(config.CREDIT_PRICE_USD * MICRO_USD_PER_USD);
  return { secretKey, webhookSecret, apiBase, priceMicros, live: LIVE_KEY.test(secretKey) };
};
