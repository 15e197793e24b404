import type { Instead, Passage } from "./gates";

export const PROVIDER_CALLS = ["submit", "poll", "cancel", "file"] as const;
export type ProviderCallKind = (typeof PROVIDER_CALLS)[number];

interface JobAnswer {
  id?: string;
  output?: Record<string, { url: string }[]>;
}

/** Calls of each run to a provider of jobs, in order. The prompt identifies the run. */
export const createProviderLog = () => {
  const calls = new Map<string, ProviderCallKind[]>();
  /** Prompts by job id and file name. */
  const promptOf = new Map<string, string>();
  const instead = new Map<string, Instead>();
  const listeners = new Set<() => void>();

  const kindOf = (what: string): ProviderCallKind => {
    if (what === "POST /v1/jobs") return "submit";
    if (what.endsWith("/cancel")) return "cancel";
    return what.startsWith("GET /v1/jobs/") ? "poll" : "file";
  };
  const senderOf = ({ what, body }: Passage): string => {
    if (kindOf(what) === "submit") return (JSON.parse(body.toString()) as { prompt: string }).prompt;
    const [, , , job = ""] = what.split("/");
    return promptOf.get(job) ?? promptOf.get(what.split("/").at(-1)!) ?? "";
  };

  return {
    kindOf,
    senderOf,
    saw: (passage: Passage): ((answer: Buffer) => void) => {
      const prompt = senderOf(passage);
      calls.set(prompt, [...(calls.get(prompt) ?? []), kindOf(passage.what)]);
      for (const listener of listeners) listener();
      return (answer) => {
        const kind = kindOf(passage.what);
        if (kind === "file") return;
        const { id, output = {} } = JSON.parse(answer.toString()) as JobAnswer;
        if (kind === "submit" && id !== undefined) promptOf.set(id, prompt);
        for (const { url } of Object.values(output).flat()) promptOf.set(new URL(url).pathname.split("/").at(-1)!, prompt);
      };
    },
    of: (prompt: string): readonly ProviderCallKind[] => calls.get(prompt) ?? [],
    count: (prompt: string, kind: ProviderCallKind): number => (calls.get(prompt) ?? []).filter((one) => one === kind).length,
    /** Replaces the provider's response to one kind of a run's calls. */
    answer: (prompt: string, kind: ProviderCallKind, reply: Instead): void => void instead.set(`${kind} ${prompt}`, reply),
    instead: (passage: Passage): Instead | undefined => instead.get(`${kindOf(passage.what)} ${senderOf(passage)}`),
    /** Resolves once the provider has received this number of calls of a kind. */
    until: (prompt: string, kind: ProviderCallKind, count = 1): Promise<void> =>
      new Promise((resolve) => {
        const look = (): void => {
          if ((calls.get(prompt) ?? []).filter((one) => one === kind).length < count) return;
          listeners.delete(look);
          resolve();
        };
        listeners.add(look);
        look();
      }),
  };
};
export type ProviderLog = ReturnType<typeof createProviderLog>;
