// Runs in mongosh: turns a standalone server into a replica set of one member, and waits until it accepts writes.
const DEADLINE_MS = 60_000;
const PAUSE_MS = 200;

const isReplicaSet = () => {
  try {
    return rs.status().ok === 1;
  } catch (error) {
    if (error.codeName === "NotYetInitialized") return false;
    throw error;
  }
};

if (!isReplicaSet()) rs.initiate({ _id: "rs0", members: [{ _id: 0, host: "mongo:27017" }] });
const deadline = Date.now() + DEADLINE_MS;
while (!db.hello().isWritablePrimary) {
  if (Date.now() > deadline) throw new Error("the replica set has no primary");
  sleep(PAUSE_MS);
}
print("the replica set takes writes");
