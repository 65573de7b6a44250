// The first calls of an audit: callers that are served, callers that are left out, and what is said where nobody is.
import { describe, expect, test } from "vitest";
import { Lab } from "../../src/audit/lab.ts";
import { preflight } from "../../src/audit/preflight.ts";
import type { Raw } from "../../src/audit/wires.ts";
import { parsePolicy } from "../../src/policy/parse.ts";

const headers = { "x-limit": "10", "x-left": "4", "x-reset": "3" };
const readings = [
  {
    headers: { "X-Limit": "{limit}", "X-Left": "{remaining}", "X-Reset": "{reset}" },
    reset: { form: "delta-s", means: "window-end", round: "ceil" },
    on: ["admitted", "refused", "status"],
  },
];

interface Api {
  readonly hasStatus?: boolean;
  readonly shows?: boolean;
  readonly hasSample?: boolean;
}

function labOf({ hasStatus = false, shows = true, hasSample = true }: Api = {}): Lab {
  const policy = parsePolicy({
    version: 2,
    name: "own",
    quotas: {
      requests: { algorithm: { kind: "fixed-window", limit: 10, windowSeconds: 10 }, key: ["user"] },
    },
    operations: { call: { uses: { requests: 1 }, samples: hasSample ? [{ path: "/blue" }] : [] } },
    routes: [
      ...(hasStatus ? [{ path: "/limits", operation: "status" }] : []),
      { path: "/**", operation: "call" },
    ],
    auth: { header: "Authorization", form: "Bearer {token}", attributes: ["user"] },
    wire: { revision: "1", readings: shows ? readings : [] },
  } as never);
  const callers = ["ann", "bob"].map((user, index) => ({ index, name: user, attributes: { user } })) as never;
  return new Lab({ policy, callers, alone: true, spend: 1, isTls: false, beganMs: 0, untilMs: 9_000 });
}

const rawOf = (raw: Partial<Raw>): Raw => ({
  ...{ sentMs: 1, receivedMs: 2, status: 200, headers, body: "{}", error: null, ...raw },
});

/** Makes the first calls of two callers. @returns who is served, the notes, and the calls; or what is said instead */
async function made(first: Partial<Raw>, second: Partial<Raw> = first, api: Api = {}) {
  const answers = [rawOf(first), rawOf(second)];
  const heard: string[] = [];
  const send = async () => answers[heard.length] as Raw;
  const hear = ({ method, path }: { method: string; path: string }) => void heard.push(`${method} ${path}`);
  try {
    const { callers, notes } = await preflight(labOf(api), { send }, "https://api.test", hear);
    return { served: callers.map(({ name }) => name), notes, heard };
  } catch (error) {
    const { code, problems, hint } = error as { code: string; problems: readonly object[]; hint: string };
    return { code, problem: problems[0], hint, heard };
  }
}

test("callers that are admitted or refused are served, each by one plain call", async () => {
  const expected = { served: ["ann", "bob"], notes: [], heard: ["GET /blue", "GET /blue"] };
  expect(await made({})).toEqual(expected);
  expect(await made({ status: 429 }, { status: 204, body: "" })).toEqual(expected);
  // A call may be answered without any number.
  expect(await made({ headers: {} })).toEqual(expected);
});

test("the status is called where there is one, and need not be readable", async () => {
  for (const shown of [headers, { "x-left": "few" }])
    expect(await made({ headers: shown }, {}, { hasStatus: true })).toEqual({
      ...{ served: ["ann", "bob"], notes: [], heard: ["GET /limits", "GET /limits"] },
    });
});

test("a caller that is not served is left out, with the reason", async () => {
  expect(await made({ status: 401 }, {})).toEqual({
    served: ["bob"],
    notes: ["ann is left out: 401: the token is not known there, or has expired"],
    heard: ["GET /blue", "GET /blue"],
  });
});

test("a target that is silent is not called again", async () => {
  const { heard, code, problem } = await made({ status: 0, error: "timeout" });
  expect([heard, code]).toEqual([["GET /blue"], "TARGET_UNREACHABLE"]);
  expect(problem).toMatchObject({ path: "GET https://api.test/blue" });
});

describe("where nobody is served, it is said what the first caller got", () => {
  const address = "is this the API's address, and its policy?";
  test.each<[string, Partial<Raw>, Api, string, string]>([
    [
      "an unknown token",
      { status: 401 },
      {},
      "401: the token is not known there, or has expired",
      "is this a tokens file of this target?",
    ],
    [
      "a page",
      { status: 404, headers: { "content-type": "text/HTML" } },
      {},
      "404 and HTML",
      "is this the API's address, or a website's or proxy's?",
    ],
    [
      "a page without its type",
      { status: 200, headers: {}, body: " <p>" },
      {},
      "200 and HTML",
      "is this the API's address, or a website's or proxy's?",
    ],
    [
      "no permission",
      { status: 403, headers: {} },
      {},
      "403: the token has no permission for it",
      "the status and all samples must be allowed",
    ],
    ["no resource", { status: 404, headers: {} }, {}, "404: no such resource, or not this caller's", address],
    ["an error", { status: 400 }, {}, "400", "is it healthy?"],
    ["another error", { status: 500 }, { shows: false }, "500", "is it healthy?"],
    [
      "a status that shows nothing",
      { headers: {}, body: "x".repeat(99) },
      { hasStatus: true },
      `200 and "${"x".repeat(56)}...`,
      address,
    ],
  ])("%s", async (_, raw, api, got, hint) => {
    const allowed = api.hasStatus === true ? "200 and the status" : "an answer that is no error";
    const path = `GET https://api.test${api.hasStatus === true ? "/limits" : "/blue"}`;
    const said = await made(raw, raw, api);
    expect(said).toMatchObject({ code: "TARGET_UNREACHABLE", hint });
    expect(said.problem).toEqual({ path, got: `${got} (2 callers in all)`, allowed });
  });

  test("a page is none where the format shows nothing, or where it shows numbers", async () => {
    const page = { headers: { "content-type": "text/html" }, body: "<p>" };
    expect(await made(page, page, { shows: false })).toMatchObject({ served: ["ann", "bob"] });
    const counted = { ...page, headers: { ...headers, ...page.headers } };
    expect(await made(counted)).toMatchObject({ served: ["ann", "bob"] });
  });
});

test("a policy without a sample cannot be audited", async () => {
  expect(await made({}, {}, { hasSample: false })).toMatchObject({ code: "POLICY_INVALID", heard: [] });
});
