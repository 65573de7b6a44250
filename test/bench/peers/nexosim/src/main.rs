// The world of world.ts in NeXosim, by its own means: each client and each organization is a model, a call is a query
// from one to the other, and whatever takes time is an event that a model schedules for itself. One thread, since the
// simulators beside it have one. What it counts must be what the simulator counts.
use std::env;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use nexosim::Message;
use nexosim::model::{Context, Model, schedulable};
use nexosim::ports::Requestor;
use nexosim::simulation::{Mailbox, SimInit, SimulationError};
use nexosim::time::MonotonicTime;
use serde::{Deserialize, Serialize};

const ORGANIZATIONS: usize = 20;
const WINDOW_MS: i64 = 60_000;
const USER_LIMIT: i64 = 50;

static EVENTS: AtomicU64 = AtomicU64::new(0);
static CALLS: AtomicU64 = AtomicU64::new(0);
static REFUSED: AtomicU64 = AtomicU64::new(0);

#[derive(Serialize, Deserialize, Clone, Copy)]
struct Random([i32; 4]);

impl Random {
    fn seeded(seed: i32, stream: u32, index: i32) -> Self {
        let mut random = Random([seed, (stream + 1).wrapping_mul(0x9e37_79b1) as i32, index, 1]);
        for _ in 0..12 {
            random.next();
        }
        random
    }

    fn next(&mut self) -> u32 {
        let [a, b, c, d] = self.0;
        let sum = a.wrapping_add(b).wrapping_add(d);
        self.0 = [
            b ^ ((b as u32) >> 9) as i32,
            c.wrapping_add(c << 3),
            (c as u32).rotate_left(21).wrapping_add(sum as u32) as i32,
            d.wrapping_add(1),
        ];
        sum as u32
    }

    fn below(&mut self, bound: i64) -> i64 {
        (f64::from(self.next()) / 4_294_967_296.0 * bound as f64) as i64
    }
}

#[derive(Serialize, Deserialize, Clone, Default)]
struct Window {
    reset_at_ms: i64,
    current: i64,
    limit: i64,
}

impl Window {
    fn advance(&mut self, now_ms: i64) {
        if now_ms >= self.reset_at_ms {
            self.current = 0;
            self.reset_at_ms = now_ms - now_ms % WINDOW_MS + WINDOW_MS;
        }
    }

    fn has_room(&self) -> bool {
        self.current < self.limit
    }

    fn reset(&self, now_ms: i64) -> i64 {
        (self.reset_at_ms - now_ms + 999) / 1000
    }
}

#[derive(Message, Serialize, Deserialize, Clone)]
struct Answer {
    refused: bool,
    has_room: bool,
    reset: i64,
    user_has_room: bool,
    user_reset: i64,
}

#[derive(Serialize, Deserialize)]
struct Organization {
    window: Window,
    users: Vec<Window>,
}

#[Model]
impl Organization {
    pub async fn decide(&mut self, user: usize, cx: &Context<Self>) -> Answer {
        let now_ms = now(cx);
        let own = &mut self.users[user];
        self.window.advance(now_ms);
        own.advance(now_ms);
        let refused = !self.window.has_room() || !own.has_room();
        if !refused {
            self.window.current += 1;
            own.current += 1;
        }
        Answer {
            refused,
            has_room: self.window.has_room(),
            reset: self.window.reset(now_ms),
            user_has_room: own.has_room(),
            user_reset: own.reset(now_ms),
        }
    }
}

#[derive(Serialize, Deserialize)]
struct Client {
    ask: Requestor<usize, Answer>,
    user: usize,
    is_poller: bool,
    start_ms: i64,
    end_ms: i64,
    own: Random,
    network: Random,
    wanted_ms: i64,
}

#[Model]
impl Client {
    #[nexosim(init)]
    async fn init(&mut self, cx: &Context<Self>) {
        if self.start_ms == 0 {
            self.start((), cx).await;
        } else {
            cx.schedule_event(ms(self.start_ms), schedulable!(Self::start), ()).unwrap();
        }
    }

    #[nexosim(schedulable)]
    async fn start(&mut self, _: (), cx: &Context<Self>) {
        EVENTS.fetch_add(1, Relaxed);
        self.wanted_ms = now(cx);
        self.plan(now(cx), cx);
    }

    /// Nothing is scheduled for the very instant that it is: the call is sent at once then.
    fn plan(&mut self, at_ms: i64, cx: &Context<Self>) {
        if at_ms >= self.end_ms {
            return;
        }
        match at_ms - now(cx) {
            ..=0 => self.depart(cx),
            wait_ms => cx.schedule_event(ms(wait_ms), schedulable!(Self::send), ()).unwrap(),
        }
    }

    #[nexosim(schedulable)]
    async fn send(&mut self, _: (), cx: &Context<Self>) {
        self.depart(cx);
    }

    fn depart(&mut self, cx: &Context<Self>) {
        EVENTS.fetch_add(1, Relaxed);
        cx.schedule_event(self.trip(), schedulable!(Self::arrive), ()).unwrap();
    }

    #[nexosim(schedulable)]
    async fn arrive(&mut self, _: (), cx: &Context<Self>) {
        EVENTS.fetch_add(1, Relaxed);
        let answer = self.ask.send(self.user).await.next().unwrap();
        cx.schedule_event(self.trip(), schedulable!(Self::receive), answer).unwrap();
    }

    #[nexosim(schedulable)]
    async fn receive(&mut self, answer: Answer, cx: &Context<Self>) {
        EVENTS.fetch_add(1, Relaxed);
        CALLS.fetch_add(1, Relaxed);
        let at_ms = self.answered(&answer, now(cx));
        self.plan(at_ms, cx);
    }

    fn trip(&mut self) -> Duration {
        ms(2 + self.network.below(7))
    }

    /// When it calls next.
    fn answered(&mut self, answer: &Answer, now_ms: i64) -> i64 {
        if answer.refused {
            REFUSED.fetch_add(1, Relaxed);
            let seconds = match (answer.has_room, answer.user_has_room) {
                (false, true) => answer.reset,
                (true, false) => answer.user_reset,
                _ => answer.reset.max(answer.user_reset),
            };
            return now_ms + seconds * 1000 + self.own.below(5_001);
        }
        self.wanted_ms = if self.is_poller {
            let passed = (now_ms - self.wanted_ms + 29_999) / 30_000;
            self.wanted_ms + 30_000 * passed.max(1)
        } else {
            now_ms + 5_000 + self.own.below(10_001)
        };
        self.wanted_ms
    }
}

fn ms(value: i64) -> Duration {
    Duration::from_millis(value as u64)
}

fn now<M: Model>(cx: &Context<M>) -> i64 {
    cx.time().duration_since(MonotonicTime::EPOCH).as_millis() as i64
}

fn main() -> Result<(), SimulationError> {
    let arguments: Vec<i64> = env::args().skip(1).map(|word| word.parse().unwrap()).collect();
    let (count, end_ms) = (arguments[0] as usize, arguments[1] * 1000);
    let each = count / ORGANIZATIONS / 2;
    let mut bench = SimInit::with_num_threads(1);
    for place in 0..ORGANIZATIONS {
        let mailbox = Mailbox::new();
        let user = Window { limit: USER_LIMIT, ..Window::default() };
        let organization = Organization {
            window: Window { limit: (each as f64 * 7.8) as i64, ..Window::default() },
            users: vec![user; 2 * each],
        };
        for user in 0..2 * each {
            let is_poller = user < each;
            let stream = (2 * place + usize::from(!is_poller)) as u32;
            let index = (user % each) as i32;
            let mut own = Random::seeded(1, stream, index);
            let network = Random::seeded(1, 2 * ORGANIZATIONS as u32 + stream, index);
            let start_ms = own.below(if is_poller { 30_000 } else { 10_000 });
            let mut ask = Requestor::default();
            ask.connect(Organization::decide, &mailbox);
            let client = Client { ask, user, is_poller, start_ms, end_ms, own, network, wanted_ms: 0 };
            bench = bench.add_model(client, Mailbox::new(), &format!("client {stream}/{index}"));
        }
        bench = bench.add_model(organization, mailbox, &format!("organization {place}"));
    }
    let mut simulation = bench.init(MonotonicTime::EPOCH)?;
    let begin = Instant::now();
    simulation.run()?;
    println!(
        "{{\"events\":{},\"calls\":{},\"refused\":{},\"ms\":{}}}",
        EVENTS.load(Relaxed),
        CALLS.load(Relaxed),
        REFUSED.load(Relaxed),
        begin.elapsed().as_micros() as f64 / 1000.0
    );
    Ok(())
}
