import { long, user } from '../../../service/money/gateway.ts'
import type { RecordedClient } from './recorded-client.ts'

const messages = '/v1/messages'
const hello = { messages: user('Hello') }
const vip = { headers: { 'x-group': 'vip' } }
const cached = [
  {
    type: 'text',
    text: long(2000, 'marked')[0]!.content as string,
    cache_control: { type: 'ephemeral', ttl: '1h' },
  },
]
const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AA' } }
const look = (...content: object[]) => ({
  messages: user([{ type: 'text', text: 'What is it?' }, ...content]),
})

export interface Traffic {
  /** In words, for the table. */
  readonly is: string
  send(client: RecordedClient): Promise<unknown>
  /** What the audit is told of the requests. */
  readonly choices?: Readonly<Record<string, string>>
  /** Fields of the contract's first model. */
  readonly model?: object
  /** Which of the requests the fault strikes; all by default. */
  readonly share?: string
  /** Whether the service is slow enough for a client to leave. */
  readonly isSlow?: boolean
}

const plain = (is: string, ...bodies: object[]): Traffic => ({
  is,
  send: async (client) => {
    for (const body of bodies) await client.ask(body)
  },
})
const onMessages = (is: string, ...bodies: object[]): Traffic => ({
  is,
  send: async (client) => {
    for (const body of bodies) await client.ask(body, { path: messages })
  },
})
const stream = { ...hello, stream: true }
const longOne = { messages: long(2000, 'a') }
const above = { messages: long(4000, 'a') }
const repeated = (body: object, times: number) => Array.from({ length: times }, () => body)

/** The client leaves; an equal request tells how long the whole answer is. */
const left = (is: string, leaves: 'at-once' | 'half' | 'at-the-end'): Traffic => ({
  is,
  isSlow: leaves !== 'at-the-end',
  send: async (client) => {
    if (leaves !== 'at-the-end') await client.ask(stream)
    await client.ask(stream, { leaves })
    await new Promise((resolve) => setTimeout(resolve, 400))
  },
})

/** The least traffic that shows each fault. */
export const traffic: Readonly<Record<string, Traffic>> = {
  'stream-free': plain('1 plain and 1 stream of one prompt', hello, stream),
  'log-total-zero': plain('1 stream', stream),
  'alias-stream-free': plain('1 stream by alias, 1 by name', stream, {
    ...stream,
    model: 'big-latest',
  }),
  'header-zero': onMessages('1 plain messages request', hello),
  'chunk-sum-output': onMessages('1 messages stream', stream),
  'chunk-sum-input': onMessages('1 messages stream with a long prompt', {
    ...longOne,
    stream: true,
  }),
  'delta-row': onMessages('1 messages stream', stream),
  'stream-cached-full': plain(
    '2 equal streams, 1 plain',
    longOne,
    ...repeated({ ...longOne, stream: true }, 2),
  ),
  'cached-double': plain('2 equal long requests', ...repeated(longOne, 2)),
  'write-double': plain('1 long request', longOne),
  'cached-full': plain('2 equal long requests', ...repeated(longOne, 2)),
  'cached-negative': onMessages(
    '2 equal messages with a cached prompt',
    ...repeated({ messages: user(cached) }, 2),
  ),
  'cache-price-ignored': plain('2 equal long requests', ...repeated(longOne, 2)),
  'ttl-short': onMessages('1 message written for an hour', { messages: user(cached) }),
  'write-unseen': plain('2 equal long requests', ...repeated(longOne, 2)),
  'tier-marginal': plain('1 request above the threshold', above),
  'tier-misses-read': plain('2 equal requests above the threshold', ...repeated(above, 2)),
  'flex-full': plain('1 standard, 1 flex', hello, { ...hello, service_tier: 'flex' }),
  'batch-flat': plain(
    '2 batch requests above the threshold',
    ...repeated({ ...above, service_tier: 'batch' }, 2),
  ),
  'price-stale': plain('1 request after the change', hello),
  'no-hours': plain('1 request within the hours', hello),
  'snapshot-price': plain('1 request by each name', hello, { ...hello, model: 'big-2025' }),
  'unknown-free': plain('1 request by each name', hello, { ...hello, model: 'big-latest' }),
  'component-free': plain('1 request with speech', { ...hello, modalities: ['text', 'audio'] }),
  'fallback-free': plain('1 request that a fallback serves', {
    messages: user('Please fall back'),
  }),
  'failed-attempt-charged': plain('1 request with 2 failures inside', {
    messages: user('Please fail 2 times inside'),
  }),
  'reasoning-double': plain('1 request that reasons', hello),
  'reasoning-free': plain('1 request that reasons', hello),
  'reasoning-at-output': plain('1 request that reasons', hello),
  'image-as-text': plain('1 answer with an image', { ...hello, modalities: ['text', 'image'] }),
  'image-input-free': plain('1 request with an image, the same without', look(), look(image)),
  'search-free': plain('1 request that searches', { ...hello, web_search_options: {} }),
  'empty-charged': {
    ...left('1 stream aborted before its first event', 'at-once'),
    model: { charged: { success: 'full', abort: 'none' } },
  },
  'abort-estimated': plain('1 stream that the service breaks', {
    messages: user('Please break off'),
    stream: true,
  }),
  'abort-free': left('1 stream aborted at half, 1 complete', 'half'),
  'abort-full': left('1 stream aborted at half, 1 complete', 'half'),
  'late-close-free': left('1 stream closed right after its last event', 'at-the-end'),
  'zero-estimated': left('1 stream aborted at once, 1 complete', 'at-once'),
  'filtered-charged': plain('1 request that the filter stops', {
    messages: user('Please hold it back'),
  }),
  'reservation-kept': {
    ...plain('2 requests, one of which keeps its deposit', hello, hello),
    share: '#2',
  },
  'refund-twice': plain('1 stream that the service breaks', {
    messages: user('Please break off'),
    stream: true,
  }),
  'abort-refund-all': left('1 stream aborted at half, 1 complete', 'half'),
  'ratio-shown-only': {
    is: '1 request in a group with a ratio',
    send: (client) => client.ask(hello, vip),
    choices: { group: 'vip' },
  },
  'balance-without-ratio': {
    is: '1 request in a group with a ratio',
    send: (client) => client.ask(hello, vip),
    choices: { group: 'vip' },
  },
  'zero-ratio-is-one': {
    is: '1 request in a free group',
    send: (client) => client.ask(hello, { headers: { 'x-group': 'free' } }),
    choices: { group: 'free' },
  },
  'truncate-cents': plain('1 request below a cent', hello),
  'round-component-up': plain('1 small request', hello),
  'log-twice': plain('1 request', hello),
  'row-missing': { ...plain('2 requests, one of them without a row', hello, hello), share: '#2' },
  'resend-charged': {
    is: '1 request that the client leaves, then the same within a second',
    isSlow: true,
    send: async (client) => {
      await client.ask(hello, { leaves: 'at-once' })
      await client.ask(hello)
    },
  },
  'per-call-is-per-second': {
    ...plain('1 request of several seconds', hello),
    isSlow: true,
  },
  'visible-free': plain('1 request that reasons', hello),
  'unit-mistaken': plain('1 request', hello),
  'settled-twice': plain('1 stream', stream),
  'search-always': plain('1 request without a search', hello),
  'output-is-total': plain('1 request', hello),
  'stream-unmetered': onMessages('1 messages stream', stream),
  'tier-by-uncached': plain('2 equal requests above the threshold', ...repeated(above, 2)),
  'tier-misses-write': {
    ...plain('1 long request above the threshold', above),
    model: { tiers: { steps: [{ above: 3000, price: { input: 8, cache_write: 10 } }] } },
  },
  'image-stream-free': plain('1 stream with an image', { ...look(image), stream: true }),
  'input-guessed': plain('1 stream', stream),
  'posting-lost': { ...plain('2 requests, one of them not charged', hello, hello), share: '#2' },
  'cent-at-least': plain('4 requests below a cent', ...repeated(hello, 4)),
  'discount-inverted': {
    is: '1 request in a group with a discount',
    send: (client) => client.ask(hello, vip),
    choices: { group: 'vip' },
  },
}
