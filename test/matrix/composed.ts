import type { Window } from '../../src/contract/contract.ts'
import type { Behaviour, Kit, Usage } from '../../src/service/behaviour.ts'
import type { Call } from '../../src/service/call.ts'
import { editChat, editMessage } from '../../src/service/faults/completion.ts'
import type { Fault } from '../../src/service/faults/fault.ts'
import { header, hiddenLimit } from '../../src/service/faults/primitives.ts'
import { noteOf } from '../../src/service/honest/billing.ts'
import type { RefusalKind } from '../../src/service/refusal.ts'
import type { CreditsReport } from '../../src/service/usage/report.ts'

/** The effect on a field: a number that is off, or something else. */
export type Change = { readonly plus: number } | { readonly to: unknown } | 'dropped'

/**
 * Which calls are affected. The first five are known at the start, the others once the request is
 * read.
 */
export type Condition =
  | { readonly on: 'always' }
  | { readonly on: 'endpoint'; readonly endpoint: 'chat' | 'messages' }
  /** Keys by index. */
  | { readonly on: 'key'; readonly of: number; readonly rest: number }
  /** Seconds of the minute by the service's clock. */
  | { readonly on: 'second'; readonly from: number; readonly to: number }
  | { readonly on: 'every'; readonly nth: number }
  | { readonly on: 'stream'; readonly stream: boolean }
  | { readonly on: 'model'; readonly model: string }
  | { readonly on: 'prompt'; readonly aboveTokens: number }
  | { readonly on: 'max-tokens'; readonly above: number }
  /** This many requests are in progress, including this one, when it is reserved. */
  | { readonly on: 'in-flight'; readonly atLeast: number }
  /** From this second on, counted from the first call. */
  | { readonly on: 'since'; readonly second: number }
  /** A request that is the same as an earlier one of its account. */
  | { readonly on: 'repeat' }
  /** An account with this many credits or more. */
  | { readonly on: 'balance'; readonly atLeast: number }

/** Bodies whose fields may be wrong. */
export type BodyKind = 'chat' | 'messages' | 'error' | 'models' | 'credits'

/** The effect and its size: each can be zero. */
export type Effect =
  /** A success costs this many times its price. */
  | { readonly does: 'charge'; readonly times: number }
  | { readonly does: 'charge-refusal'; readonly refusal: RefusalKind; readonly credits: number }
  /** The header shows the value of this many answers ago, plus this much. */
  | { readonly does: 'credits-header'; readonly plus: number; readonly answersAgo: number }
  | {
      readonly does: 'rate-header'
      readonly header: 'rateLimit' | 'rateRemaining' | 'rateReset'
      readonly plus: number
    }
  | {
      readonly does: 'limit'
      readonly window: Window
      readonly times: number
      readonly plus: number
    }
  | { readonly does: 'scope'; readonly by: 'key' | 'account' | 'endpoint' | 'address' | 'turns' }
  | {
      readonly does: 'field'
      readonly body: BodyKind
      readonly path: readonly string[]
      readonly change: Change
    }
  | { readonly does: 'status'; readonly refusal: RefusalKind; readonly plus: number }
  /** So many replicas, each with counters of its own. */
  | { readonly does: 'replicas'; readonly count: number }
  /** So many workers, each of which subtracts only its own charges from the balance that it shows. */
  | { readonly does: 'workers'; readonly count: number }
  /** The credits page is from a cache of up to this age. */
  | { readonly does: 'page-cached'; readonly seconds: number }
  /** The credits page is that of another account. */
  | { readonly does: 'page-of-other'; readonly accountsOn: 0 | 1 }
  /** Something between repeats the request so many times: each is counted, and charged. */
  | { readonly does: 'repeated-between'; readonly times: number }
  /** Windows begin anew after so many seconds, whatever the reset says. */
  | { readonly does: 'window-anew'; readonly everySeconds: number | null }
  /** The reset has another unit. */
  | { readonly does: 'reset-unit'; readonly times: number }

/** A composed fault: no rule was made for it. */
export interface Composition {
  readonly when: Condition
  readonly effect: Effect
}

/** How often a composed fault changed something. */
export interface Strikes {
  count: number
}

/** Whether a call is affected. */
type When = (call: Call) => boolean

/** The composition as a fault that `startService` takes. */
export function composed({ when, effect }: Composition, strikes: Strikes): Fault {
  return {
    name: `${JSON.stringify(when)} ${JSON.stringify(effect)}`,
    rule: 'any',
    does: 'composed of primitives',
    probability: 1,
    breaks(honest, kit) {
      const { isBefallen, counting } = conditionOf(when, honest, kit)
      const strike = <Made>(was: Made, is: Made): Made => {
        if (JSON.stringify(was) !== JSON.stringify(is)) strikes.count++
        return is
      }
      const behaviour = { ...honest, ...counting }
      return { ...counting, ...effectOf(effect, behaviour, kit, isBefallen, strike) }
    },
  }
}

/** Conditions are evaluated once per call, so all parts of a fault agree. */
function conditionOf(when: Condition, honest: Behaviour, { clock, ledger }: Kit) {
  const decided = new WeakMap<Call, boolean>()
  const atWork = new WeakMap<Call, number>()
  let inFlight = 0
  let seen = 0
  let firstUs: number | null = null
  const known = new Set<string>()
  const holds = (call: Call): boolean => {
    switch (when.on) {
      case 'always':
        return true
      case 'endpoint':
        return call.endpoint === when.endpoint
      case 'key':
        return call.key !== null && call.key.id % when.of === when.rest
      case 'second': {
        const second = Math.floor(clock.nowUs() / 1e6) % 60
        return second >= when.from && second < when.to
      }
      case 'every':
        return ++seen % when.nth === 0
      case 'stream':
        return call.request?.stream === when.stream
      case 'model':
        return call.model?.id === when.model
      case 'prompt':
        return call.promptTokens > when.aboveTokens
      case 'max-tokens':
        return (call.request?.maxTokens ?? 0) > when.above
      case 'since':
        firstUs ??= clock.nowUs()
        return clock.nowUs() - firstUs >= when.second * 1e6
      case 'repeat': {
        const own = `${call.key?.accountId} ${call.endpoint} ${call.body.toString('latin1')}`
        if (known.has(own)) return true
        known.add(own)
        return false
      }
      case 'balance':
        return call.key !== null && ledger.balance(call.key.accountId).balance >= when.atLeast
      case 'in-flight':
        return (atWork.get(call) ?? 0) >= when.atLeast
    }
  }
  const isBefallen: When = (call) => {
    const known = decided.get(call) ?? holds(call)
    decided.set(call, known)
    return known
  }
  const counting: Pick<Behaviour, 'reserve' | 'settle' | 'release'> = {
    reserve(call) {
      const after = honest.reserve(call)
      if (after !== null) atWork.set(call, ++inFlight)
      return after
    },
    settle(call, usage) {
      inFlight--
      honest.settle(call, usage)
    },
    release(call) {
      inFlight--
      honest.release(call)
    },
  }
  return { isBefallen, counting }
}

function effectOf(
  effect: Effect,
  honest: Behaviour,
  kit: Kit,
  isBefallen: When,
  strike: <Made>(was: Made, is: Made) => Made,
): Partial<Behaviour> {
  const { contract } = kit
  switch (effect.does) {
    case 'charge':
      return {
        settle(call, usage) {
          honest.settle(call, usage)
          const more = isBefallen(call) ? call.price * (effect.times - 1) : 0
          if (strike(0, more) !== 0) chargeMore(kit, call, more, usage)
        },
      }
    case 'charge-refusal':
      return {
        wireError(call, refusal) {
          const isMeant = refusal.kind === effect.refusal && call.key !== null
          const more = isMeant && isBefallen(call) ? effect.credits : 0
          if (strike(0, more) !== 0) chargeMore(kit, call, more)
          return honest.wireError(call, refusal)
        },
      }
    case 'credits-header': {
      const shown = new Map<number, number[]>()
      return {
        creditsHeader(call, credits) {
          const ofAccount = shown.get(call.key?.accountId ?? 0) ?? []
          shown.set(call.key?.accountId ?? 0, ofAccount)
          ofAccount.push(credits)
          if (ofAccount.length > effect.answersAgo + 1) ofAccount.shift()
          const other = isBefallen(call) ? ofAccount[0]! + effect.plus : credits
          return honest.creditsHeader(call, strike(credits, other))
        },
      }
    }
    case 'rate-header':
      return header(honest, contract.headers[effect.header]?.[0], (value, _refused, call) =>
        strike(value, isBefallen(call) ? String(Number(value) + effect.plus) : value),
      )
    case 'limit': {
      const other = (limit: number, call: Call) =>
        isBefallen(call) ? Math.max(1, Math.round(limit * effect.times) + effect.plus) : limit
      const hidden = hiddenLimit(honest, effect.window, other, contract.headers)
      return {
        ...hidden,
        look(call) {
          const look = honest.look(call)
          const promised = kit.rates.look(call.subject, honest.limits(call), kit.clock.nowUs())
          strike(promised.refusedBy, look.refusedBy)
          return look
        },
      }
    }
    case 'scope': {
      const { by } = effect
      const other = (call: Call) => {
        if (by === 'account') return `account ${call.key?.accountId}`
        if (by === 'address') return `address ${call.incoming.remoteAddress}`
        if (by === 'endpoint') return `${honest.rateSubject(call)} ${call.endpoint}`
        if (by === 'turns') return `${honest.rateSubject(call)} ${call.incoming.sequence % 2}`
        return honest.rateSubject(call)
      }
      return elsewhere(honest, strike, (own, call) => (isBefallen(call) ? other(call) : own))
    }
    case 'replicas':
      return elsewhere(honest, strike, (own, call) =>
        isBefallen(call) ? `${own} ${call.incoming.sequence % effect.count || ''}` : own,
      )
    case 'window-anew': {
      const { everySeconds } = effect
      const nth = () =>
        everySeconds === null ? 0 : Math.floor(kit.clock.nowUs() / 1e6 / everySeconds)
      return elsewhere(honest, strike, (own, call) =>
        isBefallen(call) ? `${own} ${nth() || ''}` : own,
      )
    }
    case 'reset-unit':
      return header(honest, contract.headers.rateReset?.[0], (value, _refused, call) =>
        strike(value, isBefallen(call) ? String(Number(value) * effect.times) : value),
      )
    case 'workers': {
      const spent = new Map<string, number>()
      const workerOf = ({ key, incoming }: Call) =>
        `${key?.accountId} ${incoming.sequence % effect.count}`
      const spend = (of: string, credits: number) => spent.set(of, (spent.get(of) ?? 0) + credits)
      return {
        settle(call, usage) {
          honest.settle(call, usage)
          spend(workerOf(call), call.price)
          spend(`${call.key?.accountId}`, call.price)
        },
        creditsHeader(call, credits) {
          const all = spent.get(`${call.key?.accountId}`) ?? 0
          const unseen = isBefallen(call) ? all - (spent.get(workerOf(call)) ?? 0) : 0
          return honest.creditsHeader(call, strike(credits, credits + unseen))
        },
      }
    }
    case 'page-cached': {
      const kept = new Map<string, { readonly atUs: number; readonly report: CreditsReport }>()
      return {
        creditsReport(call) {
          const report = honest.creditsReport(call)
          const place = `${call.key?.accountId} ${call.incoming.query}`
          const before = kept.get(place)
          const isFresh =
            before === undefined || kit.clock.nowUs() - before.atUs >= effect.seconds * 1e6
          if (isFresh) kept.set(place, { atUs: kit.clock.nowUs(), report })
          if (isFresh || !isBefallen(call)) return report
          strike(report.remaining, before.report.remaining)
          return before.report
        },
      }
    }
    case 'page-of-other':
      return {
        creditsReport(call) {
          const own = honest.creditsReport(call)
          const other = isBefallen(call) ? call.key!.accountId + effect.accountsOn : null
          if (other === null || other === call.key!.accountId) return own
          try {
            const report = kit.usage.of(other, call.incoming.query)
            strike(own.remaining, report.remaining)
            return report
          } catch {
            return own
          }
        },
      }
    case 'repeated-between':
      return {
        count(call) {
          honest.count(call)
          for (let nth = 1; nth < effect.times && isBefallen(call); nth++) honest.count(call)
        },
        settle(call, usage) {
          honest.settle(call, usage)
          const more = isBefallen(call) ? call.price * (effect.times - 1) : 0
          if (strike(0, more) !== 0) chargeMore(kit, call, more, usage)
        },
      }
    case 'status':
      return {
        wireError(call, refusal) {
          const error = honest.wireError(call, refusal)
          const isMeant = refusal.kind === effect.refusal && isBefallen(call)
          return isMeant ? strike(error, { ...error, status: error.status + effect.plus }) : error
        },
      }
    case 'field': {
      const { path, change } = effect
      const edit = (body: object, call: Call) =>
        isBefallen(call) ? strike(body, changed(body, path, change) as object) : body
      switch (effect.body) {
        case 'chat':
          return editChat(honest, edit)
        case 'messages':
          return editMessage(honest, edit)
        case 'error':
          return { errorBody: (call, error) => edit(honest.errorBody(call, error), call) }
        case 'models':
          return { modelList: (call) => edit(honest.modelList(call), call) }
        case 'credits':
          return {
            creditsBody: (call, report) => edit(honest.creditsBody(call, report), call),
          }
      }
    }
  }
}

/** Counts requests under another name. */
function elsewhere(
  honest: Behaviour,
  strike: <Made>(was: Made, is: Made) => Made,
  nameOf: (own: string, call: Call) => string,
): Pick<Behaviour, 'rateSubject'> {
  const firstOf = new Map<string, string>()
  return {
    rateSubject: (call) => {
      const own = honest.rateSubject(call)
      const name = nameOf(own, call)
      // Another name makes no difference until two share it, or one has two.
      if (!firstOf.has(name)) firstOf.set(name, own)
      if (!firstOf.has(`of ${own}`)) firstOf.set(`of ${own}`, name)
      strike([own, name], [firstOf.get(name), firstOf.get(`of ${own}`)])
      return name
    },
  }
}

/** Takes credits beyond the price; a negative value returns them. */
function chargeMore({ ledger }: Kit, call: Call, credits: number, usage?: Usage): void {
  ledger.move(call.key!.accountId, -credits, credits > 0 ? 'charge' : 'refund', 'fault', {
    charge: noteOf(call, usage),
  })
}

/**
 * The body with one field changed, at the end of the path; `*` is each element. A path without a
 * target changes nothing, and nothing is added to a value that is not a number.
 */
export function changed(body: unknown, path: readonly string[], change: Change): unknown {
  const [name, ...rest] = path
  if (name === undefined) return body
  if (name === '*') {
    return Array.isArray(body) ? body.map((each) => changed(each, rest, change)) : body
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body
  if (!Object.hasOwn(body, name)) return body
  const { [name]: value, ...others } = body as Record<string, unknown>
  if (rest.length > 0) return { ...body, [name]: changed(value, rest, change) }
  if (change === 'dropped') return others
  if ('to' in change) return { ...body, [name]: change.to }
  return typeof value === 'number' ? { ...body, [name]: value + change.plus } : body
}
