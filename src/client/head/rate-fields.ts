import { lookup } from '../../user/lookup.ts'

/** Forms of rate-limit headers other than one plain number. All of them are rare, so clarity comes before speed. */

/** Seconds of one unit of a duration such as `1h6m0.5s`. */
const unitS: Readonly<Record<string, number>> = lookup({
  ns: 1e-9,
  us: 1e-6,
  µs: 1e-6,
  ms: 1e-3,
  s: 1,
  m: 60,
  h: 3600,
  d: 86_400,
})

/** Seconds of a duration as Go writes it: `6m0s`, `1h2m3.5s`, `250ms`. NaN for anything else. */
export function durationS(text: string): number {
  if (!/^(?:\d+(?:\.\d+)?(?:ns|us|µs|ms|s|m|h|d))+$/.test(text)) return Number.NaN
  let sum = 0
  for (const [, number, unit] of text.matchAll(/(\d+(?:\.\d+)?)([a-zµ]+)/g))
    sum += Number(number) * unitS[unit!]!
  return sum
}

/** The limit before its policies, as the third draft of RateLimit fields has it: `60, 60;w=60`. NaN otherwise. */
export function firstLimit(text: string): number {
  const [, first, policies] = /^(\d{1,15})\s*,\s*(.+)$/.exec(text) ?? []
  const isPolicies = policies
    ?.split(',')
    .every((each) => /^\s*\d+\s*(;\s*[a-z]+=[^;,]+)+$/.test(each))
  return isPolicies === true ? Number(first) : Number.NaN
}

/** What a rate limit shows; NaN for what it does not. */
export interface RateState {
  limit: number
  remaining: number
  resetS: number
}

/** The states of requests and of tokens; null without an item about them. */
export interface RateFields {
  readonly requests: RateState | null
  readonly tokens: RateState | null
}

/** An item of a structured list (RFC 9651): its string or token, and its parameters. */
interface Item {
  readonly name: string
  readonly parameters: ReadonlyMap<string, string>
}

function itemsOf(text: string): readonly Item[] {
  const part = String.raw`"(?:[^"\\]|\\.)*"|[^";,]+`
  const items = text.match(new RegExp(`(?:${part}|;)+`, 'g')) ?? []
  return items.map((item) => {
    const [name = '', ...rest] = (item.match(new RegExp(part, 'g')) ?? [])
      .map((each) => each.trim())
      .filter((each) => each !== '')
    // A quoted value is matched apart from its key: `qu=` and `"tokens"`.
    const joined = rest.join(';').replaceAll('=;', '=').split(';')
    const parameters = joined.map((each): [string, string] => {
      const at = each.indexOf('=')
      return [each.slice(0, at).trim().toLowerCase(), unquoted(each.slice(at + 1).trim())]
    })
    return { name: unquoted(name), parameters: new Map(parameters) }
  })
}

const unquoted = (text: string) =>
  text.startsWith('"') ? text.slice(1, -1).replaceAll(/\\(.)/g, '$1') : text

/**
 * `RateLimit` and `RateLimit-Policy` of the IETF drafts: a structured list (`"minute";r=59;t=30`, `"minute";q=60;w=60`), or one
 * dictionary (`limit=60, remaining=59, reset=30`). Of several policies, that with the fewest left, which a client meets first.
 */
export function structuredState(limits: string, policies: string): RateFields {
  const dictionary = new Map(
    [...limits.matchAll(/(?:^|,)\s*(limit|remaining|reset)\s*=\s*(\d{1,15})(?=\s*(?:,|;|$))/g)].map(
      ([, name, value]) => [name!, Number(value)],
    ),
  )
  if (dictionary.size > 0) {
    const of = (name: string) => dictionary.get(name) ?? Number.NaN
    const requests = { limit: of('limit'), remaining: of('remaining'), resetS: of('reset') }
    return { requests, tokens: null }
  }
  const byName = new Map(itemsOf(policies).map((item) => [item.name, item.parameters]))
  const states = itemsOf(limits).map(({ name, parameters }) => {
    const policy = byName.get(name)
    const unit = policy?.get('qu') ?? parameters.get('qu') ?? ''
    const state: RateState = {
      limit: numberOf(policy?.get('q') ?? parameters.get('q')),
      remaining: numberOf(parameters.get('r')),
      resetS: numberOf(parameters.get('t')),
    }
    return { state, isOfTokens: /token/i.test(`${unit} ${name}`) }
  })
  const tightest = (isOfTokens: boolean) =>
    states
      .filter((each) => each.isOfTokens === isOfTokens && !Number.isNaN(each.state.remaining))
      .map(({ state }) => state)
      .reduce<RateState | null>((a, b) => (a === null || b.remaining < a.remaining ? b : a), null)
  return { requests: tightest(false), tokens: tightest(true) }
}

const numberOf = (text: string | undefined): number =>
  text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
