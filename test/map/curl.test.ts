// Transcripts of curl as exchanges: which lines are of the request, of the answer's head, and of its body.
import { expect, test } from "vitest";
import { isCurl, readCurl } from "../../src/map/curl.ts";
import type { RawExchange } from "../../src/map/seen.ts";

const exchange = (more: Partial<RawExchange>): RawExchange => ({
  ...{ method: "GET", url: "", requestHeaders: [], requestBody: "", status: 200, headers: [["A", "1"]] },
  ...{ body: "", atMs: null },
  ...more,
});
const answer = (status: number, ...body: string[]): string[] => [`HTTP/1.1 ${status} X`, "A: 1", "", ...body];
const read = (...lines: readonly string[]): RawExchange[] => readCurl(lines.join("\n"));

test("of `curl -i`, each answer ends at the next answer or command", () => {
  const [one, two] = [exchange({ body: "first\n\nend" }), exchange({ status: 404, body: "second" })];
  const bodies = [answer(200, "first", "", "end"), answer(404, "second")] as const;
  expect(read(...bodies.flat())).toEqual([one, two]);
  const [first, second] = ["https://a.example/1", "https://a.example/2"];
  const commands = [
    `$ curl -i ${first}`,
    ...bodies[0],
    `$ curl -i ${second} -d x`,
    "a word of curl",
    ...bodies[1],
  ];
  expect(read(...commands)).toEqual([
    { ...one, url: first },
    { ...two, url: second, method: "POST", requestBody: "x" },
  ]);
});

test("of `curl -v`, lines are told by their marks, and others are the body", () => {
  const lines = [
    "* Trying 127.0.0.1:80...",
    "> GET /a HTTP/1.1",
    "> Accept: */*",
    ">",
    "< HTTP/1.1 100 Continue",
    "<",
    "< HTTP/1.1 200 OK",
    "< A: 1",
    "<",
    "{ [5 bytes data]",
    "{}",
    "* Connection #0 to host a.example left intact",
    "> POST /b HTTP/1.1",
    "> X-Key: 7",
    "  % Total    % Received",
    "< HTTP/2 429",
    "< a: 1",
    "no",
  ];
  expect(read(...lines)).toEqual([
    exchange({ url: "/a", requestHeaders: [["Accept", "*/*"]], body: "{}" }),
    exchange({
      ...{ method: "POST", url: "/b", requestHeaders: [["X-Key", "7"]] },
      ...{ status: 429, headers: [["a", "1"]], body: "no" },
    }),
  ]);
});

test("interim answers, and answers without headers, are none of the API's", () => {
  expect(read("HTTP/1.1 100 Continue", "A: 1", "", ...answer(200, "x"))).toEqual([exchange({ body: "x" })]);
  expect(read("HTTP/1.1 200 Connection established", "", ...answer(199), ...answer(200))).toEqual([
    exchange({}),
  ]);
});

test("a command's first word may be its URL, and a backslash alone ends a line of it", () => {
  const url = "https://a.example/1";
  expect(read(`curl ${url}`, ...answer(200))).toEqual([exchange({ url })]);
  expect(read("curl -X PUT\\", url, ...answer(200))).toEqual([exchange({ url, method: "PUT" })]);
});

test("a transcript is told by an answer among its first 10,000 lines", () => {
  const after = (lines: number): string => `${"\n".repeat(lines)}HTTP/1.1 200 OK`;
  expect(isCurl(after(9_999))).toBe(true);
  expect(isCurl(after(10_000))).toBe(false);
});
