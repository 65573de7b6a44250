// A played week as people have it: as CSV or as an access log, and as `fit` sees it after reading the CSV.
import { Recorder, type Recording } from "../../sim/fit/recording.ts";
import { GRAPHQL_CALL, type LogCaller, REST_CALL } from "../../src/logs/rows.ts";
import { chanceOf } from "./chance.ts";
import { limitsOf, type Row, type World } from "./world.ts";

export function rulesOf(world: Pick<World, "limits">) {
  const { organization, user } = limitsOf(world);
  return {
    organization: { rest: { limit: organization, windowSeconds: 60 } },
    user: { rest: { limit: user, windowSeconds: 60 } },
  };
}

/** Rules of the worlds that have the usual limits. */
export const worldRules = rulesOf({});

const path = "/v2/organizations/acme/pipelines";

export const csvOf = (rows: readonly Row[]): string =>
  [
    "time,duration_ms,user,path,status",
    ...rows.map(
      ({ atMs, durationMs, user, status }) =>
        `${new Date(atMs).toISOString()},${durationMs.toFixed(1)},${user},${path},${status}`,
    ),
    "",
  ].join("\n");

const months = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");

/** Returns nginx's format, with each request's end in whole seconds, and its duration in the last field. */
export const accessLogOf = (rows: readonly Row[]): string =>
  rows
    .map(({ atMs, durationMs, user, status }) => {
      const end = new Date(atMs + durationMs);
      const [year, month, day] = [end.getUTCFullYear(), end.getUTCMonth(), end.getUTCDate()];
      const date = `${String(day).padStart(2, "0")}/${months[month]}/${year}:${end.toISOString().slice(11, 19)} +0000`;
      const size = 200 + Math.floor(300 * chanceOf(atMs).next());
      return `203.0.113.9 - ${user} [${date}] "GET ${path} HTTP/1.1" ${status} ${size} "-" "-" request_time=${(durationMs / 1000).toFixed(3)}\n`;
    })
    .join("");

/** Returns the recording that `fit` makes of the CSV. */
export function recordingOf(rows: readonly Row[]): Recording {
  const callers: LogCaller[] = [];
  const places = new Map<string, number>();
  const placeOf = ({ user }: Row): number => {
    const known = places.get(user);
    if (known !== undefined) return known;
    const place = callers.push({ organization: "acme", user }) - 1;
    places.set(user, place);
    return place;
  };
  const recorder = new Recorder();
  recorder.addBatch(
    {
      count: rows.length,
      atMs: new Float64Array(rows.map(({ atMs }) => Math.floor(atMs))),
      durationMs: new Float64Array(rows.map(({ durationMs }) => Math.round(10 * durationMs) / 10)),
      caller: new Int32Array(rows.map(placeOf)),
      kind: new Uint8Array(rows.map(({ points }) => (points === undefined ? REST_CALL : GRAPHQL_CALL))),
      cost: new Int32Array(rows.map(({ points }) => points?.asked ?? 1)),
      actual: new Int32Array(
        rows.map(({ points, status }) => (status === 200 ? (points?.actual ?? -1) : -1)),
      ),
      status: new Int16Array(rows.map(({ status }) => status)),
    },
    callers,
  );
  return recorder.finish();
}
