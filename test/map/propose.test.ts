// Policies proposed from answers: forms told by movement alone, formats recognized, and no secret written.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Proposal, propose } from "../../src/map/propose.ts";
import { readTranscript } from "../../src/map/transcripts.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import { presets, wireOf } from "../../src/policy/presets.ts";
import type { TimeForm } from "../../src/policy/wire-data.ts";
import { writeTime } from "../../src/wire/times.ts";

const START = Date.UTC(2026, 10, 23, 10, 0, 0);

/** One answer as `curl -i` prints it. */
const answer = (atMs: number, headers: Readonly<Record<string, string | number>>, status = 200): string =>
  [
    `HTTP/2 ${status}`,
    `date: ${new Date(atMs).toUTCString()}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    "",
    "{}",
    "",
  ].join("\r\n");

function proposalOf(...texts: readonly string[]): Proposal {
  const secrets = new Set<string>();
  const seen = texts.flatMap((text, index) => readTranscript(text, `answer-${index}`, secrets));
  return propose(seen, secrets, "my-api");
}

const wireOfProposal = ({ policy }: Proposal) => wireOf(parsePolicy(policy));
const pathsOf = ({ questions }: Proposal): string[] => questions.map(({ path }) => path);

describe("the form of a reset", () => {
  const counts = (left: number) => ({ "x-quota-limit": 100, "x-quota-remaining": left });

  test("is not guessed from one value, whatever it is", () => {
    const value = fc.oneof(
      fc.integer({ min: 0, max: 10 ** 13 }),
      fc.integer({ min: 1_795_000_000, max: 1_796_000_000 }),
    );
    fc.assert(
      fc.property(value, (reset) => {
        const proposal = proposalOf(answer(START, { ...counts(9), "x-quota-reset": reset }));
        expect(wireOfProposal(proposal).readings[0]?.reset).toBeUndefined();
        expect(pathsOf(proposal)).toContain("wire.readings.0.reset");
      }),
      { numRuns: 100 },
    );
  });

  const forms: readonly TimeForm[] = ["delta-s", "delta-ms", "epoch-s", "epoch-ms"];
  test.each(forms)("%s is told by two values that are 2 s or more apart", (form) => {
    const span = fc.record({
      elapsed: fc.integer({ min: 2_000, max: 40_000 }),
      rest: fc.integer({ min: 1_500, max: 3_000_000 }),
      within: fc.integer({ min: 0, max: 999 }),
    });
    fc.assert(
      fc.property(span, ({ elapsed, rest, within }) => {
        const [first, second] = [START + within, START + within + elapsed];
        const end = second + rest;
        const shown = (atMs: number, left: number) =>
          answer(atMs, { ...counts(left), "x-quota-reset": writeTime({ form }, end, atMs, "ceil") });
        const isApart = Math.floor(second / 1000) - Math.floor(first / 1000) >= 2;
        const proposal = proposalOf(shown(first, 9), shown(second, 8));
        const [reading] = wireOfProposal(proposal).readings;
        if (isApart) expect(reading?.reset).toMatchObject({ form, means: "window-end" });
        else expect(reading?.reset === undefined || reading.reset.form === form).toBe(true);
      }),
      { numRuns: 200 },
    );
  });

  test("is left out where the two are of different callers", () => {
    const asked = (token: string, atMs: number, reset: number) =>
      `$ curl -i https://api.example.com/v1/things -H 'Authorization: Bearer ${token}'\n${answer(atMs, { ...counts(9), "x-quota-reset": reset })}`;
    const proposal = proposalOf(asked("one-token-1", START, 40), asked("two-token-2", START + 5_000, 35));
    expect(wireOfProposal(proposal).readings[0]?.reset).toBeUndefined();
  });

  test("is left out where the window rolled between the two", () => {
    const proposal = proposalOf(
      answer(START, { ...counts(9), "x-quota-reset": 3 }),
      answer(START + 10_000, { ...counts(99), "x-quota-reset": 53 }),
    );
    expect(wireOfProposal(proposal).readings[0]?.reset).toBeUndefined();
  });

  test("a number that never changes is neither", () => {
    const proposal = proposalOf(
      answer(START, { ...counts(9), "x-quota-reset": 60 }),
      answer(START + 10_000, { ...counts(8), "x-quota-reset": 60 }),
    );
    expect(wireOfProposal(proposal).readings[0]?.reset).toBeUndefined();
  });

  test.each([
    ["6m0s", "go-duration"],
    ["2026-11-23T10:00:42Z", "rfc3339"],
    ["Mon, 23 Nov 2026 10:00:42 GMT", "http-date"],
  ])("%s is of a form that no other looks like", (reset, form) => {
    const proposal = proposalOf(answer(START, { ...counts(9), "x-quota-reset": reset }));
    expect(wireOfProposal(proposal).readings[0]?.reset).toEqual({ form, means: "estimate" });
  });

  test("a bucket that tells when it is full is one", () => {
    const proposal = proposalOf(
      answer(START, { ...counts(99), "x-quota-reset": "120ms" }),
      answer(START + 3_000, { ...counts(96), "x-quota-reset": "480ms" }),
    );
    expect(wireOfProposal(proposal).readings[0]?.reset?.means).toBe("full");
    expect(parsePolicy(proposal.policy).quotas["requests"]?.algorithm).toEqual({
      kind: "token-bucket",
      capacity: 100,
      refill: { amount: 1, everyMs: 120 },
    });
  });
});

describe("formats that APIs have beside the usual three headers", () => {
  const algorithms = ({ policy }: Proposal) =>
    Object.fromEntries(
      Object.entries(parsePolicy(policy).quotas).map(([name, { algorithm }]) => [name, algorithm]),
    );

  test("a window and a reset in ms, named apart from the requests that they are of", () => {
    const shown = (atMs: number, left: number, reset: number, status?: number) =>
      answer(
        START + atMs,
        {
          "x-rate-limit-requests-left": left,
          "x-rate-limit-requests-quota": 150,
          "x-rate-limit-time-reset-ms": reset,
          "x-rate-limit-time-window-ms": 30_000,
        },
        status,
      );
    const proposal = proposalOf(
      shown(3_000, 149, 27_000),
      shown(8_000, 148, 22_000),
      shown(21_000, 0, 9_000, 429),
    );
    expect(algorithms(proposal)).toMatchObject({
      requests: { kind: "fixed-window", limit: 150, windowSeconds: 30, anchor: "epoch" },
    });
    expect(wireOfProposal(proposal).readings).toMatchObject([
      {
        headers: {
          "x-rate-limit-requests-left": "{remaining}",
          "x-rate-limit-requests-quota": "{limit}",
          "x-rate-limit-time-reset-ms": "{reset}",
          "x-rate-limit-time-window-ms": "{windowMs}",
        },
        reset: { form: "delta-ms", means: "window-end" },
      },
    ]);
    expect(pathsOf(proposal)).not.toContain("wire.readings");
    // Units that others used up in that window are no call's cost.
    expect(pathsOf(proposal)).not.toContain("operations.call.uses.requests");
  });

  test.each([
    ["x-limit-per-second", "x-remaining-this-second", "x-limit-per-day", "x-remaining-today"],
    [
      "acme-ratelimit-secondly",
      "acme-ratelimit-secondly-remaining",
      "acme-ratelimit-daily",
      "acme-ratelimit-daily-remaining",
    ],
    [
      "x-ratelimit-limit-second",
      "x-ratelimit-remaining-second",
      "x-ratelimit-limit-1day",
      "x-ratelimit-remaining-1day",
    ],
  ])("windows by their names: %s", (perSecond, thisSecond, perDay, today) => {
    const proposal = proposalOf(
      answer(START, { [perSecond]: 10, [thisSecond]: 9, [perDay]: 10_000, [today]: 9_987 }),
    );
    const [second, day] = Object.values(algorithms(proposal));
    expect(second).toMatchObject({ limit: 10, windowSeconds: 1 });
    expect(day).toMatchObject({ limit: 10_000, windowSeconds: 86_400 });
    expect(pathsOf(proposal).filter((path) => path.endsWith("windowSeconds"))).toEqual([]);
  });

  test("a window of one length beside quotas by period", () => {
    const proposal = proposalOf(
      answer(START, {
        "acme-ratelimit-max": 100,
        "acme-ratelimit-remaining": 99,
        "acme-ratelimit-interval-milliseconds": 10_000,
        "acme-ratelimit-daily": 5_000,
        "acme-ratelimit-daily-remaining": 4_000,
      }),
    );
    expect(algorithms(proposal)).toMatchObject({
      requests: { limit: 100, windowSeconds: 10 },
      day: { limit: 5_000, windowSeconds: 86_400 },
    });
  });

  test("named quotas in structured fields, beside headers of another limit", () => {
    const shown = (left: number) =>
      answer(START, {
        "beta-ratelimit-policy": '"tenant-quota";q=100100;w=3600',
        "beta-ratelimit": `"tenant-quota";r=${left};t=2107`,
        "x-ratelimit-limit": 350,
        "x-ratelimit-remaining": 349,
      });
    const proposal = proposalOf(shown(17_842));
    expect(algorithms(proposal)).toMatchObject({
      "tenant-quota": { limit: 100_100, windowSeconds: 3_600 },
      requests: { limit: 350 },
    });
    const [named] = wireOfProposal(proposal).readings;
    expect(named).toMatchObject({ quotas: ["tenant-quota"], reset: { form: "delta-s", means: "estimate" } });
    expect(pathsOf(proposal)).not.toContain("wire.readings");
  });

  test("one header that names its numbers, beside plain ones", () => {
    const shown = (afterMs: number, left: number) =>
      answer(START + afterMs, {
        "x-rate-limit": 700,
        "x-rate-limit-remaining": 600 + left,
        "acme-ratelimit-tickets-index": `total=100; remaining=${left}; resets=${60 - afterMs / 1000}`,
      });
    const proposal = proposalOf(shown(0, 99), shown(19_000, 98));
    expect(algorithms(proposal)).toMatchObject({
      requests: { limit: 700 },
      acme_tickets_index: { limit: 100, windowSeconds: 60 },
    });
    expect(wireOfProposal(proposal).readings).toMatchObject([
      {},
      {
        headers: { "acme-ratelimit-tickets-index": "total={limit}; remaining={remaining}; resets={reset}" },
        reset: { form: "delta-s", means: "window-end" },
      },
    ]);
    const [, once] = wireOfProposal(proposalOf(shown(0, 99))).readings;
    expect(once?.headers).toEqual({
      "acme-ratelimit-tickets-index": "total={limit}; remaining={remaining}; resets=*",
    });
    for (const text of ["total=100; total=99", "total=100; colour=99", "total=100; remaining=many"])
      expect(
        pathsOf(
          proposalOf(
            answer(START, { "x-rate-limit": 7, "x-rate-limit-remaining": 6, "acme-ratelimit": text }),
          ),
        ),
      ).toContain("wire.readings");
  });

  test("a list whose name may be a secret, or has none, is left out", () => {
    const named = (name: string) =>
      proposalOf(
        answer(START, {
          "acme-ratelimit": `${name};r=9;t=4`,
          "x-ratelimit-limit": 10,
          "x-ratelimit-remaining": 9,
        }),
      );
    for (const name of ['"ghp_16C7e42F292c6912E7710c838347Ae178B4a"', "burst", '"burst'])
      expect(JSON.stringify(named(name).policy)).not.toContain("acme-ratelimit");
    expect(JSON.stringify(named('"burst"').policy)).toContain("acme-ratelimit");
  });

  test("a bucket that is full again at a whole second of Unix time", () => {
    const shown = (afterMs: number, left: number, fullInMs: number, status?: number) =>
      answer(
        START + afterMs,
        {
          "ratelimit-limit": 800,
          "ratelimit-remaining": left,
          "ratelimit-reset": Math.ceil((START + afterMs + fullInMs) / 1000),
        },
        status,
      );
    const answers = [shown(3_000, 799, 75), shown(8_000, 798, 150), shown(20_000, 0, 60_000, 429)];
    const proposal = proposalOf(...answers);
    expect(algorithms(proposal)["requests"]).toEqual({
      kind: "token-bucket",
      capacity: 800,
      refill: { amount: 1, everyMs: 75 },
    });
    expect(wireOfProposal(proposal).readings[0]?.reset).toMatchObject({ form: "epoch-s", means: "full" });
    expect(pathsOf(proposal)).toContain("quotas.requests.algorithm");
    // Two values that rounding alone sets apart tell no rate.
    expect(wireOfProposal(proposalOf(...answers.slice(0, 2))).readings[0]?.reset).toBeUndefined();
  });
});

describe("a policy", () => {
  test("of two answers says quota, window and grid", () => {
    const shown = (atMs: number, left: number) =>
      answer(atMs, {
        "x-ratelimit-limit": 100,
        "x-ratelimit-remaining": left,
        "x-ratelimit-reset": 60 - (atMs - START) / 1000,
      });
    const proposal = proposalOf(shown(START, 90), shown(START + 7_000, 89));
    expect(parsePolicy(proposal.policy).quotas).toMatchObject({
      requests: { algorithm: { kind: "fixed-window", limit: 100, windowSeconds: 60, anchor: "epoch" } },
    });
  });

  test("tells quotas apart by the words of their headers", () => {
    const proposal = proposalOf(
      answer(START, {
        "acme-ratelimit-jobs-limit": 100,
        "acme-ratelimit-jobs-remaining": 9,
        "acme-ratelimit-build-minutes-limit": 5_000,
        "acme-ratelimit-build-minutes-remaining": 4_000,
      }),
    );
    const { quotas, operations } = parsePolicy(proposal.policy);
    expect(Object.keys(quotas)).toEqual(["jobs", "build_minutes"]);
    expect(operations["call"]?.uses).toEqual({ jobs: 1, build_minutes: 1 });
  });

  test("leads paths to the quotas that their answers show", () => {
    const call = (path: string, quota: string) =>
      `$ curl -i https://api.example.com${path}\n${answer(START, { "x-ratelimit-limit": 30, "x-ratelimit-remaining": 9, "x-ratelimit-bucket": quota })}`;
    const proposal = proposalOf(
      call("/v1/things", "core"),
      call("/v1/things/81723", "core"),
      call("/v1/search/things?q=a", "search"),
    );
    const { routes, operations } = parsePolicy(proposal.policy);
    expect(routes).toMatchObject([
      { path: "/v1/search/**", operation: "search_call" },
      { path: "/**", operation: "core_call" },
    ]);
    expect(operations).toMatchObject({
      core_call: { uses: { core: 1 }, samples: [{ path: "/v1/things" }] },
      search_call: { uses: { search: 1 }, samples: [{ path: "/v1/search/things" }] },
    });
  });

  test("counts the statuses of refusals that are no 429", () => {
    const proposal = proposalOf(
      answer(START, { "x-ratelimit-limit": 30, "x-ratelimit-remaining": 0, "retry-after": 7 }, 403),
    );
    expect(wireOfProposal(proposal)).toMatchObject({
      retryAfter: [{ header: "retry-after", form: "delta-s" }],
      outcomes: [{ outcome: "refused", status: [403], headers: { "retry-after": "*" } }],
    });
  });

  describe("a preset's window against what answers show", () => {
    const windowMs = 10_000;
    const github = (afterMs: number, left: number, endsMs: number): string =>
      answer(START + afterMs, {
        "x-ratelimit-limit": 60,
        "x-ratelimit-remaining": left,
        "x-ratelimit-reset": (START + endsMs) / 1000,
        "x-ratelimit-used": 60 - left,
        "x-ratelimit-resource": "core",
      });
    const secondsOf = ({ policy }: Proposal) => parsePolicy(policy).quotas["core"]?.algorithm;

    test("an hour is the preset's word alone where no wait came near it", () => {
      const proposal = proposalOf(github(0, 59, 9_000), github(4_000, 58, 9_000));
      expect(secondsOf(proposal)).toMatchObject({ windowSeconds: 3_600 });
      const question = proposal.questions.find(({ path }) => path === "quotas.core.algorithm.windowSeconds");
      expect(question?.seen).toBe(
        "The longest wait for a reset was 9 s; that the window lasts 3600 s is the preset's word alone.",
      );
    });

    test("an hour that most of one is left of raises no question", () => {
      expect(pathsOf(proposalOf(github(0, 59, 2_400_000)))).not.toContain(
        "quotas.core.algorithm.windowSeconds",
      );
    });

    test("an hour gives way to windows that end every 10 s", () => {
      const ends = (ms: number): number => Math.floor(ms / windowMs) * windowMs + windowMs;
      const calls = Array.from({ length: 14 }, (_, n) => github(3_000 * n, 59 - (n % 3), ends(3_000 * n)));
      const proposal = proposalOf(...calls);
      expect(secondsOf(proposal)).toMatchObject({ windowSeconds: 10 });
    });
  });

  test.each(["github", "buildkite"])("recognizes the format of %s by headers of its own", (name) => {
    const texts = (presets[name]?.answers ?? []).map(({ answer: { status, headers, body } }) =>
      [
        `HTTP/1.1 ${status}`,
        ...Object.entries(headers).map(([header, value]) => `${header}: ${value}`),
        "",
        JSON.stringify(body ?? {}),
      ].join("\n"),
    );
    const proposal = proposalOf(...texts);
    expect(proposal.format).toBe(name);
    expect(parsePolicy(proposal.policy)).toMatchObject({ name: "my-api", wire: name });
  });

  test("recognizes no format by names that many APIs share", () => {
    const shown = { "x-ratelimit-limit": 5, "x-ratelimit-remaining": 4, "x-ratelimit-reset": 1_795_305_661 };
    expect(proposalOf(answer(START, shown)).format).toBeNull();
  });
});

describe("no secret is written", () => {
  const token = "q7Zk2-planted.Secret_81x";
  const hex = "9f86d081884c7d659a2feaa0c55ad015";
  const head = `HTTP/1.1 200 OK\r\ndate: ${new Date(START).toUTCString()}\r\n`;
  const limits = "x-ratelimit-limit: 9\r\nx-ratelimit-remaining: 8\r\n";
  const places: Readonly<Record<string, (secret: string) => string>> = {
    "in the command's header": (secret) =>
      `$ curl -i 'https://api.example.com/v1/a' -H 'X-Api-Key: ${secret}'\n${head}${limits}\r\n{}`,
    "in the command's user": (secret) =>
      `$ curl -iu ${secret}:x https://api.example.com/v1/a\n${head}${limits}\r\n{}`,
    "in the query": (secret) =>
      `$ curl -i 'https://api.example.com/v1/a?key=${secret}'\n${head}${limits}\r\n{}`,
    "in the URL's user": (secret) =>
      `$ curl -i https://${secret}:y@api.example.com/v1/a\n${head}${limits}\r\n{}`,
    "in the path": (secret) =>
      `$ curl -i https://api.example.com/hooks/${secret}/send\n${head}${limits}\r\n{}`,
    "in the host": (secret) => `$ curl -i https://${secret}.example.com/v1/a\n${head}${limits}\r\n{}`,
    "in a request of -v": (secret) =>
      `> GET /v1/a?t=${secret} HTTP/1.1\n> Authorization: Token ${secret}\n> Cookie: s=${secret}\n>\n< ${head}${limits
        .replace(/\r\n/g, "\r\n")
        .split("\r\n")
        .filter(Boolean)
        .map((line) => `< ${line}`)
        .join("\n")}\n<\n{}`,
    "in a header of the answer": (secret) =>
      `${head}${limits}set-cookie: id=${secret}\r\nx-token: ${secret}\r\n\r\n{}`,
    "in a header that looks like a limit": (secret) =>
      `${head}${limits}x-ratelimit-bucket: ${secret}\r\n\r\n{}`,
    "in a limit": (secret) => `${head}x-ratelimit-limit: ${secret}\r\nx-ratelimit-remaining: 8\r\n\r\n{}`,
    "in a reset": (secret) =>
      `${head}${limits}x-ratelimit-reset: ${secret}\r\nretry-after: ${secret}\r\n\r\n{}`,
    "in the name of a header": (secret) => `${head}${limits}x-ratelimit-remaining-${secret}: 7\r\n\r\n{}`,
    "in the body": (secret) =>
      `${head}${limits}\r\n${JSON.stringify({ token: secret, [secret]: { limit: 9, remaining: 8 } })}`,
    "in the body's name of a quota": (secret) =>
      `${head}\r\n${JSON.stringify({ resources: { jobs: { limit: 9, remaining: 8, resource: secret } } })}`,
    "in a HAR": (secret) =>
      JSON.stringify({
        log: {
          entries: [
            {
              startedDateTime: new Date(START).toISOString(),
              time: 12,
              request: {
                method: "POST",
                url: `https://api.example.com/v1/${secret}?x=${secret}`,
                headers: [{ name: "Authorization", value: `Bearer ${secret}` }],
                postData: { text: `{"password":"${secret}"}` },
              },
              response: {
                status: 200,
                headers: [
                  { name: "X-RateLimit-Limit", value: "9" },
                  { name: "X-RateLimit-Remaining", value: "8" },
                ],
                content: { text: `{"token":"${secret}"}` },
              },
            },
          ],
        },
      }),
    "in JSON lines": (secret) =>
      JSON.stringify({
        time: START,
        method: "GET",
        path: `/v1/${secret}`,
        status: 200,
        user: secret,
        headers: { "x-ratelimit-limit": 9, "x-ratelimit-remaining": 8, authorization: secret },
      }),
  };

  test.each(
    Object.entries(places).flatMap(([where, text]) =>
      [token, hex].map((secret) => [where, secret, text] as const),
    ),
  )("%s: %s", (_, secret, text) => {
    const said = JSON.stringify(proposalOf(`${text(secret)}\n`));
    expect(said).toContain("{remaining}");
    expect(said.toLowerCase()).not.toContain(secret.toLowerCase());
    expect(said).not.toContain("planted");
  });
});

describe("what it cannot read", () => {
  test.each([
    ["nothing", ""],
    ["HTML", "<html><body>Not found</body></html>"],
    ["a log of other lines", "one line\nanother\n"],
  ])("%s is refused by name", (_, text) => {
    expect(() => proposalOf(text)).toThrow(/shows no answer of an API/);
  });

  test("answers without a limit are, too", () => {
    expect(() => proposalOf(answer(START, { "content-type": "text/plain" }))).toThrow(/show no limit/);
    const line = '1.2.3.4 - - [23/Nov/2026:10:00:00 +0000] "GET /v1/a HTTP/1.1" 200 5\n';
    expect(() => proposalOf(line)).toThrow(/show no limit/);
  });

  test("doubled headers, and values of no form, are left out and named", () => {
    const proposal = proposalOf(
      answer(START, { "x-ratelimit-limit": 5, "x-ratelimit-remaining": 4, "x-ratelimit-used": "many" }),
    );
    expect(wireOfProposal(proposal).readings[0]?.headers).toEqual({
      "x-ratelimit-limit": "{limit}",
      "x-ratelimit-remaining": "{remaining}",
    });
  });
});
