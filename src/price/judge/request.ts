import type { ChargedOutcome } from '../../contract/prices.ts'
import type { Rational } from '../../money/rational.ts'
import type { Usage } from '../../tokens/usage.ts'

/** Which request: as in the tables of the store. */
export interface RequestId {
  readonly runId: string
  readonly slot: number
  readonly retry: number
}

/** What a request asks of the model's thinking that only turns it off. */
export const notToThink = 'none'

/** A request with what it was charged for, as far as its answer shows. */
export interface PricedRequest extends RequestId {
  readonly requestedModel: string
  readonly returnedModel: string | null
  readonly isStream: boolean
  /** How it may have ended: more than one if the answer fits several. */
  readonly outcomes: readonly ChargedOutcome[]
  /** By the client's clock, as UTC milliseconds. */
  readonly startMs: number
  /** When the head of a stream had come; the end of every other answer. */
  readonly headMs: number
  readonly endMs: number
  readonly serviceTier: string | null
  /** Whether the answer, which names the tier that served it, was read. If not, it may be any tier. */
  readonly isTierRead: boolean
  /** Null if the answer has no usage. */
  readonly usage: Usage | null
  /** What each event of a stream reports, in their order. */
  readonly eventUsages: readonly Usage[]
  /** Tokens of text that arrived, at least: events with text. */
  readonly receivedEvents: number
  /** The most tokens of output that the request allows, in all of its answers; null if it states none. */
  readonly maxOutputTokens: number | null
  /** What it asks of the model's thinking, such as `reasoning_effort: high`; empty if nothing, and `notToThink` if it turns it off. */
  readonly thinking: string
  /** Whether it lets the model search or call tools of the service; true if it was not stored. */
  readonly mayCall: boolean
  /** Whether what counts such calls was read. */
  readonly areCallsRead: boolean
  /** Prices of calls and images that the answer or its request shows, whether or not its usage counts them. */
  readonly shownCalls: readonly string[]
  /** Bytes of text that arrived, of which no token has less than one; null if they were not stored. */
  readonly receivedBytes: number | null
  /** Bytes of the request, of which no token of its prompt has less than one; null if it has audio or images, or is not known. */
  readonly askedBytes: number | null
  /** The bytes of the request: equal ones are twins. */
  readonly prompt: string
  /** The whole request, as a digest: equal ones are repeats; null if it was not stored. */
  readonly body: string | null
  /** The text of the answer, as a digest; null if it was not stored. */
  readonly answer: string | null
  /** Whether it cost nothing and repeats an earlier one, so that a cache of the gateway may have answered it. */
  readonly isFreeRepeat: boolean
  /** Whether its answer has the id of an earlier one: the first answer again, of a cache or for the key of a repeated request. */
  readonly isRepeat: boolean
  /** Whether it surely is that: a header says so, or its id, text and counts are those of the earlier one. */
  readonly isSurelyAgain: boolean
  /** The key under which it may be sent again; null if it had none. */
  readonly once: string | null
  /** When it, or an earlier attempt of the same key or id, began. */
  readonly askedMs: number
  readonly account: string
  /** The fingerprint of its key. */
  readonly key: string
  readonly responseId: string | null
  /** Whether the head of its answer was stored. */
  readonly hasHead: boolean
  /** The answer's headers, in lower case. */
  readonly header: (name: string) => string | undefined
  /** What the answer states that it cost. */
  readonly stated: readonly StatedCost[]
}

/** What a row of a log cannot say of its request: no run sent it. */
export const unsent = {
  runId: 'log',
  retry: 0,
  once: null,
  header: () => undefined,
  hasHead: false,
  eventUsages: [],
  receivedEvents: 0,
  receivedBytes: null,
  askedBytes: null,
  maxOutputTokens: null,
  thinking: '',
  shownCalls: [],
  stated: [],
  body: null,
  answer: null,
  isFreeRepeat: false,
  isRepeat: false,
} as const satisfies Partial<PricedRequest>

/** Whether the client left it, or it broke off, so that it counts less than was charged. */
export const isCut = ({ outcomes: [first] }: PricedRequest) =>
  first === 'abort' || first === 'broken'

export const isSuccess = ({ outcomes: [first] }: PricedRequest) => first === 'success'

/** Whether a cache of the gateway may have answered, which a header that was not stored would say. */
export const isCacheUnread = ({ outcomes: [first, ...others] }: PricedRequest): boolean =>
  first !== 'gateway_cache' && others.includes('gateway_cache')

/** An amount at a place where the service shows money. */
export interface StatedCost {
  /** `header x-litellm-response-cost`, `body usage.cost`, `log`. */
  readonly place: string
  /** As the service wrote it. */
  readonly text: string
  /** In the currency of the contract. */
  readonly value: Rational
  /** Decimals that the text shows. */
  readonly decimals: number
  /** One unit of what the text counts, in the currency of the contract; absent: it is that currency. */
  readonly times?: Rational
}
