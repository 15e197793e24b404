// Runs in mongosh, as the administrator: makes sure of a user for each service, who can read and write that service's database and
// no other. May run before every start; a password that was changed in the settings is taken over.
const SERVICES = ["identity", "workflows", "models", "billing", "usage", "executions", "media"];

const admin = db.getSiblingDB("admin");
for (const service of SERVICES) {
  const pwd = process.env[`MONGO_${service.toUpperCase()}_PASSWORD`];
  if (!pwd) throw new Error(`MONGO_${service.toUpperCase()}_PASSWORD is not set`);
  const roles = [{ role: "readWrite", db: `nodeloom_${service}` }];
  if (admin.getUser(service) === null) admin.createUser({ user: service, pwd, roles });
  else admin.updateUser(service, { pwd, roles });
}
print("every service has its user");
