import { patiences } from "./patience.ts";
import { hourMs, minuteMs, mondayMs, type Part, type World } from "./world.ts";

/** Orders in each hour, relative to the mean: few at night, most in the evening. */
const demand = [3, 2, 1, 1, 1, 2, 4, 7, 9, 10, 10, 11, 12, 11, 10, 10, 11, 12, 14, 17, 18, 15, 9, 5].map(
  (each) => each / 8.5,
);

export const webshop: World = {
  name: "webshop",
  description:
    "Order workers: each order makes a few calls one after the other, and orders queue up. There are most in the evening, " +
    "half as many again on Saturdays and Sundays, and twice as many on Thursdays from 19 to 21 o'clock. Three tokens sync " +
    "some thirty pages of stock at each quarter of an hour.",
  tuned: false,
  agents: 12,
  agent: function* ({ traits, chance, fromMs, ask }: Part) {
    const perHour = traits.lognormal(26, 0.3);
    let orderMs = fromMs;
    let freeMs = fromMs;
    for (;;) {
      orderMs += chance.exponential(hourMs / (4 * perHour));
      const day = Math.floor((orderMs - mondayMs) / (24 * hourMs)) % 7;
      const hour = Math.floor(orderMs / hourMs) % 24;
      const factor =
        (demand[hour] ?? 1) * (day >= 5 ? 1.5 : 1) * (day === 3 && (hour === 19 || hour === 20) ? 2 : 1);
      if (chance.next() > factor / 4) continue;
      freeMs = Math.max(freeMs, orderMs);
      const calls = 3 + Math.floor(chance.between(0, 4));
      for (let call = 0; call < calls; call++) freeMs = (yield* ask(freeMs)) + chance.lognormal(250, 0.5);
    }
  },
  others: Object.fromEntries(
    Array.from({ length: 3 }, (_, number) => [
      `stock-${number}`,
      function* ({ chance, fromMs, ask }: Part) {
        for (let tick = fromMs; ; tick += 15 * minuteMs) {
          let atMs = tick + chance.between(0, 4_000);
          const pages = 25 + Math.floor(chance.between(0, 12));
          for (let page = 0; page < pages; page++) atMs = (yield* ask(atMs)) + chance.between(20, 120);
        }
      },
    ]),
  ),
  patience: patiences.backoff,
};
