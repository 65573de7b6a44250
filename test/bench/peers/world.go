// The world of world.ts by hand: no queue but a ring of milliseconds that is long enough for this world, no
// client but these two, no rule but the ones that matter here. What it counts must be what the simulator counts.
package main

import (
	"encoding/json"
	"os"
	"strconv"
	"time"
)

const (
	organizations = 20
	ring          = 1 << 17 // ms; nothing here is scheduled further ahead
	windowMs      = 60_000
	startAtMs     = 1_767_225_600_000
	userLimit     = 50
)

const (
	start = iota
	send
	arrive
	receive
)

type random struct{ a, b, c, d int32 }

func (r *random) next() uint32 {
	sum := r.a + r.b + r.d
	r.d++
	r.a = r.b ^ int32(uint32(r.b)>>9)
	r.b = r.c + (r.c << 3)
	r.c = int32(uint32(r.c)<<21|uint32(r.c)>>11) + sum
	return uint32(sum)
}

func (r *random) below(bound int64) int64 {
	return int64(float64(r.next()) / 4_294_967_296 * float64(bound))
}

func seeded(seed, stream, index int) random {
	r := random{int32(seed), int32(uint32(stream+1) * 0x9e3779b1), int32(index), 1}
	for range 12 {
		r.next()
	}
	return r
}

type window struct{ resetAtMs, current, limit int64 }

func (w *window) advance(nowMs int64) {
	if nowMs >= w.resetAtMs {
		w.current = 0
		w.resetAtMs = nowMs - nowMs%windowMs + windowMs
	}
}

func (w *window) reset(nowMs int64) int64 { return (w.resetAtMs - nowMs + 999) / 1000 }

type client struct {
	own, network random
	user         window
	organization int32
	isPoller     bool
	refused      bool
	wantedMs     int64
	// As the answer shows them.
	remaining, resetSeconds         int64
	userRemaining, userResetSeconds int64
}

type world struct {
	clients []client
	owners  [organizations]window
	slots   [ring][]uint32
	waiting int
	nowMs   int64
	endMs   int64
	refused int
	calls   int
}

func (w *world) at(timeMs int64, kind, client uint32) {
	slot := timeMs & (ring - 1)
	w.slots[slot] = append(w.slots[slot], client<<2|kind)
	w.waiting++
}

func (w *world) plan(who uint32, atMs int64) {
	if atMs < w.endMs {
		w.at(max(atMs, w.nowMs), send, who)
	}
}

func (w *world) happen(event uint32) {
	who := event >> 2
	c := &w.clients[who]
	switch event & 3 {
	case start:
		c.wantedMs = w.nowMs
		w.plan(who, w.nowMs)
	case send:
		w.at(w.nowMs+2+c.network.below(7), arrive, who)
	case arrive:
		w.decide(c)
		w.at(w.nowMs+2+c.network.below(7), receive, who)
	case receive:
		w.calls++
		w.plan(who, w.answered(c))
	}
}

func (w *world) decide(c *client) {
	owner := &w.owners[c.organization]
	owner.advance(w.nowMs)
	c.user.advance(w.nowMs)
	c.refused = owner.current >= owner.limit || c.user.current >= c.user.limit
	if !c.refused {
		owner.current++
		c.user.current++
	}
	c.remaining, c.resetSeconds = owner.limit-owner.current, owner.reset(w.nowMs)
	c.userRemaining, c.userResetSeconds = c.user.limit-c.user.current, c.user.reset(w.nowMs)
}

// When the client calls next.
func (w *world) answered(c *client) int64 {
	if c.refused {
		w.refused++
		seconds := max(c.resetSeconds, c.userResetSeconds)
		if lacks, userLacks := c.remaining < 1, c.userRemaining < 1; lacks && !userLacks {
			seconds = c.resetSeconds
		} else if userLacks && !lacks {
			seconds = c.userResetSeconds
		}
		return w.nowMs + seconds*1000 + c.own.below(5001)
	}
	if c.isPoller {
		passed := (w.nowMs - c.wantedMs + 29_999) / 30_000
		c.wantedMs += 30_000 * max(1, passed)
	} else {
		c.wantedMs = w.nowMs + 5_000 + c.own.below(10_001)
	}
	return c.wantedMs
}

func build(count, seconds int) *world {
	w := &world{clients: make([]client, count), nowMs: startAtMs, endMs: startAtMs + int64(seconds)*1000}
	each := count / organizations / 2
	for place := range 2 * organizations {
		w.owners[place/2].limit = int64(float64(each) * 7.8)
		for index := range each {
			who := place*each + index
			c := &w.clients[who]
			c.own = seeded(1, place, index)
			c.network = seeded(1, 2*organizations+place, index)
			c.organization = int32(place / 2)
			c.isPoller = place%2 == 0
			c.user.limit = userLimit
			within := int64(10_000)
			if c.isPoller {
				within = 30_000
			}
			w.at(startAtMs+c.own.below(within), start, uint32(who))
		}
	}
	return w
}

func main() {
	count, _ := strconv.Atoi(os.Args[1])
	seconds, _ := strconv.Atoi(os.Args[2])
	w := build(count, seconds)
	events := 0
	begin := time.Now()
	for ; w.waiting > 0; w.nowMs++ {
		slot := w.nowMs & (ring - 1)
		// It may grow while it is read: an event can be for this very millisecond.
		for i := 0; i < len(w.slots[slot]); i++ {
			w.happen(w.slots[slot][i])
			events++
			w.waiting--
		}
		w.slots[slot] = w.slots[slot][:0]
	}
	json.NewEncoder(os.Stdout).Encode(map[string]any{
		"events": events, "calls": w.calls, "refused": w.refused, "ms": float64(time.Since(begin).Microseconds()) / 1000,
	})
}
