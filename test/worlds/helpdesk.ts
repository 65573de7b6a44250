import { atOnce, dayMs, hourMs, minuteMs, mondayMs, type Part, type Steps, type World } from "./world.ts";

/** Start and end of the shifts, hours of the day. */
const shifts = [
  { from: 7, until: 15 },
  { from: 14, until: 22 },
] as const;
/** Pause in typing after which the text so far is sent, ms. */
const typingPauseMs = 300;

export const helpdesk: World = {
  name: "helpdesk",
  description:
    "Help desks of shops, one token a team, shared by four to nine people. They work from 7 to 15 or from 14 to 22 " +
    "o'clock, by weekly turns; on Saturdays half of them, on Sundays one in five. A person opens a ticket every four " +
    "minutes, on Mondays every three: a panel fetches customer, orders and notes at once. With three tickets of five " +
    "the person searches: types four to fourteen letters, and each pause of 0.3 s sends the text so far. One ticket of " +
    "four has a search later, too. A refused person tries again after a few seconds, then after half a minute or so; " +
    "after the third refusal the tool rests for half an hour.",
  tuned: true,
  agents: 9,
  agent: function* ({ traits, chance, fromMs, untilMs, ask }: Part) {
    const people = 4 + Math.floor(traits.between(0, 6));
    const ticketMs = traits.lognormal(4 * minuteMs, 0.25);
    function* search(startMs: number): Steps {
      const letters = Math.floor(chance.between(4, 15));
      let atMs = startMs;
      for (let letter = 1; letter <= letters; letter++) {
        const gapMs = letter === letters ? typingPauseMs : chance.lognormal(220, 0.5);
        if (gapMs >= typingPauseMs) yield* ask(atMs + typingPauseMs);
        atMs += gapMs;
      }
      return atMs;
    }
    function* ticket(startMs: number): Steps {
      let now = yield* atOnce(Array.from({ length: 3 }, () => ask(startMs + chance.between(0, 60))));
      if (chance.next() < 3 / 5) now = yield* search(now + chance.lognormal(8_000, 0.6));
      if (chance.next() < 1 / 4) now = yield* search(now + chance.lognormal(30_000, 0.6));
      return now;
    }
    function* person(place: number) {
      for (let dayStart = fromMs; dayStart < untilMs; dayStart += dayMs) {
        const number = Math.floor((dayStart - mondayMs) / dayMs);
        const weekday = number % 7;
        if (weekday >= 5 && chance.next() > (weekday === 5 ? 1 / 2 : 1 / 5)) continue;
        const shift = shifts[((Math.floor(number / 7) + place) % 2) as 0 | 1];
        const pauseMs = ticketMs * (weekday === 0 ? 3 / 4 : 1);
        const endMs = dayStart + shift.until * hourMs;
        let atMs = dayStart + shift.from * hourMs + chance.between(0, pauseMs);
        while (atMs < endMs)
          atMs = Math.max(yield* ticket(atMs), atMs + pauseMs * chance.lognormal(0.9, 0.5));
      }
    }
    yield* atOnce(Array.from({ length: people }, (_, place) => person(place)));
  },
  patience: ({ receivedMs }, attempt, chance) => {
    if (attempt === 1) return receivedMs + chance.between(2_000, 8_000);
    if (attempt === 2) return receivedMs + chance.between(15_000, 45_000);
    return receivedMs + chance.between(20, 40) * minuteMs;
  },
};
