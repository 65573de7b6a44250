import { patiences } from "./patience.ts";
import {
  type Actor,
  atOnce,
  dayMs,
  hourMs,
  minuteMs,
  mondayMs,
  type Part,
  type Steps,
  type World,
} from "./world.ts";

export const dashboards: World = {
  name: "dashboards",
  description:
    "People with dashboards, one token a person. On a weekday each opens one to five tabs when work begins, between 7:30 and " +
    "10 o'clock, and closes the computer eight or nine hours later; one of five leaves it on until the next morning. A " +
    "tab reads one to three panels at once, then again after 30, 60 or 120 s. One tab is in front; the others are hidden, " +
    "and the browser wakes them once in two minutes at most. Each quarter of an hour or so another tab comes to the front, and " +
    "reads at once. Once a weekday or so, between 9 and 17 o'clock, there is an incident: within five minutes half of the people open " +
    "the same wall of four panels beside their tabs, every 30 s, for forty minutes or so.",
  tuned: true,
  agents: 14,
  agent: function* ({ traits, chance, fromMs, untilMs, day, ask }: Part) {
    const tabs = Array.from({ length: 1 + Math.min(4, Math.floor(traits.exponential(1.5))) }, () => ({
      everyMs: ([30, 60, 60, 120][Math.floor(traits.next() * 4)] as number) * 1_000,
      panels: 1 + Math.floor(traits.next() * 3),
    }));
    const beginHour = traits.between(7.75, 9.75);
    const leavesOn = traits.next() < 1 / 5;
    function* read(atMs: number, panels: number): Steps {
      return yield* atOnce(Array.from({ length: panels }, () => ask(atMs + chance.between(0, 150))));
    }
    function* refreshed(startMs: number, endMs: number, panels: number, everyMs: number): Steps {
      let atMs = startMs;
      while (atMs < endMs) atMs = (yield* read(atMs, panels)) + everyMs;
      return atMs;
    }
    const lanes: Actor[] = [];
    for (let dayStart = fromMs; dayStart < untilMs; dayStart += dayMs) {
      const number = Math.floor((dayStart - mondayMs) / dayMs);
      if (number % 7 >= 5) continue;
      const shared = day(number);
      const beginMs = dayStart + (beginHour + chance.between(-0.25, 0.25)) * hourMs;
      const goesMs = beginMs + chance.between(8, 9) * hourMs;
      const endMs = leavesOn && number % 7 < 4 ? dayStart + (24 + beginHour) * hourMs : goesMs;
      const turns: { atMs: number; tab: number }[] = [{ atMs: beginMs, tab: 0 }];
      for (let atMs = beginMs; ; ) {
        atMs += chance.exponential(15 * minuteMs);
        if (atMs >= goesMs) break;
        turns.push({ atMs, tab: Math.floor(chance.next() * tabs.length) });
      }
      if (endMs > goesMs) turns.push({ atMs: goesMs, tab: -1 });
      for (const [number, { everyMs, panels }] of tabs.entries())
        for (const [place, { atMs, tab }] of turns.entries()) {
          const untilTurnMs = turns[place + 1]?.atMs ?? endMs;
          lanes.push(
            tab === number
              ? refreshed(atMs, untilTurnMs, panels, everyMs)
              : refreshed(atMs + chance.between(0, 2) * minuteMs, untilTurnMs, panels, 2 * minuteMs),
          );
        }
      for (let incidents = shared.poisson(1); incidents > 0; incidents--) {
        const incidentMs = dayStart + shared.between(9, 17) * hourMs;
        const overMs = incidentMs + shared.lognormal(40 * minuteMs, 0.4);
        if (chance.next() < 1 / 2)
          lanes.push(refreshed(incidentMs + chance.between(0, 5) * minuteMs, overMs, 4, 30_000));
      }
    }
    yield* atOnce(lanes);
  },
  patience: patiences.backoff,
};
