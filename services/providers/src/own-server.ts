import type { ProviderSettings } from "./entries/settings";
import type { DialectContext } from "./dialect";

/**
 * Returns the context for calls to a provider. For a server in the installation's network, the client can call only that server's host and
 * port.
 */
export const contextOf = (context: DialectContext, { server, baseUrl }: Pick<ProviderSettings, "server" | "baseUrl">): DialectContext =>
  server && context.ownServers ? { ...context, egress: context.ownServers.clientOf(baseUrl) } : context;
