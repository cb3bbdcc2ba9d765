import type { EventChange } from '../report/usage-events.ts'
import { nowMs } from './portal.ts'

/**
 * Random worlds of grants, purchases, refunds, expiries, scopes and orders, and a reader of them that shares nothing with `src`: no
 * arithmetic of offsets, no fractions, no paths. What lots can pay together is the least over all cuts between use and lots.
 */

const zones = [
  ...['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'Australia/Lord_Howe'],
] as const
const minuteMs = 60_000
const dayMs = 1440 * minuteMs
/** Dates around which grants begin and end, and irregular use is: clocks change on some, and months end on others. */
const past = ['2026-10-04', '2026-10-05', '2026-10-12', '2026-10-25', '2026-10-26', '2026-10-27']
const dates = [
  ...[...past, '2026-10-31', '2026-11-01', '2026-11-02', '2026-11-15', '2026-11-27', '2026-11-28'],
  ...['2026-11-29', '2026-12-01', '2026-12-10', '2027-01-05', '2027-03-14', '2027-03-28'],
  '2027-04-04',
]
const models = ['a', 'b', 'c', 'd']
/** From this date on, each day is like the others, so that all futures are one. */
const regularFrom = '2026-10-28'
const horizonDays = 365

interface Grant {
  readonly name: string
  readonly credits: string
  readonly from?: string
  readonly expires?: string
  readonly priority: number
  readonly models?: readonly string[]
}
interface WorldEvent {
  readonly atMs: number
  readonly cents: number
  readonly model: string | null
}
export interface World {
  readonly account: string
  readonly zone: (typeof zones)[number]
  readonly grants: readonly Grant[]
  readonly events: readonly WorldEvent[]
  /** Cents of each day and model to come; empty without regular use. */
  readonly perDay: readonly { readonly model: string; readonly cents: number }[]
}
export type Order = 'expiry' | 'purchase'

const known = new Map<string, number>()
/** The first minute of a date in a zone, found by looking at every quarter of an hour. */
function midnight(date: string, zone: string): number {
  const name = `${date} ${zone}`
  const before = known.get(name)
  if (before !== undefined) return before
  const days = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short' })
  let at = Date.parse(`${date}T00:00Z`) - 16 * 60 * minuteMs
  while (days.format(at) !== date) at += 15 * minuteMs
  known.set(name, at)
  return at
}
const datePlus = (date: string, days: number) =>
  new Date(Date.parse(`${date}T12:00Z`) + days * dayMs).toISOString().slice(0, 10)
const dateIn = (zone: string, ms: number) =>
  new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short' }).format(ms)

export function worldsOf(seed: number, count: number): readonly World[] {
  let state = seed
  const draw = (below: number) => {
    state = (state * 48_271) % 2_147_483_647
    return state % below
  }
  const pick = <T>(of: readonly T[]): T => of[draw(of.length)]!
  return Array.from({ length: count }, (_, nth): World => {
    const zone = pick(zones)
    const moment = (date: string) => (draw(3) === 0 ? `${date}T09:30Z` : date)
    const isScoped = draw(3) > 0
    const grants = Array.from({ length: 1 + draw(5) }, (_, at): Grant => {
      const start = draw(dates.length - 1)
      const end = start + 1 + draw(dates.length - 1 - start)
      const scope = models.filter(() => draw(2) === 0)
      return {
        name: `lot ${at}`,
        credits: (draw(30_000) / 100).toFixed(2),
        ...(draw(5) === 0 ? {} : { from: moment(dates[start]!) }),
        ...(draw(3) === 0 ? {} : { expires: moment(dates[end]!) }),
        priority: draw(4) === 0 ? draw(3) - 1 : 0,
        ...(isScoped && draw(2) === 0 && scope.length > 0 ? { models: scope } : {}),
      }
    })
    const irregular = Array.from({ length: draw(14) }, (): WorldEvent => {
      const atMs = midnight(pick(past), zone) + (draw(9) - 4) * 15 * minuteMs + draw(900) * 1000
      const cents = draw(4) === 0 ? -draw(4000) : draw(6000)
      return { atMs, cents, model: draw(6) === 0 ? null : pick(models) }
    })
    // In half hours of a day without a change of clocks, so that a part of a day has whole cents.
    const perDay =
      draw(8) === 0
        ? []
        : models
            .slice(0, 1 + draw(3))
            .map((model, at) => ({ model, cents: 48 * (draw(5) + (at === 0 ? 1 : 0)) }))
            .filter(({ cents }) => cents > 0)
    const regular: WorldEvent[] = []
    const today = dateIn(zone, nowMs)
    for (let date = regularFrom; date <= today; date = datePlus(date, 1)) {
      const [startMs, endMs] = [midnight(date, zone), midnight(datePlus(date, 1), zone)]
      const share = date === today ? (nowMs - startMs) / (endMs - startMs) : 1
      const atMs = date === today ? nowMs - 1000 : startMs
      for (const { model, cents } of perDay) regular.push({ atMs, cents: cents * share, model })
    }
    return { account: `w${seed}-${nth}`, zone, grants, perDay, events: [...irregular, ...regular] }
  })
}

/** The lines of their logs. */
export const eventsOf = (worlds: readonly World[]) =>
  worlds.flatMap(({ account, events }) =>
    events.map(({ atMs, cents, model }): EventChange & { atUs: number } => ({
      ...{ account, atUs: atMs * 1000, credits: (cents / 100).toFixed(2), model },
      ...(cents < 0 ? { type: 'refund', requests: 0 } : {}),
    })),
  )

/** Whether an import can say what the account of a world got: a row has a time. Every other of them is told so. */
export const isTold = ({ account, grants }: World) =>
  Number(account.split('-')[1]) % 2 === 1 && grants.every(({ from }) => from !== undefined)

/** The same world, with its grants in the order in which they begin. */
export const inTime = (world: World): World => {
  const { zone, grants } = world
  return { ...world, grants: grants.toSorted((a, b) => startMs(a, zone) - startMs(b, zone)) }
}
const startMs = ({ from = '' }: Grant, zone: string) =>
  from.includes('T') ? Date.parse(from) : midnight(from, zone)

/** Their grants as rows of an import. */
export const rowsOf = (worlds: readonly World[]) =>
  worlds.flatMap(({ account, zone, grants }) =>
    grants.map(
      ({ name, credits, from, expires, priority, models }): EventChange & { atUs: number } => {
        const us = (text: string) =>
          (text.includes('T') ? Date.parse(text) : midnight(text, zone)) * 1000
        const terms = {
          ...{ name, priority, models: models?.join(', ') ?? null },
          expiresUs: expires === undefined ? null : us(expires),
        }
        return {
          ...{ id: `${account} ${name}`, source: 'ledger', account, atUs: us(from!), credits },
          ...{ type: 'purchase', requests: 0, model: null, terms: JSON.stringify(terms) },
        }
      },
    ),
  )

const sum = (values: readonly number[]) => values.reduce((all, each) => all + each, 0)

interface Pencil {
  readonly lots: readonly (Grant & {
    readonly cents: number
    readonly fromMs: number
    readonly untilMs: number
  })[]
  /** Places of lots, the first to be used first. */
  readonly inOrder: readonly number[]
  /** Models whose use the same lots pay for, by kind. */
  readonly kinds: readonly (readonly (string | null)[])[]
}

function penOf({ zone, grants }: World, order: Order): Pencil {
  const ms = (text: string | undefined, otherwise: number) =>
    text === undefined ? otherwise : text.includes('T') ? Date.parse(text) : midnight(text, zone)
  const lots = grants.map((grant) => ({
    ...grant,
    cents: Math.round(Number(grant.credits) * 100),
    fromMs: ms(grant.from, -Infinity),
    untilMs: ms(grant.expires, Infinity),
  }))
  const isBefore = (a: number, b: number) => {
    const [one, other] = [lots[a]!, lots[b]!]
    if (one.priority !== other.priority) return one.priority < other.priority
    const [first, second] =
      order === 'expiry' ? (['untilMs', 'fromMs'] as const) : (['fromMs', 'untilMs'] as const)
    if (one[first] !== other[first]) return one[first] < other[first]
    if (one[second] !== other[second]) return one[second] < other[second]
    return a < b
  }
  const inOrder = lots.map((_, at) => at).sort((a, b) => (isBefore(a, b) ? -1 : 1))
  const mark = (model: string | null) => grants.map((grant) => paysFor(grant, model)).join()
  return { lots, inOrder, kinds: [...Map.groupBy([null, ...models], mark).values()] }
}

const paysFor = (grant: Grant, model: string | null) =>
  grant.models === undefined || (model !== null && grant.models.includes(model))

/** How much these lots can pay of what is due of each kind: the least of all cuts. */
function payable(
  { lots, kinds }: Pencil,
  which: readonly number[],
  room: readonly number[],
  due: readonly number[],
): number {
  let least = Infinity
  for (let set = 0; set < 2 ** kinds.length; set++) {
    const isIn = (kind: number) => (set >> kind) % 2 === 1
    const useOutside = sum(due.filter((_, kind) => !isIn(kind)))
    const roomInside = sum(
      which
        .filter((at) => kinds.some((kind, k) => isIn(k) && paysFor(lots[at]!, kind[0]!)))
        .map((at) => room[at]!),
    )
    least = Math.min(least, useOutside + roomInside)
  }
  return least
}

/** What each of these lots pays, the first as much as it may, and all as much as they can. */
function shares(
  pen: Pencil,
  which: readonly number[],
  room: readonly number[],
  due: readonly number[],
) {
  const paid = pen.lots.map(() => 0)
  let before = 0
  for (const [place, at] of which.entries()) {
    const all = payable(pen, which.slice(0, place + 1), room, due)
    paid[at] = all - before
    before = all
  }
  return paid
}

/** Of each kind, what is due and these lots cannot pay: what the kinds before it are paid is not taken from them. */
function unpaid(
  pen: Pencil,
  which: readonly number[],
  room: readonly number[],
  due: readonly number[],
) {
  let before = 0
  return due.map((amount, kind) => {
    const some = due.map((each, at) => (at <= kind ? each : 0))
    const all = payable(pen, which, room, some)
    const rest = amount - (all - before)
    before = all
    return rest
  })
}

interface Stretch {
  /** What is left of each lot at its start, after refunds. */
  readonly left: readonly number[]
  readonly open: readonly number[]
  /** By kind, less refunds. */
  readonly due: readonly number[]
}

/** All that is until a moment, from stretch to stretch in which the same lots are open. */
function penciled(pen: Pencil, events: readonly WorldEvent[], untilMs: number) {
  const { lots, inOrder, kinds } = pen
  const edges = [...new Set(lots.flatMap(({ fromMs, untilMs }) => [fromMs, untilMs]))].filter(
    Number.isFinite,
  )
  const starts = [-Infinity, ...edges.sort((a, b) => a - b)].filter((at) => at <= untilMs)
  const used = lots.map(() => 0)
  let uncovered = kinds.map(() => 0)
  let last: Stretch = { left: [], open: [], due: [] }
  for (const [nth, startMs] of starts.entries()) {
    const endMs = starts[nth + 1] ?? Infinity
    const open = inOrder.filter((at) => lots[at]!.fromMs <= startMs && startMs < lots[at]!.untilMs)
    const due = kinds.map((kind, k) => {
      const own = events.filter(
        ({ atMs, model }) => atMs >= startMs && atMs < endMs && kind.includes(model),
      )
      return sum(own.map(({ cents }) => cents)) + Math.min(0, uncovered[k]!)
    })
    uncovered = uncovered.map((each) => Math.max(0, each))
    // Refunds pay for what nobody paid, then go back to who paid last.
    const back = due.map((each, k) => Math.max(0, -each - uncovered[k]!))
    uncovered = uncovered.map((each, k) => Math.max(0, each - Math.max(0, -due[k]!)))
    const backwards = open.toReversed()
    const given = shares(pen, backwards, used, back)
    const kept = unpaid(pen, backwards, used, back)
    for (const at of open) used[at]! -= given[at]!
    const left = lots.map(({ cents }, at) => cents - used[at]!)
    const use = due.map((each) => Math.max(0, each))
    const paid = shares(pen, open, left, use)
    const missing = unpaid(pen, open, left, use)
    for (const at of open) used[at]! += paid[at]!
    uncovered = uncovered.map((each, k) => each - kept[k]! + missing[k]!)
    last = { left, open, due: use }
  }
  return { used, uncovered, last }
}

/** What a person with a pencil says of the credits of a world. Cents. */
export function creditsOf(world: World, order: Order, atMs = nowMs) {
  const pen = penOf(world, order)
  const { used, uncovered } = penciled(pen, world.events, atMs)
  const all = pen.lots.map((lot, at) => ({ ...lot, used: used[at]! }))
  const begun = all.filter(({ fromMs }) => fromMs <= atMs)
  const held = begun.filter(({ untilMs }) => untilMs > atMs)
  const over = begun.filter(({ untilMs }) => untilMs <= atMs)
  return {
    held: sum(held.map(({ cents }) => cents)),
    used: sum(held.map((each) => each.used)),
    left: sum(held.map((each) => each.cents - each.used)),
    expired: sum(over.map((each) => each.cents - each.used)),
    uncovered: sum(uncovered),
    lots: held.map((each) => [each.name, each.cents, each.used, each.cents - each.used]),
  }
}

/** When credits are first due that no lot pays, to a minute; null if not within the horizon. */
export function runsOutMs(world: World, order: Order): number | null {
  const pen = penOf(world, order)
  const perDay = pen.kinds.map((kind) =>
    sum(world.perDay.filter(({ model }) => kind.includes(model)).map(({ cents }) => cents)),
  )
  const edges = pen.lots.flatMap(({ fromMs, untilMs }) => [fromMs, untilMs])
  const { last } = penciled(pen, world.events, nowMs)
  let left = last.left
  let due = last.due
  let open = last.open
  let atMs = nowMs
  let date = dateIn(world.zone, nowMs)
  for (let day = 0; day < horizonDays; day++) {
    const [startMs, endMs] = [midnight(date, world.zone), midnight(datePlus(date, 1), world.zone)]
    const stops = [...new Set([...edges.filter((at) => at > atMs && at < endMs), endMs])].sort(
      (a, b) => a - b,
    )
    for (const stopMs of stops) {
      const after = (ms: number) =>
        due.map((each, k) => each + (perDay[k]! * (ms - atMs)) / (endMs - startMs))
      const missed = (ms: number) =>
        sum(after(ms)) -
        sum(due) -
        (payable(pen, open, left, after(ms)) - payable(pen, open, left, due))
      if (missed(stopMs) > 1e-6) {
        let [low, high] = [atMs, stopMs]
        while (high - low > 1000) {
          const middle = (low + high) / 2
          if (missed(middle) > 1e-9) high = middle
          else low = middle
        }
        return low
      }
      due = after(stopMs)
      if (edges.includes(stopMs)) {
        const paid = shares(pen, open, left, due)
        left = left.map((each, at) => each - paid[at]!)
        due = due.map(() => 0)
        open = pen.inOrder.filter((at) => {
          const { fromMs, untilMs } = pen.lots[at]!
          return fromMs <= stopMs && stopMs < untilMs
        })
      }
      atMs = stopMs
    }
    date = datePlus(date, 1)
  }
  return null
}
