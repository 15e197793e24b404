module.exports = async () => {
  const { stopTestServers } = await import("./test-servers.mjs");
  await stopTestServers();
};
