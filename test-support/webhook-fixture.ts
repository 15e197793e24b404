/**
 * Signed by the official Python library (standardwebhooks 1.1.0). `npm run drill -- peers webhooks` checks that the library still creates
 * these signatures.
 */
export const FIXTURE = {
  secret: "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
  id: "msg_0b1f6a52-6f0e-4d4b-9b61-2f3f0f7f6d10",
  timestamp: 1_893_499_200,
  body: '{"type":"execution.completed","timestamp":"2030-01-01T12:00:00.000Z","data":{"executionId":"0b1f6a52-6f0e-4d4b-9b61-2f3f0f7f6d10","result":{"text":"grüße 🌍"}}}',
  signature: "v1,kSuW1XLKhik+fcvfoZak4W5T/Y9FUnvdTYCu+8nn+dI=",
} as const;
