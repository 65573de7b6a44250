import { atOnce, dayMs, hourMs, minuteMs, mondayMs, type Part, type Steps, type World } from "./world.ts";

/** Guests who pay in each hour, relative to the busiest; none between midnight and 11 o'clock. */
const guests = new Map(
  [0.3, 0.9, 1, 0.6, 0.25, 0.15, 0.25, 0.6, 0.95, 1, 0.9, 0.6, 0.3].map((share, place) => [
    11 + place,
    share,
  ]),
);

export const tills: World = {
  name: "tills",
  description:
    "Restaurants, one token each, shared by its two to six tills. Guests pay from 11 o'clock to the closing hour, 21 to " +
    "24, most at 13 and at 20: in the busiest hour fourteen or so a till, half as many again on Fridays and " +
    "Saturdays; Sundays are like Mondays. A receipt is three calls, one after the other. " +
    "Each restaurant rests on one weekday of its own. Before the doors open, at 10:30, every till reads the menu, six pages. Within " +
    "three minutes after closing each till sends its journal in a row, one call for four receipts. A refused till tries " +
    "again after five seconds, then fifteen, then sixty, then every five minutes.",
  tuned: false,
  agents: 16,
  agent: function* ({ traits, chance, fromMs, untilMs, ask }: Part) {
    const count = 2 + Math.floor(traits.between(0, 5));
    const busiest = traits.lognormal(14, 0.3);
    const closing = 21 + Math.floor(traits.between(0, 4));
    const rests = Math.floor(traits.between(0, 7));
    function* inRow(startMs: number, calls: number, gapMs: number): Steps {
      let atMs = startMs;
      for (let call = 0; call < calls; call++) atMs = (yield* ask(atMs)) + gapMs * chance.between(0.7, 1.3);
      return atMs;
    }
    function* till() {
      let freeMs = fromMs;
      for (let dayStart = fromMs; dayStart < untilMs; dayStart += dayMs) {
        const weekday = Math.floor((dayStart - mondayMs) / dayMs) % 7;
        if (weekday === rests) continue;
        freeMs = yield* inRow(
          Math.max(freeMs, dayStart + 10.5 * hourMs + chance.exponential(2 * minuteMs)),
          6,
          400,
        );
        const perHour = busiest * (weekday === 4 || weekday === 5 ? 1.5 : 1);
        const receipts: number[] = [];
        for (const [hour, share] of guests)
          for (let left = hour < closing ? chance.poisson(perHour * share) : 0; left > 0; left--)
            receipts.push(dayStart + (hour + chance.next()) * hourMs);
        for (const atMs of receipts.sort((a, b) => a - b))
          freeMs = yield* inRow(Math.max(freeMs, atMs), 3, 700);
        const closedMs = dayStart + closing * hourMs + chance.between(0, 3) * minuteMs;
        freeMs = yield* inRow(Math.max(freeMs, closedMs), Math.ceil(receipts.length / 4), 900);
      }
    }
    yield* atOnce(Array.from({ length: count }, till));
  },
  patience: ({ receivedMs }, attempt) => receivedMs + ([5_000, 15_000, 60_000][attempt - 1] ?? 5 * minuteMs),
};
