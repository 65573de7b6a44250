// A deployment to try: whom it serves, how to call it, and what is wrong with it on purpose.

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import {
  aborted,
  beyondLoopback,
  introduce,
  isLoopback,
  reference,
  requireNumbers,
  saySettled,
  standIn,
  telling,
  warnOfFault,
} from "../../src/cli/serve.ts";
import { parseFault } from "../../src/faults/choice.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import { presets } from "../../src/policy/presets.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { inference } from "../policy/policies.ts";
import { spillwayHere } from "../support/command.ts";
import { recorded, saidBy } from "../support/recorded.ts";
import { until } from "../support/until.ts";

let folder = "";
const file = (name: string) => join(folder, name);
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "spillway-serve-lines-"));
  const users = [1, 2, 3, 4].map((at) => ({ token: `t${at}`, user: `u${at}`, organization: `o${at}` }));
  await writeFile(file("tokens.json"), JSON.stringify([...users, { ...users[0], token: "t5" }]), {
    mode: 0o600,
  });
  const caller = { token: "t1", tenant: "acme", user: "ann" };
  await writeFile(file("callers.json"), JSON.stringify([caller]), { mode: 0o600 });
});
afterAll(() => rm(folder, { recursive: true, force: true }));
afterEach(() => vi.restoreAllMocks());

const call = { header: "Authorization: Bearer {token}", path: "/v2/user" };
const shown = { url: "http://127.0.0.1:4100", file: "/tmp/x y.json", ca: null };
const introduced = (args: { tokens?: string }, more: object, where: object = {}) =>
  saidBy((terminal) =>
    introduce(
      terminal,
      args,
      { limits: "rules   default", callers: "30 users of acme", call: { ...call, ...more } },
      {
        ...shown,
        ...where,
      },
    ),
  );
const read = (before: string, after = "") =>
  `node -p '${JSON.stringify(before)} + JSON.parse(fs.readFileSync(process.argv[1]))[0].token${after}' '/tmp/x y.json' | curl -sS -H @- `;

test("it says limits, tokens and a call that names no token", () => {
  expect(introduced({}, {})).toEqual([
    "rules   default",
    "tokens  /tmp/x y.json (30 users of acme; the file goes when this stops)",
    `try     ${read("Authorization: Bearer ")}http://127.0.0.1:4100/v2/user`,
  ]);
  expect(introduced({ tokens: "mine.json" }, { header: "X-Key: {token}!" }, { ca: "/tmp/ca.pem" })).toEqual([
    "rules   default",
    "tokens  /tmp/x y.json (30 users of acme)",
    "ca      /tmp/ca.pem (clients have to trust it; it goes when this stops)",
    `try     ${read("X-Key: ", ' + "!"')}--cacert /tmp/ca.pem http://127.0.0.1:4100/v2/user`,
  ]);
});

test.each<[object, string]>([
  [{}, ""],
  [{ method: "GET", headers: {} }, ""],
  [{ method: "POST", headers: { Accept: "a/b", "X-Y": "z" } }, "-X POST -H 'Accept: a/b' -H 'X-Y: z' "],
  [{ method: "POST", body: { a: [1] } }, `-X POST -d '{"a":[1]}' `],
  [{ method: "PUT", body: "plain" }, "-X PUT -d plain "],
  [{ body: "" }, "-d '' "],
])("a call of the sample %j is %j", (sample, words) => {
  const [, , line] = introduced({}, { sample });
  expect(line).toBe(`try     ${read("Authorization: Bearer ")}${words}http://127.0.0.1:4100/v2/user`);
});

test("a fault is warned of, with its rate", () => {
  const [plain, rated] = ["one-extra", "per-instance-counters=3"].map((name) => {
    const fault = parseFault(name);
    return [fault, saidBy((terminal) => warnOfFault(terminal, fault))] as const;
  });
  const last = "        this deployment is wrong on purpose; the judge must say so";
  expect(plain?.[1]).toEqual([
    `<red><bold>FAULT</></>   <bold>one-extra</>: ${plain?.[0].fault.wrong}`,
    last,
  ]);
  expect(rated?.[1]).toEqual([
    `<red><bold>FAULT</></>   <bold>per-instance-counters</>: ${rated?.[0].fault.wrong} (3: ${rated?.[0].fault.rate?.meaning})`,
    last,
  ]);
});

test.each([
  ["localhost", true],
  ["::1", true],
  ["127.0.0.1", true],
  ["127.10.20.30", true],
  ["128.0.0.1", false],
  ["0.0.0.0", false],
  ["x127.0.0.1", false],
])("%s is this machine alone: %s", (host, isAlone) => {
  expect(isLoopback(host)).toBe(isAlone);
});

test("an address beyond this machine is warned of", () => {
  expect(beyondLoopback("0.0.0.0", true)).toBe(
    "listening on 0.0.0.0: whoever reaches this machine can call it",
  );
  expect(beyondLoopback("::", false)).toBe(
    "listening on ::: whoever reaches this machine can call it, and tokens travel unencrypted (plain HTTP)",
  );
});

test("an unexpected error is a line, and its stack under --debug", () => {
  const written: string[] = [];
  vi.spyOn(process.stderr, "write").mockImplementation((text) => written.push(String(text)) > 0);
  const debugged = vi.spyOn(console, "error").mockImplementation(() => undefined);
  telling({})(new Error("odd"));
  expect(written).toEqual(["unexpected: odd\n"]);
  telling({ debug: true })(new Error("odd"));
  expect(debugged.mock.calls[0]?.[0]).toMatch(/^Error: odd\n +at /);
  expect(written).toHaveLength(1);
});

test("all that is to know of it is said once it listens", () => {
  const settled = (host: string, more: object = {}) => {
    const kept = recorded();
    const served = { limits: "rules   default", callers: "1 user", call, notes: ["Short.", "Long."] };
    const base = { url: "http://x", file: "t.json", ca: null, fault: null, isSecure: false };
    saySettled(kept.terminal, { tokens: "t.json", host }, served, { ...base, ...more });
    return kept;
  };
  const alone = settled("127.0.0.1");
  expect(alone.tagged.toSpliced(3, 1)).toEqual([
    "http://x",
    "rules   default",
    "tokens  t.json (1 user)",
    "<yellow>note</>    Short.",
    "<yellow>note</>    Long.",
    "stop    Ctrl-C",
  ]);
  expect(alone.results).toEqual([{ url: "http://x", tokens: "t.json" }]);
  const fault = parseFault("one-extra");
  const open = settled("0.0.0.0", { workers: 2, ca: "ca.pem", fault, isSecure: true });
  expect(open.results).toEqual([{ url: "http://x", tokens: "t.json", ca: "ca.pem" }]);
  expect(open.lines[1]).toMatch(/^FAULT {3}one-extra: /);
  expect(open.tagged.slice(-5)).toEqual([
    "workers 2 processes behind one port",
    "<yellow>note</>    Short.",
    "<yellow>note</>    Long.",
    "<yellow>warning</> listening on 0.0.0.0: whoever reaches this machine can call it",
    "stop    Ctrl-C",
  ]);
  expect(settled("::1", { workers: 1 }).tagged).toEqual(alone.tagged);
});

test("its numbers are within bounds", () => {
  for (const numbers of [
    { port: 0, users: 1 },
    { port: 65_535, users: 100_000, workers: 64 },
    { port: 1, users: 2, workers: 1 },
  ])
    requireNumbers(numbers);
  for (const [numbers, said] of [
    [{ port: -1, users: 1 }, "--port"],
    [{ port: 65_536, users: 1 }, "--port"],
    [{ port: 0, users: 0 }, "--users"],
    [{ port: 0, users: 100_001 }, "--users"],
    [{ port: 0, users: 1, workers: 0 }, "--workers"],
    [{ port: 0, users: 1, workers: 65 }, "--workers"],
  ] as const)
    expect(() => requireNumbers(numbers)).toThrow(`${said} cannot be used`);
});

test("it waits until it is told to stop, or was", async () => {
  const stopped = new AbortController();
  let isOver = false;
  const waiting = aborted(stopped.signal).then(() => {
    isOver = true;
  });
  await Promise.resolve();
  expect(isOver).toBe(false);
  stopped.abort();
  await waiting;
  await aborted(stopped.signal);
});

const args = (more: object) => ({ rules: "default", users: 2, seed: 1, ...more }) as never;

test("the reference deployment has sample tokens, or those of a file", async () => {
  const rules = parseRules({});
  const sample = await reference(args({}), rules, null);
  expect(sample.tokens).toHaveLength(2);
  expect(sample).toMatchObject({
    ...{ limits: "rules   default", callers: "2 users of acme" },
    call: { header: "Authorization: Bearer {token}", path: "/v2/organizations/acme/rate_limit" },
  });
  const given = await reference(args({ tokens: file("tokens.json"), rules: "mine.json" }), rules, null);
  expect(given).toMatchObject({
    ...{ limits: "rules   mine.json", callers: "5 users of o1, o2, o3" },
    call: { path: "/v2/organizations/o1/rate_limit" },
  });
  await expect(reference(args({ seed: -1 }), rules, null)).rejects.toThrow("--seed cannot be used");
});

test("a stand-in has callers of the policy's attributes, and its first sample to try", async () => {
  const policy = parsePolicy(inference);
  const sample = await standIn(args({ rules: "inference" }), policy, null);
  expect(sample.tokens).toHaveLength(2);
  expect(sample.tokens[0]).toEqual({
    ...{ token: expect.any(String), tenant: expect.any(String), user: expect.any(String) },
  });
  expect(sample).toMatchObject({
    ...{ notes: [], callers: "2 callers" },
    limits: "policy  inference: tenant, tenant_tokens, user, model_day, burst, anybody",
    call: { header: "Authorization: Bearer {token}", path: "/", sample: undefined },
  });
  const given = await standIn(args({ tokens: file("callers.json"), rules: "inference" }), policy, null);
  expect([given.tokens, given.callers]).toEqual([[{ token: "t1", tenant: "acme", user: "ann" }], "1 caller"]);
  const { github } = presets;
  const known = await standIn(args({ rules: "github" }), parsePolicy(github?.policy), null);
  expect(known.notes).toBe(github?.notes);
  const [first] = Object.values(parsePolicy(github?.policy).operations);
  expect(known.call).toMatchObject({ path: first?.samples[0]?.path, sample: first?.samples[0] });
  await expect(standIn(args({ workers: 2, rules: "github" }), policy, null)).rejects.toMatchObject({
    problems: [
      {
        ...{ path: "--workers", got: "2" },
        allowed: "nothing with --policy github: the reference deployment has it",
      },
    ],
  });
  const fault = parseFault("one-extra");
  await expect(standIn(args({ seed: -1 }), policy, fault)).rejects.toThrow("--seed cannot be used");
  await standIn(args({}), policy, fault);
});

/** Serves until it says that it listens, then stops it as Ctrl-C does. */
async function served(...words: string[]) {
  const before = process.listeners("SIGINT");
  const ended = spillwayHere(["serve", "--port", "0", ...words]);
  const added = () => process.listeners("SIGINT").filter((one) => !before.includes(one));
  await until(async () => added().length > 0);
  for (const stop of added()) stop("SIGINT");
  const { stdout, stderr, code } = await ended;
  const lines = (text: string) =>
    text
      .replace(/127\.0\.0\.1:\d+/g, "HOST")
      .split("\n")
      .slice(0, -1);
  return { code, said: lines(stdout), aside: lines(stderr), stdout };
}

test("as it is typed it listens until Ctrl-C, then answers what is on its way", async () => {
  const { code, said } = await served("--users", "2");
  expect([code, said.toSpliced(2, 2)]).toEqual([
    0,
    [
      ...["http://HOST", "rules   default", "stop    Ctrl-C"],
      "stopping: calls on their way are answered first",
    ],
  ]);
  expect(said[2]).toMatch(/^tokens {2}\S+tokens\.json \(2 users of acme; the file goes when this stops\)$/);
  const json = await served("--json", "--fault", "one-extra", "--tls");
  expect(JSON.parse(json.stdout)).toEqual({
    ...{ url: expect.stringMatching(/^https:/), tokens: expect.any(String), ca: expect.any(String) },
  });
  expect(json.aside[1]).toMatch(/^FAULT {3}one-extra: /);
});
