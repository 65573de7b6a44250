// `check --target` at what is no rate-limited API: said before anything is judged.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openTarget } from "../../src/cli/check-target.ts";
import { openTerminal } from "../../src/cli/terminal.ts";
import { fakeTarget } from "../load/support.ts";

let folder = "";
let tokens = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "spillway-target-"));
  tokens = join(folder, "tokens.json");
  await writeFile(tokens, JSON.stringify([{ token: "spw_x", user: "ann", organization: "acme" }]), {
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
