export const SECRET_DIALOG = {
  replace: (join: string) => `Replace ${join}`,
  newSecret: "New secret",
  replace2: "Replace",
  placeholder: (name: string) => `Use it in HTTP Request nodes as {{secrets.${name}}}.`,
  stripeKey: "STRIPE_KEY",
  alias: "Alias",
  optionalOnlyRunsWithThis: "Optional. Only runs with this alias, such as staging, send this value.",
  oneLineAtLeast8: "One line, at least 8 characters. Stored encrypted and never shown again.",
  hosts: "Hosts",
  hostsThatCanReceiveIt: "Hosts that can receive it over HTTPS, one per line: api.stripe.com, or with a port: api.example.com:8443.",
  apiStripeCom: "api.stripe.com",
};

export const SECRETS_PAGE = {
  copied: (secret: string) => `${secret} copied.`,
  notUsed: "not used",
  andMore: (count: number) => `and ${count} more`,
  hosts: "Hosts",
  usedBy: "Used by",
  updated: "Updated",
  actionsForSecret: (name: string) => `Actions for secret ${name}`,
  copyPlaceholder: "Copy placeholder",
  replace: "Replace…",
  remove: "Remove…",
  remove2: (name: string) => `Remove ${name}?`,
  removeHint: (names: string) =>
    `Requests that send it fail immediately. ${names === "" ? "None of your workflows uses it." : `These workflows use it and can't run: ${names}.`} You can't undo this.`,
  removed: (name: string) => `${name} removed.`,
  credentialsThatHttpRequestNodes:
    "Credentials that HTTP Request nodes send as {{secrets.NAME}}, only to the hosts you choose. Workflows and runs never show them.",
  newSecret: "New secret",
  secretsAreNotSetUp: "Secrets are not set up on this installation",
  askTheOperatorToSet: "Ask the operator to set SECRETS_KEYS for the identity service.",
  noSecretsYet: "No secrets yet",
  createASecretThenUse: "Create a secret, then use its placeholder in a header, the body or the query of an HTTP Request node.",
};
