// `check --target` before anything is judged: what is no rate-limited API is said, one behind TLS is reached.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openTarget } from "../../src/cli/check-target.ts";
import { probedTarget } from "../../src/cli/probed-target.ts";
import { openTerminal } from "../../src/cli/terminal.ts";
import { readStatus } from "../../src/probe/status.ts";
import { parseTokens, type Token } from "../../src/rules/tokens.ts";
import { pemPath, secureService } from "../connect/tls.ts";
import { fakeTarget, wideRules } from "../load/support.ts";

const caller = { token: "spw_x", user: "ann", organization: "acme" };
let folder = "";
let tokens = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "spillway-target-"));
  tokens = join(folder, "tokens.json");
  await writeFile(tokens, JSON.stringify([caller]), {
    mode: 0o600,
  });
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test.each([
  ["a website", 200, "<!doctype html><title>Hello</title>", /^200 and HTML$/],
  ["another API", 200, '{"hello":"world"}', /^200 and \{"hello":"world"\}$/],
  ["a path that is not there", 404, "{}", /^404: no such organization there/],
])("%s is unreachable, and told with the path that was tried", async (_, status, body, got) => {
  const target = await fakeTarget((_request, response) => void response.writeHead(status).end(body));
  try {
    const args = { target: target.url, tokens };
    const opened = openTarget(args, openTerminal(false), new AbortController().signal);
    await expect(opened).rejects.toMatchObject({
      code: "TARGET_UNREACHABLE",
      exitCode: 3,
      problems: [
        {
          path: `GET ${target.url}/v2/organizations/acme/rate_limit`,
          got: expect.stringMatching(got),
          allowed: expect.stringContaining('{"scopes": {"rest"'),
        },
      ],
    });
  } finally {
    await target.close();
  }
});

test("a target of https is reached as --ca, --cert and --key say", async () => {
  const callers = parseTokens([caller]);
  const service = await secureService({ rules: wideRules, tokens: callers }, { asksForClients: true });
  const { signal } = new AbortController();
  const paths = { ca: pemPath("ca"), cert: pemPath("client"), key: pemPath("client-key") };
  try {
    const args = { target: service.url, tokens, ...paths };
    const { live } = await openTarget(args, openTerminal(false), signal);
    expect((await live.read(live.callers[0] as Token)).status).toBe(200);
    const probed = await probedTarget(args);
    expect(await readStatus(probed)).toMatchObject({ organization: "acme" });
    await expect(openTarget({ ...args, cert: undefined }, openTerminal(false), signal)).rejects.toMatchObject(
      {
        code: "USAGE",
      },
    );
    await expect(readStatus({ ...probed, tls: {} })).rejects.toMatchObject({ code: "TARGET_UNREACHABLE" });
  } finally {
    await service.close();
  }
});
