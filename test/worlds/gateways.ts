import { dayMs, hourMs, minuteMs, mondayMs, type Part, type World } from "./world.ts";

/** Time that a refused report waits, ms. */
const holdMs = minuteMs;

interface Outage {
  readonly lostMs: number;
  readonly backMs: number;
}

/** Returns the times of a day's reports and logs, in order. */
function reportsOf({ chance }: Part, dayStart: number, everyMs: number, firstMs: number): number[] {
  const reports: number[] = [];
  for (let atMs = firstMs; atMs < dayMs; atMs += everyMs)
    reports.push(dayStart + Math.max(0, atMs + chance.between(-2_000, 2_000)));
  for (let hour = 0; hour < 24; hour += 3) {
    const logMs = dayStart + hour * hourMs + chance.between(0, 30_000);
    reports.push(logMs, logMs);
  }
  for (let doors = chance.poisson(4); doors > 0; doors--) {
    const openMs = dayStart + chance.between(6, 22) * hourMs;
    const shutMs = openMs + chance.lognormal(5 * minuteMs, 0.6);
    for (let atMs = openMs; atMs < shutMs; atMs += 10_000) reports.push(atMs);
  }
  return reports.sort((a, b) => a - b);
}

/** Returns a day's outages of the link: its own, and those of masts, which gateways share. */
function outagesOf({ chance, day }: Part, dayStart: number): Outage[] {
  const outages: Outage[] = [];
  for (let own = chance.poisson(1 / 2); own > 0; own--) {
    const lostMs = dayStart + chance.between(0, 24) * hourMs;
    outages.push({ lostMs, backMs: lostMs + chance.lognormal(30 * minuteMs, 0.8) });
  }
  const shared = day(Math.floor((dayStart - mondayMs) / dayMs));
  for (let masts = shared.poisson(1); masts > 0; masts--) {
    const lostMs = dayStart + shared.between(0, 24) * hourMs;
    const backMs = lostMs + shared.between(10, 40) * minuteMs;
    if (chance.next() < 1 / 4) outages.push({ lostMs, backMs });
  }
  return outages.sort((a, b) => a.lostMs - b.lostMs);
}

export const gateways: World = {
  name: "gateways",
  description:
    "Gateways of shops' refrigerators, one token and radio link each. Two of three report each minute, the others every " +
    "five, give or take two seconds. Every third full hour, within half a minute, each logs, two calls. A door left " +
    "open, four times a day between 6 and 22 o'clock, makes it report every ten seconds for five minutes. Its link is " +
    "lost once in two days, for half an hour on the median; once a day a mast fails, and a quarter of the gateways are " +
    "away for ten minutes to forty. All that gathered is sent in a row. A refused report waits for a minute, and later " +
    "ones behind it. Weekends are like weekdays.",
  tuned: true,
  agents: 50,
  agent: function* (part: Part) {
    const { traits, chance, fromMs, untilMs, ask } = part;
    const everyMs = (traits.next() < 2 / 3 ? 1 : 5) * minuteMs;
    const firstMs = traits.between(0, everyMs);
    const sendMs = traits.between(100, 300);
    let freeMs = fromMs;
    for (let dayStart = fromMs; dayStart < untilMs; dayStart += dayMs) {
      const outages = outagesOf(part, dayStart);
      for (const dueMs of reportsOf(part, dayStart, everyMs, firstMs)) {
        let atMs = Math.max(dueMs, freeMs);
        for (const { lostMs, backMs } of outages)
          if (atMs >= lostMs && atMs < backMs) atMs = backMs + chance.between(0, 5_000);
        freeMs = (yield* ask(atMs)) + sendMs * chance.between(0.8, 1.2);
      }
    }
  },
  patience: ({ receivedMs }) => receivedMs + holdMs,
};
