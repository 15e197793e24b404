import { SECRET_BOUNDS, secretHost, type Issue } from "@nodeloom/kernel";
import type { AddressProblem } from "../keys/webhooks";

/** Additional rules for users' secrets: they need hosts, and a length that can't occur in a response by chance. */

const USER_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** True if the owner is a user; false for the platform. */
export const isUser = (owner: string): boolean => USER_ID.test(owner);

const hostIssue = async (entry: string, addressProblem: AddressProblem): Promise<string | undefined> => {
  const host = secretHost(entry);
  if (host === undefined) return "must be a host or host:port, for example api.example.com: no protocol, path or user";
  return addressProblem(`https://${host}`);
};

export const userSecretIssues = async (
  { value, hosts }: { value: string; hosts: readonly string[] },
  addressProblem: AddressProblem,
): Promise<Issue[]> => {
  const { minValueChars } = SECRET_BOUNDS;
  const issues: Issue[] =
    value.length < minValueChars ? [{ path: "value", message: `must have at least ${minValueChars} characters` }] : [];
  if (hosts.length === 0 || hosts.length > SECRET_BOUNDS.hosts)
    return [...issues, { path: "hosts", message: `must name 1 to ${SECRET_BOUNDS.hosts} hosts that can receive it` }];
  const problems = await Promise.all(hosts.map((entry) => hostIssue(entry, addressProblem)));
  return [...issues, ...problems.flatMap((message, index) => (message === undefined ? [] : [{ path: `hosts.${index}`, message }]))];
};

/** Normalizes a secret's hosts to the form in URLs, without duplicates. */
export const withUrlHosts = <T extends { hosts: string[] }>(secret: T): T => ({
  ...secret,
  hosts: [...new Set(secret.hosts.flatMap((entry) => secretHost(entry) ?? []))],
});
