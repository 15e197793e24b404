import type { Issue } from "@nodeloom/kernel";
import type { ProviderSettings } from "@nodeloom/providers";
import type { Entry } from "../entry";
import type { RegisteredModel } from "../resolved";

/**
 * Restrictions on entries added over the API. Operators write the files and control the environment. Administrators may not have access to
 * the environment, so their entries can't send its secrets to hosts that no file uses.
 */

/** Variables reserved for added entries: they can be sent to any host. */
export const OPEN_SECRET_PREFIX = "PROVIDER_KEY_";

const originOf = (url: string): string | undefined => (URL.canParse(url) ? new URL(url).origin : undefined);

const addressesOf = ({ baseUrl, upload }: ProviderSettings): string[] => [
  baseUrl,
  ...(upload?.baseUrl === undefined ? [] : [upload.baseUrl]),
];

const pollHostsOf = (provider: ProviderSettings): readonly string[] => ("pollHosts" in provider ? (provider.pollHosts ?? []) : []);

const addressIssues = ({ provider }: Entry): Issue[] =>
  [
    ["provider.baseUrl", provider.baseUrl],
    ["provider.upload.baseUrl", provider.upload?.baseUrl],
  ].flatMap(([path, url]): Issue[] => {
    if (url === undefined || path === undefined) return [];
    if (url.includes("${")) return [{ path, message: "must be an address: only files of the registry can name environment variables" }];
    return originOf(url) === undefined || !/^https?:/.test(url) ? [{ path, message: "must be an http(s) URL" }] : [];
  });

const secretIssues = ({ provider }: Entry, files: Iterable<RegisteredModel>): Issue[] => {
  const { auth } = provider;
  if (!auth || auth.secretEnv.startsWith(OPEN_SECRET_PREFIX)) return [];
  const users = [...files].map((file) => file.provider).filter((file) => file.auth?.secretEnv === auth.secretEnv);
  const path = "provider.auth.secretEnv";
  if (users.length === 0) return [{ path, message: `must be one that a file of the registry names, or begin with ${OPEN_SECRET_PREFIX}` }];
  const allowed = new Set(users.flatMap(addressesOf).map(originOf));
  const strange = addressesOf(provider).find((url) => !allowed.has(originOf(url)));
  if (strange !== undefined)
    return [
      {
        path,
        message: `is sent to ${[...allowed].join(" and ")} only: for other hosts, use a variable that begins with ${OPEN_SECRET_PREFIX}`,
      },
    ];
  const hosts = new Set(users.flatMap(pollHostsOf));
  const host = pollHostsOf(provider).find((one) => !hosts.has(one));
  return host === undefined
    ? []
    : [{ path: "provider.pollHosts", message: `${host} is not among those of the files that use ${auth.secretEnv}` }];
};

/** Returns the reasons why an entry can't be added over the API. @param files models of the registry's files */
export const trustIssues = (entry: Entry, files: Iterable<RegisteredModel>): Issue[] => {
  const issues = addressIssues(entry);
  if (entry.sandbox) issues.push({ path: "sandbox", message: "must be false: the sandbox's models are files" });
  if (entry.runsAt === "local") issues.push({ path: "runsAt", message: "must be provider: models of the machine itself are files" });
  if (entry.provider.auth?.maxConcurrentEnv !== undefined)
    issues.push({ path: "provider.auth.maxConcurrentEnv", message: "is for files of the registry: say maxConcurrent" });
  return issues.length > 0 ? issues : secretIssues(entry, files);
};
