// Whole logs, and what one byte more, less, or changed makes of them: what is found out about each, its rows, or what it
// is refused for. A digest stands for all results; the log itself is written out.
// `npm test -- test/logs/whole-variants.test.ts -u` writes the files in `pinned` anew; read the difference.
import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import type { LogFormat } from "../../src/logs/choices.ts";
import { SpillwayError } from "../../src/rules/errors.ts";
import { encodeCall, encodeHeader } from "../../src/trace/write.ts";
import { call, header } from "../trace/samples.ts";
import { lines, read } from "./reading.ts";

const letters = '0 7,-"{x/\t:é';

/** A log, and what one byte less, more, or changed makes of it in turn: at each third place of a short one. */
function* variantsOf(log: string): Generator<string> {
  yield log;
  for (let at = 0; at < log.length; at += log.length > 500 ? 9 : 3) {
    const [before, letter, after] = [log.slice(0, at), log[at], log.slice(at + 1)];
    const ways = [
      before + after,
      before + letters[at % letters.length] + after,
      before + letter + letter + after,
      before,
    ];
    yield ways[at % ways.length] ?? "";
  }
}

/** All that is said of a log. */
async function toldOf(log: string, format?: LogFormat) {
  try {
    const { files, rows, examples, ...counts } = await read(log, {
      unreadMost: 0.7,
      graphqlCost: 9,
      ...(format === undefined ? {} : { format }),
    });
    const [file] = files;
    const uses = file?.mapping.uses.map(({ role, column, why }) => `${role}: ${column}, ${why}`);
    const { userIsToken, hasTokens, durationUnit, timeIs, dates } = file?.mapping ?? {};
    const kind = [file?.sample.format, file?.sample.separator, file?.sample.hasHeader];
    return { kind, uses, userIsToken, hasTokens, durationUnit, timeIs, dates, rows, examples, counts };
  } catch (error) {
    if (!(error instanceof SpillwayError)) throw error;
    const { code, message, problems, hint } = error;
    return { code, message, problems, hint } as const;
  }
}

/** Leaves the engine's own words on bad JSON out, which differ between versions of Node. They end what was got. */
function withoutEngine(told: Awaited<ReturnType<typeof toldOf>>): unknown {
  if (!("code" in told)) return told;
  const { code, problems, hint } = told;
  return {
    code,
    problems: problems?.map((each) => ({ ...each, got: each.got.replace(/ \(.*$/s, "") })),
    hint,
  };
}

const k6 = (time: string, metric: string, status: string): string =>
  JSON.stringify({
    type: "Point",
    metric,
    data: { time, value: 12.5, tags: { method: "GET", url: "http://h/v2/user", status, name: "n" } },
  });

test.each<[LogFormat, string]>([
  [
    "csv",
    lines(
      "time,user,org,method,path,status,cost,took_s",
      "2026-01-02T03:04:05Z,al,acme,GET,/v2/user,200,,0.5",
      '2026-01-02T03:04:06Z,"b ""o""",,POST,/v1/graphql?a,429,5,1e-3',
      "2026-01-02T03:04:04Z,al,,GET,/v2/organizations/acme/rate_limit,404,,-",
    ),
  ],
  [
    "access-log",
    lines(
      '203.0.113.9 - al [02/Jan/2026:03:04:05 +0100] "GET /v2/organizations/acme/x HTTP/1.1" 200 5 "-" "c" rt=0.12 -',
      '203.0.113.9, 10.0.0.7 - - [02/Jan/2026:03:04:07 +0100] "POST /v1/graphql HTTP/1.1" 401 5 "-" "c" rt=- 10.0.0.7',
    ),
  ],
  [
    "ndjson",
    lines(
      '{"ts":1767323045678,"token":"ghp_abc","req":{"path":"/v2/user","scope":"rest"},"code":200,"ms":3}',
      '{"ts":1767323045679,"token":"Bearer x","req":{"path":"/q","scope":"graphql"},"code":503,"points":7,"actual_points":2}',
    ),
  ],
  [
    "k6",
    lines(
      k6("2026-01-02T03:04:05.678Z", "http_req_duration", "200"),
      k6("2026-01-02T03:04:05.678Z", "http_reqs", "200"),
      k6("2026-01-02T03:04:06Z", "http_req_duration", "429"),
    ),
  ],
  [
    "words",
    lines(
      'time=2026-01-02T03:04:05Z user=al method=GET path="/v2/user" status=200 service=3ms',
      "time=2026-01-02T03:04:06Z user=bo method=GET path=/v2/user status=429 service=4ms",
    ),
  ],
  [
    "har",
    JSON.stringify({
      log: {
        entries: [
          {
            startedDateTime: "2026-01-02T03:04:05Z",
            time: 12,
            request: {
              method: "GET",
              url: "https://h/v2/user",
              headers: [{ name: "Authorization", value: "Bearer x" }],
            },
            response: { status: 200, headers: [] },
          },
          {
            startedDateTime: "2026-01-02T03:04:04Z",
            time: -1,
            request: { method: "GET", url: "/v1/graphql" },
          },
        ],
      },
    }),
  ],
  [
    "trace",
    lines(encodeHeader(header), encodeCall(call()), encodeCall(call({ call: 1, scope: "graphql", cost: 3 }))),
  ],
])("a log of the format %s", async (format, log) => {
  const hash = createHash("sha256");
  let [all, refused] = [0, 0];
  for (const variant of variantsOf(log)) {
    const told = JSON.stringify(withoutEngine(await toldOf(variant)));
    hash.update(`${told}\n`);
    all += 1;
    if (told.startsWith('{"code"')) refused += 1;
  }
  const [whole, forced] = [await toldOf(log), await toldOf(log.slice(0, log.length >> 1), format)];
  const digest = `${refused} of ${all} refused, ${hash.digest("hex").slice(0, 8)}`;
  const text = [log, JSON.stringify(whole, null, 1), `its first half: ${JSON.stringify(forced)}`, digest];
  await expect(`${text.join("\n")}\n`).toMatchFileSnapshot(`./pinned/${format}.txt`);
});

test("a byte order mark is no part of the first line, but a part of one is", async () => {
  const log = lines('{"ts":1767323045,"user":"al"}', '{"ts":1767323046,"user":"al"}');
  const whole = new TextEncoder().encode(`\ufeff${log}`);
  const unreadOf = async (bytes: Uint8Array): Promise<number> =>
    (await read(bytes, { unreadMost: 1, format: "ndjson" })).unread;
  expect(await unreadOf(whole)).toBe(0);
  expect(await unreadOf(whole.subarray(1))).toBe(1);
  for (const at of [0, 1, 2]) expect(await unreadOf(whole.with(at, 0x78))).toBe(1);
  // One in front of a later line is a part of that, too.
  const later = lines('{"ts":1767323045,"user":"al"}', '\ufeff{"ts":1767323046,"user":"al"}');
  expect(await unreadOf(new TextEncoder().encode(later))).toBe(1);
});

test.each([
  ["s", 1.5, 1500],
  ["ms", 1.5, 1.5],
  ["us", 1500, 1.5],
  ["ns", 1_500_000, 1.5],
])("a duration in %s is told in ms", async (unit, value, expected) => {
  const { rows } = await read(lines(`time,user,took_${unit}`, `1767323045,al,${value}`));
  expect(rows.map(({ durationMs }) => durationMs)).toEqual([expected]);
});
