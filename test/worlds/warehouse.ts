import { dayMs, hourMs, minuteMs, mondayMs, type Part, type World } from "./world.ts";

export const warehouse: World = {
  name: "warehouse",
  description:
    "A platform that copies customers' data into a warehouse, one token a customer. At a minute of the customer each hour a " +
    "sync reads what is new: a page at least, five on the median by day and two at night, a tenth of that at weekends where the " +
    "customer is closed then, as half of them are. Each night between 1 and 4 o'clock, at a time of the customer, a back-fill " +
    "reads flat out until it is done: two hundred pages on the median, six times as many on Mondays for one customer of four. " +
    "One customer of five is onboarded during the first week, in office hours: it begins with everything it has, two thousand " +
    "pages or so. One job of a customer waits for the other. A refused job waits as many whole seconds as the answer says.",
  tuned: true,
  agents: 24,
  agent: function* ({ traits, chance, fromMs, untilMs, ask }: Part) {
    const minute = Math.floor(traits.between(0, 60));
    const nightMs = (1 + Math.floor(traits.between(0, 12)) / 4) * hourMs;
    const size = traits.lognormal(1, 0.7);
    const closes = traits.next() < 1 / 2;
    const heavyMondays = traits.next() < 1 / 4;
    const onboarded = traits.next() < 1 / 5;
    const onboardMs = mondayMs + Math.floor(traits.between(1, 6)) * dayMs + traits.between(8, 17) * hourMs;
    const sinceMs = onboarded ? onboardMs : 0;
    const jobs: { atMs: number; pages: number }[] = [];
    if (onboarded) jobs.push({ atMs: sinceMs, pages: 2_000 * size });
    for (let atMs = fromMs; atMs < untilMs; atMs += hourMs) {
      const number = Math.floor((atMs - mondayMs) / dayMs);
      const hour = (atMs % dayMs) / hourMs;
      const open = closes && number % 7 >= 5 ? 0.1 : 1;
      const pages = chance.lognormal((hour >= 7 && hour < 20 ? 5 : 2) * size * open, 0.8);
      jobs.push({ atMs: atMs + minute * minuteMs + chance.between(0, 5_000), pages });
      if (hour !== 0) continue;
      const most = heavyMondays && number % 7 === 0 ? 6 : 1;
      jobs.push({
        atMs: atMs + nightMs + chance.between(0, 5_000),
        pages: chance.lognormal(200 * size * most, 0.6),
      });
    }
    const due = jobs.filter(({ atMs }) => atMs >= Math.max(fromMs, sinceMs));
    let freeMs = fromMs;
    for (const { atMs, pages } of due.sort((a, b) => a.atMs - b.atMs)) {
      freeMs = Math.max(freeMs, atMs);
      for (let page = 0; page < Math.max(1, pages); page++)
        freeMs = (yield* ask(freeMs)) + chance.between(20, 150);
    }
  },
  patience: ({ receivedMs, resetMs }, _attempt, chance) =>
    receivedMs + 1_000 * Math.ceil(Math.max(0, resetMs - receivedMs) / 1_000) + chance.between(5, 80),
};
