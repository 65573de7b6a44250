// The writer of a folder, as a name: process, its start and its host. Another process can thus tell whether the writer
// still lives. A process id alone is reused.
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { hostname } from "node:os";

export interface Writer {
  readonly pid: number;
  /** Start of the process, in the system's own terms; compared only for equality. */
  readonly start: string;
  readonly host: string;
}

const pattern = /^(\d{1,10})-([a-z0-9]{1,20})-[0-9a-f]{12}-([\w.-]{1,64})$/;

const ownHost =
  hostname()
    .replaceAll(/[^\w.-]/g, "_")
    .slice(0, 64) || "localhost";
const own: Writer = {
  pid: process.pid,
  start: startOf(process.pid) ?? `m${Math.round(Date.now() - process.uptime() * 1000).toString(36)}`,
  host: ownHost,
};

/** Returns a name for something that this process writes: `PID-START-RANDOM-HOST`, a new one each time. */
export function writerName(): string {
  return `${own.pid}-${own.start}-${randomBytes(6).toString("hex")}-${own.host}`;
}

/** Returns the writer that a name tells; `null` if it is no such name. */
export function writerOf(name: string): Writer | null {
  const [, pid = "", start = "", host = ""] = pattern.exec(name) ?? [];
  return pid === "" ? null : { pid: Number(pid), start, host };
}

/** Tells whether a writer may still live. Nothing is known of another host's, so it may. */
export function mayLive({ pid, start, host }: Writer): boolean {
  if (host !== own.host) return true;
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ESRCH") return false;
  }
  const found = startOf(pid);
  return found === null || found === start || !start.startsWith("t");
}

/** Tells whether a writer is this very process. */
export function isOwn({ pid, start, host }: Writer): boolean {
  return pid === own.pid && start === own.start && host === own.host;
}

/**
 * Returns when a process began: `t` and the ticks since the machine's start. `null` if the system does not tell it
 * (only Linux does), `over` for a process that has ended but was not reaped.
 */
function startOf(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The program's name, in brackets, may hold anything. The state is next; the start is the 20th field from there.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return fields[0] === "Z" || fields[0] === "X" ? "over" : `t${fields[19]}`;
  } catch {
    return null;
  }
}
