import type { ProviderSettings } from "./entries/settings";
import type { DialectContext } from "./dialect";

/**
 * What calls a provider: of a server in the installation's own network a client that may call its host and port, and nothing else
 * there.
 */
export const contextOf = (context: DialectContext, { server, baseUrl }: Pick<ProviderSettings, "server" | "baseUrl">): DialectContext =>
  server && context.ownServers ? { ...context, egress: context.ownServers.clientOf(baseUrl) } : context;
