module.exports = async () => {
  const { stopTestServers } = await import("../servers/test-servers.mjs");
  await stopTestServers();
};
