import { ConfigError } from "@nodeloom/platform";
import { z } from "zod";
import { priceOf } from "../../src/payments/payments";
import { paymentSettings, paymentVariables, type PaymentSettings } from "../../src/payments/settings";

const GIVEN = { STRIPE_SECRET_KEY: "sk_test_1", STRIPE_WEBHOOK_SECRET: "whsec_1" };
const read = (env: Record<string, string>): PaymentSettings | undefined => {
  const { NODE_ENV = "production", ...variables } = env;
  return paymentSettings({ ...z.object(paymentVariables).parse(variables), NODE_ENV });
};

it("sells nothing without settings, nor with empty ones", () => {
  expect(read({})).toBeUndefined();
  expect(read({ STRIPE_SECRET_KEY: "", STRIPE_WEBHOOK_SECRET: "" })).toBeUndefined();
});

it("derives from its key whether payments are real", () => {
  expect(read(GIVEN)).toMatchObject({ live: false, apiBase: "https://api.stripe.com", priceMicros: 10_000 });
  for (const key of ["sk_live_1", "rk_live_1"]) expect(read({ ...GIVEN, STRIPE_SECRET_KEY: key })).toMatchObject({ live: true });
});

it.each([
  ["one secret alone", { STRIPE_SECRET_KEY: "sk_test_1" }],
  ["an API without TLS in production", { ...GIVEN, STRIPE_API_BASE: "http://localhost:12111" }],
])("rejects %s", (_, env) => {
  expect(() => read(env)).toThrow(ConfigError);
});

it.each([
  ["a publishable key", { ...GIVEN, STRIPE_SECRET_KEY: "pk_test_1" }],
  ["a price below a tenth of a cent", { ...GIVEN, CREDIT_PRICE_USD: "0.0001" }],
  ["a price that is no number", { ...GIVEN, CREDIT_PRICE_USD: "cheap" }],
])("rejects %s by its name", (_, env) => {
  expect(() => read(env)).toThrow(/STRIPE_SECRET_KEY|CREDIT_PRICE_USD/);
});

it.each([
  [500, 10_000, 500],
  [1_000, 12_345, 1_235],
  [501, 1_000, 51],
])("charges for %d credits at %d millionths of a dollar %d cents, rounded up", (credits, priceMicros, cents) => {
  expect(priceOf(credits, priceMicros)).toBe(cents);
});
