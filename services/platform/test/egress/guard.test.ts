import type { LookupAddress } from "node:dns";
import { createServer, type Server } from "node:http";
import net from "node:net";
import { isHostAddress } from "../../src/egress/address";
import { createEgressClient, createOwnServers, type EgressClient, type Lookup } from "../../src";

const LIMITS = { timeoutMs: 5_000, maxBytes: 1_000 };

/** Forbidden addresses in every notation of URLs and DNS answers. */
const PRIVATE_V4 = {
  "this network": "0.0.0.0",
  "all of this network": "0.1.2.3",
  loopback: "127.0.0.1",
  "the end of loopback": "127.255.255.254",
  "private 10/8": "10.0.0.1",
  "private 172.16/12": "172.16.0.1",
  "the end of 172.16/12": "172.31.255.255",
  "private 192.168/16": "192.168.1.1",
  "link-local": "169.254.1.1",
  "cloud metadata": "169.254.169.254",
  "Azure's host channel": "168.63.129.16",
  "Alibaba's metadata": "100.100.100.200",
  "Oracle's metadata": "192.0.0.192",
  "carrier-grade NAT": "100.64.0.1",
  "the end of carrier-grade NAT": "100.127.255.255",
  "protocol assignments": "192.0.0.1",
  "documentation 1": "192.0.2.1",
  "documentation 2": "198.51.100.1",
  "documentation 3": "203.0.113.1",
  "6to4 relays": "192.88.99.1",
  benchmarks: "198.18.0.1",
  "the end of benchmarks": "198.19.255.255",
  multicast: "224.0.0.1",
  "the end of multicast": "239.255.255.255",
  reserved: "240.0.0.1",
  broadcast: "255.255.255.255",
};
const PRIVATE_V6 = {
  unspecified: "::",
  loopback: "::1",
  "unique local": "fd00::1",
  "AWS metadata": "fd00:ec2::254",
  "unique local fc00": "fc00::1",
  "link-local": "fe80::1",
  "site-local": "fec0::1",
  multicast: "ff02::1",
  "mapped loopback": "::ffff:127.0.0.1",
  "mapped metadata": "::ffff:169.254.169.254",
  "mapped public": "::ffff:8.8.8.8",
  "mapped in hexadecimal": "::ffff:7f00:1",
  "compatible loopback": "::127.0.0.1",
  "compatible private": "::a00:1",
  translated: "::ffff:0:127.0.0.1",
  "NAT64 of loopback": "64:ff9b::7f00:1",
  "NAT64 of a public address": "64:ff9b::8.8.8.8",
  "local NAT64": "64:ff9b:1::7f00:1",
  "6to4 of loopback": "2002:7f00:1::1",
  "6to4 of a public address": "2002:808:808::1",
  Teredo: "2001:0:7f00:1::1",
  documentation: "2001:db8::1",
  "newer documentation": "3fff::1",
  benchmarks: "2001:2::1",
  ORCHID: "2001:10::1",
  ORCHIDv2: "2001:20::1",
  "discard-only": "100::1",
  "segment routing": "5f00::1",
  "never allocated": "4000::1",
};

const HOSTILE_URLS: Record<string, string> = {
  ...Object.fromEntries(Object.entries(PRIVATE_V4).map(([name, address]) => [`v4, ${name}`, `http://${address}/`])),
  ...Object.fromEntries(Object.entries(PRIVATE_V6).map(([name, address]) => [`v6, ${name}`, `http://[${address}]/`])),
  "a decimal host": "http://2130706433/",
  "a decimal host of the metadata address": "http://2852039166/latest/meta-data",
  "an octal octet": "http://0177.0.0.1/",
  "all octal": "http://0177.0000.0000.0001/",
  "one octal number": "http://017700000001/",
  "a hexadecimal octet": "http://0x7f.0.0.1/",
  "a short hexadecimal form": "http://0x7f.1/",
  "one hexadecimal number": "http://0x7f000001/",
  "mixed bases": "http://0xa9.0376.43518/",
  "a short form of two": "http://127.1/",
  "a short form of three": "http://127.0.1/",
  zero: "http://0/",
  "an overflowing octet": "http://127.0.0.256/",
  "an overflowing number": "http://4294967296/",
  "a dot at the end of an address": "http://127.0.0.1./",
  "escaped digits": "http://%31%32%37.0.0.1/",
  "fullwidth digits": "http://１２７.０.０.１/",
  "circled digits": "http://①②⑦.⓪.⓪.①/",
  "ideographic dots": "http://127。0。0。1/",
  "halfwidth ideographic dots": "http://127｡0｡0｡1/",
  "a soft hyphen": "http://127.0.0.1\u00AD/",
  "a tab inside": "http://127.0.\t0.1/",
  "spaces around": "  http://127.0.0.1/  ",
  "backslashes for slashes": "http:\\\\127.0.0.1\\",
  "no slashes": "http:127.0.0.1",
  "too many slashes": "http:////127.0.0.1/",
  "a zone in a v6 address": "http://[fe80::1%25eth0]/",
  "a long spelling of ::1": "http://[0000:0000:0000:0000:0000:0000:0000:0001]/",
  "a user name": "http://user@example.com/",
  "a user name and a password": "http://user:password@example.com/",
  "a host in place of the user": "http://example.com@127.0.0.1/",
  "only a password": "http://:password@example.com/",
  "an escaped at sign": "http://example.com%40127.0.0.1/",
  "a file": "file:///etc/passwd",
  ftp: "ftp://example.com/",
  gopher: "gopher://127.0.0.1:6379/_INFO",
  data: "data:text/plain,hello",
  javascript: "javascript:alert(1)",
  blob: "blob:http://example.com/1",
  "a web socket": "ws://example.com/",
  dict: "dict://127.0.0.1:11211/stat",
  ldap: "ldap://127.0.0.1/",
  "no scheme": "example.com/path",
  "a path alone": "/path",
  "nothing at all": "",
  "an unfinished host": "http://[::1/",
  "no host": "http://",
  "a port that is none": "http://example.com:65536/",
  "port 0": "http://example.com:0/",
  "the mail port": "http://example.com:25/",
  "the shell's port": "http://example.com:22/",
  "an IRC port": "https://example.com:6667/",
  "a private address at an odd port": "http://10.0.0.1:8443/",
};

/** Names with their DNS answers. */
const HOSTILE_NAMES: Record<string, { url: string; answer: string[] }> = {
  ...Object.fromEntries(
    [...Object.entries(PRIVATE_V4), ...Object.entries(PRIVATE_V6)].map(([name, address]) => [
      `only ${name} (${address})`,
      { url: "http://example.test/", answer: [address] },
    ]),
  ),
  "a public and a private address": { url: "http://example.test/", answer: ["93.184.216.34", "10.0.0.1"] },
  "a private and a public address": { url: "http://example.test/", answer: ["127.0.0.1", "93.184.216.34"] },
  "a public v4 and a private v6 address": { url: "http://example.test/", answer: ["93.184.216.34", "::1"] },
  "a public v6 and a mapped address": { url: "http://example.test/", answer: ["2606:4700::1111", "::ffff:10.0.0.1"] },
  "no address": { url: "http://example.test/", answer: [] },
  "something that is no address": { url: "http://example.test/", answer: ["example.test"] },
  "loopback for localhost": { url: "http://localhost/", answer: ["127.0.0.1"] },
  "loopback for LOCALHOST.": { url: "http://LOCALHOST./", answer: ["::1", "127.0.0.1"] },
  "loopback for a name below localhost": { url: "http://a.localhost/", answer: ["127.0.0.1"] },
  "loopback for a circled localhost": { url: "http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/", answer: ["127.0.0.1"] },
  "loopback for a wildcard service": { url: "http://127.0.0.1.nip.io/", answer: ["127.0.0.1"] },
  "the metadata address": { url: "http://metadata.google.internal/", answer: ["169.254.169.254"] },
  "a private address for a name with a dot at the end": { url: "http://example.test./", answer: ["10.0.0.1"] },
  "a private address for an international name": { url: "http://bücher.test/", answer: ["192.168.0.1"] },
  "a private address over TLS": { url: "https://example.test/", answer: ["10.0.0.1"] },
};

const answering =
  (answers: (host: string) => string[]): Lookup =>
  (host, _options, callback) =>
    process.nextTick(() =>
      callback(
        null,
        answers(host).map((address) => ({ address, family: address.includes(":") ? 6 : 4 })),
      ),
    );

const refusal = { name: "EgressError", code: "REFUSED", mayHaveBeenSent: false };

describe("addresses that the egress guard rejects", () => {
  const never: Lookup = () => {
    throw new Error("nothing is looked up for an address that is refused as it is written");
  };
  const client = createEgressClient({ lookup: never });
  afterAll(() => client.close());

  it("include more than 60 notations", () => expect(Object.keys(HOSTILE_URLS).length).toBeGreaterThan(60));

  it.each(Object.entries(HOSTILE_URLS))("%s", async (_name, url) => {
    await expect(client.request({ url, ...LIMITS })).rejects.toMatchObject(refusal);
  });

  it.each(Object.entries(HOSTILE_NAMES))("a name whose answer is %s", async (_name, { url, answer }) => {
    const namedClient = createEgressClient({ lookup: answering(() => answer) });
    await expect(namedClient.request({ url, ...LIMITS })).rejects.toMatchObject(refusal);
    await namedClient.close();
  });
});

/** Records the addresses of sockets and redirects them to this machine, so that no test makes an outgoing call. */
const watchSockets = (): string[] => {
  const used: string[] = [];
  const connect = net.connect as (options: net.TcpNetConnectOpts) => net.Socket;
  jest.spyOn(net, "connect").mockImplementation(((options: net.TcpNetConnectOpts) =>
    connect({
      ...options,
      lookup: (host, lookupOptions, callback) =>
        options.lookup!(host, lookupOptions, (error, addresses) => {
          if (error) return callback(error, addresses);
          used.push(...(addresses as LookupAddress[]).map(({ address }) => address));
          return callback(null, [{ address: "127.0.0.1", family: 4 }]);
        }),
    })) as typeof net.connect);
  return used;
};
afterEach(() => jest.restoreAllMocks());

describe("the address to which the egress guard connects", () => {
  let server: Server;
  let port: number;
  const clients: EgressClient[] = [];
  const open = (options: Parameters<typeof createEgressClient>[0]): EgressClient => {
    const client = createEgressClient(options);
    clients.push(client);
    return client;
  };
  beforeAll(async () => {
    server = createServer((request, response) => response.end(request.headers.host)).listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    port = (server.address() as net.AddressInfo).port;
  });
  afterAll(async () => {
    await Promise.all(clients.map((client) => client.close()));
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const body = async (client: EgressClient, url: string): Promise<string> =>
    (await client.request({ url, ...LIMITS })).body.toString("utf8");

  it("is the checked one: a name that resolves differently later has no second look-up", async () => {
    const answers = [["93.184.216.34"], ["127.0.0.1"]];
    let lookups = 0;
    const client = open({ lookup: answering(() => answers[lookups++] ?? ["127.0.0.1"]) });
    const used = watchSockets();
    expect(await body(client, `http://rebind.test:${port}/`)).toBe(`rebind.test:${port}`);
    expect([used, lookups]).toEqual([["93.184.216.34"], 1]);
    // The open connection keeps its address. A new one is checked again.
    server.closeAllConnections();
    await expect(client.request({ url: `http://rebind.test:${port}/`, ...LIMITS })).rejects.toMatchObject(refusal);
    expect([used, lookups]).toEqual([["93.184.216.34"], 2]);
  });

  it("is an exception's address only for exactly its host and port", async () => {
    const client = open({ allow: [`127.0.0.1:${port}`], lookup: answering(() => ["127.0.0.1"]) });
    expect(await body(client, `http://127.0.0.1:${port}/`)).toBe(`127.0.0.1:${port}`);
    for (const host of ["127.0.0.2", "localhost", "[::ffff:127.0.0.1]", "name.test", "0.0.0.0"])
      await expect(client.request({ url: `http://${host}:${port}/`, ...LIMITS })).rejects.toMatchObject(refusal);
    await expect(client.request({ url: "http://127.0.0.1/", ...LIMITS })).rejects.toMatchObject(refusal);
    await expect(client.request({ url: `http://127.0.0.1:${port + 1}/`, ...LIMITS })).rejects.toMatchObject(refusal);
  });

  it("is an exception in any equivalent notation of its host", async () => {
    const client = open({ allow: [`127.0.0.1:${port}`] });
    for (const host of ["2130706433", "0x7f.1", "127.0.0.1."])
      expect(await body(client, `http://${host}:${port}/`)).toBe(`127.0.0.1:${port}`);
    const shouted = open({ allow: [`Private.TEST:${port}`], lookup: answering(() => ["127.0.0.1"]) });
    expect(await body(shouted, `http://private.test:${port}/`)).toBe(`private.test:${port}`);
    await expect(shouted.request({ url: `http://private.test.:${port}/`, ...LIMITS })).rejects.toMatchObject(refusal);
  });

  it("is never an exception's address with credentials or another protocol", async () => {
    const client = open({ allow: [`127.0.0.1:${port}`] });
    await expect(client.request({ url: `http://me@127.0.0.1:${port}/`, ...LIMITS })).rejects.toMatchObject(refusal);
    await expect(client.request({ url: `ftp://127.0.0.1:${port}/`, ...LIMITS })).rejects.toMatchObject(refusal);
  });

  it("is named in the error, whatever the reason", async () => {
    const client = open({ lookup: answering(() => ["10.0.0.1"]) });
    const urls = {
      "http://10.0.0.1:81/a": "10.0.0.1:81",
      "http://inside.test/": "inside.test",
      "ftp://x.test/": "x.test",
      "http://x.test:25/": "x.test:25",
    };
    for (const [url, host] of Object.entries(urls))
      await expect(client.request({ url, ...LIMITS })).rejects.toMatchObject({
        message: expect.stringContaining(`refused to call ${host}: `) as string,
      });
  });

  it("isn't an exception of another client", async () => {
    await body(open({ allow: [`127.0.0.1:${port}`] }), `http://127.0.0.1:${port}/`);
    await expect(open({}).request({ url: `http://127.0.0.1:${port}/`, ...LIMITS })).rejects.toMatchObject(refusal);
  });

  it("is rejected at once if an exception is malformed", () => {
    for (const entry of ["localhost", "http://localhost:80", ":80"])
      expect(() => createEgressClient({ allow: [entry] })).toThrow(/host:port/);
  });
});

describe("a server in the installation's own network", () => {
  let server: Server;
  let target: string;
  beforeAll(async () => {
    server = createServer((request, response) => {
      if (request.url === "/away") response.writeHead(302, { location: "/here" });
      response.end("here");
    }).listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    target = `127.0.0.1:${(server.address() as net.AddressInfo).port}`;
  });
  afterAll(() => server.close());

  it("is called only at its host and port, without redirects", async () => {
    const servers = createOwnServers();
    const client = servers.clientOf(`http://${target}/v1`);
    expect((await client.request({ url: `http://${target}/here`, ...LIMITS })).body.toString()).toBe("here");
    expect((await client.request({ url: `http://${target}/away`, ...LIMITS, maxRedirects: 5 })).status).toBe(302);
    await expect(client.request({ url: "http://127.0.0.1:1/", ...LIMITS })).rejects.toMatchObject(refusal);
    await expect(client.request({ url: "http://10.0.0.1/", ...LIMITS })).rejects.toMatchObject(refusal);
    await servers.close();
  });

  it.each(["169.254.169.254", "[fe80::1]", "[fd00:ec2::254]", "[::ffff:169.254.169.254]", "168.63.129.16", "100.100.100.200", "224.0.0.1"])(
    "can't be a metadata address, nor a group: %s",
    async (host) => {
      const servers = createOwnServers();
      const url = `http://${host}:8188/`;
      await expect(servers.clientOf(url).request({ url, ...LIMITS })).rejects.toMatchObject(refusal);
      await servers.close();
    },
  );

  it.each([
    ["compatible", "::a9fe:a9fe"],
    ["mapped", "::ffff:a9fe:a9fe"],
    ["translated", "::ffff:0:169.254.169.254"],
    ["NAT64", "64:ff9b::169.254.169.254"],
    ["NAT64 of Alibaba's", "64:ff9b::100.100.100.200"],
    ["local NAT64", "64:ff9b:1::169.254.169.254"],
    ["local NAT64 of 48 bits", "64:ff9b:1:a9fe:a9:fe00::"],
    ["local NAT64 of 56 bits", "64:ff9b:1:a9:fe:a9fe::"],
    ["local NAT64 of 64 bits", "64:ff9b:1::a9:fea9:fe00:0"],
    ["6to4", "2002:a9fe:a9fe::1"],
    ["6to4 of Azure's", "2002:a83f:8110::1"],
    ["Teredo, as the server", "2001:0:a9fe:a9fe::1"],
    ["Teredo, as the client", "2001:0:808:808:0:0:5601:5601"],
    ["ISATAP", "fd00::5efe:169.254.169.254"],
    ["ISATAP of a public address", "fd00::200:5efe:169.254.169.254"],
  ])("can't lead to a metadata address through %s, literally or by a name", async (_form, address) => {
    const servers = createOwnServers();
    const url = `http://[${address}]:8188/`;
    await expect(servers.clientOf(url).request({ url, ...LIMITS })).rejects.toMatchObject(refusal);
    await servers.close();
    const client = createEgressClient({ ownServers: ["gpu-box:80"], lookup: answering(() => [address]) });
    await expect(client.request({ url: "http://gpu-box/", ...LIMITS })).rejects.toMatchObject(refusal);
    await client.close();
  });

  it.each(["::ffff:192.168.1.20", "64:ff9b::192.168.1.20", "2002:c0a8:114::1", "fd12:3456::20", "::1", "2606:4700::1111"])(
    "can be at %s, which leads to a host",
    (address) => expect(isHostAddress(address)).toBe(true),
  );

  it("can't have a name that also leads there", async () => {
    const client = createEgressClient({ ownServers: ["gpu-box:80"], lookup: answering(() => ["192.168.1.20", "169.254.169.254"]) });
    await expect(client.request({ url: "http://gpu-box/", ...LIMITS })).rejects.toMatchObject(refusal);
    await client.close();
  });
});
