import type { ProviderSettings } from "./entries/settings";
import type { DialectContext } from "./dialect";

/** Context for calls to a provider. For a server in the installation's own network, the client can only call its host and port. */
export const contextOf = (context: DialectContext, { server, baseUrl }: Pick<ProviderSettings, "server" | "baseUrl">): DialectContext =>
  server && context.ownServers ? { ...context, egress: context.ownServers.clientOf(baseUrl) } : context;
