/** Accounts at providers, by the environment variable of their key, each with a display name and a check of the key. */

/** A free request that succeeds only with a valid key. It is sent to the host of the company's models. */
export interface KeyCheck {
  path: string;
  headers?: Readonly<Record<string, string>>;
}

export interface ProviderAccount {
  name: string;
  keysUrl?: string;
  /** Undefined if there is no known free request. */
  check?: KeyCheck;
}

/** Paths are taken from each provider's documentation. fal and Kling document no free read-only request. */
export const PROVIDER_ACCOUNTS: Readonly<Record<string, ProviderAccount>> = {
  ANTHROPIC_API_KEY: {
    name: "Anthropic",
    keysUrl: "https://platform.claude.com/settings/keys",
    check: { path: "/v1/models", headers: { "anthropic-version": "2023-06-01" } },
  },
  ELEVENLABS_API_KEY: { name: "ElevenLabs", keysUrl: "https://elevenlabs.io/app/settings/api-keys", check: { path: "/v1/user" } },
  FAL_KEY: { name: "fal", keysUrl: "https://fal.ai/dashboard/keys" },
  GEMINI_API_KEY: { name: "Google", keysUrl: "https://aistudio.google.com/apikey", check: { path: "/v1beta/models" } },
  KLING_API_TOKEN: { name: "Kling" },
  OPENAI_API_KEY: { name: "OpenAI", keysUrl: "https://platform.openai.com/api-keys", check: { path: "/v1/models" } },
  OPENROUTER_API_KEY: { name: "OpenRouter", keysUrl: "https://openrouter.ai/settings/keys", check: { path: "/api/v1/key" } },
  REPLICATE_API_TOKEN: {
    name: "Replicate",
    keysUrl: "https://replicate.com/account/api-tokens",
    check: { path: "/v1/account" },
  },
  RUNWAYML_API_SECRET: {
    name: "Runway",
    keysUrl: "https://dev.runwayml.com",
    check: { path: "/v1/organization", headers: { "X-Runway-Version": "2024-11-06" } },
  },
};
