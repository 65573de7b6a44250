// Rows as each format writes them: what goes through any of them must read back the same.
import type { ReadingOptions } from "./reading.ts";

/** A request, as little as every format can say. */
export interface Written {
  readonly atMs: number;
  readonly durationMs: number;
  readonly user: string;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  /** Minutes east of Greenwich, where its time is written so. */
  readonly zone: number;
}

const pad = (value: number, width = 2): string => String(value).padStart(width, "0");

/** `+01:00`. */
export function offsetOf(minutes: number): string {
  const size = Math.abs(minutes);
  return `${minutes < 0 ? "-" : "+"}${pad(Math.floor(size / 60))}:${pad(size % 60)}`;
}

/** `02/Jan/2026:03:04:05 +0100`. */
export function accessLogTime(ms: number, zone: number): string {
  const local = new Date(ms + zone * 60_000);
  const [, , month] = local.toUTCString().split(" ");
  const [year, , day] = local.toISOString().slice(0, 10).split("-");
  return `${day}/${month}/${year}:${local.toISOString().slice(11, 19)} ${offsetOf(zone).replace(":", "")}`;
}

const isoTime = (ms: number, zone: number): string =>
  `${new Date(ms + zone * 60_000).toISOString().slice(0, -1)}${offsetOf(zone)}`;

export interface Form {
  readonly name: string;
  readonly write: (rows: readonly Written[]) => string;
  readonly options?: ReadingOptions;
  /** The log's times are whole seconds; a row's is its end, if `isEnd`. */
  readonly isCoarse?: boolean;
  readonly hasNoDuration?: boolean;
  /** Users may not have spaces or quotes in their names. */
  readonly hasPlainUsers?: boolean;
}

const lines = (each: readonly string[], end = "\n"): string => each.map((line) => `${line}${end}`).join("");
const columns = { time: "time", user: "user", method: "method", path: "path", status: "status" } as const;
const told = { flags: { columns: { ...columns, duration: "took" }, durationUnit: "ms" } } as const;

function csv(separator: string, end: string, quotes: boolean) {
  const field = (text: string): string =>
    quotes || /[",;\t\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  return (rows: readonly Written[]): string =>
    lines(
      [["time", "user", "method", "path", "status", "took"]]
        .concat(
          rows.map(({ atMs, user, method, path, status, durationMs }) => [
            String(atMs),
            user,
            method,
            path,
            String(status),
            String(durationMs),
          ]),
        )
        .map((fields) => fields.map(field).join(separator)),
      end,
    );
}

const json = (indent: boolean, nested: boolean) => (rows: readonly Written[]) =>
  lines(
    rows.map(({ atMs, zone, user, durationMs, method, path, status }) => {
      const request = { method, path };
      const text = JSON.stringify({
        other: { path: "not this one", list: [1.5e3, true, null, `\\${user}`] },
        time: isoTime(atMs, zone),
        user,
        ...(nested ? { request } : request),
        took: durationMs,
        status,
      });
      return indent
        ? text.replace(/("(?:[^"\\]|\\.)*")|([:,])/g, (_, quoted, mark) => quoted ?? `${mark} `)
        : text;
    }),
  );

const nestedTold = {
  flags: {
    ...told.flags,
    columns: { ...told.flags.columns, method: "request.method", path: "request.path" },
  },
} as const;

function accessLog(hasTime: boolean, combined: boolean) {
  return (rows: readonly Written[]): string =>
    lines(
      rows.map(({ atMs, zone, user, method, path, status, durationMs }) => {
        const time = hasTime ? ` ${(durationMs / 1000).toFixed(3)}` : "";
        const agent = combined ? ' "-" "agent \\"q\\" [1]"' : "";
        return `203.0.113.9 - ${user} [${accessLogTime(atMs, zone)}] "${method} ${path} HTTP/1.1" ${status} 12${agent}${time}`;
      }),
    );
}

export const forms: readonly Form[] = [
  { name: "CSV", write: csv(",", "\n", false), options: told },
  { name: "CSV in quotes, CRLF", write: csv(",", "\r\n", true), options: told },
  { name: "CSV with semicolons", write: csv(";", "\n", false), options: told },
  { name: "CSV with tabs", write: csv("\t", "\r\n", false), options: told },
  { name: "JSON lines", write: json(false, false), options: told },
  { name: "JSON lines with blanks, nested", write: json(true, true), options: nestedTold },
  {
    name: "common",
    write: accessLog(false, false),
    isCoarse: true,
    hasNoDuration: true,
    hasPlainUsers: true,
  },
  {
    name: "combined",
    write: accessLog(false, true),
    isCoarse: true,
    hasNoDuration: true,
    hasPlainUsers: true,
  },
  {
    name: "combined with a time, logged at the end",
    write: accessLog(true, true),
    options: { flags: { timeIs: "end" } },
    isCoarse: true,
    hasPlainUsers: true,
  },
];
