/** Jest loads this in the process that spawns its workers, which inherit the environment. */
module.exports = async () => {
  const { startTestServers } = await import("../servers/test-servers.mjs");
  await startTestServers();
};
