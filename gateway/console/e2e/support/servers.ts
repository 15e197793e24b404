/** Starts the test servers, whose addresses the workers inherit. @returns what stops them */
export default async (): Promise<() => Promise<void>> => {
  const { startTestServers, stopTestServers } = await import("../../../../deploy/local/servers/test-servers.mjs");
  await startTestServers();
  return stopTestServers;
};
