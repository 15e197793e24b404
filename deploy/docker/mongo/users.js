// Runs in mongosh as the administrator: creates a user for each service, who can read and write only that service's database. Passwords are
// in the variables MONGO_<SERVICE>_PASSWORD. The script can run before every start, and updates changed passwords.
const admin = db.getSiblingDB("admin");
for (const [variable, pwd] of Object.entries(process.env)) {
  const [, service] = /^MONGO_([A-Z]+)_PASSWORD$/.exec(variable)?.map((part) => part.toLowerCase()) ?? [];
  if (service === undefined) continue;
  if (!pwd) throw new Error(`${variable} is not set`);
  const roles = [{ role: "readWrite", db: `nodeloom_${service}` }];
  if (admin.getUser(service) === null) admin.createUser({ user: service, pwd, roles });
  else admin.updateUser(service, { pwd, roles });
}
print("every service has its user");
